"""Jacobians, Hessians and derivatives of any order as nodes, assembled from reverse or forward sweeps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations_with_replacement

import numpy as np

from gradexplain.autodiff import jvp, sweep, vjp
from gradexplain.graph import Node, constant
from gradexplain.primitive import NUMPY
from gradexplain.structured import tied_axes, tied_node


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


def derivative_nodes(
    y: Node, inputs: Mapping[str, Node], order: int, kind: str, structured: Collection[str] = ()
) -> dict[str, Node]:
    """The derivatives as nodes, by key: `"x"`, or `"x,y"` for order 2 (each pair once) and for Hessians.

    Those of `structured` matrices are taken along symmetric matrices.
    """
    found = _derivatives(y, inputs, order, kind)
    for key in found if structured else ():
        for axis in tied_axes(key, inputs, y.ndim if kind == "jacobian" else 0, structured):
            found[key] = tied_node(found[key], axis)
    return found


def _derivatives(y: Node, inputs: Mapping[str, Node], order: int, kind: str) -> dict[str, Node]:
    if kind == "jacobian":
        return dict(zip(inputs, jacobian_nodes(y, list(inputs.values())), strict=True))
    if kind == "hessian":
        return _hessian(y, inputs)
    names = list(inputs)
    found: dict[str, Node] = {"": y}
    for _ in range(order):
        following: dict[str, Node] = {}
        for key, node in found.items():
            last = key.rpartition(",")[2]
            later = names[names.index(last) if last else 0 :]
            for name, g in zip(later, sweep(node, [inputs[n] for n in later]).gradients, strict=True):
                following[f"{key},{name}" if key else name] = g
        found = following
    return found


def _hessian(y: Node, inputs: Mapping[str, Node]) -> dict[str, Node]:
    out: dict[str, Node] = {}
    gradients = dict(zip(inputs, sweep(y, list(inputs.values())).gradients, strict=True))
    for a, b in combinations_with_replacement(inputs, 2):
        (out[f"{a},{b}"],) = jacobian_nodes(gradients[a], [inputs[b]])
        if a != b:
            (out[f"{b},{a}"],) = jacobian_nodes(gradients[b], [inputs[a]])
    return out


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
