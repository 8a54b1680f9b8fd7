"""Functions that stand in for those of `math`, NumPy and SciPy which NumPy's protocols do not reach.

`math.sin(x)` would ask for a float, `np.zeros(n)` makes a buffer that holds no traced value, `np.array([x, y])` does
not ask at all. Each stand-in looks at its arguments and does for plain values just what the original does.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import sys
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from gradexplain.graph import constant
from gradexplain.ops import elementary, ordering
from gradexplain.ops.mathematics import MATH, UNSUPPORTED
from gradexplain.ops.special import SPECIAL
from gradexplain.primitive import NUMPY
from gradexplain.trace.callbacks import collected, enumerated, iterated
from gradexplain.trace.exits import no_rule
from gradexplain.trace.numpy_protocol import holds_tracer, on_function, wrapped
from gradexplain.trace.source import is_library
from gradexplain.trace.tracer import Trace, Tracer, innermost, nodes_in, stack


class StandIn:
    """A function in place of `original`; to everyone who asks it is the original."""

    __slots__ = ("__wrapped__", "_on_traced")

    def __init__(self, original: Any, on_traced: Callable[..., Any]) -> None:
        self.__wrapped__, self._on_traced = original, on_traced

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for a in args:
            if type(a) is Tracer or (type(a) in (list, tuple) and holds_tracer(a)):
                return self._on_traced(*args, **kwargs)
        if kwargs and holds_tracer(list(kwargs.values())):
            return self._on_traced(*args, **kwargs)
        return self.__wrapped__(*args, **kwargs)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.__wrapped__)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.__wrapped__, name)
        return _on_sequences(found) if name in ("reduce", "accumulate", "outer") else found

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self.__wrapped__

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> Any:
        return self.__wrapped__.__reduce__()


def stand_in_for(value: Any) -> Any:
    """What stands in for a function, or for a value that holds one; None if nothing has to."""
    if type(value) is StandIn:
        return None
    if type(value) is tuple:
        return _in_tuple(value)
    if isinstance(value, staticmethod):
        inner = stand_in_for(value.__func__)
        return None if inner is None else staticmethod(inner)
    if isinstance(value, functools.partial):
        parts = _in_tuple((value.func, *value.args, *value.keywords.values()))
        if parts is None:
            return None
        count = len(value.args) + 1
        return functools.partial(parts[0], *parts[1:count], **dict(zip(value.keywords, parts[count:], strict=True)))
    try:
        return _STAND_INS.get(value) or _from_scipy(value)
    except TypeError:  # unhashable, so none of ours
        return None


def _in_tuple(values: tuple[Any, ...]) -> tuple[Any, ...] | None:
    parts = [stand_in_for(v) for v in values]
    if all(p is None for p in parts):
        return None
    return tuple(v if p is None else p for v, p in zip(values, parts, strict=True))


# `math`


def _in_math(original: Callable[..., Any], on_nodes: Callable[..., Any]) -> StandIn:
    def on_traced(*args: Any, **kwargs: Any) -> Any:
        args = tuple(list(a) if type(a) is Tracer and a.shape and original in _OF_SEQUENCES else a for a in args)
        trace = innermost([t for a in args for t in (a if type(a) in (list, tuple) else [a])])
        node = on_nodes(*nodes_in(args), **nodes_in(kwargs))
        if not isinstance(node, tuple) and node.kind == "float":
            trace.by_math[node] = None
            if trace.strict:
                _compute_strictly(trace, node, original, args)
        return wrapped(trace, node)

    return StandIn(original, on_traced)


def _compute_strictly(trace: Trace, node: Any, original: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Raises the error that the original raises at these numbers: the function may expect it."""
    if trace.fails(ordering.logical_not(elementary.isfinite(node))):
        original(*(a.value if type(a) is Tracer else a for a in args))


class _Reading(StandIn):
    """A stand-in that has to read an iterable before it knows what is in it."""

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*(list(a) if hasattr(a, "__next__") else a for a in args), **kwargs)


def _refused_in_math(name: str) -> StandIn:
    return StandIn(getattr(math, name), lambda *_, **__: no_rule(f"math.{name}"))


# Arrays


def _array(original: Callable[..., Any]) -> Callable[..., Any]:
    """`np.array([x, y])` of traced values stacks them, `np.asarray(x)` is x; arrays made so can hold them."""
    copies = original in (np.array, np.copy)

    @functools.wraps(original)
    def stand_in(value: Any = None, *args: Any, **kwargs: Any) -> Any:
        dtype = args[0] if args else kwargs.get("dtype")
        if type(value) in (list, tuple) and holds_tracer(value):
            value = _stacked(value)
            return value if dtype in (None, object) else value.astype(dtype)
        if type(value) is Tracer:
            value = value if dtype is None or np.dtype(dtype) == value.dtype else value.astype(dtype)
            return value.copy() if copies and kwargs.get("copy", True) is True else value
        array = original(value, *args, **kwargs)
        return _traced_buffer(array) if array is not value and copies else array

    return stand_in


def _stacked(value: Any) -> Any:
    rows = [_stacked(v) if type(v) in (list, tuple) and holds_tracer(v) else v for v in value]
    return on_function(np.stack, (rows,), {})


def _buffer(original: Callable[..., Any]) -> Callable[..., Any]:
    """`np.zeros(n)`, `np.zeros_like(x)` or `np.linspace(0, 1, 5)` in a traced function can take traced values."""

    @functools.wraps(original)
    def stand_in(*args: Any, **kwargs: Any) -> Any:
        if any(type(a) is Tracer and a.node.kind == "float" for a in args[1:]) or holds_tracer(list(kwargs.values())):
            return _filled(original, args, kwargs)
        if args and type(args[0]) is Tracer and original in _LIKE:
            args = (np.broadcast_to(0 if args[0].node.kind == "int" else 0.0, args[0].shape), *args[1:])
        elif args and type(args[0]) is Tracer and original in _SIZED:
            args = (operator.index(args[0]), *args[1:])
        elif args and type(args[0]) is Tracer:
            return on_function(original, args, kwargs)
        return _traced_buffer(original(*args, **kwargs))

    return stand_in


def _filled(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.full(3, x)` and `np.full_like(a, x)`; other functions have a rule or none."""
    if original not in (_ORIGINAL["full"], _ORIGINAL["full_like"]):
        return on_function(original, args, kwargs)
    fill = kwargs.get("fill_value", args[-1])
    shape = args[0] if original is _ORIGINAL["full"] else np.shape(args[0])
    return np.broadcast_to(fill, shape).copy()


def _traced_buffer(array: Any) -> Any:
    running = stack()
    if not running or type(array) is not np.ndarray or array.dtype.kind != "f" or not array.shape:
        return array
    if is_library(sys._getframe(2).f_globals.get("__name__", "")):  # NumPy's own code must get what it expects
        return array
    return Tracer(running[-1], constant(array))


class _Cast(type):
    """The type of the stand-ins for `np.float32` and the like: called on a traced value they keep the trace."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.__mro__[1])

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is Tracer:
            return args[0].copy()
        return cls.__mro__[1](*args, **kwargs)


# SciPy: the functions of scipy.special that have rows, and those of scipy.linalg that NumPy has too.
_LINALG = ("det", "inv", "norm", "pinv", "solve", "eigvalsh", "eigh")


def _from_scipy(value: Any) -> Any:
    module, name = getattr(value, "__module__", None) or "", getattr(value, "__name__", "")
    if not module.startswith("scipy.") or not inspect.isfunction(value):
        return None
    if module.startswith("scipy.special") and name in SPECIAL:
        on_nodes = SPECIAL[name]
    elif module.startswith("scipy.linalg") and name in _LINALG:
        on_nodes = NUMPY[getattr(np.linalg, name)]
    else:
        return None

    def on_traced(*args: Any, **kwargs: Any) -> Any:
        trace = innermost([t for t in (*args, *kwargs.values()) if type(t) is Tracer])
        return wrapped(trace, on_nodes(*nodes_in(args), **{k: nodes_in(v) for k, v in kwargs.items()}))

    _STAND_INS[value] = StandIn(value, on_traced)
    return _STAND_INS[value]


def _on_sequences(function: Any) -> StandIn:
    """`np.sum([x, y])`, `np.maximum([x, y], 1)`: NumPy's protocols look at arguments, but not into lists."""
    if not inspect.isroutine(function) or isinstance(function, BuiltinFunctionType):  # a ufunc, or a method of one
        return StandIn(function, lambda *args, **kwargs: function(*_as_arrays(args), **kwargs))
    return StandIn(function, lambda *args, **kwargs: on_function(function, args, kwargs))


def _as_arrays(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_stacked(a) if type(a) in (list, tuple) and holds_tracer(a) else a for a in args)


_OF_SEQUENCES = [getattr(math, n) for n in ("dist", "prod", "fsum", "sumprod") if hasattr(math, n)]
_ARRAYS = ("array", "asarray", "asanyarray", "ascontiguousarray", "copy")
_BUFFERS = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like",
            "arange", "linspace", "logspace", "geomspace", "eye", "identity", "tri")  # fmt: skip
_CASTS = ("float32", "float64")
_ORIGINAL: dict[str, Any] = {n: getattr(np, n) for n in (*_ARRAYS, *_BUFFERS, *_CASTS)}
_LIKE = [_ORIGINAL[n] for n in ("zeros_like", "ones_like", "empty_like", "full_like")]
_SIZED = [_ORIGINAL[n] for n in ("zeros", "ones", "empty", "full", "eye", "identity", "tri")]
_STAND_INS: dict[Any, Any] = {
    **{f: _on_sequences(f) for f in NUMPY if getattr(np, getattr(f, "__name__", ""), None) is f},
    **{f: _on_sequences(f) for f in NUMPY if getattr(np.linalg, getattr(f, "__name__", ""), None) is f},
    **{getattr(math, n): _refused_in_math(n) for n in UNSUPPORTED if hasattr(math, n)},
    **{getattr(math, n): _in_math(getattr(math, n), f) for n, f in MATH.items() if hasattr(math, n)},
    **{_ORIGINAL[n]: _array(_ORIGINAL[n]) for n in _ARRAYS},
    **{_ORIGINAL[n]: _buffer(_ORIGINAL[n]) for n in _BUFFERS},
    **{_ORIGINAL[n]: _Cast(n, (_ORIGINAL[n],), {}) for n in _CASTS},
    np.ndenumerate: StandIn(np.ndenumerate, enumerated),
    np.nditer: StandIn(np.nditer, iterated),
    np.fromiter: functools.wraps(np.fromiter)(functools.partial(collected, np.fromiter)),
}
for _function in _OF_SEQUENCES:
    _STAND_INS[_function] = _Reading(_function, _STAND_INS[_function]._on_traced)
