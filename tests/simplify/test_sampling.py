"""Points of the domain, and the comparison of formulas with exact values there."""

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.simplify.sampling import Samples, sample, sample_widely
from tests.exposition.programs import traced

x, y = sp.symbols("x y", real=True)


def samples(function, point=(), widely=False):
    program = traced(function, symbolic=True)
    return (sample_widely if widely else sample)([program.output], program.inputs, dict(point))


DOMAINS = [
    (lambda x: x**2, lambda x: True),
    (lambda x: np.log(x), lambda x: x > 0),
    (lambda x: np.arcsin(3 + x), lambda x: -4 <= x <= -2),
    (lambda x: np.sqrt(x - 10) * np.sqrt(10.5 - x), lambda x: 10 <= x <= 10.5),
    (lambda x: np.sqrt(np.log(x) - 4), lambda x: x > 54.5),
    (lambda x: np.sqrt(x - 400), lambda x: x >= 400),
    (lambda x: np.sqrt(1e-3 - abs(x)), lambda x: abs(x) <= 1e-3),
]


@pytest.mark.parametrize(("function", "inside"), DOMAINS)
def test_points_lie_in_the_domain(function, inside):
    found = samples(function)
    assert len(found.points) >= 3
    assert all(inside(p["x"]) for p in found.points)
    assert all(mp.isfinite(v) for (v,) in found.values)


def test_a_point_of_the_user_has_neighbours():
    found = samples(lambda x: np.sqrt(x - 10) * np.sqrt(10.5 - x), {"x": 10.2})
    assert sum(10 <= p["x"] <= 10.5 for p in found.points) >= 3


def test_points_are_far_and_of_both_signs():
    wide = samples(lambda x: x**3, widely=True)
    assert min(p["x"] for p in wide.points) < -20
    assert max(p["x"] for p in wide.points) > 100
    assert {mp.sign(p["x"]) for p in samples(lambda x: x**3).points} == {-1, 1}


def test_no_points_where_there_is_no_domain():
    assert samples(lambda x: np.log(-1 - x**2)).points == ()


def test_points_are_the_same_every_time():
    assert samples(lambda x, y: x / y) == samples(lambda x, y: x / y)
    assert samples(lambda x: np.sqrt(x - 400)) == samples(lambda x: np.sqrt(x - 400))


def test_variables_are_in_no_special_relation():
    found = samples(lambda x, y: x * y)
    assert len({mp.nstr(p["x"] / p["y"], 10) for p in found.points}) == len(found.points)


@pytest.mark.parametrize("widely", [False, True])
def test_no_two_variables_are_equal_at_a_point(widely):
    """There the kinks of max(x, y) are, at which a formula need not have the value of the program."""
    f = lambda x, y, z, w: (x - y) * (y - z) * (z - w)  # noqa: E731
    for chosen in (samples(f, widely=widely), samples(lambda x, y: np.log(x) + np.floor(y), widely=widely)):
        for point in chosen.points:
            values = list(point.values())
            assert all(abs(a - b) > 1e-3 for i, a in enumerate(values) for b in values[:i])


def test_terms_that_cancel_to_many_digits_are_computed_with_more():
    """x - 1e30 + ... has lost its digits where 60 are kept, and is right all the same."""
    huge = sp.exp(100 + x**2)
    assert samples(lambda x: 2 * x).agrees((2 * x + huge) - huge + sp.exp(sp.log(huge)) - sp.sqrt(huge**2), 0)


def test_ill_conditioned_points_tell_nothing():
    hard = samples(lambda x: np.exp(np.exp(np.exp(np.exp(x)))))
    assert all(p["x"] < 2 for p in hard.points)


CLAIMS = [
    (2 * x, True),
    (x + x * (sp.sin(x) ** 2 + sp.cos(x) ** 2), True),
    (2 * x * (1 + sp.Rational(1, 10**9)), False),
    (2 * x + sp.Float("1e-15"), False),
    (-2 * x, False),
    (2 * sp.Abs(x), False),
    (2 * sp.sqrt(x) ** 2, True),
    (2 * y, False),
    (sp.Function("f")(x), False),
    (sp.nan, False),
    (2 * x + sp.I, False),
]


@pytest.mark.parametrize(("claim", "right"), CLAIMS)
def test_agrees(claim, right):
    assert samples(lambda x: 2 * x).agrees(claim, 0) is right


def test_names_in_a_formula_are_looked_up():
    u = sp.Symbol("u", real=True)
    found = samples(lambda x: 2 * x)
    assert found.agrees(u + 1, 0, (("v", 2 * x), ("u", sp.Symbol("v", real=True) - 1)))
    assert not found.agrees(u, 0, (("u", x),))


def test_two_formulas_agree_only_where_there_are_points_enough():
    found = samples(lambda x: 2 * x)
    assert found.agree(sp.sqrt(x**2), sp.Abs(x))
    assert not found.agree(sp.sqrt(x**2), x)
    assert not found.agree(sp.sqrt(-1 - x**2), x)
    assert not Samples((), ()).agree(x, x)
    assert not found.agree(y, y)
    assert found.joined(found).points == found.points * 2


def test_points_of_extreme_values_tell_nothing():
    """A quotient of huge numbers is one formula's 0/0 and another's 10**-3000."""
    assert gx.explain("a/l**5/(exp(b/l) - 1)")["l"].text == "a*((b - 5*l)*exp(b/l) + 5*l)/(l**7*(exp(b/l) - 1)**2)"
