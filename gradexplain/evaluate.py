"""Graphs on numbers: float64 arrays (`evaluate`), or mpmath numbers of any precision (`evaluate_exact`).

Both walk the topological order once, so depth and sharing cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from gradexplain.graph import CONSTANT, Fixed, Node
from gradexplain.numbers import exact_number
from gradexplain.shapes import Shape

_LARGEST_MAGNITUDE = 20_000  # binary digits before the point


def evaluate(outputs: Sequence[Node], values: MutableMapping[Node, Any]) -> list[Any]:
    """The outputs in float64. `values` holds the variables; what is computed on the way is added to it.

    >>> from gradexplain.graph import variable
    >>> x = variable("x")
    >>> evaluate([x * x + 1], {x: 3.0})
    [np.float64(10.0)]
    """
    with np.errstate(all="ignore"):
        for node in missing(outputs, values):
            values[node] = _constant_value(node) if node.op is CONSTANT else _apply(node, values)
    return [values[n] for n in outputs]


def _apply(node: Node, values: Mapping[Node, Any]) -> Any:
    return node.op.value(*[values[n] for n in node.inputs], **node.params)


def missing(outputs: Sequence[Node], values: Mapping[Node, Any]) -> list[Node]:
    """The nodes that have to be computed, in order; the walk stops at what has a value already."""
    seen: dict[int, Node] = {}
    waiting = [n for n in outputs if n not in values]
    while waiting:
        node = waiting.pop()
        if node.index not in seen:
            seen[node.index] = node
            waiting.extend(n for n in node.inputs if n.index not in seen and n not in values)
    return [seen[i] for i in sorted(seen)]


def _constant_value(node: Node) -> Any:
    data = node.data
    if isinstance(data, Fixed):
        return data.array
    return float(data) if isinstance(data, (int, Fraction)) and not isinstance(data, bool) else data


def evaluate_exact(outputs: Sequence[Node], values: Mapping[Node, Any]) -> list[Any]:
    """The outputs as mpmath numbers (object arrays of them) at mpmath's current precision.

    `values` holds the variables as mpf or as object arrays of mpf. Floats that stand for a fraction or a multiple of pi
    are taken as that. What is undefined is nan.
    """
    table: dict[Node, Any] = dict(values)
    for node in missing(outputs, table):
        table[node] = _exact_constant(node) if node.op is CONSTANT else _apply_exact(node, table)
    return [table[n] for n in outputs]


def _exact_constant(node: Node) -> Any:
    if node.kind == "bool":
        return node.data.array if isinstance(node.data, Fixed) else node.data
    if isinstance(node.data, Fixed):
        if node.kind == "int":
            return node.data.array
        return exact_array(node.data.array)
    return exact_number(node.data).mpf()


def exact_array(array: Any) -> Any:
    """A float array as an object array of mpf, each entry exactly as it is."""
    out = np.empty(np.shape(array), dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = mpmath.mpf(float(array[index]))
    return out


def _apply_exact(node: Node, table: Mapping[Node, Any]) -> Any:
    operands = [table[n] for n in node.inputs]
    if node.op.family == "elementwise":
        return _entrywise(node, operands)
    if node.op.exact is not None:
        function = node.op.exact
        assert callable(function)
        return function(mpmath, *operands, **node.params)
    return node.op.value(*operands, **node.params)


def _entrywise(node: Node, operands: list[Any]) -> Any:
    function = _scalar_function(node)
    if node.shape == () and not any(isinstance(x, np.ndarray) and x.shape for x in operands):
        return function(*[x[()] if isinstance(x, np.ndarray) else x for x in operands])
    arrays = np.broadcast_arrays(*[_as_objects(x) for x in operands])
    out = np.empty(_joint_shape(arrays, node.shape), dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = function(*[a[index] for a in arrays])
    return out


def _joint_shape(arrays: Sequence[Any], shape: Shape) -> Shape:
    return tuple(arrays[0].shape) if arrays else shape


def _as_objects(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x
    out = np.empty((), dtype=object)
    out[()] = x
    return out


def _scalar_function(node: Node) -> Any:
    exact, name = node.op.exact, node.op.name

    def function(*xs: Any) -> Any:
        try:
            y = getattr(mpmath, exact)(*xs) if isinstance(exact, str) else exact(mpmath, *xs)  # type: ignore[misc]
        except (ValueError, ZeroDivisionError, OverflowError, ArithmeticError):
            return _limit(name, xs)
        return mpmath.mpf("nan") if isinstance(y, mpmath.mpc) else bounded(y)

    return function


def bounded(y: Any) -> Any:
    """The number; an infinity where it has thousands of digits before the point, of which the next sine would need all.

    >>> bounded(mpmath.mpf(10) ** 1000) < mpmath.inf, bounded(-mpmath.mpf(10) ** 10**6)
    (True, mpf('-inf'))
    """
    if isinstance(y, mpmath.mpf):
        _, mantissa, exponent, bits = y._mpf_
        if mantissa and exponent + bits > _LARGEST_MAGNITUDE:
            return mpmath.inf if y > 0 else -mpmath.inf
    return y


def _limit(name: str, xs: tuple[Any, ...]) -> Any:
    """What float arithmetic gives where mpmath raises: x/0 is infinite."""
    if name == "div" and xs[0] != 0:
        return mpmath.inf if xs[0] > 0 else -mpmath.inf
    return mpmath.mpf("nan")
