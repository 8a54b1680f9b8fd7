"""Rows that reduce or accumulate along axes: sum, prod, max, min, cumsum, …"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.graph import Node, Sample, constant, is_scalar_constant, operators
from gradexplain.primitive import POSTFIX, Code, linear
from gradexplain.shapes import Axes, Shape, reduced, size


def spread(g: Node, x: Node, axis: Axes, keepdims: bool) -> Node:
    """A reduction's cotangent, back in the shape of what was reduced."""
    kept = reduced(x.shape, axis, keepdims=True)
    if not keepdims and kept != g.shape:
        g = operators["reshape"](g, kept)
    result: Node = operators["broadcast_to"](g, x.shape)
    return result


def _sum_value(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    return np.sum(x, axis=axis, keepdims=keepdims)


def _reduced_shape(x: Shape, *, axis: Axes, keepdims: bool) -> Shape:
    return reduced(x, axis, keepdims)


def _fold_sum(x: Node, *, axis: Axes, keepdims: bool) -> Node | None:
    if not axis:
        return x
    if is_scalar_constant(x) and x.op.name == "broadcast_to":
        count = size(tuple(x.shape[a] for a in axis))
        return operators["broadcast_to"](x.inputs[0] * count, reduced(x.shape, axis, keepdims))
    return None


def _axis_text(shape_rank: int | None, axis: Axes, keepdims: bool) -> str:
    inner = f"axis={axis[0] if len(axis) == 1 else axis}"
    return f"{inner}, keepdims=True" if keepdims else inner


def _sum_text(x: Code, *, axis: Axes, keepdims: bool) -> Code:
    return Code(f"np.sum({x}, {_axis_text(None, axis, keepdims)})")


REDUCTION_SAMPLES = (
    Sample(((3,),), {"axis": (0,), "keepdims": False}),
    Sample(((2, 3),), {"axis": (0, 1), "keepdims": False}),
    Sample(((2, 3),), {"axis": (1,), "keepdims": True}),
    Sample(((2, 3, 2),), {"axis": (0, 2), "keepdims": False}),
)

# fmt: off
sum_over = linear("sum", _sum_value, _reduced_shape, transpose=lambda g, x, *, axis, keepdims: spread(g, x, axis, keepdims),
                  rule="sum rule", fold=_fold_sum, numpy=_sum_text, samples=REDUCTION_SAMPLES)
# fmt: on
