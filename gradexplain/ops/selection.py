"""NumPy's functions that choose and compare, on nodes: where, clip, select, fmax, round, isclose, …

All are compositions of the rows in ops/ordering.py, with their conventions at kinks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError, NoRuleError
from gradexplain.graph import Node, as_node, operators
from gradexplain.ops.arithmetic import absolute
from gradexplain.ops.elementary import isfinite, isinf, isnan
from gradexplain.ops.ordering import (
    clip,
    equal,
    floor_divide,
    greater,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    mod,
    not_equal,
    rint,
    trunc,
    where,
)
from gradexplain.ops.refusals import only_defaults
from gradexplain.primitive import NUMPY, numpy_function


def condition(c: Any) -> Node:
    """A node that is true or false; numbers are true where they are not 0."""
    node = as_node(c)
    return node if node.kind == "bool" else not_equal(node, 0)


def number(x: Any) -> Node:
    """A node that is a number; conditions are 1 or 0."""
    node = as_node(x)
    return operators["as_number"](node) if node.kind == "bool" else node


@numpy_function(np.where)
def where_function(c: Any, x: Any = None, y: Any = None) -> Node:
    """`np.where` with three arguments."""
    if x is None or y is None:
        raise NoRuleError(
            "np.where with a condition alone has no derivative rule",
            why="the shape of its result depends on the values",
            fix="use np.where(condition, a, b)",
        )
    return where.record(condition(c), number(x), number(y))


@numpy_function(np.clip)
def clip_function(
    a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None, **options: Any
) -> Node:
    """`np.clip`, with one bound or two."""
    only_defaults("np.clip", **options)
    low, high = (_given(name, *pair) for name, pair in {"min": (a_min, min), "max": (a_max, max)}.items())
    if low is not None and high is not None:
        return clip.record(a, low, high)
    return maximum.record(a, low) if low is not None else minimum.record(a, high) if high is not None else as_node(a)


def _given(name: str, old: Any, new: Any) -> Any:
    bounds = [b for b in (old, new) if b is not None and b is not np._NoValue]
    if len(bounds) == 2:
        raise ArgumentError(f"np.clip got both a_{name}= and {name}=", fix=f"leave {name}= out")
    return bounds[0] if bounds else None


@numpy_function(np.select)
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Node:
    """`np.select`: the choice whose condition is the first that is true."""
    if len(condlist) != len(choicelist):
        raise ArgumentError(
            f"np.select got {len(condlist)} conditions and {len(choicelist)} choices", fix="give one choice a condition"
        )
    result = number(default)
    for c, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = where_function(c, choice, result)
    return result


def _ignoring_nan(choose: Callable[..., Node]) -> Callable[..., Node]:
    """The larger or smaller number, or the one that is not nan."""

    def chosen(a: Any, b: Any) -> Node:
        return where(isnan(a), b, where(isnan(b), a, choose(a, b)))

    return chosen


NUMPY[np.fmax], NUMPY[np.fmin] = _ignoring_nan(maximum), _ignoring_nan(minimum)


@numpy_function(np.divmod)
def divmod_function(a: Any, b: Any) -> tuple[Node, Node]:
    """The whole quotient and the remainder."""
    return floor_divide(a, b), mod(a, b)


@numpy_function(np.round, np.around)
def round_function(a: Any, decimals: int = 0, out: Any = None) -> Node:
    """Rounds to decimals; no derivative flows through."""
    only_defaults("np.round", out=out)
    if decimals == 0:
        return rint(a)
    scale = 10.0 ** abs(decimals)
    return rint(as_node(a) * scale) / scale if decimals > 0 else rint(as_node(a) / scale) * scale


@numpy_function(np.fix)
def fix(x: Any, out: Any = None) -> Node:
    """Rounds towards zero."""
    only_defaults("np.fix", out=out)
    return trunc(x)


@numpy_function(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Node:
    """A condition: entries that are close, measured by b."""
    a, b = as_node(a), as_node(b)
    near = logical_and(less_equal(absolute(a - b), atol + rtol * absolute(b)), isfinite(b))
    close = logical_or(equal(a, b), near)
    return logical_or(close, logical_and(isnan(a), isnan(b))) if equal_nan else close


@numpy_function(np.allclose)
def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """A condition: whether all entries are close."""
    return NUMPY[np.all](isclose(a, b, rtol, atol, equal_nan))


@numpy_function(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """A condition: whether shapes and entries are the same."""
    a, b = as_node(a1), as_node(a2)
    if a.shape != b.shape:
        return as_node(False)
    same = equal(a, b)
    return NUMPY[np.all](logical_or(same, logical_and(isnan(a), isnan(b))) if equal_nan else same)


@numpy_function(np.isposinf)
def isposinf(x: Any) -> Node:
    """A condition: plus infinity."""
    return logical_and(isinf(x), greater(x, 0))


@numpy_function(np.isneginf)
def isneginf(x: Any) -> Node:
    """A condition: minus infinity."""
    return logical_and(isinf(x), less(x, 0))


def _on_conditions(name: str, row: Callable[..., Node]) -> Callable[..., Node]:
    def on_conditions(*xs: Any) -> Node:
        nodes = [as_node(x) for x in xs]
        if any(n.kind != "bool" for n in nodes):
            raise NoRuleError(
                f"np.{name} has no derivative rule on numbers",
                why="it works on the bits of whole numbers",
                fix="use it between conditions only",
            )
        return row(*nodes)

    return on_conditions


def _of_truth(row: Callable[..., Node]) -> Callable[..., Node]:
    return lambda *xs: row(*map(condition, xs))


def _either(a: Any, b: Any) -> Node:
    return logical_and(logical_or(a, b), logical_not(logical_and(a, b)))


NUMPY |= {
    np.bitwise_and: _on_conditions("bitwise_and", logical_and),
    np.bitwise_or: _on_conditions("bitwise_or", logical_or),
    np.bitwise_xor: _on_conditions("bitwise_xor", _either),
    np.invert: _on_conditions("invert", logical_not),
    np.logical_and: _of_truth(logical_and),
    np.logical_or: _of_truth(logical_or),
    np.logical_xor: _of_truth(_either),
    np.logical_not: _of_truth(logical_not),
}
