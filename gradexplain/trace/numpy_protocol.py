"""NumPy's two protocols: which function of the table a NumPy call on a traced value stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradexplain.graph import Node, Primitive
from gradexplain.ops.special import SPECIAL
from gradexplain.primitive import NUMPY
from gradexplain.trace.exits import no_rule, plain_buffer
from gradexplain.trace.source import library_function
from gradexplain.trace.tracer import Trace, Tracer, innermost, nodes_in, protocol, record, wrap
from gradexplain.trace.views import view_of

# A ufunc's methods, as the functions that do the same.
_REDUCE: dict[Any, Any] = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
           np.logical_and: np.all, np.logical_or: np.any}  # fmt: skip
_ACCUMULATE: dict[Any, Any] = {np.add: np.cumsum, np.multiply: np.cumprod}
# Functions whose result has a shape that depends on a condition: of a traced one its values at the point are taken.
_COUNTING = {np.nonzero, np.flatnonzero, np.argwhere, np.extract, np.compress}
_WHERE = np.where  # (while a trace runs, np.where is a stand-in)
# What does the same as NumPy's function, but with calls of functions or a loop; entered by callbacks.py.
INSTEAD: dict[Any, Callable[..., Any]] = {}


def on_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`__array_ufunc__`: `np.sin(x)`, `2.0 * x` with a NumPy scalar on the left, `np.add.reduce(x)`, …"""
    out = kwargs.pop("out", None)
    if method == "reduce" and ufunc in _REDUCE:
        kwargs.setdefault("axis", 0)
        result = on_function(_REDUCE[ufunc], inputs, kwargs)
    elif method == "accumulate" and ufunc in _ACCUMULATE:
        kwargs.setdefault("axis", 0)
        result = on_function(_ACCUMULATE[ufunc], inputs, kwargs)
    elif method == "outer" and len(inputs) == 2:
        a, b = (np.asarray(x) if type(x) is not Tracer else x for x in inputs)
        result = on_ufunc(ufunc, "__call__", (np.reshape(a, a.shape + (1,) * b.ndim), b), kwargs)
    elif method == "__call__":
        result = _call_ufunc(ufunc, inputs, kwargs)
    else:
        no_rule(f"np.{ufunc.__name__}.{method}")
    return result if out is None else _write_out(out[0], result)


def _call_ufunc(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    on_nodes = NUMPY.get(ufunc) or SPECIAL.get(ufunc.__name__)
    name = f"{'np' if hasattr(np, ufunc.__name__) else 'scipy.special'}.{ufunc.__name__.lstrip('_')}"
    if on_nodes is None:
        return _without_rule(ufunc, name, inputs, kwargs)
    kwargs.pop("dtype", None)
    if kwargs:
        no_rule(f"{name} with the argument {next(iter(kwargs))}=")
    if isinstance(on_nodes, Primitive):
        return record(on_nodes, *inputs)
    trace = innermost(_tracers(inputs))
    return wrapped(trace, on_nodes(*nodes_in(inputs)))


def on_function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`__array_function__`: `np.sum(x, axis=0)`, `np.linalg.inv(A)`, `np.concatenate([x, y])`, …"""
    if function in INSTEAD:
        return INSTEAD[function](*args, **kwargs)
    on_nodes = NUMPY.get(function)
    if on_nodes is None:
        name = f"{getattr(function, '__module__', 'numpy')}.{function.__name__}".replace("numpy", "np")
        return _without_rule(function, name, args, kwargs)
    trace = innermost(list(_tracers((args, kwargs))))
    if function in _COUNTING or (function is _WHERE and len(args) == 1):
        return _counted(trace, function, args, kwargs)
    out = kwargs.get("out")
    kwargs = {k: nodes_in(v) for k, v in kwargs.items() if k != "out" and not _says_nothing(k, v)}
    result = wrapped(trace, on_nodes(*nodes_in(args), **kwargs))
    if args and type(args[0]) is Tracer and type(result) is Tracer:
        view = view_of(function, args[0].shape, result.shape, *args[1:], **kwargs)
        result = result if view is None else args[0].viewed(result, view)
    return result if out is None else _write_out(out, result)


def _counted(trace: Trace, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    condition, *rest = args
    if type(condition) is Tracer:
        condition = trace.settle((condition != 0).node if condition.node.kind != "bool" else condition.node)
    if not rest:
        return function(condition)
    return wrapped(trace, NUMPY[function](condition, *nodes_in(rest), **{k: nodes_in(v) for k, v in kwargs.items()}))


def _says_nothing(name: str, value: Any) -> bool:
    """Whether an argument only says what is so anyway."""
    return value is np._NoValue or (name == "dtype" and (value is None or np.dtype(value).kind == "f"))


def wrapped(trace: Trace, result: Any) -> Any:
    """Nodes of a result as tracers, inside tuples and lists too."""
    if type(result) is Node:
        return wrap(trace, result)
    if type(result) in (tuple, list):
        return type(result)(wrapped(trace, r) for r in result)
    if isinstance(result, tuple):  # a named tuple, such as that of np.linalg.eigh
        return type(result)(*(wrapped(trace, r) for r in result))
    return result


def _tracers(value: Any) -> Iterator[Tracer]:
    if type(value) is Tracer:
        yield value
    elif type(value) in (list, tuple):
        for v in value:
            yield from _tracers(v)
    elif type(value) is dict:
        yield from _tracers(list(value.values()))


def holds_tracer(value: Any) -> bool:
    """Whether a value is traced, or a list or tuple that holds a traced value."""
    return next(_tracers(value), None) is not None


def _without_rule(function: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Functions that have no row still work on values that depend on no argument."""
    if not all(t.is_constant for t in _tracers((args, kwargs))):
        no_rule(library_function() or name)
    return function(*_plain(args), **{k: _plain(v) for k, v in kwargs.items()})


def _plain(value: Any) -> Any:
    if type(value) is Tracer:
        return value.value
    if type(value) in (list, tuple):
        return type(value)(_plain(v) for v in value)
    return value


def _write_out(target: Any, result: Any) -> Any:
    if type(target) is not Tracer:
        plain_buffer()
    target[...] = result
    return target


protocol.update(ufunc=on_ufunc, function=on_function)
