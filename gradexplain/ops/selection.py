"""NumPy's functions that choose between values: where, select, clip, fmax, interp, searchsorted, …"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError, NoRuleError, ShapeError
from gradexplain.graph import Node, Sample, as_node
from gradexplain.ops import ordering
from gradexplain.ops.indexing import item
from gradexplain.ops.ordering import by_order, equal, greater, less, maximum, minimum, not_equal
from gradexplain.ops.pieces import larger_of, smaller_of
from gradexplain.ops.reductions import operand
from gradexplain.ops.refusals import only_defaults
from gradexplain.ops.shaping import array, broadcast_to
from gradexplain.ops.statistics import diff
from gradexplain.primitive import POSTFIX, Code, call, elementwise, flat, numpy_function
from gradexplain.shapes import Shape, broadcast


def _truth(condition: Any) -> Node:
    """A condition; of numbers, whether they differ from 0."""
    node = array(condition)
    return node if node.kind == "bool" else not_equal(node, 0)


@numpy_function(np.where)
def where(condition: Any, x: Any = None, y: Any = None, /) -> Node:
    """`np.where` with three arguments."""
    if x is None or y is None:
        raise NoRuleError(
            "np.where(condition) has no derivative rule",
            why="the shape of its result depends on the values",
            fix="use np.where(condition, a, b)",
        )
    return ordering.where.record(_truth(condition), operand(x), operand(y))


@numpy_function(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Node:
    """`np.select`: the first choice whose condition holds."""
    if len(condlist) != len(choicelist):
        raise ArgumentError("np.select needs as many choices as conditions", fix="give one choice for each condition")
    result = array(default)
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = where(condition, choice, result)
    return result


@numpy_function(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Node:
    """`np.choose`: for each entry the choice that its integer names."""
    only_defaults("np.choose", out=out, mode=mode)
    index, options = array(a), [array(c) for c in choices]
    result = options[-1]
    for number, option in reversed(list(enumerate(options[:-1]))):
        result = where(equal(index, number), option, result)
    shape = broadcast(index.shape, *[c.shape for c in options])
    return broadcast_to(result, shape=shape)


@numpy_function(np.clip)
def clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None, **options: Any
) -> Node:
    """`np.clip`: either bound may be None."""
    only_defaults("np.clip", out=out, **options)
    x, low, high = operand(a), _given("min", a_min, min), _given("max", a_max, max)
    if low is None:
        return x if high is None else minimum.record(x, array(high))
    return maximum.record(x, array(low)) if high is None else ordering.clip.record(x, array(low), array(high))


def _given(name: str, *spellings: Any) -> Any:
    bounds = [s for s in spellings if s is not None and s is not np._NoValue]
    if len(bounds) == 2:
        raise ArgumentError(f"np.clip got both a_{name}= and {name}=", fix=f"leave {name}= out")
    return bounds[0] if bounds else None


def _ignoring_nan(larger: int, smaller: int) -> tuple[Callable[..., Node], Callable[..., Node]]:
    """The partials of fmax or fmin: those of maximum, but an operand that is nan leaves the other alone. Both ask for the
    same order, so that what the formula of one leaves out at a tie, that of the other has.
    """

    def left(y: Node, a: Node, b: Node) -> Node:
        return ordering.where(not_equal(b, b), 1, ordering.where(not_equal(a, a), 0, by_order(a, b, larger, smaller)))

    def right(y: Node, a: Node, b: Node) -> Node:
        return ordering.where(not_equal(a, a), 1, ordering.where(not_equal(b, b), 0, by_order(a, b, smaller, larger)))

    return left, right


def _inner_knots(xp: Any, x: Any) -> Any:
    return np.searchsorted(xp[1:-1], x, side="right")


def _second_shape(a: Shape, v: Shape, **_: Any) -> Shape:
    return v


# fmt: off
fmax = elementwise("fmax", np.fmax, larger_of, *_ignoring_nan(1, 0), rule="larger operand", exact=lambda mp, a, b: max(a, b),
                   kinks="a = b: each operand has half")
fmin = elementwise("fmin", np.fmin, smaller_of, *_ignoring_nan(0, 1), rule="smaller operand", exact=lambda mp, a, b: min(a, b),
                   kinks="a = b: each operand has half")
search = flat("searchsorted", lambda a, v, *, side: np.searchsorted(a, v, side=side), _second_shape, family="general", result="int",
              numpy=call("np.searchsorted"), rule="a position: no derivative", kinks="jumps at the entries of a", samples=(Sample(((3,), (2,)), {"side": "left"}),))
segment = flat("segment", _inner_knots, _second_shape, family="general", result="int", rule="a position: no derivative",
               numpy=lambda xp, x: Code(f"np.searchsorted({xp.at(POSTFIX)}[1:-1], {x}, side='right')"), kinks="jumps at the inner knots",
               samples=(Sample(((4,), (2,))),))
# fmt: on


@numpy_function(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Node:
    """`np.searchsorted`: positions, as integers."""
    only_defaults("np.searchsorted", sorter=sorter)
    return search(array(a), array(v), side=side)


@numpy_function(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Node:
    """`np.digitize` for bins that increase."""
    if type(bins) is not Node and np.any(np.diff(bins) < 0):
        raise NoRuleError(
            "np.digitize with bins that decrease has no rule", why="increasing bins have one", fix="turn the bins round"
        )
    return search(array(bins), array(x), side="left" if right else "right")


@numpy_function(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Node:
    """`np.interp`: a straight line in every interval; at a knot the slope to its right is taken."""
    only_defaults("np.interp", period=period)
    at, knots, heights = array(x), array(xp), array(fp)
    if knots.shape != heights.shape or knots.ndim != 1 or knots.size < 2:
        raise ShapeError(
            f"np.interp needs vectors of the same size, at least 2, not {knots.shape} and {heights.shape}",
            fix="give a height for every knot",
        )
    i = segment(knots, at)
    slope = diff(heights) / diff(knots)
    inside = item(heights[:-1], i) + item(slope, i) * (at - item(knots[:-1], i))
    below = heights[0] if left is None else as_node(left)
    above = heights[-1] if right is None else as_node(right)
    return ordering.where(less(at, knots[0]), below, ordering.where(greater(at, knots[-1]), above, inside))
