"""Floats read as the exact numbers that were meant."""

import math
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from gradexplain.numbers import exact_number


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (0, 0),
        (-3.0, -3),
        (0.1, sp.Rational(1, 10)),
        (1 / 3, sp.Rational(1, 3)),
        (-2 / 7, sp.Rational(-2, 7)),
        (1e-3, sp.Rational(1, 1000)),
        (123.456, sp.Rational(123456, 1000)),
        (math.pi, sp.pi),
        (math.pi / 6, sp.pi / 6),
        (-2 * math.pi, -2 * sp.pi),
        (4 / math.pi, 4 / sp.pi),
        (2 / math.sqrt(math.pi), 2 / sp.sqrt(sp.pi)),
        (-1 / math.sqrt(2 * math.pi), -1 / sp.sqrt(2 * sp.pi)),
        (math.e, sp.E),
        (math.sqrt(2), sp.sqrt(2)),
        (-math.sqrt(0.5), -sp.sqrt(2) / 2),
        (math.sqrt(2 * math.pi), sp.sqrt(2 * sp.pi)),
        (Fraction(5, 4), sp.Rational(5, 4)),
        (10**30, sp.Integer(10) ** 30),
        (math.inf, sp.oo),
        (-math.inf, -sp.oo),
    ],
)
def test_readings(value, meant):
    found = exact_number(value).sympy()
    assert found == meant
    if math.isfinite(value):
        with mpmath.workdps(30):
            assert mpmath.almosteq(
                exact_number(value).mpf(), mpmath.mpf(sp.N(meant, 30)), rel_eps=mpmath.mpf(10) ** -25
            )


@pytest.mark.parametrize("value", [math.sqrt(2) + 1e-9, 0.123456789012345, math.nan, 1e300 / 7])
def test_what_has_no_reading_stays(value):
    found = exact_number(value)
    assert found.form == "float"
    assert found.sympy() is sp.nan if math.isnan(value) else float(found.sympy()) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_reading_rounds_to_the_same_float(value):
    with mpmath.workdps(40):
        read = exact_number(value).mpf()
        assert abs(read - mpmath.mpf(value)) <= 2 * mpmath.mpf(math.ulp(value))


@given(st.fractions(max_denominator=1000).filter(lambda q: abs(q) < 1000))
def test_fractions_are_read(value):
    assert exact_number(value.numerator / value.denominator).mpf() == exact_number(value).mpf()
