"""NumPy's two protocols: which function of the table a NumPy call on a traced value stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from gradexplain.errors import NoRuleError
from gradexplain.graph import Node, Primitive
from gradexplain.ops.special import SPECIAL
from gradexplain.primitive import NUMPY
from gradexplain.trace.source import place
from gradexplain.trace.tracer import Trace, Tracer, depends_on_variables, innermost, nodes_in, protocol, record

# A ufunc's methods, as the functions that do the same.
_REDUCE = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
           np.logical_and: np.all, np.logical_or: np.any}  # fmt: skip
_ACCUMULATE = {np.add: np.cumsum, np.multiply: np.cumprod}


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
        _no_rule(f"np.{ufunc.__name__}.{method}")
    return result if out is None else _write_out(out[0], result)


def _call_ufunc(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    on_nodes = NUMPY.get(ufunc) or SPECIAL.get(ufunc.__name__)
    if on_nodes is None:
        return _without_rule(ufunc, f"np.{ufunc.__name__}", inputs, kwargs)
    kwargs.pop("dtype", None)
    if kwargs:
        _no_rule(f"np.{ufunc.__name__} with the argument {next(iter(kwargs))}=")
    if isinstance(on_nodes, Primitive):
        return record(on_nodes, *inputs)
    trace = innermost(inputs)
    return wrapped(trace, on_nodes(*nodes_in(inputs)))


def on_function(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """`__array_function__`: `np.sum(x, axis=0)`, `np.linalg.inv(A)`, `np.concatenate([x, y])`, …"""
    on_nodes = NUMPY.get(function)
    name = f"{getattr(function, '__module__', 'numpy')}.{function.__name__}".replace("numpy", "np")
    if on_nodes is None:
        return _without_rule(function, name, args, kwargs)
    trace = innermost(list(_tracers((args, kwargs))))
    kwargs = {k: nodes_in(v) for k, v in kwargs.items() if not (k == "dtype" and _is_float(v))}
    out = kwargs.pop("out", None)
    result = wrapped(trace, on_nodes(*nodes_in(args), **kwargs))
    return result if out is None else _write_out(out, result)


def _is_float(dtype: Any) -> bool:
    return dtype is None or np.dtype(dtype).kind == "f"


def wrapped(trace: Trace, result: Any) -> Any:
    """Nodes of a result as tracers, inside tuples and lists too."""
    if type(result) is Node:
        return trace.wrap(result)
    if type(result) in (tuple, list):
        return type(result)(wrapped(trace, r) for r in result)
    if isinstance(result, tuple):  # a named tuple, such as that of np.linalg.eigh
        return type(result)(*(wrapped(trace, r) for r in result))
    return result


def _tracers(value: Any) -> list[Tracer]:
    if type(value) is Tracer:
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if type(value) in (list, tuple):
        return [t for v in value for t in _tracers(v)]
    return []


def _without_rule(function: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Functions that have no row still work on values that depend on no argument."""
    if any(depends_on_variables(t.node) for t in _tracers((args, kwargs))):
        _no_rule(name)
    return function(*_plain(args), **{k: _plain(v) for k, v in kwargs.items()})


def _plain(value: Any) -> Any:
    if type(value) is Tracer:
        return value.value
    if type(value) in (list, tuple):
        return type(value)(_plain(v) for v in value)
    return value


def _write_out(target: Any, result: Any) -> Any:
    if type(target) is not Tracer:
        _no_rule("a NumPy array as out=")
    target._write(result.node)
    return target


def _no_rule(name: str) -> NoReturn:
    raise NoRuleError(
        f"{name} has no derivative rule",
        where=place(),
        why="it was called on a traced value and is not in the table of derivatives",
        fix="write it with functions that are, or give it a row of its own (see docs/table-of-derivatives.md)",
    )


protocol.update(ufunc=on_ufunc, function=on_function)
