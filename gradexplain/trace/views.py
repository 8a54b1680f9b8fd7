"""Views: `x[1:]`, `x.T`, `x.reshape(…)` share the entries of x. Reading looks through to x, and writing changes x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradexplain.graph import Node, operators
from gradexplain.ops import shaping
from gradexplain.shapes import Shape


@dataclass(frozen=True, slots=True)
class Part:
    """`x[key]`, for a key of integers and slices."""

    key: Any

    def read(self, whole: Node) -> Node:
        return operators["getitem"](whole, self.key)

    def write(self, whole: Node, part: Node) -> Node:
        return operators["setitem"](whole, self.key, part)

    def on_array(self, array: Any) -> Any:
        return array[self.key]


@dataclass(frozen=True, slots=True)
class Reshaped:
    """The entries of x in another shape."""

    old: Shape
    new: Shape

    def read(self, whole: Node) -> Node:
        return shaping.reshape(whole, shape=self.new)

    def write(self, whole: Node, part: Node) -> Node:
        return shaping.reshape(part, shape=self.old)

    def on_array(self, array: Any) -> Any:
        return np.reshape(array, self.new)


@dataclass(frozen=True, slots=True)
class Turned:
    """The axes of x in another order."""

    axes: tuple[int, ...]

    def read(self, whole: Node) -> Node:
        return shaping.transpose(whole, axes=self.axes)

    def write(self, whole: Node, part: Node) -> Node:
        return shaping.transpose(part, axes=tuple(np.argsort(self.axes).tolist()))

    def on_array(self, array: Any) -> Any:
        return np.transpose(array, self.axes)


View = Part | Reshaped | Turned
_RESHAPING = {np.reshape, np.ravel, np.squeeze, np.expand_dims, np.atleast_1d, np.atleast_2d, np.atleast_3d}
_TURNING = {np.transpose, np.swapaxes, np.moveaxis, np.rollaxis}


def view_of(function: Any, old: Shape, new: Shape, *args: Any, **kwargs: Any) -> View | None:
    """How the result of a function of NumPy shows all entries of its operand, if it may be a view of it."""
    if function in _RESHAPING and kwargs.get("order", "C") == "C":
        return Reshaped(old, new)
    if function in _TURNING:  # an array in which every axis has a size of its own is asked for the order
        sizes = range(2, 2 + len(old))
        return Turned(tuple(n - 2 for n in function(np.empty(tuple(sizes)), *args, **kwargs).shape))
    return None


def is_basic(key: Any) -> bool:
    """Whether `x[key]` is a view."""
    parts = key if type(key) is tuple else (key,)
    return all(part is None or part is Ellipsis or type(part) in (int, slice) for part in parts)


def shares_memory(views: Sequence[View], shape: Shape) -> bool:
    """Whether NumPy makes a view for the last of some views of views; an empty array of the shape is asked."""
    array = whole = np.empty(shape)
    for view in views:
        array = view.on_array(array)
    return array.size == 0 or np.may_share_memory(array, whole)
