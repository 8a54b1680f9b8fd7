"""How rows are written where a reader knows a shorter word: no axes where all are meant, mean for a sum over its size.

NumPy's mean, var and std are composed of other rows. Their pieces are told here by the rows that they are made of, so
it does not matter which library's function made them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gradexplain.graph import CONSTANT, Fixed, Node, Primitive
from gradexplain.ops.arithmetic import div, sub
from gradexplain.ops.elementary import square
from gradexplain.ops.reductions import (
    all_over,
    any_over,
    count_nonzero,
    max_over,
    min_over,
    prod_over,
    root_sum_square,
    sum_over,
)
from gradexplain.ops.shaping import broadcast_to
from gradexplain.shapes import size


@dataclass(frozen=True, slots=True)
class Spelling:
    """A node as the call of a function; `inside` are the nodes between it and the operands, which the call hides."""

    function: str
    operands: tuple[Node, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    inside: tuple[Node, ...] = ()


def spelling(node: Node) -> Spelling | None:
    """The call as which a node is written; None for most, which are written as their row says.

    >>> from gradexplain.graph import variable
    >>> from gradexplain.ops.statistics import mean
    >>> X = variable("X", (2, 3))
    >>> spelling(mean(X, axis=1)).function, spelling(mean(X, axis=1)).keywords
    ('mean', {'axis': 1})
    >>> spelling(mean(X)).keywords
    {}
    """
    rule = _SPELLINGS.get(node.op)
    return None if rule is None else rule(node)


def _keywords(reduction: Node) -> dict[str, Any]:
    """What tells a reduction from one over all axes."""
    axes, found = reduction.params["axis"], {}
    if len(axes) < reduction.inputs[0].ndim:
        found["axis"] = axes[0] if len(axes) == 1 else axes
    return {**found, "keepdims": True} if reduction.params["keepdims"] else found


def _reduction(node: Node) -> Spelling:
    return Spelling(node.op.name, node.inputs, _keywords(node))


def _norm(node: Node) -> Spelling | None:
    is_norm = len(node.params["axis"]) in (1, 2) or "axis" not in _keywords(node)  # NumPy has none over three of four
    return Spelling("norm", node.inputs, _keywords(node)) if is_norm else None


def _quotient(node: Node) -> Spelling | None:
    """A sum, or the root of a sum of squares, over the number of its entries."""
    total, below = node.inputs
    if total.op not in (sum_over, root_sum_square) or below.op is not CONSTANT or isinstance(below.data, Fixed):
        return None
    if total.op is root_sum_square:
        return _spread("std", total, total.inputs[0], (total,), lambda degrees: bool(below.data == math.sqrt(degrees)))
    (summed,) = total.inputs
    if summed.op is square:
        found = _spread("var", total, summed.inputs[0], (total, summed), lambda degrees: bool(below.data == degrees))
        if found is not None:
            return found
    return Spelling("mean", total.inputs, _keywords(total), (total,)) if below.data == _count(total) else None


def _spread(
    function: str, total: Node, centred: Node, inside: tuple[Node, ...], is_below: Callable[[int], bool]
) -> Spelling | None:
    """The variance or deviation of what is centred: data less their mean over the axes of the total."""
    ddof = next((k for k in (0, 1) if _count(total) > k and is_below(_count(total) - k)), None)
    if centred.op is not sub or ddof is None:
        return None
    x, mean = centred.inputs
    inside += (centred,)
    while mean.op is broadcast_to:
        inside += (mean,)
        (mean,) = mean.inputs
    said = spelling(mean)
    if said is None or (said.function, said.operands) != ("mean", (x,)) or not _is_over(mean.inputs[0], total):
        return None
    keywords = _keywords(total) | ({"ddof": ddof} if ddof else {})
    return Spelling(function, (x,), keywords, (*inside, mean, *said.inside))


def _is_over(mean: Node, total: Node) -> bool:
    """Whether the sum of a mean is over the same axes, and kept them so that its entries stand beside the data's."""
    axes = total.params["axis"]
    beside = mean.params["keepdims"] or axes == tuple(range(len(axes)))
    return bool(mean.params["axis"] == axes and beside)


def _count(reduction: Node) -> int:
    return size(tuple(reduction.inputs[0].shape[a] for a in reduction.params["axis"]))


_SPELLINGS: dict[Primitive, Callable[[Node], Spelling | None]] = {
    div: _quotient,
    root_sum_square: _norm,
    **dict.fromkeys((sum_over, prod_over, max_over, min_over, any_over, all_over, count_nonzero), _reduction),
}
