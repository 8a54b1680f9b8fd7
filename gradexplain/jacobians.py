"""Jacobians and Hessians as nodes, assembled from reverse or forward sweeps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradexplain.autodiff import jvp, vjp
from gradexplain.graph import Node, constant
from gradexplain.primitive import NUMPY


def jacobian_nodes(y: Node, wrt: Sequence[Node]) -> tuple[Node, ...]:
    """The Jacobians of y as nodes: one pullback for each entry of y, or one pushforward for each entry of x."""
    entries = sum(x.size for x in wrt)
    if y.size <= entries:
        rows = [vjp(y, wrt, one_hot(i, y.shape)) for i in range(y.size)]
        return tuple(_assemble([r[k] for r in rows], y.shape + x.shape, x.shape) for k, x in enumerate(wrt))
    out = []
    for x in wrt:
        columns = [jvp([y], {x: one_hot(i, x.shape)})[0] for i in range(x.size)]
        out.append(_assemble(columns, y.shape + x.shape, y.shape, axis=-1))
    return tuple(out)


def hessian_nodes(y: Node, wrt: Sequence[Node]) -> list[tuple[Node, ...]]:
    """The blocks of the Hessian of the (sum of the) output, row by row."""
    return [jacobian_nodes(g, wrt) for g in vjp(y, wrt)]


def one_hot(index: int, shape: tuple[int, ...]) -> Node:
    """A constant that is 1 at one entry and 0 elsewhere."""
    if shape == ():
        return constant(1)
    array = np.zeros(shape)
    array.flat[index] = 1.0
    return constant(array)


def _assemble(parts: Sequence[Node], shape: tuple[int, ...], part: tuple[int, ...], axis: int = 0) -> Node:
    if len(parts) == 1 and shape == part:
        return parts[0]
    if not parts:
        return constant(np.zeros(shape))
    joined: Node = NUMPY[np.reshape](NUMPY[np.stack](list(parts), axis=axis), shape)
    return joined
