"""Derivatives of order 1 to 4: the closed forms are those of mpmath's derivatives, short, and named as in books."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special

import gradexplain as gx
from gradexplain.readers.functions import TextFunction

# text -> the fourth derivative as it is printed, None where any right form will do
FUNCTIONS = {
    "x**4": "24", "x**6": "360*x**2", "exp(2*x)": "16*exp(2*x)", "sin(x)": "sin(x)", "cos(2*x)": "16*cos(2*x)",
    "log(x)": "-6/x**4", "1/x": "24/x**5", "sqrt(x)": "-15/(16*x**(7/2))", "x*exp(x)": "(x + 4)*exp(x)",
    "x**2*sin(x)": None, "exp(-x**2)": None, "1/(1 + x**2)": None, "tan(x)": None, "x*log(x)": "2/x**3",
    "atan(x)": None, "sinh(x)": "sinh(x)", "x**x": None, "exp(x)*sin(x)": "-4*exp(x)*sin(x)", "log(1 + exp(x))": None,
    "x**2.5": None, "abs(x)**3": None,
}  # fmt: skip
POINTS = (0.6, 1.3)


def exact(text, order, x):
    f = TextFunction.read(text)
    functions = {n: getattr(mp, n) for n in ("exp", "sin", "cos", "log", "sqrt", "tan", "atan", "sinh")}
    with mp.workdps(60):
        return mp.diff(lambda t: f.reading.evaluate({**functions, "abs": abs, "pow": mp.power}, {"x": t}), x, order)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("text", FUNCTIONS)
def test_closed_forms_are_the_derivatives(text, order):
    e = gx.explain(text, order=order)
    form = e[",".join("x" * order)]
    names = {"np": np, "scipy": type("scipy", (), {"special": special}), "math": math}
    for x in POINTS:
        values = dict(names, x=x)
        for name, source in form.where_numpy.items():
            values[name] = eval(source, values)
        assert eval(form.numpy, values) == pytest.approx(float(exact(text, order, x)), rel=1e-9)
    if order == 4 and FUNCTIONS[text] is not None:
        assert form.text == FUNCTIONS[text]


def test_names_of_higher_derivatives():
    e = gx.explain("x**3*sin(z)", order=3)
    text = e.to_text()
    for line in ["d^3y/dx^3 = 6*sin(z)", "d^3y/dx^2dz = 6*x*cos(z)", "d^2y/dxdz = 3*x**2*cos(z)",
                 "With respect to x twice and z", "With respect to x three times"]:  # fmt: skip
        assert line in text
    assert "d³y/dx²dz = 6·x·cos(z)" in e.to_text(unicode=True)
    assert r"\frac{\partial^{3} y}{\partial x^{2} \, \partial z} &= 6 x \cos" in e.to_latex()
    assert "d⁴y/dx⁴ = 24" in gx.explain("x**4", order=4).to_text(unicode=True)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_mixed_derivatives_come_in_any_order(order):
    e = gx.explain("x**3*exp(2*z)", order=order)
    assert len(e.gradients) == order + 1
    key = ",".join(["z"] * (order - 1) + ["x"])
    assert e[key].text == {2: "6*x**2*exp(2*z)", 3: "12*x**2*exp(2*z)", 4: "24*x**2*exp(2*z)"}[order]
    assert e.check().ok
