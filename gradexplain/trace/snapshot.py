"""Whether a function still is what it was: a snapshot of the outside values that it reads, and a fast test of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from gradexplain.lambdify import defined
from gradexplain.trace.reach import MOST_PLACES, ClassSlot, Slot, is_data, slots
from gradexplain.trace.source import is_library

_SAME_FOR_EVER = (int, float, str, bytes, type(None), complex, np.generic, CodeType)
_FOLLOWED = (FunctionType, MethodType, ModuleType, type, staticmethod, classmethod, property, functools.partial, list,
             dict, tuple)  # fmt: skip


def snapshot(function: Callable[..., Any]) -> Callable[[], bool] | None:
    """A test that tells whether all outside values of the function are what they are now.

    None if it can't be told, because the function reads a value that changes in ways of its own (an open file, a random
    generator): then it has to be traced anew at each call.
    """
    test = _Test()
    if not _is_followed(function):
        return None
    owner = function.__self__ if isinstance(function, MethodType) else function
    if not isinstance(owner, FunctionType):
        test.add(Slot({"owner": owner}, "owner"), owner)
    for count, (slot, value) in enumerate(slots(function), start=1):
        if count == MOST_PLACES:
            return None
        if not (slot.key == "__defaults__" and value is None) and not test.add(slot, value):
            return None
    return test.compiled()


def _is_followed(value: Any) -> bool:
    """Whether identity, and a look at its parts, tells that a value is what it was."""
    if isinstance(value, (*_FOLLOWED, *_SAME_FOR_EVER, BuiltinFunctionType, np.ufunc, np.vectorize)):
        return True
    if hasattr(value, "__wrapped__") or not is_library(type(value).__module__):
        return True
    return callable(value) and not hasattr(value, "__dict__")


class _Test:
    """Collects comparisons and makes one function of them; it costs about 20 ns a value."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        gone = (LookupError, AttributeError, ValueError, TypeError)  # what was there is gone, or of another kind
        self.space: dict[str, Any] = {"getattr": getattr, "vars": vars, "len": len, "same": same, "errors": gone}

    def add(self, slot: Slot, value: Any) -> bool:
        """Compares what the slot holds with the value of now; False if that can't be told."""
        if is_data(value) and not isinstance(value, _SAME_FOR_EVER):
            if isinstance(value, np.ndarray) and value.flags.c_contiguous:
                self._write("{0}.tobytes() == {1} and {0}.shape == {2}", slot, value.tobytes(), value.shape)
            else:
                self._write("same({0}, {1})", slot, _copy(value))
            return True
        if not _is_followed(value):
            return False
        self._write("{0} is {1}", slot, value)
        if isinstance(value, FunctionType):
            self._write("{0}.__code__ is {1}", slot, value.__code__)
        elif isinstance(value, (list, dict)):
            self._write("len({0}) == {1}", slot, len(value))
        elif hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType)):
            self._write("len(vars({0})) == {1}", slot, len(vars(value)))
        return True

    def _write(self, template: str, slot: Slot, *values: Any) -> None:
        n = len(self.space)
        self.space |= {f"h{n}": slot.holder, f"k{n}": slot.key, **{f"v{n}_{i}": v for i, v in enumerate(values)}}
        held = f"h{n}[k{n}]" if slot.is_item else f"getattr(h{n}, k{n})"
        if isinstance(slot, ClassSlot):
            held = f"vars(h{n})[k{n}]"
        self.parts.append(template.format(held, *(f"v{n}_{i}" for i in range(len(values)))))

    def compiled(self) -> Callable[[], bool]:
        if not self.parts:
            return nothing_to_check
        lines = " and ".join(dict.fromkeys(self.parts))
        text = f"def test():\n    try:\n        return {lines}\n    except errors:\n        return False\n"
        return defined("test", text, self.space)


def nothing_to_check() -> bool:
    """The test of a function that reads no outside value."""
    return True


def _copy(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple)):
        return type(value)(_copy(v) for v in value)
    return {k: _copy(v) for k, v in value.items()} if isinstance(value, dict) else value


def same(now: Any, then: Any) -> bool:
    """Whether two pieces of data are of one kind and equal; nan equals nan."""
    if type(now) is not type(then):
        return False
    if isinstance(now, np.ndarray):
        is_same = now.shape == then.shape and now.dtype == then.dtype
        return is_same and bool(np.array_equal(now, then, equal_nan=now.dtype.kind == "f"))
    if isinstance(now, (list, tuple)):
        return len(now) == len(then) and all(map(same, now, then))
    if isinstance(now, dict):
        return now.keys() == then.keys() and all(same(now[k], then[k]) for k in now)
    return bool(now == then) or (now != now and then != then)
