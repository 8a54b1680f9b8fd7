"""Rows for Python's arithmetic operators, with the foldings that keep gradient graphs free of zeros and ones."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from gradexplain.graph import Domain, Fixed, Node, constant, is_scalar_constant, operators
from gradexplain.numbers import exact_number
from gradexplain.ops.ordering import by_order, sign, where
from gradexplain.ops.pieces import compared, piecewise
from gradexplain.primitive import (
    CHOICE,
    POWER,
    PRODUCT,
    SIGN,
    SUM,
    Code,
    elementwise,
    filled,
    infix,
    numpy_function,
    zero_like,
)
from gradexplain.shapes import broadcast

_FRACTION_BITS = 64  # of the parts of a fraction; with more, a product in a loop would grow without end
POSITIVE = Domain(0.2, 3.0, "x > 0")
NONZERO = Domain(0.3, 2.5, "x != 0")


def _numbers(*nodes: Node) -> list[Any] | None:
    """The values of constant numbers, exact where they can be; None if a node is anything else."""
    if any(not n.is_constant or isinstance(n.data, Fixed) or n.kind == "bool" for n in nodes):
        return None
    return [n.data for n in nodes]


def _exact(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Arithmetic on constants: int, Fraction and decimals stay exact; None where it has no finite value."""
    try:
        result = function(_as_meant(a), _as_meant(b))
        if (
            isinstance(result, Fraction)
            and max(abs(result.numerator), result.denominator).bit_length() > _FRACTION_BITS
        ):
            result = function(a, b)
    except (ZeroDivisionError, OverflowError, ValueError):
        return None
    return result if not isinstance(result, complex) and abs(result) < float("inf") else None


def _as_meant(x: Any) -> Any:
    """2.2 is 11/5: a product of floats that both were typed would show its rounding."""
    meant = exact_number(x) if isinstance(x, float) else None
    return meant.factor if meant is not None and meant.form == "rational" else x


def _fold_constants(function: Callable[[Any, Any], Any], a: Node, b: Node) -> Node | None:
    numbers = _numbers(a, b)
    value = None if numbers is None else _exact(function, *numbers)
    return None if value is None else constant(value)


def _unbroadcast(a: Node, b: Node) -> tuple[Node, Node]:
    """A constant that was broadcast beside an array of the full shape is the number itself."""
    if a.op.name == "broadcast_to" and is_scalar_constant(a) and b.shape == a.shape:
        return a.inputs[0], b
    if b.op.name == "broadcast_to" and is_scalar_constant(b) and a.shape == b.shape:
        return a, b.inputs[0]
    return a, b


def _whole(node: Node, a: Node, b: Node) -> Node:
    """`node`, in the shape that `a` and `b` have together."""
    shape = broadcast(a.shape, b.shape)
    return node if node.shape == shape else operators["broadcast_to"](node, shape)


def _masked(function: Callable[..., Node], node: Node, *others: Node) -> Node | None:
    """f(where(c, a, 0), b) is where(c, f(a, b), 0): what b is where the mask is 0 must not matter, infinite or not."""
    if not _is_mask(node):
        return None
    *selector, a, b = node.inputs
    return node.op(*selector, *(0 if is_scalar_constant(side, 0) else function(side, *others) for side in (a, b)))


def _is_mask(node: Node, deepest: int = 4) -> bool:
    """Whether a node is 0 on a side of a condition, or on a side of a condition within one."""
    if not deepest or node.op not in (where, by_order):
        return False
    return any(is_scalar_constant(side, 0) or _is_mask(side, deepest - 1) for side in node.inputs[-2:])


def _merged_masks(a: Node, b: Node) -> Node | None:
    """where(c, p, 0) + where(c, 0, q) is where(c, p, q), the two sides of one branch together again, and
    where(c, p, 0) + where(c, q, 0) is where(c, p + q, 0), which stays a mask.
    """
    if a.op is not b.op or a.op not in (where, by_order) or a.inputs[:-2] != b.inputs[:-2]:
        return None
    if all(any(is_scalar_constant(side, 0) for side in mask.inputs[-2:]) for mask in (a, b)):
        left, right = (add(p, q) for p, q in zip(a.inputs[-2:], b.inputs[-2:], strict=True))
        return a.op(*a.inputs[:-2], left, right)
    return None


def _fold_add(a: Node, b: Node) -> Node | None:
    if is_scalar_constant(a, 0):
        return _whole(b, a, b)
    if is_scalar_constant(b, 0):
        return _whole(a, a, b)
    if b.op is neg:
        return sub(a, b.inputs[0])
    if a.op is neg:
        return sub(b, a.inputs[0])
    if a is b:
        return mul(2, a)
    return _merged_masks(a, b) or _fold_constants(operator.add, a, b) or _refold(add, a, b)


def _fold_sub(a: Node, b: Node) -> Node | None:
    if is_scalar_constant(b, 0):
        return _whole(a, a, b)
    if is_scalar_constant(a, 0):
        return _whole(neg(b), a, b)
    if a is b:
        return zero_like(a)
    if b.op is neg:
        return add(a, b.inputs[0])
    return _fold_constants(operator.sub, a, b) or _refold(sub, a, b)


def _fold_mul(a: Node, b: Node) -> Node | None:
    if is_scalar_constant(a, 0) or is_scalar_constant(b, 0):
        return filled(0, broadcast(a.shape, b.shape))
    if is_scalar_constant(a, 1):
        return _whole(b, a, b)
    if is_scalar_constant(b, 1):
        return _whole(a, a, b)
    if is_scalar_constant(a, -1):
        return _whole(neg(b), a, b)
    if is_scalar_constant(b, -1):
        return _whole(neg(a), a, b)
    if a.op is neg:
        return neg(mul(a.inputs[0], b))
    if b.op is neg:
        return neg(mul(a, b.inputs[0]))
    for x, y in ((a, b), (b, a)):
        if y.op is div and y.inputs[1] is x:  # x*(c/x) is c, also where x is 0: that is the limit
            return _whole(y.inputs[0], a, b)
    masked = _masked(mul, a, b) or _masked(lambda part, other: mul(other, part), b, a)
    return masked or _fold_constants(operator.mul, a, b) or _refold(mul, a, b) or _factor_in_front(a, b)


def _factor_in_front(a: Node, b: Node) -> Node | None:
    """Constant factors are multiplied with each other and stand in front: (2*x)*(3*y) is 6*(x*y)."""
    (left, x), (right, y) = _split_factor(a), _split_factor(b)
    factors = [f for f in (left, right) if f is not None]
    if not factors or (x is None and y is None):
        return None
    factor = factors[0] if len(factors) == 1 else _fold_constants(operator.mul, *factors)
    if factor is None or (factor is a and y is b):
        return None
    rest = x if y is None else y if x is None else mul(x, y)
    return mul.record(factor, rest) if rest in (x, y) and factor.data != 1 else mul(factor, rest)


def _split_factor(node: Node) -> tuple[Node | None, Node | None]:
    """A node as a constant number and the rest (either may be absent)."""
    if node.is_constant and node.shape == ():
        return node, None
    if node.op is mul and node.inputs[0].is_constant and node.inputs[0].shape == ():
        return node.inputs[0], node.inputs[1]
    return None, node


def _fold_div(a: Node, b: Node) -> Node | None:
    if is_scalar_constant(a, 0):
        return filled(0, broadcast(a.shape, b.shape))
    if is_scalar_constant(b, 1):
        return _whole(a, a, b)
    if a.op is neg:
        return neg(div(a.inputs[0], b))
    return _masked(div, a, b) or _fold_constants(_divide, a, b) or _refold(div, a, b)


def _refold(op: Any, a: Node, b: Node) -> Node | None:
    plain_a, plain_b = _unbroadcast(a, b)
    return None if plain_a is a and plain_b is b else op(plain_a, plain_b)


def _divide(a: Any, b: Any) -> Any:
    return Fraction(a) / Fraction(b) if isinstance(a, (int, Fraction)) and isinstance(b, (int, Fraction)) else a / b


def _fold_neg(x: Node) -> Node | None:
    if x.op is neg:
        return x.inputs[0]
    if is_scalar_constant(x, 0):
        return x
    numbers = _numbers(x)
    if numbers is not None:
        return constant(-numbers[0])
    return _masked(neg, x)


def _fold_pow(a: Node, b: Node) -> Node | None:
    if is_scalar_constant(b, 0):
        return filled(1, broadcast(a.shape, b.shape))
    if is_scalar_constant(b, 1):
        return _whole(a, a, b)
    numbers = _numbers(a, b)
    if numbers is not None and isinstance(numbers[1], int) and abs(numbers[1]) <= 64:
        value = _exact(lambda x, n: Fraction(x) ** n if isinstance(x, (int, Fraction)) else x**n, *numbers)
        return None if value is None or abs(value) > 2**200 else constant(value)
    return None


def _power(a: Any, b: Any) -> Any:
    """NumPy's power on floats: 2**-1 is 0.5, (-8)**(1/3) is nan."""
    return np.asarray(a, dtype=float)[()] ** b


def exact_power(mp: Any, a: Any, b: Any) -> Any:
    """A power in mpmath, which multiplies 10**60 times for an exponent of 10**60: from a million on by logarithms."""
    if not isinstance(b, mp.mpf) or abs(b) < 1e6 or not a or not mp.isint(b) or not mp.isfinite(b):
        return mp.power(a, b)
    y = mp.exp(b * mp.log(abs(a))) if isinstance(a, mp.mpf) else mp.exp(b * mp.log(a))
    return -y if isinstance(a, mp.mpf) and a < 0 and b % 2 else y


def lowered(b: Node) -> Node:
    """b - 1 as the exponent of d(a**b)/da, which is b*a**(b - 1): where b is 0, so is that, also at a = 0."""
    if isinstance(b.data if b.is_constant else None, Fixed):
        array = np.asarray(b.data.array, dtype=float)
        return constant(np.where(array == 0, 1.0, array - 1))
    if b.kind == "int":
        return next_lower(b)
    return b - 1


def _power_text(a: Code, b: Code) -> Code:
    return Code(f"{a.at(POWER + 1)}**{b.at(SIGN)}", POWER)


def _exact_xlogy(mp: Any, x: Any, y: Any) -> Any:
    return mp.mpf(0) if x == 0 else x * mp.log(y)


def _xlogy_symbol(sp: Any, x: Any, y: Any) -> Any:
    """x*log(y); what can stay at 0, as max(y, 0) can, needs to be told that 0*log(0) is 0."""
    product = x * sp.log(y)
    flat = y.has(sp.Max, sp.Min, sp.Piecewise, sp.floor, sp.ceiling) and not y.is_positive
    return piecewise(sp, (0, compared(sp, "Eq", x, 0)), (product, True)) if flat else product


def _xlogy(x: Any, y: Any) -> Any:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return np.where(x == 0, 0.0, x * np.log(np.where(x == 0, 1.0, y)))[()]


# fmt: off
add = elementwise("add", np.add, lambda sp, a, b: a + b, lambda y, a, b: 1, lambda y, a, b: 1,
                  rule="sum rule", exact=lambda mp, a, b: a + b, numpy=infix(" + ", SUM, SUM), fold=_fold_add)
sub = elementwise("sub", np.subtract, lambda sp, a, b: a - b, lambda y, a, b: 1, lambda y, a, b: -1,
                  rule="difference rule", exact=lambda mp, a, b: a - b, numpy=infix(" - ", SUM), fold=_fold_sub)
neg = elementwise("neg", np.negative, lambda sp, x: -x, lambda y, x: -1,
                  rule="constant multiple rule", exact=lambda mp, x: -x, fold=_fold_neg,
                  numpy=lambda x: Code(f"-{x.at(PRODUCT)}", SUM))
mul = elementwise("mul", np.multiply, lambda sp, a, b: a * b, lambda y, a, b: b, lambda y, a, b: a,
                  rule="product rule", exact=lambda mp, a, b: a * b, numpy=infix("*", PRODUCT, PRODUCT), fold=_fold_mul)
div = elementwise("div", np.true_divide, lambda sp, a, b: a / b, lambda y, a, b: 1 / b, lambda y, a, b: -(a / b**2),
                  rule="quotient rule", exact=lambda mp, a, b: mp.fdiv(a, b), numpy=infix("/", PRODUCT), fold=_fold_div,
                  domain=(Domain(), NONZERO))
xlogy = elementwise("xlogy", _xlogy, _xlogy_symbol, lambda z, x, y: log_of(y), lambda z, x, y: x / y,
                  rule="product rule", exact=_exact_xlogy, domain=(Domain(), POSITIVE),
                  numpy=lambda x, y: Code(f"np.where({x} == 0, 0.0, {x.at(PRODUCT)}*np.log(np.where({x} == 0, 1.0, {y})))"))
next_lower = elementwise("next_lower", lambda b: np.where(np.equal(b, 0), 1.0, np.subtract(b, 1.0))[()],
                  lambda sp, b: b - 1, lambda y, b: 1,
                  exact=lambda mp, b: b - 1 if b else mp.mpf(1), rule="exponent of the power rule",
                  numpy=lambda b: Code(f"np.where({b.at(SUM)} == 0, 1.0, {b.at(SUM)} - 1.0)"),
                  math=lambda b: Code(f"1.0 if {b.at(SUM)} == 0 else {b.at(SUM)} - 1.0", CHOICE))
power = elementwise("pow", _power, lambda sp, a, b: a**b, lambda y, a, b: b * a ** lowered(b), lambda y, a, b: xlogy(y, a),
                  rule="power rule", exact=exact_power, numpy=_power_text, fold=_fold_pow,
                  domain=(POSITIVE, Domain()))
absolute = elementwise("abs", np.abs, "Abs", lambda y, x: sign(x),
                  rule="absolute value rule", exact=lambda mp, x: mp.fabs(x), math="fabs",
                  kinks="x = 0: slopes -1 and 1, 0 is taken")
# fmt: on


def log_of(x: Node) -> Node:
    """The natural logarithm; its row is in ops/elementary.py, which comes after this module."""
    return operators["log"](x)


numpy_function(np.power, np.float_power)(power)
operators.update(add=add, sub=sub, mul=mul, div=div, neg=neg, pow=power)
