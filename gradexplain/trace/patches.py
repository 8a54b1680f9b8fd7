"""What NumPy's protocols can't reach: `math` functions and array constructors, replaced while a trace runs.

`math.sin(x)` and `from math import sin` would turn a traced value into a float; `np.zeros(n)` makes a buffer that can't
hold one; `np.array([x, y])` does not ask. Their stand-ins look at the arguments and do for plain values just what the
originals do, so other threads and nested calls are not disturbed; the originals come back with the end of the last trace.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from gradexplain.graph import constant
from gradexplain.ops.mathematics import MATH
from gradexplain.trace.numpy_protocol import on_function, wrapped
from gradexplain.trace.reach import contents, namespaces
from gradexplain.trace.tracer import Tracer, innermost, nodes_in, stack

_lock = threading.RLock()
_replaced: list[tuple[Callable[[Any], None], Any]] = []  # how to put back, and what
_active = 0


class Patches:
    """A context in which the functions that a user's function can reach know tracers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __enter__(self) -> None:
        global _active
        with _lock:
            _active += 1
            if _active == 1:
                _patch_namespace(vars(math), list(vars(math)))
                _patch_namespace(vars(np), list(_ORIGINAL))
                _replaced.append((lambda value: setattr(np.vectorize, "__call__", value), np.vectorize.__call__))
                np.vectorize.__call__ = _vectorized(np.vectorize.__call__)  # type: ignore[method-assign]
            for target, names in namespaces(self.function):
                target_patch = _patch_namespace if isinstance(target, dict) else _patch_cells
                target_patch(target, names)

    def __exit__(self, *_: object) -> None:
        global _active
        with _lock:
            _active -= 1
            if _active == 0:
                while _replaced:
                    put_back, original = _replaced.pop()
                    put_back(original)


def _patch_namespace(namespace: dict[str, Any], names: list[str]) -> None:
    for name in names:
        original = namespace.get(name)
        stand_in = _stand_in(original)
        if stand_in is not None:
            _replaced.append((lambda value, n=name: namespace.__setitem__(n, value), original))
            namespace[name] = stand_in


def _patch_cells(function: Any, names: list[str]) -> None:
    for cell in function.__closure__ or ():
        stand_in = _stand_in(contents(cell))
        if stand_in is not None:
            _replaced.append((lambda value, c=cell: setattr(c, "cell_contents", value), cell.cell_contents))
            cell.cell_contents = stand_in
    defaults = function.__defaults__ or ()
    if any(_stand_in(d) is not None for d in defaults):
        _replaced.append((lambda value: setattr(function, "__defaults__", value), defaults))
        function.__defaults__ = tuple(_stand_in(d) or d for d in defaults)


def _stand_in(original: Any) -> Any:
    try:
        return _STAND_INS.get(original)
    except TypeError:  # unhashable, so none of ours
        return None


def _math_stand_in(original: Callable[..., Any], on_nodes: Callable[..., Any]) -> Callable[..., Any]:
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        args = tuple(_listed(a) for a in args)
        found = [t for a in args for t in ([a] if type(a) is Tracer else a if type(a) is list else ())]
        found = [t for t in found if type(t) is Tracer]
        if not found:
            return original(*args, **kwargs)
        return wrapped(innermost(found), on_nodes(*nodes_in(args), **nodes_in(kwargs)))

    stand_in.__name__ = original.__name__
    return stand_in


def _listed(value: Any) -> Any:
    """An iterable that may yield tracers, read once into a list."""
    if type(value) is Tracer and value.shape:
        return list(value)
    return list(value) if hasattr(value, "__next__") or type(value) is tuple else value


def _array_stand_in(original: Callable[..., Any]) -> Callable[..., Any]:
    """`np.array([x, y])` of traced values stacks them; `np.asarray(x)` is x."""

    def stand_in(value: Any = None, *args: Any, **kwargs: Any) -> Any:
        if type(value) is Tracer:
            return value.copy() if original is _ORIGINAL["array"] else value
        if type(value) in (list, tuple) and _holds_tracer(value):
            return _stacked(value)
        return original(value, *args, **kwargs)

    stand_in.__name__ = original.__name__
    return stand_in


def _holds_tracer(value: Any) -> bool:
    return type(value) is Tracer or (type(value) in (list, tuple) and any(map(_holds_tracer, value)))


def _stacked(value: Any) -> Any:
    rows = [_stacked(v) if type(v) in (list, tuple) and _holds_tracer(v) else v for v in value]
    return on_function(np.stack, (rows,), {})


def _buffer_stand_in(original: Callable[..., Any]) -> Callable[..., Any]:
    """`np.zeros(n)` or `np.zeros_like(x)` in a traced function is an array that can take traced values."""

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        if any(type(a) is Tracer for a in args[1:]) or type(kwargs.get("fill_value")) is Tracer:  # np.full(3, x)
            fill = kwargs.get("fill_value", args[-1])
            shape = args[0] if original is _ORIGINAL["full"] else np.shape(args[0])
            return np.broadcast_to(fill, shape).copy()
        if args and type(args[0]) is Tracer:
            args = (_ORIGINAL["zeros"](args[0].shape), *args[1:])
        array = original(*args, **kwargs)
        running = stack()
        if not running or array.dtype.kind != "f" or not array.shape or _called_from_library():
            return array
        return Tracer(running[-1], constant(array))

    stand_in.__name__ = original.__name__
    return stand_in


def _vectorized(original: Callable[..., Any]) -> Callable[..., Any]:
    """`np.vectorize(f)(x)` of a traced x: f of every entry, stacked."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs or self.signature or not any(type(a) is Tracer for a in args):
            return original(self, *args, **kwargs)
        shape = np.broadcast_shapes(*[np.shape(a) for a in args])
        spread = [np.ravel(np.broadcast_to(a, shape)) for a in args]
        entries = [self.pyfunc(*[a[i] for a in spread]) for i in range(spread[0].size)]
        return np.reshape(on_function(np.stack, (entries,), {}), shape)

    return call


def _called_from_library() -> bool:
    """Whether a stand-in was called by NumPy's own code, which must get what it expects."""
    module: str = sys._getframe(2).f_globals.get("__name__", "")
    return module.startswith(("numpy.", "scipy.", "gradexplain."))


class _Cast(type):
    """The type of the stand-ins for `np.float32` and the like: called on a traced value they keep the trace."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__base__)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.__base__)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is Tracer:
            return args[0].copy()
        return cls.__base__(*args, **kwargs)


_ARRAYS = ("array", "asarray", "asanyarray", "ascontiguousarray")
_BUFFERS = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like")
_CASTS = ("float32", "float64")
_ORIGINAL = {n: getattr(np, n) for n in (*_ARRAYS, *_BUFFERS, *_CASTS)}
_STAND_INS: dict[Any, Any] = {
    **{getattr(math, n): _math_stand_in(getattr(math, n), f) for n, f in MATH.items() if hasattr(math, n)},
    **{_ORIGINAL[n]: _array_stand_in(_ORIGINAL[n]) for n in _ARRAYS},
    **{_ORIGINAL[n]: _buffer_stand_in(_ORIGINAL[n]) for n in _BUFFERS},
    **{_ORIGINAL[n]: _Cast(n, (_ORIGINAL[n],), {}) for n in _CASTS},
}
