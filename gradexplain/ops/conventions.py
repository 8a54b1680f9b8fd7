"""Where TensorFlow's derivatives differ from those of the rows: at kinks, at ties, and where something is 0/0.

The rows take the smallest slope, and never let a branch that was not taken make a result NaN. TensorFlow takes one side,
and computes what its formula gives. What people ask of a tape is what TensorFlow did: `TENSORFLOW` holds the pullbacks
`(i, g, y)` by rows. Formulas read off from TensorFlow 2.21 by running it at these points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradexplain.graph import Node, Primitive
from gradexplain.ops.arithmetic import div, mul, power, xlogy
from gradexplain.ops.decompositions import eigenvalues, eigenvectors
from gradexplain.ops.elementary import arccosh, arctan2, log, sinh, sqrt, tan, tanh
from gradexplain.ops.ordering import (
    as_number,
    clip,
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_or,
    maximum,
    minimum,
    not_equal,
    sign,
    where,
)
from gradexplain.ops.products import swapped
from gradexplain.ops.reductions import backwards, cumprod, cumsum, max_over, min_over, spread, sum_over
from gradexplain.ops.shaping import triu
from gradexplain.ops.special import expit, xlog1py
from gradexplain.primitive import zero_like

Pullback = Callable[[int, Node, Node], "Node | None"]
TENSORFLOW: dict[Primitive, Pullback] = {}


def _of(row: Primitive, *rules: Callable[..., Any] | None) -> None:
    """Enters a rule `(g, y, *operands, **params)` for each operand."""

    def pullback(i: int, g: Node, y: Node) -> Node | None:
        rule = rules[i]
        return None if rule is None else rule(g, y, *y.inputs, **y.params)

    TENSORFLOW[row] = pullback


def _shares(g: Node, y: Node, x: Node, *, axis: tuple[int, ...], keepdims: bool) -> Node:
    """Entries that tie share: their indicator over its sum, times g."""
    hit = as_number(equal(x, spread(y, x, axis, keepdims)))
    count = spread(sum_over(hit, axis=axis, keepdims=keepdims), x, axis, keepdims)
    return div.record(hit, count) * spread(g, x, axis, keepdims)


def _lower_half(row: Primitive) -> None:
    """Only the lower triangle is read: what falls on the upper one is added to its mirror image."""

    def pullback(i: int, g: Node, y: Node) -> Node | None:
        full = None if row.pullback is None else row.pullback(i, g, y)
        return None if full is None else swapped(triu(full, k=0) + triu(full, k=1))

    TENSORFLOW[row] = pullback


def _running_product(g: Node, y: Node, x: Node, *, axis: int) -> Node:
    """Divides by x, and gives 0 where x is 0: wrong there."""
    total = backwards(cumsum(backwards(y * g, axis), axis=axis), axis)
    zero = equal(x, 0)
    return where(zero, 0, total / where(zero, 1, x))


def _log_of_base(a: Node) -> Node:
    positive = greater(a, 0)
    return where(positive, log(where(positive, a, 1)), 0)


def _exponent(g: Node, y: Node, a: Node, b: Node) -> Node:
    """Products as they stand: 0 times infinity is to be NaN, as TensorFlow has it."""
    return mul.record(mul.record(g, y), _log_of_base(a))


def _is_not_zero(a: Node) -> Node:
    found: Node = as_number(not_equal(a, 0))
    return found


def _quotient(a: Node, b: Node) -> Node:
    """a/b, and 0 where a is 0, whatever b is."""
    zero = equal(a, 0)
    return where(zero, 0, a / where(zero, 1, b))


# fmt: off
_of(maximum, lambda g, y, a, b: where(greater_equal(a, b), g, 0), lambda g, y, a, b: where(greater_equal(a, b), 0, g))
_of(minimum, lambda g, y, a, b: where(less_equal(a, b), g, 0), lambda g, y, a, b: where(less_equal(a, b), 0, g))
_of(clip, lambda g, y, x, lo, hi: where(logical_or(less(x, lo), greater(x, hi)), 0, g),
    lambda g, y, x, lo, hi: where(less(x, lo), g, 0), lambda g, y, x, lo, hi: where(greater(x, hi), g, 0))
_of(max_over, _shares)
_of(min_over, _shares)
_of(sign, lambda g, y, x: zero_like(x))
_of(sqrt, lambda g, y, x: where(equal(g, 0), 0, g * 0.5 / y))
_of(div, lambda g, y, a, b: g / b, lambda g, y, a, b: g * (-a / b / b))
_of(power, lambda g, y, a, b: g * b * power.record(a, b - 1), _exponent)
_of(xlogy, lambda g, y, a, b: g * xlogy(_is_not_zero(a), b), lambda g, y, a, b: g * _quotient(a, b))
_of(xlog1py, lambda g, y, a, b: g * xlog1py(_is_not_zero(a), b), lambda g, y, a, b: g * _quotient(a, b + 1))
_of(arctan2, lambda g, y, a, b: b * (g / (a * a + b * b)), lambda g, y, a, b: -a * (g / (a * a + b * b)))
_of(expit, lambda g, y, x: g * (y * (1 - y)))
_of(tanh, lambda g, y, x: g * (1 - y * y))
_of(tan, lambda g, y, x: g * (1 + y * y))
_of(cumprod, _running_product)
_of(arccosh, lambda g, y, x: g / sinh(y))
_lower_half(eigenvalues)
_lower_half(eigenvectors)
# fmt: on
