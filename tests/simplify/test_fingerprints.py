"""Identities that are found by value, and those that must not be."""

import math

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.autodiff import sweep
from gradexplain.graph import ancestors
from gradexplain.simplify.fingerprints import refined
from gradexplain.simplify.sampling import sample
from gradexplain.symbolic import expressions
from tests.exposition.programs import black_scholes, traced
from tests.simplify.comparing import disagreements


def found(function, *names):
    """The refined gradient, with the program's named parts as symbols."""
    program = traced(function, symbolic=True)
    (gradient,) = sweep(program.output, [next(iter(program.inputs.values()))]).gradients
    samples = sample([gradient], program.inputs, {})
    given = dict(zip([n for n in ancestors([program.output]) if n.op.name in names], [None] * 9, strict=False))
    result = refined(gradient, program.output, program.inputs, samples, given)
    return str(expressions([result])[0]), result, gradient


IDENTITIES = [
    (lambda x: 1 / (1 + np.exp(-x)), "exp(-x)/(1 + exp(-x))**2"),
    (lambda x: np.tanh(x), "1 - tanh(x)**2"),
    (lambda x: np.exp(x) - np.exp(x) + x**2 - x**2 + 3 * x, "3"),
    (lambda x: np.sin(x) ** 2 + np.cos(x) ** 2, "0"),
    (lambda x: np.log(np.exp(x) * 2), "1"),
    (lambda x: np.exp(x) / np.exp(2 * x) * np.exp(x), "0"),
]


@pytest.mark.parametrize(("function", "text"), IDENTITIES)
def test_identities(function, text):
    assert found(function)[0] == text


LEFT_ALONE = [
    lambda x: np.where(x > 100, x**2, x),  # no point may lie on a branch
    lambda x: np.abs(x - 500.0),
    lambda x: np.maximum(x, -1000.0),
    lambda x: np.floor(x / 1000) * x,
    lambda x: np.sqrt((x - 500) ** 2),
    lambda x: np.sqrt(x**4 - 3 * x**2),
]


@pytest.mark.parametrize("function", LEFT_ALONE)
def test_branches_and_the_far_side_of_roots_are_left_alone(function):
    _, result, gradient = found(function)
    assert result is gradient


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.where(x > 1000, x**2, x),
        lambda x: np.abs(x - 500.0),
        lambda x: np.sqrt((x - 500) ** 2),
        lambda x: np.sign(x + 400) * x,
        lambda x: np.log((x - 600) ** 2) + np.maximum(x, 1e4),
        lambda x: np.sqrt(x**2 * (x - 400) ** 2),
    ],
)
def test_what_lies_far_away_is_in_the_formula(function):
    """No sample lies beyond: the formula must hold there all the same."""
    form = gx.explain(function)["x"]
    for at in (-1e4, -450.0, 350.0, 550.0, 2e3, 3e4):
        slope = float(form.expr.xreplace(dict.fromkeys(form.expr.free_symbols, at)))
        assert slope == pytest.approx(gx.grad(function)(at)), (at, form.text)


def test_terms_that_cancel_are_dropped():
    e = gx.explain(black_scholes, wrt="S")
    assert e["S"].full.subs({s: v for s in e["S"].full.free_symbols for n, v in POINT.items() if s.name == n}).evalf() \
        == pytest.approx(0.5 * (1 + math.erf(D1 / math.sqrt(2))))  # fmt: skip
    assert "exp" not in e["S"].text or len(e["S"].text) < 60


POINT = {"S": 110.0, "K": 100.0, "r": 0.05, "sigma": 0.2, "T": 1.0}
D1 = (math.log(1.1) + 0.05 + 0.02) / 0.2


@pytest.mark.parametrize(
    "text",
    ["sqrt(1 - x**y)", "sqrt(1 - x**2)", "sqrt(2 - (x*y)**2)", "log(1 - exp(x))", "asin(x*y)", "x**y*y**x"],
)
def test_domains_of_all_kinds_are_met(text):
    assert disagreements(gx.explain(text)) == []
