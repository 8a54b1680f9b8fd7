"""Conditions: the domain of functions with a known one, printed once, true on both sides."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import gradexplain as gx
from gradexplain.evaluate import evaluate_exact
from gradexplain.exposition.model import Derivation

# text -> where its derivative exists, as it is printed; "" where that is everywhere or where no condition is stated
DOMAINS = {
    "log(x)": "x > 0", "log2(x)": "x > 0", "log10(2*x)": "x > 0", "log1p(x)": "x > -1", "log(2*x + 3)": "x > -3/2",
    "log(5 - x)": "x < 5", "log(x - 1)": "x > 1", "log(x**2)": "x != 0", "log(1 + x**2)": "",
    "log(1 - x**2)": "-1 < x < 1", "log(x**2 - 1)": "abs(x) > 1", "log(log(x))": "x > 1", "log(exp(x) - 1)": "x > 0",
    "log(exp(x) + 1)": "", "log(abs(x))": "x != 0", "log(1 - x) + log(1 + x)": "-1 < x < 1",
    "log((1 + x)/(1 - x))": "-1 < x < 1", "log(x)/(x - 1)": "x > 0 and x != 1", "x*log(x)": "x > 0",
    "log(sin(x))": "sin(x) > 0", "log(tan(x))": "tan(x) > 0", "log(x)**2": "x > 0", "1/log(x)": "x > 0 and x != 1",
    "log(x, 2)": "x > 0", "sqrt(x)": "x > 0", "sqrt(x - 1)": "x > 1", "sqrt(1 - x**2)": "-1 < x < 1",
    "sqrt(x**2 - 4)": "abs(x) > 2", "sqrt(x**2 - 3*x + 2)": "x < 1 or x > 2", "sqrt(x**2 + 1)": "",
    "sqrt(x**2)": "x != 0", "sqrt(4 - x**2)/x": "-2 < x < 2 and x != 0", "sqrt(x/(1 - x))": "0 < x < 1",
    "sqrt(sin(x))": "sin(x) > 0", "sqrt(abs(x))": "x != 0", "sqrt(x + sqrt(x))": "x > 0", "cbrt(x)": "x != 0",
    "cbrt(x - 2)": "x != 2", "x**(1/3)": "x > 0", "x**-2": "x != 0", "x**3": "", "x**x": "x > 0",
    "(x - 1)**0.5": "x > 1", "2**x": "", "(1 + 1/x)**x": "x < -1 or x > 0", "1/x": "x != 0",
    "1/(x**2 - 1)": "abs(x) != 1", "1/(x**2 + 1)": "", "1/(x**2 - x - 6)": "x != -2 and x != 3",
    "(x - 1)/(x**2 - 1)": "abs(x) != 1", "x/x": "x != 0", "x**2/x": "x != 0", "1/(1 + exp(-x))": "",
    "1/(exp(x) - 1)": "x != 0", "1/(1 + 1/x)": "x != -1 and x != 0", "sin(1/x)": "x != 0", "exp(-1/x)": "x != 0",
    "erf(x)/x": "x != 0", "sinh(x)/x": "x != 0", "tan(x)": "cos(x) != 0", "cot(x)": "sin(x) != 0",
    "sec(x)": "cos(x) != 0", "csc(x)": "sin(x) != 0", "1/(1 + cos(x))": "cos(x) != -1", "1/(2 + cos(x))": "",
    "tan(2*x)": "cos(2*x) != 0", "tan(x)/x": "cos(x) != 0 and x != 0", "1/tan(x)": "sin(x) != 0",
    "asin(x)": "-1 < x < 1", "acos(2*x - 1)": "0 < x < 1", "atan(x)": "", "acosh(x)": "x > 1",
    "atanh(x/2)": "-2 < x < 2", "asin(exp(x))": "x < 0", "asinh(x)": "", "abs(x)": "", "max(x, 1)/x": "x != 0",
    "log(x) if x > 1 else 1/x": "x != 0", "1/x if x > 0 else x": "", "log(x) if x > 0 else x": "",
    "x if x < 0 else sqrt(x)": "",
}  # fmt: skip


def near_zero_is_zero(function):
    return lambda x: mp.chop(function(x), mp.mpf(10) ** -20)


def tangent(x):
    return mp.nan if near_zero_is_zero(mp.cos)(x) == 0 else near_zero_is_zero(mp.tan)(x)


_NAMES = {"cos": near_zero_is_zero(mp.cos), "sin": near_zero_is_zero(mp.sin), "tan": tangent, "abs": abs}
_POINTS = [-9.7, -3, -2.5, -2, -1.3, -1, -0.7, -0.1, 0, 0.1, 0.5, 0.9, 1, 1.2, 1.7, 2, 2.2, 3, 4.4, 5, 6.1, 12.3]


def explained(text):
    return gx.explain(text, wrt="x")


def has_a_derivative(e, x):
    """Whether the function and the derivative have values at a point."""
    with mp.workdps(30):
        try:
            found = evaluate_exact([e.whole.output, e._nodes["x"]], {e.whole.inputs["x"]: mp.mpf(x)})
        except (TypeError, ValueError, ArithmeticError):
            return False
        return all(isinstance(v, (mp.mpf, int)) and mp.isfinite(v) and abs(v) < 1e20 for v in found)


@pytest.mark.parametrize("text", DOMAINS)
def test_the_domain_of_a_function(text):
    e = explained(text)
    assert " and ".join(e["x"].conditions) == DOMAINS[text]


@pytest.mark.parametrize("text", [t for t, c in DOMAINS.items() if c])
def test_conditions_are_true_on_both_sides(text):
    """Where they hold there is a derivative, where they don't there is none (edges belong to neither side)."""
    e = explained(text)
    condition = " and ".join(f"({c})" for c in e["x"].conditions)
    with mp.workdps(30):
        for x in [*_POINTS, mp.pi / 2, mp.pi] if "sqrt" not in text else _POINTS:
            holds = eval(condition, {"__builtins__": {}, **_NAMES, "x": mp.mpf(x)})
            if holds != has_a_derivative(e, x):
                assert x in (0, 1, 2, -1, -2), (x, holds)
                near = [has_a_derivative(e, x + h) for h in (-1e-6, 1e-6)]
                assert not all(near), f"{condition} is wrong at {x}"


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda S, K: np.log(S / K), ("S/K > 0",)),
        (lambda x, y: 1 / (x - y), ("x != y",)),
        (lambda x, y: np.sqrt(x) * np.sqrt(y), ("x > 0", "y > 0")),
        (lambda x, y: x / y / (x * y), ("y != 0", "x != 0")),
        (lambda x, y: np.arcsin(x / y), ("abs(x/y) < 1",)),
        (lambda y, x: np.arctan2(y, x), ("x**2 + y**2 != 0",)),
        (lambda x, y: np.hypot(x, y), ()),
        (lambda x, y: np.sqrt(x**2 + y**2), ("x**2 + y**2 != 0",)),
        (lambda x, y: np.log(x, where=True) if False else np.log(x * y), ("x*y > 0",)),
        (lambda x, n: x**n, ("x > 0",)),
        (lambda x: math.gamma(x), ()),
        (lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0), ()),
        (lambda x: 0.0 if x == 0 else np.sin(x) / x, ()),
        (lambda x: x / (x - 1) if x > 3 else 2 * x, ()),
        (lambda x: np.maximum(x, 0) / (x + 5), ("x != -5",)),
        (lambda x: 1 / (x - 1) + (x if x > 0 else -x), ("x != 1",)),
    ],
)
def test_functions_of_several_variables_and_with_branches(function, expected):
    e = gx.explain(function)
    assert next(iter(e.gradients.values())).conditions == expected


def test_the_order_and_the_number_of_conditions_are_bounded():
    e = gx.explain(lambda a, b, c, d, p, q, r, s, t, u: 1 / (a * b * c * d * p * q * r * s * t * u), wrt="a")
    assert e["a"].conditions == (*(f"{n} != 0" for n in "abcdpqr"), "3 more conditions")


def test_conditions_come_once_in_explanation_and_derivation():
    text = str(gx.explain("(x - 1)**x"))
    assert text.count("This holds for x > 1.") == 1
    record = gx.explain("(x - 1)**x").derivation().data
    assert isinstance(record, Derivation)
    assert record.conditions == ("x > 1",)


def test_alternatives_are_in_brackets_beside_others():
    assert "This holds for (x < 0 or x > 1) and y > 0." in str(gx.explain("sqrt(x/(x - 1))*log(y)", wrt="x"))


@pytest.mark.parametrize(
    ("function", "stated"),
    [
        (lambda x: np.fmax(np.sqrt(x), 0.0 * x) * x, "x > 0"),
        (lambda x: np.fmin(np.log(x - 1), 3), "x > 1"),
        (lambda x: np.where(np.log(x) < 1, x, x**2), "x > 0"),
        (lambda x: np.where(np.fmax(np.sqrt(x), -1) > 0, x, x**2), "x > 0"),
        (lambda x: np.select([np.arctanh(x) > 0.5], [x**2], x), "-1 < x < 1"),
        (lambda x: np.where(x > 0, np.fmin(np.log(x), 1), 0), ""),
        (lambda x: np.where(x > 0, x, np.exp(x)), ""),
    ],
)
def test_what_leaves_out_nan_has_the_domain_of_its_operands(function, stated):
    """A program goes on where an operand of np.fmax or of a comparison is nan; its formula is no such function."""
    assert " and ".join(gx.explain(function)["x"].conditions) == stated


def test_a_product_by_zero_goes_on_where_a_logarithm_does_not():
    special = pytest.importorskip("scipy.special")
    assert gx.explain(lambda x, a: special.xlogy(np.ceil(x), a))["a"].conditions == ("a > 0",)
