"""Closed forms are read back as they are printed, and only where they mean the same."""

import math
from dataclasses import replace

import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.exposition.pen import Pen
from gradexplain.graph import ancestors
from gradexplain.render.formula import text
from gradexplain.simplify.nodes import node_of


def parts(e, key="x"):
    return e[key], e._nodes[key], e.whole


@pytest.mark.parametrize(
    "function",
    ["x**2*sin(3*x)/(1 + x**2)", "x**x", "x*sin(x)*exp(x)", "abs(x)**3", "sqrt(x)", "erf(x/sqrt(2))", "max(x**2, 1)",
     "x**2.5", "tan(x)", "exp(-x**2/2)/sqrt(2*pi)", "cbrt(x)", "0.1*x**2*sin(x)", "(x - 1)*(2 - x)", "atan(x)/x"],
)  # fmt: skip
def test_a_closed_form_is_read_as_it_is_printed(function):
    form, slope, program = parts(gx.explain(function))
    found, names = node_of(form, slope, program)
    assert text(Pen({}).write([found])[0]) == form.text
    assert not names


def test_names_are_nodes_of_their_own():
    def f(x):
        s = 1 / (1 + math.exp(-x))
        return s  # noqa: RET504

    form, slope, program = parts(gx.explain(f))
    found, names = node_of(form, slope, program)
    ((s, name),) = names.items()
    assert name == "s"
    assert s is program.output
    assert s in ancestors([found])


def test_what_can_not_be_read_or_means_something_else_is_none():
    form, slope, program = parts(gx.explain("x**3"))
    x = sp.Symbol("x", real=True)
    assert node_of(form, slope, program) is not None
    assert node_of(replace(form, expr=3 * x**2 + 1), slope, program) is None
    assert node_of(replace(form, expr=sp.Function("g")(x)), slope, program) is None
    assert node_of(replace(form, expr=sp.Piecewise((3 * x**2, x > 0))), slope, program) is None
