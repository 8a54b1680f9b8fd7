"""Rows for the elementary functions: exponentials, logarithms, roots, trigonometric and hyperbolic functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.graph import Domain, operators
from gradexplain.ops.arithmetic import POSITIVE
from gradexplain.primitive import elementwise

UNIT = Domain(-0.9, 0.9, "-1 < x < 1")
ABOVE_ONE = Domain(1.1, 3.0, "x > 1")
ABOVE_MINUS_ONE = Domain(-0.8, 2.0, "x > -1")
COS_NOT_ZERO = Domain(-1.2, 1.2, "cos(x) != 0")


def _real_cbrt(sp: Any, x: Any) -> Any:
    return sp.sign(x) * sp.cbrt(sp.Abs(x)) if not x.is_nonnegative else sp.cbrt(x)


def _exact_cbrt(mp: Any, x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(mp.fabs(x))


# fmt: off
# name                       value         symbol   dy/dx                                         textbook rule
exp     = elementwise("exp",     np.exp,     "exp",   lambda y, x: y,                                   rule="exponential rule", math="exp")
log     = elementwise("log",     np.log,     "log",   lambda y, x: 1 / x,                               rule="logarithm rule", math="log", domain=POSITIVE)
sqrt    = elementwise("sqrt",    np.sqrt,    "sqrt",  lambda y, x: 1 / (2 * y),                         rule="square root rule", math="sqrt", domain=POSITIVE)
square  = elementwise("square",  np.square,  lambda sp, x: x**2, lambda y, x: 2 * x,                    rule="power rule", exact=lambda mp, x: x * x)
cbrt    = elementwise("cbrt",    np.cbrt,    _real_cbrt, lambda y, x: 1 / (3 * y**2),                   rule="cube root rule", exact=_exact_cbrt)
sin     = elementwise("sin",     np.sin,     "sin",   lambda y, x: cos(x),                              rule="sine rule", math="sin")
cos     = elementwise("cos",     np.cos,     "cos",   lambda y, x: -sin(x),                             rule="cosine rule", math="cos")
tan     = elementwise("tan",     np.tan,     "tan",   lambda y, x: 1 + y**2,                            rule="tangent rule", math="tan", domain=COS_NOT_ZERO)
# fmt: on

operators.update(log=log)
