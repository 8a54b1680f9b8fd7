"""Recurrences: every named value has its derivative as a name of its own, and all of it is right."""

import math

import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.simplify.form import ClosedForm


def logistic(r, x0=0.3):
    x = x0
    for _ in range(5):
        x = r * x * (1 - x)
    return x


def fixed_point(x):
    y = 0.5
    for _ in range(5):
        y = math.cos(x * y)
    return y


def continued_fraction(x):
    y = x
    for _ in range(8):
        y = x + 1 / y
    return y


EXPECTED = {
    logistic: ("dx4*r*(1 - 2*x4) + x4*(1 - x4)", {"x2": "r*x1*(1 - x1)", "dx1": "x0*(1 - x0)"}),
    fixed_point: ("-dy4*x*sin(x*y4) - y4*sin(x*y4)", {"y2": "cos(x*y1)", "dy1": "-sin(x/2)/2"}),
    continued_fraction: ("1 - dy7/y7**2", {"y1": "x + 1/x", "dy2": "1 - dy1/y1**2"}),
}


@pytest.mark.parametrize("f", EXPECTED)
def test_recurrences_by_tangents(f):
    form = next(iter(gx.explain(f).gradients.values()))
    expr, some = EXPECTED[f]
    assert sp.simplify(form.expr - sp.sympify(expr, {s.name: s for s in form.expr.free_symbols})) == 0
    for name, text in some.items():
        definition = form.where[name]
        assert sp.simplify(definition - sp.sympify(text, {s.name: s for s in definition.free_symbols})) == 0
    check_values(form, f)


def check_values(form: ClosedForm, f) -> None:
    names = ("x",) if f is not logistic else ("r", "x0")
    for at in (0.83, 2.41):
        table = {sp.Symbol(n, real=True): v for n, v in zip(names, (at, 0.3), strict=False)}
        for name, definition in form.where.items():
            table[sp.Symbol(name, real=True)] = definition.subs(table)
        assert float(form.expr.subs(table)) == pytest.approx(gx.grad(f)(at), rel=1e-9)


def test_a_name_that_is_taken_is_not_used_twice():
    def f(x, dy1):
        y = x * dy1
        for _ in range(4):
            y = y - (y * y - 2) / (2 * y)
        return y

    form = gx.explain(f)["x"]
    assert "dy1" not in form.where
