"""What a function can reach: the helpers that it calls, and the names that they look up.

Two things need to know: the stand-ins for `math` (patches.py), and the snapshot of outside values that tells whether a
traced program is still the function's (`Snapshot`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np


def namespaces(function: Callable[..., Any]) -> Iterator[tuple[Any, list[str]]]:
    """The namespaces and closures that a function and its helpers look names up in, with the names that they use."""
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        found = _as_function(waiting.pop(), waiting)
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        names = [n for code in _codes(found.__code__) for n in code.co_names]
        yield found.__globals__, names
        yield found, names
        waiting += [contents(cell) for cell in found.__closure__ or ()]
        for name in names:
            value = found.__globals__.get(name)
            if isinstance(value, ModuleType) and not _is_foreign(value.__name__):
                waiting += [vars(value).get(n) for n in names]
            else:
                waiting.append(value)


def _as_function(value: Any, waiting: list[Any]) -> FunctionType | None:
    """The Python function behind a value; what else it leads to is put on the list."""
    if isinstance(value, FunctionType):
        waiting.append(getattr(value, "__wrapped__", None))
        return None if _is_foreign(value.__module__ or "") else value
    if isinstance(value, MethodType):
        waiting.append(type(value.__self__))
        return _as_function(value.__func__, waiting)
    if isinstance(value, type):
        if not _is_foreign(value.__module__):
            waiting.extend(v for c in value.__mro__[:-1] for v in vars(c).values() if isinstance(v, FunctionType))
    elif hasattr(value, "func") and hasattr(value, "keywords"):  # functools.partial
        waiting.append(value.func)
    elif hasattr(value, "__wrapped__"):
        waiting.append(value.__wrapped__)
    elif callable(value) and not isinstance(value, (BuiltinFunctionType, np.ufunc)):
        waiting.append(type(value))
    return None


def _is_foreign(module: str) -> bool:
    root = module.partition(".")[0]
    return root in {"numpy", "scipy", "sympy", "mpmath", "gradexplain", "builtins"} or (
        root in sys.stdlib_module_names and root != "__main__"
    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    waiting = [code]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [c for c in code.co_consts if isinstance(c, CodeType)]


def contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a cell that is still empty
        return None


_PLAIN = (int, float, str, bytes, type(None), complex, np.generic)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The outside values that a function uses: where they are looked up, and copies of what they were.

    `is_complete` says whether all of them could be copied; if not, the function has to be traced anew at each call.
    """

    values: tuple[tuple[Callable[[], Any], Any], ...]
    is_complete: bool

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Snapshot:
        """Looks at everything that a function reads from its globals and closures."""
        if not isinstance(function, (FunctionType, np.ufunc)):
            return cls((), is_complete=False)
        values: list[tuple[Callable[[], Any], Any]] = []
        for target, names in namespaces(function):
            getters = [_global(target, n) for n in names if n in target] if isinstance(target, dict) else _cells(target)
            for getter in getters:
                value = getter()
                if isinstance(value, (FunctionType, ModuleType, type, BuiltinFunctionType, np.ufunc)) or _is_library(
                    value
                ):
                    values.append((getter, value))
                elif isinstance(value, _PLAIN) or _is_data(value):
                    values.append((getter, _copy(value)))
                else:
                    return cls((), is_complete=False)
        return cls(tuple(values), is_complete=True)

    def is_current(self) -> bool:
        """Whether the outside values are still what they were."""
        return self.is_complete and all(_same(getter(), value) for getter, value in self.values)


def _global(namespace: dict[str, Any], name: str) -> Callable[[], Any]:
    return lambda: namespace.get(name)


def _cells(function: FunctionType) -> list[Callable[[], Any]]:
    return [lambda c=cell: contents(c) for cell in function.__closure__ or ()]  # type: ignore[misc]


def _is_library(value: Any) -> bool:
    return callable(value) and _is_foreign(getattr(type(value), "__module__", ""))


def _is_data(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiub"
    if isinstance(value, (list, tuple)):
        return all(isinstance(v, _PLAIN) or _is_data(v) for v in value)
    return isinstance(value, dict) and all(isinstance(v, _PLAIN) or _is_data(v) for v in value.values())


def _copy(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple)):
        return type(value)(_copy(v) for v in value)
    return {k: _copy(v) for k, v in value.items()} if isinstance(value, dict) else value


def _same(now: Any, then: Any) -> bool:
    if now is then:
        return True
    if type(now) is not type(then):
        return False
    if isinstance(now, np.ndarray):
        return (
            now.shape == then.shape
            and now.dtype == then.dtype
            and bool(np.array_equal(now, then, equal_nan=now.dtype.kind == "f"))
        )
    if isinstance(now, (list, tuple)):
        return len(now) == len(then) and all(map(_same, now, then))
    if isinstance(now, dict):
        return now.keys() == then.keys() and all(_same(now[k], then[k]) for k in now)
    return isinstance(now, _PLAIN) and bool(now == then or now != now)
