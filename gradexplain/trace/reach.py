"""What a function can reach: the places where it, its helpers and its objects look up values.

Two things need to know: the stand-ins for `math` and NumPy (patches.py), which are put into those places while a trace
runs, and the snapshot (snapshot.py), which tells whether a traced program is still the function's.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from gradexplain.trace.source import is_library

_PLAIN = (int, float, str, bytes, type(None), complex, np.generic)
MOST_PLACES = 20_000  # a program that calls large packages can reach all that is in them
_DEEPEST = 20  # lists in lists: what is nested deeper is not looked at as data


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that holds a value: an entry of a mapping or list, or an attribute."""

    holder: Any
    key: Any
    is_item: bool = True

    def read(self) -> Any:
        return self.holder[self.key] if self.is_item else getattr(self.holder, self.key)

    def write(self, value: Any) -> None:
        if self.is_item:
            self.holder[self.key] = value
        else:
            setattr(self.holder, self.key, value)


class ClassSlot(Slot):
    """An entry of a class: read as it stands there (a staticmethod, not the function in it)."""

    __slots__ = ()

    def read(self) -> Any:
        return vars(self.holder)[self.key]


def slots(*roots: Any) -> Iterator[tuple[Slot, Any]]:
    """The places that functions and objects can reach, the nearest first, with the values that they hold."""
    seen: dict[int, Any] = {}  # the values are kept, so that no id is used twice
    waiting = deque(roots)
    found = 0
    while waiting and found < MOST_PLACES:
        value = waiting.popleft()
        if id(value) in seen or isinstance(value, (*_PLAIN, np.ndarray, np.ufunc)) or is_data(value):
            continue
        seen[id(value)] = value
        for slot in _slots_of(value):
            try:
                held = slot.read()
            except (ValueError, AttributeError):  # a cell or an attribute that is still empty
                continue
            yield slot, held
            found += 1
            waiting.append(held)
        waiting += _parts_of(value)


def _slots_of(value: Any) -> Iterable[Slot]:
    """The places in a value."""
    if isinstance(value, FunctionType):
        return _slots_of_function(value) if is_users_function(value) else ()
    if isinstance(value, (list, tuple, dict)):
        return [Slot(value, k) for k in (tuple(value) if isinstance(value, dict) else range(len(value)))]
    if isinstance(value, functools.partial):
        return [Slot(value.args, i) for i in range(len(value.args))] + [Slot(value.keywords, k) for k in value.keywords]
    if isinstance(value, np.vectorize):
        return [Slot(value, "pyfunc", is_item=False)]
    if isinstance(value, type):
        return [] if is_library(value.__module__) else _slots_of_class(value)
    return _slots_of_object(value) if _is_users(value) else ()


def _slots_of_function(function: FunctionType) -> Iterator[Slot]:
    names = names_of(function)
    yield Slot(function, "__defaults__", is_item=False)
    yield from (Slot(cell, "cell_contents", is_item=False) for cell in function.__closure__ or ())
    yield from (Slot(function.__kwdefaults__, k) for k in function.__kwdefaults__ or ())
    yield from (Slot(vars(function), k) for k in tuple(vars(function)) if k != "__wrapped__")
    waiting, seen = [function.__globals__], set()
    while waiting:
        namespace = waiting.pop()
        if id(namespace) in seen:
            continue
        seen.add(id(namespace))
        for name in names:
            if name in namespace:
                yield Slot(namespace, name)
                found = namespace[name]
                if isinstance(found, ModuleType) and not is_library(found.__name__):
                    waiting.append(vars(found))


def _slots_of_class(cls: type) -> Iterator[Slot]:
    for owner in cls.__mro__:
        if not is_library(owner.__module__):
            for name, value in tuple(vars(owner).items()):
                if not isinstance(value, (GetSetDescriptorType, MemberDescriptorType)) and name not in _CLASS_NOISE:
                    yield ClassSlot(owner, name, is_item=False)


def _slots_of_object(value: Any) -> Iterator[Slot]:
    yield from (Slot(vars(value), k) for k in tuple(getattr(value, "__dict__", ())))
    for owner in type(value).__mro__:
        for name in np.atleast_1d(vars(owner).get("__slots__", ())):
            if name not in ("__dict__", "__weakref__"):
                yield Slot(value, str(name), is_item=False)


_CLASS_NOISE = {"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__qualname__", "__slots__",
                "__firstlineno__", "__static_attributes__", "__dataclass_fields__", "__dataclass_params__",
                "__match_args__", "__abstractmethods__", "_abc_impl", "__parameters__", "__orig_bases__"}  # fmt: skip


def _parts_of(value: Any) -> list[Any]:
    """What else a value leads to."""
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return [value.func]
    if isinstance(value, (staticmethod, classmethod)):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget]
    if isinstance(value, (set, frozenset)):
        return list(value)
    found = [getattr(value, "__wrapped__", None)] if not isinstance(value, type) else []
    return [*found, type(value)] if _is_users(value) else found


def is_users_function(function: FunctionType) -> bool:
    """Whether the user wrote a function (also by `exec`, where it belongs to no module)."""
    return not is_library(function.__globals__.get("__name__", ""))


def _is_users(value: Any) -> bool:
    """Whether a value is an object of a class that the user wrote."""
    return not is_library(type(value).__module__) and not isinstance(value, ModuleType)


def names_of(function: FunctionType) -> tuple[str, ...]:
    """The names that a function and the functions inside it look up."""
    return tuple(dict.fromkeys(n for code in codes_of(function.__code__) for n in code.co_names))


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions inside it."""
    waiting = [code]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [c for c in code.co_consts if isinstance(c, CodeType)]


def handles_exceptions(found: Iterable[tuple[Slot, Any]], function: Callable[..., Any]) -> bool:
    """Whether a function, or one that it can reach, has an `except` (or `with`) somewhere."""
    functions = [function, *(value for _, value in found)]
    plain = [getattr(getattr(f, "__wrapped__", f), "__func__", getattr(f, "__wrapped__", f)) for f in functions]
    return any(
        code.co_exceptiontable
        for f in plain
        if isinstance(f, FunctionType) and is_users_function(f)
        for code in codes_of(f.__code__)
    )


def is_data(value: Any, depth: int = 0) -> bool:
    """Whether a value is made of numbers, texts and numeric arrays alone."""
    if isinstance(value, _PLAIN):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiub"
    if depth > _DEEPEST:
        return False
    if type(value) in (list, tuple, set, frozenset):
        return all(is_data(v, depth + 1) for v in value)
    return type(value) is dict and all(is_data(k) and is_data(v, depth + 1) for k, v in value.items())
