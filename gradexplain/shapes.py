"""Shapes: tuples of ints, and the arithmetic of axes that the shape rules of the table need."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from gradexplain.errors import ShapeError

Shape = tuple[int, ...]
Axes = tuple[int, ...]


def broadcast(*shapes: Shape) -> Shape:
    """The common shape of operands by NumPy's rule.

    >>> broadcast((3, 1), (4,))
    (3, 4)
    """
    if len(set(shapes)) == 1:
        return shapes[0]
    out: list[int] = []
    for axis in range(1, max(map(len, shapes), default=0) + 1):
        sizes = {s[-axis] for s in shapes if len(s) >= axis} - {1}
        if len(sizes) > 1:
            shown = " and ".join(map(str, shapes))
            raise ShapeError(
                f"shapes {shown} do not broadcast",
                why=f"axis {-axis} has the sizes {sorted(sizes)}",
                fix="reshape one operand, for instance with x[:, None]",
            )
        out.append(sizes.pop() if sizes else 1)
    return tuple(reversed(out))


def normal_axis(axis: int, rank: int) -> int:
    """The axis as a number from 0.

    >>> normal_axis(-1, 3)
    2
    """
    if not -rank <= axis < rank:
        raise ShapeError(f"axis {axis} is out of range for an array with {rank} axes", fix="count axes from 0")
    return axis % rank


def normal_axes(axis: int | Sequence[int] | None, rank: int) -> Axes:
    """The axes as a sorted tuple of numbers from 0; None stands for all.

    >>> normal_axes(None, 2), normal_axes(-1, 2)
    ((0, 1), (1,))
    """
    if axis is None:
        return tuple(range(rank))
    listed = (axis,) if hasattr(axis, "__index__") else tuple(axis)
    return tuple(sorted(normal_axis(int(a), rank) for a in listed))


def reduced(shape: Shape, axes: Axes, keepdims: bool = False) -> Shape:
    """The shape after a reduction over axes.

    >>> reduced((2, 3), (1,)), reduced((2, 3), (1,), keepdims=True)
    ((2,), (2, 1))
    """
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def size(shape: Shape) -> int:
    """The number of entries."""
    return prod(shape)
