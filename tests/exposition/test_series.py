"""Sums over an index are derived term by term, in a few steps, each of them right."""

import math

import mpmath as mp
import pytest

import gradexplain as gx
from gradexplain.exposition.tidy import without_noise
from gradexplain.notation import FiniteSum
from gradexplain.render.formula import text
from gradexplain.simplify.numeric import value
from tests.exposition.programs import traced


def exp_series(x):
    s, t = 1, 1
    for n in range(1, 8):
        t = t * x / n
        s += t
    return s


def fourier(x):
    return sum(math.sin(k * x) / k for k in range(1, 11))


def sine_series(x):
    return sum((-1) ** k * x ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(8))


def present_value(x):
    return sum(100 / (1 + x) ** t for t in range(1, 11)) + 500 / (1 + x) ** 10


def dirichlet(x):
    return sum(1 / k**x for k in range(1, 15))


def mixed(x, y=0.4):
    return sum(x**k * y ** (9 - k) for k in range(10))


SERIES = {
    exp_series: ("sum(x**n/n!, n = 0 .. 7)", "(x**n/n!)' = n*x**(n - 1)/n!", "sum(n*x**(n - 1)/n!, n = 1 .. 7)"),
    fourier: ("sum(sin(k*x)/k, k = 1 .. 10)", "(sin(k*x)/k)' = cos(k*x)", "sum(cos(k*x), k = 1 .. 10)"),
    sine_series: (
        "sum((-1)**k*x**(2*k + 1)/(2*k + 1)!, k = 0 .. 7)",
        "((-1)**k*x**(2*k + 1)/(2*k + 1)!)' = (-1)**k*x**(2*k)*(2*k + 1)/(2*k + 1)!",
        "sum((-1)**k*x**(2*k)*(2*k + 1)/(2*k + 1)!, k = 0 .. 7)",
    ),
    present_value: (
        "100*sum(1/(x + 1)**k, k = 1 .. 9) + 600/(x + 1)**10",
        "(1/(x + 1)**k)' = -k/(x + 1)**(k + 1)",
        "-100*sum(k/(x + 1)**(k + 1), k = 1 .. 9) - 6000/(x + 1)**11",
    ),
    dirichlet: ("sum(1/k**x, k = 1 .. 14)", "(1/k**x)' = -log(k)/k**x", "-sum(log(k)/k**x, k = 2 .. 14)"),
    mixed: (
        "sum(x**k*y**(9 - k), k = 0 .. 9)",
        "(x**k*y**(9 - k))' = k*x**(k - 1)*y**(9 - k)",
        "sum(k*x**(k - 1)*y**(9 - k), k = 1 .. 9)",
    ),
}


@pytest.mark.parametrize("f", SERIES)
def test_term_by_term(f):
    derivation = gx.explain(f).derivation("x").data
    function, term, slope = SERIES[f]
    assert text(derivation.function) == function
    assert derivation.root.rule == "sum rule, term by term"
    assert text(derivation.root.after) == slope
    (step,) = derivation.root.substeps
    assert f"({text(step.before)})' = {text(step.after)}" == term
    at = {"x": mp.mpf("0.83"), "y": mp.mpf("0.4"), "n": mp.mpf(3), "k": mp.mpf(3)}
    with mp.workdps(40):
        for before, after in ((derivation.function, derivation.root.after), (step.before, step.after)):
            assert mp.almosteq(mp.diff(lambda t: value(before, at | {"x": t}), at["x"]), value(after, at), 1e-12)
        assert mp.almosteq(value(derivation.result, at), value(derivation.root.after, at), 1e-30)


def test_a_loop_without_a_law_is_derived_as_a_polynomial():
    def horner(x):
        y = 0
        for a in (3, -2, 7, 1, 0, 5):
            y = y * x + a
        return y

    derivation = gx.explain(horner).derivation().data
    assert text(derivation.function) == "3*x**5 - 2*x**4 + 7*x**3 + x**2 + 5"
    assert text(derivation.root.after) == "15*x**4 - 8*x**3 + 21*x**2 + 2*x"
    assert not derivation.root.substeps


def test_other_functions_of_sums_are_derived_rule_by_rule():
    derivation = gx.explain(lambda x: math.log(sum(math.exp(k * x) for k in range(1, 9)))).derivation().data
    assert not derivation.function.has(FiniteSum)
    assert derivation.result.has(FiniteSum)


@pytest.mark.parametrize(
    ("f", "shown"),
    [
        (lambda x: sum(x**k for k in range(4)), "1 + x + x**2 + x**3"),
        (lambda x: sum(math.sin(k * x) / k for k in range(1, 3)), "sin(x) + sin(2*x)/2"),
        (lambda x: 0 + x**1 / 1, "0 + x/1"),  # nobody passes here twice
    ],
)
def test_formulas_of_loops_have_no_noise(f, shown):
    program = traced(f, symbolic=True)
    plain, names = without_noise(program, {})
    from gradexplain.symbolic import written

    assert text(written([plain.output])[0]) == shown
    assert names == {}
    assert all(n in program.trace.sites for n in program.trace.sites)


def test_horner_with_letters_has_no_noise():
    def f(x, a, b, c):
        p = 0
        for k in (a, b, c):
            p = p * x + k
        return p

    shown = str(gx.explain(f))
    assert "y = (a*x + b)*x + c" in shown
    assert "0*x" not in shown.split("What autodiff recorded")[0]


def test_tape_shows_what_was_computed():
    tape = gx.explain(lambda x: sum(x**k for k in range(1, 4)), 2.0).tape
    shown = [text(row.formula) for row in tape]
    assert shown == ["x", "x", "0 + v1", "x**2", "v2 + v3", "x**3", "v4 + v5"]
