"""Rows that move entries about: broadcasting and its transpose, reshape, transpose, …"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.errors import ShapeError
from gradexplain.graph import Node, Sample, is_scalar_constant, operators
from gradexplain.ops.reductions import sum_over
from gradexplain.primitive import POSTFIX, Code, linear
from gradexplain.shapes import Shape, broadcast


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
    return broadcast_to(x.inputs[0], shape=shape) if x.op is broadcast_to and is_scalar_constant(x) else None


def _reshape_value(x: Any, *, shape: Shape) -> Any:
    return np.reshape(x, shape)


def _fold_reshape(x: Node, *, shape: Shape) -> Node | None:
    if x.shape == shape:
        return x
    if x.op is reshape:
        return reshape(x.inputs[0], shape=shape)
    return broadcast_to(x.inputs[0], shape=shape) if is_scalar_constant(x) and x.op is broadcast_to else None


def _fold_transpose(x: Node, *, axes: tuple[int, ...]) -> Node | None:
    if axes == tuple(range(len(axes))):
        return x
    if x.op is transpose:
        return transpose(x.inputs[0], axes=tuple(x.params["axes"][a] for a in axes))
    return None


def _transpose_text(x: Code, *, axes: tuple[int, ...]) -> Code:
    if axes == tuple(reversed(range(len(axes)))):
        return Code(f"{x.at(POSTFIX)}.T", POSTFIX)
    return Code(f"np.transpose({x}, {axes})")


# fmt: off
broadcast_to = linear("broadcast_to", lambda x, *, shape: np.broadcast_to(x, shape), _broadcast_shape,
                      transpose=lambda g, x, *, shape: sum_to(g, x.shape), fold=_fold_broadcast,
                      numpy=lambda x, *, shape: Code(f"np.broadcast_to({x}, {shape})"),
                      samples=(Sample(((),), {"shape": (3,)}), Sample(((2, 1),), {"shape": (4, 2, 3)})))
reshape = linear("reshape", _reshape_value, lambda x, *, shape: shape,
                 transpose=lambda g, x, *, shape: reshape(g, shape=x.shape), fold=_fold_reshape,
                 numpy=lambda x, *, shape: Code(f"np.reshape({x}, {shape})"),
                 samples=(Sample(((2, 3),), {"shape": (3, 2)}), Sample(((2, 3),), {"shape": (6,)})))
transpose = linear("transpose", lambda x, *, axes: np.transpose(x, axes), lambda x, *, axes: tuple(x[a] for a in axes),
                   transpose=lambda g, x, *, axes: transpose(g, axes=tuple(np.argsort(axes).tolist())),
                   fold=_fold_transpose, numpy=_transpose_text,
                   samples=(Sample(((2, 3),), {"axes": (1, 0)}), Sample(((2, 3, 4),), {"axes": (2, 0, 1)})))
# fmt: on


def transposed(x: Node, axes: tuple[int, ...] | None = None) -> Node:
    """`np.transpose`: the axes reversed, or in the given order."""
    order = tuple(reversed(range(x.ndim))) if axes is None else tuple(a % x.ndim for a in axes)
    return transpose(x, axes=order)


operators.update(
    broadcast_to=lambda x, shape: broadcast_to(x, shape=shape),
    reshape=lambda x, shape: reshape(x, shape=shape),
    transpose=transposed,
)
