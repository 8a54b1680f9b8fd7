"""What holds for every derivation, over functions of every kind: see `invariants`."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import gradexplain as gx
from tests.exposition.invariants import WIDTHS, checked, faults, stages

POINTS = (0.37, 0.83, 1.71)


def sigmoid(x):
    s = 1 / (1 + math.exp(-x))
    return s  # noqa: RET504 (the name is what is tested)


def logistic_slope(x):
    s = 1 / (1 + math.exp(-x))
    return s * (1 - s)


def pieces(x):
    if x < 0.5:
        return x**3
    if x < 1:
        return x * math.sin(x)
    return math.log(x) / x


def horner(x):
    y = 0.0
    for c in (3, -2, 1):
        y = y * x + c
    return math.exp(y)


def iterated(x):
    y = x
    for _ in range(3):
        y = 2 * y * (1 - y)
    return y


def normal_cdf(z):
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


def call(x, K=1.1, r=0.05, sigma=0.2, T=0.5):
    d1 = (math.log(x / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    return x * normal_cdf(d1) - K * math.exp(-r * T) * normal_cdf(d2)


def annuity(x, n=10, pmt=1.0):
    return pmt * (1 - (1 + x) ** (-n)) / x


FUNCTIONS = [
    "x", "7", "3*x - 2", "x**3", "1*x**2 - 4*x**-2", "x**2*sin(3*x)/(1 + x**2)", "x**x", "(x + 1)**sin(x)", "2**(x**2)",
    "x*sin(x)*exp(x)", "exp(sin(x**2))", "log(1 + log(1 + x))", "asin(x/2)", "x*atan(x) - log(1 + x**2)/2",
    "acosh(1 + x**2)", "atanh(x/2)*acos(x/3)", "sqrt(1 + sin(x)**2)", "tan(x/2)**3", "abs(x**2 - 1)", "max(x**2, x)",
    "x**2.5*exp(-0.5*x)", "1/(1 + exp(-x))", "sinh(x)/cosh(x)", "exp(-x**2/2)/sqrt(2*pi)", "erf(x)*gamma(x)",
    "x/(1 + x/(1 + x))", "(x**2 + 1)**3*(x - 1)**2", "sin(x**2)*cos(x**2) + sin(x**2)", "log(x)/log(2)", "cbrt(x)*x",
    "x**(1/x)",
    sigmoid, logistic_slope, pieces, horner, iterated, call, annuity,
    lambda x: np.clip(x**2, 0, 1), lambda x: np.where(x > 1, x**2, x) * x, lambda x: math.hypot(x, x**2),
]  # fmt: skip
TWICE = [0, 3, 5, 6, 9, 10, 13, 21, 24, 26, 31, 33]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_step_is_right_and_nothing_stands_twice(function):
    e = gx.explain(function, wrt="x") if function != "7" else gx.explain(lambda x: 7.0)
    for detail in ("brief", "full"):
        derivation = e.derivation(detail=detail).data
        count, wrong = checked(derivation, [named(e, x) for x in POINTS])
        assert count
        assert wrong == []
        assert faults(derivation) == []


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("function", [FUNCTIONS[i] for i in TWICE])
def test_every_step_of_every_order_is_right(function, order):
    e = gx.explain(function, wrt="x", order=order)
    derivation = e.derivation(detail="full").data
    assert len(list(stages(derivation))) == order
    assert checked(derivation, [named(e, x) for x in POINTS])[1] == []
    assert faults(derivation) == []


@pytest.mark.parametrize("known", ["sum,power", "chain,product", "table,constant multiple,sum,quotient"])
@pytest.mark.parametrize("function", [FUNCTIONS[i] for i in (5, 6, 9, 13, 17, 31, 34)])
def test_known_rules_change_no_value(function, known):
    e = gx.explain(function, wrt="x")
    for detail in ("brief", "full"):
        derivation = e.derivation(detail=detail, known=known).data
        assert checked(derivation, [named(e, x) for x in POINTS])[1] == []
        assert derivation.raw == e.derivation(detail=detail).data.raw


@pytest.mark.parametrize("function", FUNCTIONS[3:])
def test_every_width_and_alphabet(function):
    e = gx.explain(function, wrt="x")
    for detail in ("brief", "full"):
        shown = e.derivation(detail=detail)
        for width in WIDTHS:
            assert shown.to_text(width).isascii()
            assert shown.to_text(width, unicode=True)
        assert shown.to_markdown()
        assert shown.to_latex()
        assert shown.to_html()
        assert shown.to_json()


def test_steps_and_answer_are_of_one_object():
    e = gx.explain("x**2*sin(3*x)/(1 + x**2)")
    derivation = e.derivation(detail="full").data
    assert derivation.result is e["x"].expr
    assert derivation.raw is derivation.root.after
    assert tuple(derivation.rewrites) == tuple(e["x"].rewrites)


def test_same_bytes_in_every_process():
    program = (
        "import gradexplain as gx\n"
        "for text in ('x**2*sin(3*x)/(1 + x**2)', 'max(x, y)*exp(x*y)', 'x**x'):\n"
        "    e = gx.explain(text, order=2)\n"
        "    for key in e.gradients:\n"
        "        print(e.derivation(key, detail='full').to_latex(), e.derivation(key, style='both').to_text())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, env=dict(os.environ, PYTHONHASHSEED=seed)
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1


def named(e, x):
    """The point: x, and the defaults of the other arguments."""
    return dict.fromkeys(e.whole.inputs, 0.0) | dict(e.whole.point) | {"x": x}
