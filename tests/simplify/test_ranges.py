"""Conditions as ranges: every simplification says the same as what it simplifies, at points on both sides."""

from __future__ import annotations

import itertools

import mpmath as mp
import pytest
import sympy as sp

from gradexplain.simplify.numeric import value
from gradexplain.simplify.ranges import Ranges, nonzero, positive, within_one

X, Y, S, K = sp.symbols("x y S K", real=True)
VALUES = [-7, -3, -2, sp.Rational(-3, 2), -1, sp.Rational(-1, 2), sp.Rational(-1, 9), 0, sp.Rational(1, 9),
          sp.Rational(1, 2), 1, sp.Rational(3, 2), 2, 3, 5, 8]  # fmt: skip

POSITIVE = [
    (2 * X + 3, "x > -3/2"), (3 - 2 * X, "x < 3/2"), (X, "x > 0"), (-X, "x < 0"), (X - 1, "x > 1"),
    (1 - X**2, "-1 < x < 1"), (X**2 - 4, "abs(x) > 2"), (X**2, "x != 0"), (X**2 - 2, "abs(x) > sqrt(2)"),
    (X**3, "x > 0"), (1 / X, "x > 0"), (X**2 + 1, ""), (sp.exp(X), ""), (sp.exp(X) + 1, ""), (sp.sin(X) + 2, ""),
    ((X - 1) * (X - 3), "x < 1 or x > 3"), ((X - 5) * (X - 1) * (X + 2), "-2 < x < 1 or x > 5"),
    (X * (1 - X), "0 < x < 1"), (X / (X - 1), "x < 0 or x > 1"), (X**2 - 4 * X + 4, "x != 2"),
    (sp.log(X), "x > 1"), (sp.log(X) - 1, "x > e"), (sp.exp(X) - 1, "x > 0"), (1 - sp.exp(-X), "x > 0"),
    (sp.sqrt(X) - 1, "x > 1"), (sp.sin(X), "sin(x) > 0"), (2 * sp.sin(X) + 1, "sin(x) > -1/2"),
    (sp.tanh(X), "x > 0"), (sp.Abs(X), "x != 0"), (S / K, "S/K > 0"), (X * Y, "x*y > 0"), (X - Y, "x > y"),
    (4 - X**2 - Y**2, "x**2 + y**2 < 4"), (X**2 * Y, "x != 0 and y > 0"), (X * sp.exp(Y), "x > 0"),
    (-(X**2), "-x**2 > 0"), (X**2 + Y**2, "x**2 + y**2 != 0"), (X**3 + X + 1, "x**3 + x > -1"),
]  # fmt: skip
NONZERO = [
    (3 * X, "x != 0"), (1 - X, "x != 1"), (X**2 - 1, "abs(x) != 1"), (X**2 - 2, "x**2 != 2"), (X**2 + 1, ""),
    (X**2 - X - 6, "x != -2 and x != 3"), (sp.exp(X) * Y, "y != 0"), (sp.log(X), "x != 1"), (X - Y, "x != y"),
    (sp.sin(X), "sin(x) != 0"), (sp.cos(X) - 2, ""), (sp.cos(X) - 1, "cos(x) != 1"), (sp.cosh(X), ""),
    (sp.sinh(2 * X), "x != 0"), (sp.exp(X) - 1, "x != 0"), (sp.exp(X) - 3, "x != log(3)"), (1 + sp.exp(-X), ""),
    (2 * X - Y**2, "2*x != y**2"), (X * Y / (Y + 1), "x != 0 and y != -1 and y != 0"), (sp.log(X) + 2, "x != exp(-2)"),
    (sp.Abs(X), "x != 0"), (sp.sqrt(X) + 1, ""), (X**3, "x != 0"),
]  # fmt: skip


def points(expr):
    names = sorted(s.name for s in expr.free_symbols)
    for values in itertools.product(VALUES, repeat=len(names)):
        yield dict(zip(names, (mp.mpf(int(v.p)) / int(v.q) for v in map(sp.Rational, values)), strict=True))


def is_true(ranges, point):
    return all(value(relation, point) for _, relation in ranges.relations)


@pytest.mark.parametrize(("expr", "expected"), POSITIVE)
def test_positive(expr, expected):
    ranges = Ranges(positive(expr))
    assert str(ranges) == expected
    with mp.workdps(30):
        for point in points(expr):
            found = value(expr, point)
            if not mp.isnan(found):
                assert is_true(ranges, point) is bool(found > 0), point


@pytest.mark.parametrize(("expr", "expected"), NONZERO)
def test_nonzero(expr, expected):
    ranges = Ranges(nonzero(expr))
    assert str(ranges) == expected
    with mp.workdps(30):
        for point in points(expr):
            found = value(expr, point)
            if not mp.isnan(found):
                assert is_true(ranges, point) is bool(found != 0), point


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([*positive(X), *nonzero(X), *positive(X + 1)], "x > 0"),
        ([*positive(X - 1), *positive(X)], "x > 1"),
        ([*nonzero(K), *positive(S / K)], "S/K > 0"),
        ([*positive(X), *positive(Y), *positive(X * Y)], "x > 0 and y > 0"),
        ([*positive(X), *positive(X / Y)], "x > 0 and y > 0"),
        ([*nonzero(X), *nonzero(X * Y)], "x != 0 and y != 0"),
        ([*nonzero(sp.cos(X)), *nonzero(sp.tan(X))], "sin(2*x) != 0"),
        ([*nonzero(sp.cos(X)), *positive(sp.tan(X))], "tan(x) > 0"),
        ([*positive(X), *positive(X**2 - 4)], "x > 2"),
        ([*positive(X), *positive(sp.log(X))], "x > 1"),
        ([*positive(X - 1), *nonzero(sp.log(X) * Y)], "x > 1 and y != 0"),
        ([*positive(1 - X), *positive(1 + X)], "-1 < x < 1"),
        ([*within_one(X * Y)], "abs(x*y) < 1"),
        ([*within_one(X / Y), *nonzero(Y)], "abs(x/y) < 1"),
        ([*positive(4 - X**2), *nonzero(X)], "-2 < x < 2 and x != 0"),
        ([*positive(X - 1), *nonzero(X + 3)], "x > 1"),
        ([], ""),
    ],
)
def test_what_is_implied_is_left_out(ranges, expected):
    found = Ranges(ranges)
    assert str(found) == expected
    with mp.workdps(30):
        for point in points(sp.Tuple(*(r.subject for r in ranges))):
            both = [is_true(Ranges([r]), point) for r in ranges]
            if not any(mp.isnan(value(r.subject, point)) for r in ranges):
                assert is_true(found, point) is all(both)


def test_the_same_in_every_order_of_symbols():
    a, b = sp.symbols("a b", real=True)
    assert str(Ranges([*positive(a), *positive(b), *positive(a * b + a)])) == "a > 0 and b > 0"
