"""Formulas with branches keep their values while branches are opened, decided and merged."""

import random

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from scipy import special

import gradexplain as gx
from gradexplain.ops.pieces import opened as opened_condition
from gradexplain.ops.pieces import piecewise
from gradexplain.simplify.branches import MOST_BRANCHES, opened
from gradexplain.simplify.numeric import value

x, y = sp.symbols("x y", real=True)


def P(*pieces):
    return piecewise(sp, *pieces)


CASES = [
    (2 * P((x, x > 1), (0, True)) + P((1, x > 0), (0, True)), "Piecewise((0, x <= 0), (1, x <= 1), (2*x + 1, True))"),
    (P((sp.Abs(x), x > 0), (-sp.Abs(x), True)), "x"),
    (P((1, x > 0), (0, True)) * P((1, x < 1), (0, True)), "Piecewise((0, x <= 0), (1, x < 1), (0, True))"),
    (P((1, x > 0), (0, True)) * P((1, x < 0), (0, True)), "0"),
    (P((x, x <= 5), (0, True)) + P((1, x > 5), (0, True)), "Piecewise((x, x <= 5), (1, True))"),
    (P((-x, x < 0), (0, sp.Eq(x, 0)), (x, True)), "Abs(x)"),
    (P((1, x > y), (2, x < y), (3, True)), "Piecewise((1, x > y), (2, True))"),
    (P((1, x - y > 0), (2, True)), "Piecewise((1, x > y), (2, True))"),
    (P((sp.sign(x), x > 0), (1, True)), "1"),
    (P((x + sp.Min(1, x), x < 1), (sp.Min(1, x), True)), "Piecewise((2*x, x < 1), (1, True))"),
    (
        P((-1, x <= 0), (sp.Max(1, x), x <= 1), (sp.Max(1, x) + x, True)),
        "Piecewise((-1, x <= 0), (1, x <= 1), (2*x, True))",
    ),
    (P((sp.Max(2, x), x > 0), (0, True)), "Piecewise((0, x <= 0), (Max(2, x), True))"),
]


@pytest.mark.parametrize(("before", "after"), CASES)
def test_opened(before, after):
    assert str(opened(before, lambda e: e)) == after


def random_condition(generator):
    left = generator.choice([x, x, x, y, x - y, x**2, x * y, -x, 2 * x])
    relation = generator.choice([sp.Lt, sp.Le, sp.Gt, sp.Ge])
    first = relation(left, generator.choice([0, 1, -1, 2, sp.Rational(1, 2)]))
    if generator.random() < 0.25:
        return generator.choice([sp.And, sp.Or])(first, sp.Lt(generator.choice([x, y]), 1))
    return first


def random_formula(generator):
    values = [x, x**2, -x, sp.Integer(0), sp.Integer(1), sp.Abs(x), x * y, sp.sign(x), 1 / x]

    def branch():
        return P(*((generator.choice(values), random_condition(generator)) for _ in range(generator.choice([1, 1, 2]))),
                 (generator.choice(values), True))  # fmt: skip

    result = branch()
    for _ in range(generator.choice([0, 1, 2])):
        result = result + branch() if generator.random() < 0.6 else result * branch()
    return result


def at(expr, point, shift):
    return value(expr, {"x": mp.mpf(point[0] + shift), "y": mp.mpf(point[1])})


POINTS = [(a, b) for a in (-2.5, -1, -0.3, 0.2, 0.5, 0.7, 1, 1.5, 2, 3) for b in (-1.5, 0.3, 1.7)]


@pytest.mark.parametrize("first", range(0, 120, 30))
def test_values_stay_as_they_are(first):
    """At thresholds too: on which side an end belongs is part of the program."""
    changed = 0
    for seed in range(first, first + 30):
        before = random_formula(random.Random(seed))
        after = opened(before, sp.factor_terms)
        if after is None or after == before:
            continue
        changed += 1
        for point in POINTS:
            one, *around = (at(before, point, shift) for shift in (0, -1e-9, 1e-9))
            other = at(after, point, 0)
            if any(abs(one - near) < 1e-6 for near in around):  # else the point has a value of its own
                assert abs(one - other) < 1e-12, (seed, point, before, after)
    assert changed > 5


def test_too_many_branches_are_left_alone():
    many = sum(P((x**k, x > k), (0, True)) * y**k for k in range(MOST_BRANCHES + 3))
    assert opened(many, lambda e: e) is None


def test_conditions_on_formulas_with_branches_are_asked_branch_by_branch():
    larger = P((x, x > y), (y, True))
    assert opened_condition(sp, larger > 0) == sp.ITE(x > y, x > 0, y > 0)
    assert opened_condition(sp, x > 0) == (x > 0)
    assert opened_condition(sp, True) is True
    undefined = P((1 / x, x > 0), (sp.nan, True))
    assert opened_condition(sp, sp.Gt(undefined, 1, evaluate=False)) == sp.And(x > 0, 1 / x > 1)


@pytest.mark.parametrize("point", POINTS)
def test_nested_conditions_have_the_values_of_the_program(point):
    larger = P((x, x > y), (y, True))
    expr = P((1, P((larger, x < 1), (-larger, larger > 2), (0, True)) > y), (2, True))
    a, b = point
    top = max(a, b)
    expected = 1 if (top if a < 1 else -top if top > 2 else 0) > b else 2
    assert value(expr, {"x": mp.mpf(a), "y": mp.mpf(b)}) == expected


def test_a_branch_without_a_value_is_no_exception():
    def f(x, y):
        u = np.where(y > 0, y, 0)
        return np.tan(np.fmin(x, np.sinc(u))) ** 1.5

    def g(E, x):  # where SymPy combines logarithms, it looks for 1/0 in a dictionary
        return special.rel_entr(np.log1p(np.tanh(E)), np.where(x > 0, x, 0))

    for function in (f, g):
        for form in gx.explain(function).gradients.values():
            assert form.text
