"""What trees evaluate to: on numbers, on symbols, and where a part has no value."""

import math
from fractions import Fraction

import pytest
import sympy as sp

from tests.readers.test_text import VALUES, reading


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("1/3*x", {"x": 2}, Fraction(2, 3)), ("2**-1 + 0.5", {}, 1), ("7//2 + 7%4 - -1", {}, 7),
        ("x*sin(x) + pi", {"x": 0.5}, 0.5 * math.sin(0.5) + math.pi),
        ("(1/4)**x + 2**(1/2)", {"x": 0.5}, 0.5 + math.sqrt(2)), ("e**2", {}, math.e**2), ("e**2", {"e": 3}, 9),
        ("x if 0 < x < 1 else -x", {"x": 0.5}, 0.5), ("x if 0 < x < 1 else -x", {"x": 2}, -2),
        ("1 if x > 1 or x == 0 else 2", {"x": 0}, 1),
    ],
)  # fmt: skip
def test_evaluate(text, values, expected):
    value = reading(text).evaluate(VALUES, values)
    assert value == expected
    assert type(value) is type(expected)


def test_evaluate_stops_before_the_memory_is_full():
    with pytest.raises(OverflowError):
        reading("x**99999").evaluate(VALUES, {"x": Fraction(3)})


x = sp.Symbol("x", real=True)
SYMBOLS = {"sin": sp.sin, "pi": sp.pi, "pow": sp.Pow, "where": lambda c, a, b: sp.Piecewise((a, c), (b, True))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-x/3 + 1/3*x**2", -x / 3 + sp.Rational(1, 3) * x**2),
        ("(1/3)**x - sin(x)**2", sp.Rational(1, 3) ** x - sp.sin(x) ** 2),
        ("2**(1/2)*x**0.5", sp.sqrt(2) * sp.sqrt(x)),
        ("1 if 0 < x and x < pi else x", sp.Piecewise((1, sp.And(x > 0, x < sp.pi)), (x, True))),
        ("1 if x < 0 or pi < x else x", sp.Piecewise((1, sp.Or(x < 0, x > sp.pi)), (x, True))),
    ],
)
def test_evaluate_on_symbols_is_exact(text, expected):
    assert reading(text).evaluate(SYMBOLS, {"x": x}) == expected


def test_conditions_are_joined_by_the_callers_functions():
    swapped = VALUES | {"logical_and": lambda a, b: a or b, "logical_or": lambda a, b: a and b}
    assert reading("1 if x > 0 and x < 0 else 2").evaluate(swapped, {"x": 1}) == 1
    assert reading("1 if x > 0 or x < 0 else 2").evaluate(swapped, {"x": 1}) == 2
