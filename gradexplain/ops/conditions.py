"""NumPy's conditions and rounding functions on nodes, composed of the rows in ops/ordering.py: isclose, round, divmod, …"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradexplain.errors import NoRuleError
from gradexplain.graph import Node, as_node
from gradexplain.ops.arithmetic import absolute
from gradexplain.ops.elementary import isfinite, isinf, isnan
from gradexplain.ops.ordering import (
    equal,
    floor_divide,
    greater,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    mod,
    not_equal,
    rint,
    trunc,
)
from gradexplain.ops.refusals import only_defaults
from gradexplain.primitive import NUMPY, numpy_function


@numpy_function(np.divmod)
def quotient_and_remainder(a: Any, b: Any) -> tuple[Node, Node]:
    """`np.divmod`: the whole quotient and the remainder."""
    return floor_divide(a, b), mod(a, b)


@numpy_function(np.round, np.around)
def rounded(a: Any, decimals: int = 0, out: Any = None) -> Node:
    """`np.round`; no derivative flows through."""
    only_defaults("np.round", out=out)
    if decimals == 0:
        return rint(a)
    scale = 10.0 ** abs(decimals)
    return rint(as_node(a) * scale) / scale if decimals > 0 else rint(as_node(a) / scale) * scale


@numpy_function(np.fix)
def fix(x: Any, out: Any = None) -> Node:
    """`np.fix`: rounds towards zero."""
    only_defaults("np.fix", out=out)
    return trunc(x)


@numpy_function(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Node:
    """`np.isclose`: entries that are close, measured by b."""
    a, b = as_node(a), as_node(b)
    near = logical_and(less_equal(absolute(a - b), atol + rtol * absolute(b)), isfinite(b))
    close = logical_or(equal(a, b), near)
    return logical_or(close, logical_and(isnan(a), isnan(b))) if equal_nan else close


@numpy_function(np.allclose)
def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """`np.allclose`: whether all entries are close."""
    return NUMPY[np.all](isclose(a, b, rtol, atol, equal_nan))


@numpy_function(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """`np.array_equal`: whether shapes and entries are the same."""
    a, b = as_node(a1), as_node(a2)
    if a.shape != b.shape:
        return as_node(False)
    same = equal(a, b)
    return NUMPY[np.all](logical_or(same, logical_and(isnan(a), isnan(b))) if equal_nan else same)


@numpy_function(np.isposinf)
def isposinf(x: Any) -> Node:
    """`np.isposinf`: plus infinity."""
    return logical_and(isinf(x), greater(x, 0))


@numpy_function(np.isneginf)
def isneginf(x: Any) -> Node:
    """`np.isneginf`: minus infinity."""
    return logical_and(isinf(x), less(x, 0))


def _of_truth(row: Callable[..., Node]) -> Callable[..., Node]:
    """A connective; numbers are true where they are not 0."""

    def on_truth(*xs: Any) -> Node:
        return row(*(x if x.kind == "bool" else not_equal(x, 0) for x in map(as_node, xs)))

    return on_truth


def _of_conditions(function: np.ufunc, row: Callable[..., Node]) -> Callable[..., Node]:
    """A connective that works on the bits of numbers, which is refused."""

    def on_conditions(*xs: Any) -> Node:
        if any(as_node(x).kind != "bool" for x in xs):
            raise NoRuleError(
                f"np.{function.__name__} has no derivative rule on numbers",
                why="it works on the bits of whole numbers",
                fix="use it between conditions only",
            )
        return row(*xs)

    return on_conditions


def _either(a: Any, b: Any) -> Node:
    return logical_and(logical_or(a, b), logical_not(logical_and(a, b)))


_CONNECTIVES = (
    (np.logical_and, np.bitwise_and, logical_and),
    (np.logical_or, np.bitwise_or, logical_or),
    (np.logical_xor, np.bitwise_xor, _either),
    (np.logical_not, np.invert, logical_not),
)
for of_truth, of_bits, connective in _CONNECTIVES:
    NUMPY[of_truth], NUMPY[of_bits] = _of_truth(connective), _of_conditions(of_bits, connective)
