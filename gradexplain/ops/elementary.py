"""Rows for the elementary functions: exponentials, logarithms, roots, trigonometric and hyperbolic functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError
from gradexplain.graph import Domain, Node, Primitive, as_node, operators
from gradexplain.ops.arithmetic import NONZERO, POSITIVE, absolute
from gradexplain.ops.ordering import equal, sign, trunc, where
from gradexplain.ops.pieces import compared, piecewise
from gradexplain.ops.refusals import refused
from gradexplain.primitive import PRODUCT, SUM, Code, elementwise, flat, numpy_function

UNIT = Domain(-0.9, 0.9, "-1 < x < 1")
ABOVE_ONE = Domain(1.1, 3.0, "x > 1")
ABOVE_MINUS_ONE = Domain(-0.8, 2.0, "x > -1")
COS_NOT_ZERO = Domain(-1.2, 1.2, "cos(x) != 0")


def _real_cbrt(sp: Any, x: Any) -> Any:
    return sp.sign(x) * sp.cbrt(sp.Abs(x)) if not x.is_nonnegative else sp.cbrt(x)


def _exact_cbrt(mp: Any, x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(mp.fabs(x))


def _ratio(a: Any, b: Any) -> Any:
    return np.where(np.equal(b, 0), 0.0, np.divide(a, np.where(np.equal(b, 0), 1.0, b)))[()]


def _ratio_text(a: Code, b: Code) -> Code:
    return Code(f"np.where({b.at(SUM)} == 0, 0.0, {a.at(PRODUCT)}/np.where({b.at(SUM)} == 0, 1.0, {b}))")


def _copysign_symbol(sp: Any, a: Any, b: Any) -> Any:
    return piecewise(sp, (sp.Abs(a), compared(sp, "Ge", b, 0)), (-sp.Abs(a), True))


# Used before they are made, or in their own rule.
cos: Primitive
cosh: Primitive
log: Primitive
radians: Primitive
degrees: Primitive
ratio: Primitive
copysign: Primitive

# fmt: off
# name                           value         symbol     dy/dx                                                   textbook rule
exp     = elementwise("exp",     np.exp,       "exp",     lambda y, x: y,                                         rule="exponential rule", math="exp")
exp2    = elementwise("exp2",    np.exp2,      lambda sp, x: 2**x, lambda y, x: y * log(2),                       rule="exponential rule", math="exp2", exact=lambda mp, x: mp.power(2, x))
expm1   = elementwise("expm1",   np.expm1,     lambda sp, x: sp.exp(x) - 1, lambda y, x: exp(x),                  rule="exponential rule", math="expm1", exact="expm1")
log     = elementwise("log",     np.log,       "log",     lambda y, x: 1 / x,                                     rule="logarithm rule", math="log", domain=POSITIVE)
log2    = elementwise("log2",    np.log2,      lambda sp, x: sp.log(x) / sp.log(2), lambda y, x: 1 / (x * log(2)),    rule="logarithm rule", math="log2", exact=lambda mp, x: mp.log(x) / mp.log(2), domain=POSITIVE)
log10   = elementwise("log10",   np.log10,     lambda sp, x: sp.log(x) / sp.log(10), lambda y, x: 1 / (x * log(10)),  rule="logarithm rule", math="log10", exact="log10", domain=POSITIVE)
log1p   = elementwise("log1p",   np.log1p,     lambda sp, x: sp.log(1 + x), lambda y, x: 1 / (1 + x),             rule="logarithm rule", math="log1p", exact="log1p", domain=ABOVE_MINUS_ONE)
sqrt    = elementwise("sqrt",    np.sqrt,      "sqrt",    lambda y, x: 1 / (2 * y),                               rule="square root rule", math="sqrt", domain=POSITIVE)
cbrt: Primitive
square: Primitive
cbrt    = elementwise("cbrt",    np.cbrt,      _real_cbrt, lambda y, x: 1 / (3 * cbrt(square(x))),                           rule="cube root rule", math="cbrt", exact=_exact_cbrt, domain=NONZERO)
square  = elementwise("square",  np.square,    lambda sp, x: x**2, lambda y, x: 2 * x,                            rule="power rule", exact=lambda mp, x: x * x)

sin     = elementwise("sin",     np.sin,       "sin",     lambda y, x: cos(x),                                    rule="sine rule", math="sin")
cos     = elementwise("cos",     np.cos,       "cos",     lambda y, x: -sin(x),                                   rule="cosine rule", math="cos")
tan     = elementwise("tan",     np.tan,       "tan",     lambda y, x: 1 + y**2,                                  rule="tangent rule", math="tan", domain=COS_NOT_ZERO)
arcsin  = elementwise("arcsin",  np.arcsin,    "asin",    lambda y, x: 1 / sqrt(1 - x**2),                        rule="arcsine rule", math="asin", domain=UNIT)
arccos  = elementwise("arccos",  np.arccos,    "acos",    lambda y, x: -(1 / sqrt(1 - x**2)),                     rule="arccosine rule", math="acos", domain=UNIT)
arctan  = elementwise("arctan",  np.arctan,    "atan",    lambda y, x: 1 / (1 + x**2),                            rule="arctangent rule", math="atan")

sinh    = elementwise("sinh",    np.sinh,      "sinh",    lambda y, x: cosh(x),                                   rule="hyperbolic sine rule", math="sinh")
cosh    = elementwise("cosh",    np.cosh,      "cosh",    lambda y, x: sinh(x),                                   rule="hyperbolic cosine rule", math="cosh")
tanh    = elementwise("tanh",    np.tanh,      "tanh",    lambda y, x: 1 - y**2,                                  rule="hyperbolic tangent rule", math="tanh")
arcsinh = elementwise("arcsinh", np.arcsinh,   "asinh",   lambda y, x: 1 / sqrt(1 + x**2),                        rule="inverse hyperbolic sine rule", math="asinh")
arccosh = elementwise("arccosh", np.arccosh,   "acosh",   lambda y, x: 1 / sqrt(x**2 - 1),                        rule="inverse hyperbolic cosine rule", math="acosh", domain=ABOVE_ONE)
arctanh = elementwise("arctanh", np.arctanh,   "atanh",   lambda y, x: 1 / (1 - x**2),                            rule="inverse hyperbolic tangent rule", math="atanh", domain=UNIT)

# Linear, so the slope is the value at 1: pi/180 and 180/pi stay exact.
radians = elementwise("radians", np.radians,   lambda sp, x: x * sp.pi / 180, lambda y, x: radians(1),            rule="constant multiple rule", math="radians", exact="radians")
degrees = elementwise("degrees", np.degrees,   lambda sp, x: x * 180 / sp.pi, lambda y, x: degrees(1),            rule="constant multiple rule", math="degrees", exact="degrees")

# ratio is a/b, and 0 where b is 0: the slope of a length at the origin. Divided by the length twice, nothing underflows.
ratio   = elementwise("ratio",   _ratio,       lambda sp, a, b: a / b, lambda y, a, b: ratio(1, b), lambda y, a, b: -ratio(y, b), rule="quotient rule",
                      exact=lambda mp, a, b: mp.mpf(0) if b == 0 else a / b, numpy=_ratio_text, domain=(Domain(), NONZERO), kinks="b = 0: 0 is taken")
hypot   = elementwise("hypot",   np.hypot,     lambda sp, a, b: sp.sqrt(a**2 + b**2), lambda y, a, b: ratio(a, y), lambda y, a, b: ratio(b, y), rule="length rule",
                      exact="hypot", math="hypot", kinks="a = b = 0: slopes between -1 and 1, 0 is taken")
arctan2 = elementwise("arctan2", np.arctan2,   "atan2",   lambda y, a, b: b / hypot(a, b) / hypot(a, b), lambda y, a, b: -(a / hypot(a, b) / hypot(a, b)), rule="angle rule",
                      math="atan2", kinks="jumps by 2*pi at a = 0, b < 0", domain=(NONZERO, Domain()))
logaddexp  = elementwise("logaddexp",  np.logaddexp,  lambda sp, a, b: sp.log(sp.exp(a) + sp.exp(b)), lambda y, a, b: operators["expit"](a - b), lambda y, a, b: operators["expit"](b - a), rule="log-sum-exp rule",
                         exact=lambda mp, a, b: mp.log(mp.exp(a) + mp.exp(b)))
logaddexp2 = elementwise("logaddexp2", np.logaddexp2, lambda sp, a, b: sp.log(2**a + 2**b) / sp.log(2), lambda y, a, b: exp2(a - y), lambda y, a, b: exp2(b - y), rule="log-sum-exp rule",
                         exact=lambda mp, a, b: mp.log(mp.power(2, a) + mp.power(2, b)) / mp.log(2))
copysign   = elementwise("copysign",   np.copysign, _copysign_symbol, lambda y, a, b: sign(a) * copysign(1, b), None, rule="absolute value rule",
                         exact=lambda mp, a, b: mp.fabs(a) if b >= 0 else -mp.fabs(a), math="copysign", kinks="a = 0: 0 is taken; b = 0: jumps")

isnan    = flat("isnan",    np.isnan,    symbol=lambda sp, x: sp.false, exact="isnan", math="isnan", result="bool", rule="a condition: no derivative")
isinf    = flat("isinf",    np.isinf,    symbol=lambda sp, x: sp.false, exact="isinf", math="isinf", result="bool", rule="a condition: no derivative")
isfinite = flat("isfinite", np.isfinite, symbol=lambda sp, x: sp.true, exact="isfinite", math="isfinite", result="bool", rule="a condition: no derivative")
signbit  = flat("signbit",  np.signbit,  symbol=lambda sp, x: x < 0, exact=lambda mp, x: x < 0, result="bool", rule="a condition: no derivative")
# fmt: on

operators.update(log=log)
numpy_function(np.fabs)(absolute)
numpy_function(np.deg2rad)(radians)
numpy_function(np.rad2deg)(degrees)


@numpy_function(np.reciprocal)
def reciprocal(x: Any) -> Node:
    """1/x."""
    return 1 / as_node(x)


@numpy_function(np.positive, np.conjugate)
def positive(x: Any) -> Node:
    """The number itself."""
    return as_node(x)


@numpy_function(np.ldexp)
def ldexp(x: Any, exponent: Any) -> Node:
    """x * 2**exponent, for whole exponents that do not depend on a traced value."""
    if isinstance(exponent, Node) and not exponent.is_constant:
        raise ArgumentError(
            "the exponent of ldexp must be a whole number that is known",
            why="it is computed from a traced value, and a whole number has no derivative",
            fix="write x * 2.0**n",
        )
    return as_node(x) * 2 ** as_node(exponent)


@numpy_function(np.modf)
def modf(x: Any) -> tuple[Node, Node]:
    """The fractional and the whole part, both with the sign of x."""
    whole = trunc(x)
    return as_node(x) - whole, whole


@numpy_function(np.nan_to_num)
def nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Node:
    """Replaces nan and infinities by numbers, through which no derivative flows."""
    limits = np.finfo(float)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    x = as_node(x)
    return where(isnan(x), nan, where(equal(x, np.inf), high, where(equal(x, -np.inf), low, x)))


# fmt: off
refused("take np.log2(np.abs(x)), or write x / 2.0**n with a fixed n", "frexp", why="its exponent is a whole number that jumps")
refused("leave the step out",                                          "nextafter", "spacing", why="it is about neighbouring floats, which no derivative sees")
# fmt: on
