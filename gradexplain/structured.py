"""Derivatives along symmetric matrices only: both entries of a pair move at once, so their slopes are added.

A is the derivative for independent entries. That along symmetric matrices is A + A.T - diag(A): the entries of the
diagonal are no pair. Source: The Matrix Cookbook, section 2.8 (structured matrices).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from gradexplain.graph import Node, constant
from gradexplain.primitive import NUMPY


def tied_array(array: Any, axis: int = 0) -> Any:
    """A + A.T - diag(A) over two neighbouring axes.

    >>> tied_array(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 5.],
           [5., 4.]])
    """
    turned = np.swapaxes(array, axis, axis + 1)
    return array + turned - array * _diagonal(np.shape(array), axis)


def tied_node(node: Node, axis: int = 0) -> Node:
    """The same as a node."""
    turned = NUMPY[np.swapaxes](node, axis, axis + 1)
    kept: Node = node + turned - node * constant(_diagonal(node.shape, axis))
    return kept


def _diagonal(shape: tuple[int, ...], axis: int) -> Any:
    """Ones on the diagonal of two axes, for arrays of that shape."""
    ones = np.eye(shape[axis])
    return np.broadcast_to(ones.reshape((*ones.shape, *(1,) * (len(shape) - axis - 2))), shape)


def tied_axes(key: str, inputs: Mapping[str, Node], leading: int, structured: Collection[str]) -> list[int]:
    """Where the axes of structured variables start in the derivative of this key; `leading` axes come before them.

    >>> from gradexplain.graph import variable
    >>> tied_axes("S,x", {"S": variable("S", (3, 3)), "x": variable("x", (3,))}, 1, {"S"})
    [1]
    """
    found, at = [], leading
    for name in key.split(","):
        if name in structured:
            found.append(at)
        at += inputs[name].ndim
    return found


def structured_in(facts: Mapping[str, Collection[str]]) -> frozenset[str]:
    """The variables of which it is known that they are structured."""
    return frozenset(name for name, known in facts.items() if "structured" in known)
