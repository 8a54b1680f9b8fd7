"""`np.linalg.norm` and its relatives: of vectors along axes, and of matrices. At 0 the smallest slope, 0, is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError
from gradexplain.graph import Node, Sample, operators
from gradexplain.ops.arithmetic import absolute
from gradexplain.ops.decompositions import singular_values
from gradexplain.ops.linalg import inv
from gradexplain.ops.ordering import equal, sign, where
from gradexplain.ops.products import available
from gradexplain.ops.reductions import count_nonzero, max_over, min_over, operand, root_sum_square, spread, sum_over
from gradexplain.primitive import Code, general, numpy_function
from gradexplain.shapes import Axes, Shape, normal_axes, normal_axis, reduced, size


def _norm_value(x: Any, *, order: float, axis: Axes, keepdims: bool) -> Any:
    return np.sum(np.abs(x) ** order, axis=axis, keepdims=keepdims) ** (1 / order)


def _norm_shape(x: Shape, *, order: float, axis: Axes, keepdims: bool) -> Shape:
    return reduced(x, axis, keepdims)


def _norm_text(x: Code, *, order: float, axis: Axes, keepdims: bool) -> Code:
    return Code(f"np.linalg.norm({x}, {order!r}, axis={axis[0]}{', keepdims=True' if keepdims else ''})")


def _norm_pullback(g: Node, y: Node, x: Node, *, order: float, axis: Axes, keepdims: bool) -> Node:
    """sign(x) * (|x|/y)**(p - 1), and 0 where all entries are 0."""
    length = spread(y, x, axis, keepdims)
    at_zero = equal(length, 0)
    share = (absolute(x) / where(at_zero, 1, length)) ** (order - 1)
    return where(at_zero, 0, spread(g, x, axis, keepdims) * sign(x) * share)


def _exact_norm(mp: Any, x: Any, *, order: float, axis: Axes, keepdims: bool) -> Any:
    p = mp.mpf(order)
    powers = np.frompyfunc(lambda entry: mp.fabs(entry) ** p, 1, 1)(x)
    return np.frompyfunc(lambda total: total ** (1 / p), 1, 1)(np.sum(powers, axis=axis, keepdims=keepdims))


def _samples(*orders: float) -> tuple[Sample, ...]:
    return tuple(
        Sample((shape,), {"order": order, "axis": (len(shape) - 1,), "keepdims": len(shape) > 1})
        for order in orders
        for shape in ((3,), (2, 3))
    )


# fmt: off
p_norm = general("p_norm", _norm_value, _norm_shape, _norm_pullback, rule="norm rule", exact=_exact_norm, numpy=_norm_text,
                 kinks="0 where all entries are 0: the smallest slope, 0, is taken", samples=_samples(3, 2.5))
# fmt: on


def _vector_norm(x: Node, order: Any, axis: int, keepdims: bool) -> Node:
    """The norm of the vectors along an axis."""
    axes: dict[str, Any] = {"axis": (axis,), "keepdims": keepdims}
    match order.item() if isinstance(order, np.generic) else order:
        case None | 2:
            return root_sum_square(x, **axes)
        case 1:
            return sum_over(absolute(x), **axes)
        case np.inf:
            return max_over(absolute(x), **axes)
        case _ if order == -np.inf:
            return min_over(absolute(x), **axes)
        case 0:
            return count_nonzero(x, **axes)
        case int() | float():
            return p_norm(x, order=order, **axes)
    raise ArgumentError(f"ord={order!r} is no norm of a vector", fix="use a number, np.inf or -np.inf")


def _matrix_norm(x: Node, order: Any, axes: tuple[int, int], keepdims: bool) -> Node:
    """The norm of the matrices in a pair of axes: rows, columns."""
    rows, columns = axes
    if order in (None, "fro"):
        return root_sum_square(x, axis=tuple(sorted(axes)), keepdims=keepdims)
    if order in ("nuc", 2, -2):
        number = _of_singular_values(x, order, rows, columns)
    elif order in (1, -1, np.inf, -np.inf):
        summed, other = (rows, columns) if abs(order) == 1 else (columns, rows)
        sums = sum_over(absolute(x), axis=(summed,), keepdims=True)
        number = (max_over if order > 0 else min_over)(sums, axis=(other,), keepdims=True)
    else:
        raise ArgumentError(
            f"ord={order!r} is no norm of a matrix", fix="use 'fro', 'nuc', 1, 2, np.inf or their negatives"
        )
    return operators["reshape"](number, reduced(x.shape, axes, keepdims))


def _of_singular_values(x: Node, order: Any, rows: int, columns: int) -> Node:
    """Their sum, largest or smallest; through `abs` the slope at the matrix 0 is 0."""
    rest = tuple(i for i in range(x.ndim) if i not in (rows, columns))
    values = absolute(singular_values(operators["transpose"](x, (*rest, rows, columns))))
    reduce: Callable[..., Node] = {"nuc": sum_over, 2: max_over, -2: min_over}[order]
    return reduce(values, axis=(values.ndim - 1,), keepdims=False)


@numpy_function(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Node:
    """`np.linalg.norm`: of a vector, of a matrix, or of those that lie along the given axes."""
    x = operand(x)
    keepdims = bool(keepdims)
    if axis is None and (ord is None or (ord == 2 and x.ndim == 1) or (ord == "fro" and x.ndim == 2)):
        return root_sum_square(x, axis=normal_axes(None, x.ndim), keepdims=keepdims)
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else axis
    numbers = tuple(normal_axis(int(a), x.ndim) for a in axes)
    if len(numbers) == 1:
        return _vector_norm(x, ord, numbers[0], keepdims)
    if len(numbers) == 2 and numbers[0] != numbers[1]:
        return _matrix_norm(x, ord, (numbers[0], numbers[1]), keepdims)
    raise ArgumentError("np.linalg.norm needs one axis for vectors, or two for matrices", fix="pass axis=")


@numpy_function(*available(np.linalg, "vector_norm"))
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Node:
    """`np.linalg.vector_norm`: of all entries, or of those along the axes."""
    x = operand(x)
    axes = normal_axes(axis, x.ndim)
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    moved = operators["transpose"](x, rest + axes)
    lines = operators["reshape"](moved, (*(x.shape[i] for i in rest), size(tuple(x.shape[i] for i in axes))))
    return operators["reshape"](_vector_norm(lines, ord, len(rest), False), reduced(x.shape, axes, bool(keepdims)))


@numpy_function(*available(np.linalg, "matrix_norm"))
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Node:
    """`np.linalg.matrix_norm`: of the matrices in the last two axes."""
    x = operand(x)
    return _matrix_norm(x, ord, (x.ndim - 2, x.ndim - 1), bool(keepdims))


@numpy_function(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Node:
    """`np.linalg.cond`: the norm times the norm of the inverse, by default of the singular values."""
    x = operand(x)
    axes = (x.ndim - 2, x.ndim - 1)
    if p in (None, 2):
        return _matrix_norm(x, 2, axes, False) / _matrix_norm(x, -2, axes, False)
    if p == -2:
        return _matrix_norm(x, -2, axes, False) / _matrix_norm(x, 2, axes, False)
    return _matrix_norm(x, p, axes, False) * _matrix_norm(inv(x), p, axes, False)
