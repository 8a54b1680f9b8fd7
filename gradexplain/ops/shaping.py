"""Rows that move entries about: broadcasting and its transpose, reshape, transpose, diagonals, triangles, …"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError, NoRuleError, ShapeError
from gradexplain.graph import Node, Primitive, Sample, as_node, is_scalar_constant, operators
from gradexplain.ops.reductions import sum_over
from gradexplain.ops.refusals import only_defaults
from gradexplain.primitive import NUMPY, POSTFIX, Code, filled, linear, numpy_function, zero_like
from gradexplain.shapes import Shape, broadcast, normal_axes, normal_axis, size


def sum_to(g: Node, shape: Shape) -> Node:
    """Undoes broadcasting: sums over the axes along which `shape` was spread."""
    if g.shape == shape:
        return g
    lead = g.ndim - len(shape)
    g = sum_over(g, axis=tuple(range(lead)), keepdims=False)
    return sum_over(g, axis=tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1), keepdims=True)


def _broadcast_shape(x: Shape, *, shape: Shape) -> Shape:
    if broadcast(x, shape) != shape:
        raise ShapeError(f"shape {x} does not broadcast to {shape}", fix="insert axes with x[:, None]")
    return shape


def _fold_broadcast(x: Node, *, shape: Shape) -> Node | None:
    if x.shape == shape:
        return x
    return broadcast_to(x.inputs[0], shape=shape) if x.op is broadcast_to else None


def _reshape_value(x: Any, *, shape: Shape) -> Any:
    return np.reshape(x, shape)


def _fold_reshape(x: Node, *, shape: Shape) -> Node | None:
    if x.shape == shape:
        return x
    if x.op is reshape:
        return reshape(x.inputs[0], shape=shape)
    if is_scalar_constant(x):
        return broadcast_to(x.inputs[0] if x.op is broadcast_to else x, shape=shape)
    return None


def _fold_transpose(x: Node, *, axes: tuple[int, ...]) -> Node | None:
    if axes == tuple(range(len(axes))):
        return x
    if x.op is transpose:
        return transpose(x.inputs[0], axes=tuple(x.params["axes"][a] for a in axes))
    if is_scalar_constant(x):
        return broadcast_to(x.inputs[0], shape=tuple(x.shape[a] for a in axes))
    return None


def _transpose_text(x: Code, *, axes: tuple[int, ...]) -> Code:
    if axes == tuple(reversed(range(len(axes)))):
        return Code(f"{x.at(POSTFIX)}.T", POSTFIX)
    return Code(f"np.transpose({x}, {axes})")


def _offset_text(function: str) -> Any:
    return lambda x, *, k: Code(f"{function}({x}, {k})" if k else f"{function}({x})")


def _diagonal_length(shape: Shape, k: int) -> int:
    rows, columns = shape
    return max(0, min(rows + min(k, 0), columns - max(k, 0)))


def _on_diagonal(g: Node, shape: Shape, k: int) -> Node:
    """A vector as the k-th diagonal of a matrix of zeros."""
    if shape[0] == shape[1] and g.size:
        return diag(g, k=k)
    row = np.arange(g.size) - min(k, 0)
    return operators["scatter"](g, (row, row + k), shape)


def _square(x: Shape, *, k: int) -> Shape:
    return (x[0] + abs(k),) * 2


def _unrepeat(g: Node, x: Node, reps: tuple[int, ...]) -> Node:
    """The transpose of tile: the copies are added up."""
    shape = (1,) * (len(reps) - x.ndim) + x.shape
    parts = reshape(g, shape=tuple(n for pair in zip(reps, shape, strict=True) for n in pair))
    return reshape(sum_over(parts, axis=tuple(range(0, 2 * len(reps), 2)), keepdims=False), shape=x.shape)


def _tile_shape(x: Shape, *, reps: tuple[int, ...]) -> Shape:
    return tuple(r * n for r, n in zip(reps, (1,) * (len(reps) - len(x)) + x, strict=True))


def _repeat_shape(x: Shape, *, repeats: int, axis: int) -> Shape:
    return (*x[:axis], repeats * x[axis], *x[axis + 1 :])


def _add_repeated(g: Node, x: Node, *, repeats: int, axis: int) -> Node:
    parts = reshape(g, shape=(*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :]))
    return sum_over(parts, axis=(axis + 1,), keepdims=False)


def _same_shape(x: Shape, **_: Any) -> Shape:
    return x


_TRIANGLES = (Sample(((3, 3),), {"k": 0}), Sample(((2, 3),), {"k": 1}), Sample(((2, 3, 4),), {"k": -1}))
_DIAGONALS = (
    Sample(((3, 3),), {"k": 0}),
    Sample(((2, 4),), {"k": 1}),
    Sample(((4, 2),), {"k": -1}),
    Sample(((3, 3),), {"k": -1}),
)


def _broadcast_text(x: Code, *, shape: Shape) -> Code:
    constant_array = {"0": "np.zeros", "1": "np.ones"}.get(x)
    return Code(f"{constant_array}({shape})" if constant_array else f"np.broadcast_to({x}, {shape})")


# fmt: off
reshape: Primitive
transpose: Primitive
diagonal: Primitive
triu: Primitive
tril: Primitive
rolled: Primitive
broadcast_to = linear("broadcast_to", lambda x, *, shape: np.broadcast_to(x, shape), _broadcast_shape, result="same",
                      transpose=lambda g, x, *, shape: sum_to(g, x.shape), fold=_fold_broadcast,
                      numpy=_broadcast_text,
                      samples=(Sample(((),), {"shape": (3,)}), Sample(((2, 1),), {"shape": (4, 2, 3)})))
reshape   = linear("reshape", _reshape_value, lambda x, *, shape: shape, result="same",
                   transpose=lambda g, x, *, shape: reshape(g, shape=x.shape), fold=_fold_reshape,
                   numpy=lambda x, *, shape: Code(f"np.reshape({x}, {shape})"),
                   samples=(Sample(((2, 3),), {"shape": (3, 2)}), Sample(((2, 3),), {"shape": (6,)})))
transpose = linear("transpose", lambda x, *, axes: np.transpose(x, axes), lambda x, *, axes: tuple(x[a] for a in axes), result="same",
                   transpose=lambda g, x, *, axes: transpose(g, axes=tuple(np.argsort(axes).tolist())),
                   fold=_fold_transpose, numpy=_transpose_text,
                   samples=(Sample(((2, 3),), {"axes": (1, 0)}), Sample(((2, 3, 4),), {"axes": (2, 0, 1)})))
diag      = linear("diag", lambda x, *, k: np.diag(x, k), _square, transpose=lambda g, x, *, k: diagonal(g, k=k), result="same",
                   numpy=_offset_text("np.diag"), samples=(Sample(((3,),), {"k": 0}), Sample(((2,),), {"k": -1})))
diagonal  = linear("diagonal", lambda x, *, k: np.diagonal(x, k), lambda x, *, k: (_diagonal_length(x, k),), result="same",
                   transpose=lambda g, x, *, k: _on_diagonal(g, x.shape, k), numpy=_offset_text("np.diagonal"), samples=_DIAGONALS)
trace     = linear("trace", lambda x, *, k: np.trace(x, k), lambda x, *, k: (), rule="trace rule",
                   transpose=lambda g, x, *, k: _on_diagonal(broadcast_to(g, shape=(_diagonal_length(x.shape, k),)), x.shape, k),
                   numpy=_offset_text("np.trace"), samples=_DIAGONALS)
triu      = linear("triu", lambda x, *, k: np.triu(x, k), _same_shape, transpose=lambda g, x, *, k: triu(g, k=k),
                   numpy=_offset_text("np.triu"), samples=_TRIANGLES)
tril      = linear("tril", lambda x, *, k: np.tril(x, k), _same_shape, transpose=lambda g, x, *, k: tril(g, k=k),
                   numpy=_offset_text("np.tril"), samples=_TRIANGLES)
tiled     = linear("tile", lambda x, *, reps: np.tile(x, reps), _tile_shape, transpose=lambda g, x, *, reps: _unrepeat(g, x, reps), result="same",
                   numpy=lambda x, *, reps: Code(f"np.tile({x}, {reps})"),
                   samples=(Sample(((2,),), {"reps": (3,)}), Sample(((2, 3),), {"reps": (2, 1, 2)})))
repeated  = linear("repeat", lambda x, *, repeats, axis: np.repeat(x, repeats, axis), _repeat_shape, transpose=_add_repeated, result="same",
                   samples=(Sample(((3,),), {"repeats": 2, "axis": 0}), Sample(((2, 3),), {"repeats": 3, "axis": 1})))
rolled    = linear("roll", lambda x, *, shift, axis: np.roll(x, shift, axis), lambda x, **_: x, result="same",
                   transpose=lambda g, x, *, shift, axis: rolled(g, shift=tuple(-s for s in shift), axis=axis),
                   numpy=lambda x, *, shift, axis: Code(f"np.roll({x}, {shift[0]}, axis={axis[0]})" if len(axis) == 1 else f"np.roll({x}, {shift}, axis={axis})"),
                   samples=(Sample(((4,),), {"shift": (1,), "axis": (0,)}), Sample(((2, 3),), {"shift": (1, -1), "axis": (0, 1)})))
# fmt: on


# The arrangement of axes.


def array(value: Any) -> Node:
    """A node; of lists with nodes inside, the node of the array that they form."""
    if type(value) in (list, tuple) and _has_node(value):
        return operators["stack"]([array(v) for v in value])
    return as_node(value)


def _has_node(value: Any) -> bool:
    return type(value) is Node or (type(value) in (list, tuple) and any(map(_has_node, value)))


def transposed(x: Node, axes: Sequence[int] | None = None) -> Node:
    """`np.transpose`: the axes reversed, or in the given order."""
    order = tuple(reversed(range(x.ndim))) if axes is None else tuple(normal_axis(int(a), x.ndim) for a in axes)
    if sorted(order) != list(range(x.ndim)):
        raise ArgumentError(f"axes {axes} do not order an array with {x.ndim} axes", fix="name each axis once")
    return transpose(x, axes=order)


numpy_function(*(getattr(np, n) for n in ("transpose", "permute_dims") if hasattr(np, n)))(
    lambda a, axes=None: transposed(array(a), axes)
)


def _known_shape(shape: Any, count: int) -> Shape:
    """A shape with its -1 computed."""
    given = (int(shape),) if hasattr(shape, "__index__") else tuple(int(n) for n in shape)
    known = size(tuple(n for n in given if n != -1))
    result = tuple(count // known if n == -1 and known else max(n, 0) for n in given)
    if size(result) != count or given.count(-1) > 1:
        raise ShapeError(
            f"{count} entries can't be reshaped to {given}", fix="the sizes must multiply to the number of entries"
        )
    return result


@numpy_function(np.reshape)
def reshaped(a: Any, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Node:
    """`np.reshape`: rows first, or columns first (order="F")."""
    x = array(a)
    wanted = _known_shape(newshape if shape is None else shape, x.size)
    if order == "F":
        return transposed(reshape(transposed(x), shape=wanted[::-1]))
    if order != "C":
        raise NoRuleError(f"np.reshape with order={order!r} has no derivative rule", why="it depends on how memory is laid out", fix="use order='C' or order='F'")  # fmt: skip
    return reshape(x, shape=wanted)


@numpy_function(np.ravel)
def raveled(a: Any, order: str = "C") -> Node:
    """`np.ravel`."""
    return reshaped(a, -1, order)


@numpy_function(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Node:
    """`np.swapaxes`."""
    x = array(a)
    return (
        moveaxis(x, (axis1, axis2), (axis2, axis1)) if normal_axis(axis1, x.ndim) != normal_axis(axis2, x.ndim) else x
    )


@numpy_function(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Node:
    """`np.moveaxis`."""
    x = array(a)
    sources, targets = ([normal_axis(int(n), x.ndim) for n in np.atleast_1d(s)] for s in (source, destination))
    order = [n for n in range(x.ndim) if n not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        order.insert(target, axis)
    return transposed(x, order)


@numpy_function(np.rollaxis)
def rollaxis(a: Any, axis: int, start: int = 0) -> Node:
    """`np.rollaxis`: the older spelling of moveaxis."""
    x = array(a)
    axis, start = normal_axis(axis, x.ndim), start + x.ndim if start < 0 else start
    return moveaxis(x, axis, start - (axis < start))


NUMPY.update({f: lambda x: swapaxes(x, -1, -2) for f in (getattr(np, "matrix_transpose", None),) if f})


@numpy_function(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Node:
    """`np.expand_dims`."""
    x = array(a)
    rank = x.ndim + np.size(axis)
    new, sizes = normal_axes(axis, rank), iter(x.shape)
    return reshape(x, shape=tuple(1 if i in new else next(sizes) for i in range(rank)))


@numpy_function(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Node:
    """`np.squeeze`."""
    x = array(a)
    gone = tuple(i for i, n in enumerate(x.shape) if n == 1) if axis is None else normal_axes(axis, x.ndim)
    if any(x.shape[i] != 1 for i in gone):
        raise ShapeError(
            f"axis {axis} of shape {x.shape} does not have size 1", fix="only axes of size 1 can be squeezed"
        )
    return reshape(x, shape=tuple(n for i, n in enumerate(x.shape) if i not in gone))


@numpy_function(np.broadcast_to)
def broadcasted(array_: Any, shape: Any, subok: bool = False) -> Node:
    """`np.broadcast_to`."""
    wanted = (int(shape),) if hasattr(shape, "__index__") else tuple(int(n) for n in shape)
    return broadcast_to(array(array_), shape=wanted)


@numpy_function(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Node, ...]:
    """`np.broadcast_arrays`."""
    nodes = [array(a) for a in args]
    shape = broadcast(*[n.shape for n in nodes])
    return tuple(broadcast_to(n, shape=shape) for n in nodes)


def _at_least(function: Any, place_axes: Any) -> Any:
    """Enters np.atleast_nd: one node for one operand, a tuple for several."""

    def on_nodes(*arrays: Any) -> Any:
        results = tuple(reshape(x, shape=place_axes(x.shape)) for x in map(array, arrays))
        return results[0] if len(results) == 1 else results

    return numpy_function(function)(on_nodes)


def _shape_3d(s: Shape) -> Shape:
    return {0: (1, 1, 1), 1: (1, *s, 1), 2: (*s, 1)}.get(len(s), s)


atleast_1d = _at_least(np.atleast_1d, lambda s: s or (1,))
atleast_2d = _at_least(np.atleast_2d, lambda s: (1,) * (2 - len(s)) + s)
atleast_3d = _at_least(np.atleast_3d, _shape_3d)


# Diagonals and triangles.


@numpy_function(np.diag)
def diag_of(v: Any, k: int = 0) -> Node:
    """`np.diag`: a vector as a diagonal, or the diagonal of a matrix."""
    x = array(v)
    if x.ndim not in (1, 2):
        raise ShapeError("np.diag needs a vector or a matrix", fix="use np.diagonal for arrays with more axes")
    return diag(x, k=int(k)) if x.ndim == 1 else diagonal(x, k=int(k))


@numpy_function(np.diagonal)
def diagonals(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Node:
    """`np.diagonal`: of a matrix, or of the matrices in two axes of an array."""
    x, k = array(a), int(offset)
    x = moveaxis(x, (axis1, axis2), (-2, -1))
    if x.ndim == 2:
        return diagonal(x, k=k)
    row = np.arange(_diagonal_length(x.shape[-2:], k)) - min(k, 0)
    return operators["getitem"](x, (..., row, row + k))


@numpy_function(np.trace)
def traced(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Node:
    """`np.trace`: the sum of a diagonal."""
    only_defaults("np.trace", dtype=dtype, out=out)
    x = array(a)
    if x.ndim == 2:
        return trace(moveaxis(x, (axis1, axis2), (0, 1)), k=int(offset))
    found = diagonals(x, offset, axis1, axis2)
    return sum_over(found, axis=(found.ndim - 1,), keepdims=False)


numpy_function(np.diagflat)(lambda v, k=0: diag_of(raveled(v), k))
numpy_function(np.triu)(lambda m, k=0: triu(_matrix(m), k=int(k)))
numpy_function(np.tril)(lambda m, k=0: tril(_matrix(m), k=int(k)))


def _matrix(a: Any) -> Node:
    """An array with two axes or more; a vector is repeated as rows, as NumPy does for triangles."""
    x = array(a)
    return broadcast_to(x, shape=x.shape * 2) if x.ndim == 1 else x


# Constants in the shape of a node, and what is known of a node without its values.


@numpy_function(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Node:
    """`np.full_like`; the fill value may be traced."""
    return broadcasted(fill_value, array(a).shape if shape is None else shape)


numpy_function(np.zeros_like, np.empty_like)(
    lambda a, *_, shape=None, **__: zero_like(a) if shape is None else broadcasted(0, shape)
)
numpy_function(np.ones_like)(
    lambda a, *_, shape=None, **__: filled(1, a.shape) if shape is None else broadcasted(1, shape)
)
numpy_function(np.copy)(lambda a, order="K", subok=False: array(a))
numpy_function(np.shape)(lambda a: array(a).shape)
numpy_function(np.ndim)(lambda a: array(a).ndim)
numpy_function(np.size)(lambda a, axis=None: size(tuple(array(a).shape[i] for i in normal_axes(axis, array(a).ndim))))

operators.update(
    array=array,
    broadcast_to=lambda x, shape: broadcast_to(x, shape=shape),
    reshape=lambda x, shape: reshape(x, shape=shape),
    transpose=transposed,
)
