"""Statistics and differences, composed of the rows of the table: mean, var, std, median, quantile, diff, trapezoid, …"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError, NoRuleError, ShapeError
from gradexplain.graph import Node, operators
from gradexplain.ops.arithmetic import add, div, mul, sub
from gradexplain.ops.elementary import sqrt, square
from gradexplain.ops.indexing import at_axis, sort
from gradexplain.ops.joining import concatenate, joined
from gradexplain.ops.reductions import cumprod, cumsum, in_line, max_over, min_over, operand, root_sum_square, sum_over
from gradexplain.ops.refusals import only_defaults
from gradexplain.ops.shaping import (
    array,
    atleast_1d,
    atleast_2d,
    broadcast_to,
    expand_dims,
    raveled,
    reshape,
    transposed,
)
from gradexplain.primitive import NUMPY, filled, numpy_function
from gradexplain.shapes import Axes, normal_axes, normal_axis, reduced, size


def _count(x: Node, axes: Axes) -> int:
    return size(tuple(x.shape[a] for a in axes))


def average_over(x: Node, axes: Axes, keepdims: bool = False) -> Node:
    """The mean over axes."""
    return div(sum_over(x, axis=axes, keepdims=keepdims), _count(x, axes))


def _centred(a: Any, axis: Any, given_mean: Any) -> tuple[Node, Axes]:
    """The data less their mean, and the axes that the mean was taken over."""
    x = operand(a)
    axes = normal_axes(axis, x.ndim)
    given = given_mean is not None and given_mean is not np._NoValue
    return sub(x, array(given_mean) if given else average_over(x, axes, keepdims=True)), axes


def _degrees(x: Node, axes: Axes, ddof: Any, correction: Any) -> float:
    """The number of observations less ddof (`correction` is its newer name)."""
    less = correction if correction is not None and correction is not np._NoValue else ddof
    number: float = max(_count(x, axes) - less, 0)
    return number


@numpy_function(np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None
) -> Node:
    """`np.mean`."""
    only_defaults("np.mean", dtype=dtype, out=out, where=where)
    x = operand(a)
    return average_over(x, normal_axes(axis, x.ndim), bool(keepdims))


@numpy_function(np.var)
def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = None, mean: Any = None, correction: Any = None) -> Node:  # fmt: skip
    """`np.var`: the mean of the squares of the centred data."""
    only_defaults("np.var", dtype=dtype, out=out, where=where)
    centred, axes = _centred(a, axis, mean)
    return div(sum_over(square(centred), axis=axes, keepdims=bool(keepdims)), _degrees(centred, axes, ddof, correction))


@numpy_function(np.std)
def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = None, mean: Any = None, correction: Any = None) -> Node:  # fmt: skip
    """`np.std`: the length of the centred data over a constant; its derivative is 0 where they are all equal."""
    only_defaults("np.std", dtype=dtype, out=out, where=where)
    centred, axes = _centred(a, axis, mean)
    length = root_sum_square(centred, axis=axes, keepdims=bool(keepdims))
    return div(length, math.sqrt(_degrees(centred, axes, ddof, correction)))


@numpy_function(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """`np.average`, with weights of the data's shape or along one axis."""
    x = operand(a)
    axes = normal_axes(axis, x.ndim)
    if weights is None:
        result, total = average_over(x, axes, bool(keepdims)), filled(_count(x, axes), ())
    else:
        w = _weights(operand(weights), x, axes)
        total = sum_over(w, axis=axes, keepdims=bool(keepdims))
        result = div(sum_over(mul(x, w), axis=axes, keepdims=bool(keepdims)), total)
    return (result, broadcast_to(total, shape=result.shape)) if returned else result


def _weights(w: Node, x: Node, axes: Axes) -> Node:
    """Weights in the shape of the data."""
    if w.shape == x.shape:
        return w
    if w.shape != tuple(x.shape[a] for a in axes):
        raise ShapeError(f"weights of shape {w.shape} do not fit data of shape {x.shape} along axes {axes}", fix="give one weight for each entry along the axis")  # fmt: skip
    kept = reshape(w, shape=tuple(n if i in axes else 1 for i, n in enumerate(x.shape)))
    return broadcast_to(kept, shape=x.shape)


@numpy_function(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Node:
    """`np.ptp`: the largest entry less the smallest."""
    only_defaults("np.ptp", out=out)
    x = operand(a)
    options = {"axis": normal_axes(axis, x.ndim), "keepdims": bool(keepdims)}
    return sub(max_over(x, **options), min_over(x, **options))


# Order statistics.


def _sorted_last(x: Node, axes: Axes) -> Node:
    """The axes moved to the end, in a line, sorted."""
    rest = tuple(a for a in range(x.ndim) if a not in axes)
    lines = reshape(transposed(x, rest + axes), shape=(*(x.shape[a] for a in rest), _count(x, axes)))
    return sort(lines)


def _between(ordered: Node, place: float) -> Node:
    """The value at a place between two neighbours of the last axis."""
    low = math.floor(place)
    first = at_axis(ordered, ordered.ndim - 1, low)
    if place == low:
        return first
    return add(first, mul(place - low, sub(at_axis(ordered, ordered.ndim - 1, low + 1), first)))


@numpy_function(np.median)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Node:
    """`np.median`: the middle entry, or the mean of the two in the middle."""
    return quantile(a, 0.5, axis, out, overwrite_input, keepdims=keepdims)


@numpy_function(np.quantile)
def quantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
             keepdims: Any = False, *, weights: Any = None, interpolation: Any = None) -> Node:  # fmt: skip
    """`np.quantile`, linear between neighbours."""
    only_defaults("np.quantile", out=out, weights=weights, interpolation=interpolation)
    if method != "linear" or type(q) is Node:
        raise NoRuleError("np.quantile has a rule for constant q and method='linear' only", fix="leave the method out")
    if not np.all((np.asarray(q) >= 0) & (np.asarray(q) <= 1)):
        raise ArgumentError(f"np.quantile of {q} does not exist", fix="give q from 0 to 1 (percentiles from 0 to 100)")
    x = operand(a)
    axes = normal_axes(axis, x.ndim)
    ordered, kept = _sorted_last(x, axes), reduced(x.shape, axes, keepdims=bool(keepdims))
    last = ordered.shape[-1] - 1
    found = [reshape(_between(ordered, float(share) * last), shape=kept) for share in np.ravel(q)]
    return found[0] if np.ndim(q) == 0 else reshape(operators["stack"](found), shape=(*np.shape(q), *kept))


@numpy_function(np.percentile)
def percentile(a: Any, q: Any, *args: Any, **options: Any) -> Node:
    """`np.percentile`."""
    return quantile(a, q if type(q) is Node else np.asarray(q, dtype=float) / 100, *args, **options)


# Covariance.


@numpy_function(np.cov)
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
        aweights: Any = None, *, dtype: Any = None) -> Node:  # fmt: skip
    """`np.cov`: of the rows (or columns) of a matrix."""
    only_defaults("np.cov", fweights=fweights, aweights=aweights, dtype=dtype)
    rows = _observations(m, rowvar)
    if y is not None:
        rows = concatenate(rows, _observations(y, rowvar), axis=0)
    count = rows.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    centred = sub(rows, average_over(rows, (1,), keepdims=True))
    found = div(centred @ transposed(centred), max(count, 0))
    return reshape(found, shape=()) if found.shape == (1, 1) else found


def _observations(m: Any, rowvar: bool) -> Node:
    x = operand(m)
    return transposed(x) if x.ndim == 2 and not rowvar and x.shape[0] != 1 else atleast_2d(x)


@numpy_function(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Node:
    """`np.corrcoef`: the covariance over the product of the deviations."""
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.shape:
        return div(c, c)
    deviation = sqrt(NUMPY[np.diag](c))
    return div(div(c, expand_dims(deviation, 1)), expand_dims(deviation, 0))


# Differences and sums along an axis.


@numpy_function(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Node:
    """`np.diff`: each entry less the one before, n times."""
    x = operand(a)
    axis = normal_axis(axis, x.ndim)
    ends = [None if e is np._NoValue else e for e in (prepend, append)]
    parts = [_end(e, x, axis) for e in ends[:1]] + [x] + [_end(e, x, axis) for e in ends[1:]]
    x = joined([p for p in parts if p is not None], axis)
    for _ in range(n):
        x = sub(at_axis(x, axis, slice(1, None)), at_axis(x, axis, slice(None, -1)))
    return x


def _end(value: Any, x: Node, axis: int) -> Node | None:
    if value is None:
        return None
    node = array(value)
    return broadcast_to(node, shape=(*x.shape[:axis], 1, *x.shape[axis + 1 :])) if not node.shape else node


@numpy_function(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Node:
    """`np.ediff1d`."""
    parts = [to_begin, diff(raveled(operand(ary))), to_end]
    return joined([raveled(array(p)) for p in parts if p is not None])


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Node:
    """`np.trapezoid`: the area under the points joined by straight lines."""
    heights = operand(y)
    axis = normal_axis(axis, heights.ndim)
    widths = array(dx)
    if x is not None:
        points = operand(x)
        widths = diff(points, axis=axis if points.ndim > 1 else 0)
        if points.ndim == 1:
            widths = reshape(widths, shape=(widths.size,) + (1,) * (heights.ndim - axis - 1))
    pairs = add(at_axis(heights, axis, slice(1, None)), at_axis(heights, axis, slice(None, -1)))
    return sum_over(div(mul(widths, pairs), 2), axis=(axis,), keepdims=False)


NUMPY.update({f: trapezoid for f in (getattr(np, name, None) for name in ("trapezoid", "trapz")) if f})


@numpy_function(np.gradient)
def gradient(f: Any, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """`np.gradient` for evenly spaced points: central differences, one-sided at the ends."""
    x = operand(f)
    axes = list(range(x.ndim)) if axis is None else [normal_axis(int(a), x.ndim) for a in np.atleast_1d(axis)]
    steps = list(spacing or (1.0,)) * (len(axes) if len(spacing) <= 1 else 1)
    if edge_order != 1 or any(array(s).shape for s in steps) or len(steps) != len(axes):
        raise NoRuleError("np.gradient has a rule for even spacing and edge_order=1 only", fix="give one number as the spacing of each axis")  # fmt: skip
    found = [_slopes(x, array(h), a) for h, a in zip(steps, axes, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slopes(x: Node, step: Node, axis: int) -> Node:
    if x.shape[axis] < 2:
        raise ArgumentError(f"np.gradient needs two points along axis {axis}", fix="give more points")
    steps = diff(x, axis=axis)
    inner = div(add(at_axis(steps, axis, slice(1, None)), at_axis(steps, axis, slice(None, -1))), 2)
    ends = at_axis(steps, axis, slice(0, 1)), at_axis(steps, axis, slice(-1, None))
    return div(concatenate(ends[0], inner, ends[1], axis=axis), step)


def _cumulative(name: str, row: Any, start: int) -> None:
    """Enters np.cumulative_sum or np.cumulative_prod, where NumPy has them."""

    def on_nodes(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Node:
        only_defaults(f"np.{name}", dtype=dtype, out=out)
        node = atleast_1d(operand(x))
        if axis is None and node.ndim > 1:
            raise ArgumentError(f"np.{name} of an array with {node.ndim} axes needs axis=", fix="name the axis")
        node, number = in_line(node, axis)
        found: Node = row(node, axis=number)
        first = filled(start, (*node.shape[:number], 1, *node.shape[number + 1 :]))
        return concatenate(first, found, axis=number) if include_initial else found

    if hasattr(np, name):
        numpy_function(getattr(np, name))(on_nodes)


_cumulative("cumulative_sum", cumsum, 0)
_cumulative("cumulative_prod", cumprod, 1)
