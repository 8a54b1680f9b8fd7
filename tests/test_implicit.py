"""Derivatives along curves: the object that equations give, its formulas, checks and mistakes."""

from __future__ import annotations

import json
import pickle

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.cli import main
from gradexplain.errors import ArgumentError, DomainError, GradexplainError, ParseError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x**2 + y**2 = 25", "-x/y"),
        ("x*y = 1", "-y/x"),
        ("y = x**2", "2*x"),
        ("exp(y) = x", "exp(-y)"),
        ("x**2 + x*y + y**2 = 7", "-(2*x + y)/(x + 2*y)"),
        ("x**2/a**2 + y**2/b**2 = 1", "-x*b**2/(a**2*y)"),
        ("sqrt(x) + sqrt(y) = 4", "-sqrt(y/x)"),
        ("y**5 + y = x", "1/(5*y**4 + 1)"),
    ],
)
def test_the_closed_form_is_what_a_person_writes(text, expected):
    e = gx.explain(text)
    assert e["x"].text == expected
    assert e.check().ok


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("x**2 + y**2 = 25", 2, "-25/y**3"),
        ("x**2 + y**2 = 25", 3, "-75*x/y**5"),
        ("x**2 + x*y + y**2 = 7", 2, "-42/(x + 2*y)**3"),
        ("x**3 + y**3 = 6*x*y", 2, "16*x*y/(2*x - y**2)**3"),
        ("y**5 + y = x", 2, "-20*y**3/(5*y**4 + 1)**3"),
    ],
)
def test_higher_derivatives_use_the_equation(text, order, expected):
    e = gx.explain(text, order=order)
    (form,) = e.gradients.values()
    assert form.text == expected
    assert e.check().ok


def test_functions_and_text_are_alike():
    e, f = gx.explain("x**2 + y**2 - 25 = 0", x=3, y=4), gx.explain_implicit(lambda x, y: x**2 + y**2 - 25, 3, 4)
    assert e["x"] == f["x"]
    assert e.gradient_values == f.gradient_values == {"x": -0.75}
    assert (e.value, f.value) == (4.0, 4.0)


def test_several_independent_variables():
    e = gx.explain("x**2 + y**2 + z**2 = 9", x=1, y=2, z=2, order=2)
    assert list(e.gradients) == ["x,x", "x,y", "y,y"]
    assert e["y,x"].text == "-x*y/z**3"
    assert e.check().ok
    first = gx.explain("x**2 + y**2 + z**2 = 9")
    assert [f.text for f in first.gradients.values()] == ["-x/z", "-y/z"]
    assert r"\frac{\partial z}{\partial x}" in first.to_latex()


@pytest.mark.parametrize(
    ("text", "options", "of", "wrt"),
    [
        ("x**2 + y**2 = 1", {}, "y", ("x",)),
        ("x**2 + y**2 = 1", {"wrt": "y"}, "x", ("y",)),
        ("x + y + z = 1", {}, "z", ("x", "y")),
        ("x + y + z = 1", {"wrt": "z"}, "y", ("z",)),
        ("x + y + z = 1", {"of": "x"}, "x", ("y", "z")),
        ("a*x + b*y = 1", {}, "y", ("x",)),
        ("p*v = 1", {}, "v", ("p",)),
        ("p*v = n*t", {"of": "p"}, "p", ("v", "n", "t")),
        ("p*v = n*t", {"of": "p", "wrt": ["t", "v"]}, "p", ("t", "v")),
    ],
)
def test_which_variable_depends_on_which(text, options, of, wrt):
    e = gx.explain_implicit(text, **options)
    assert (e.of, e.wrt) == (of, wrt)
    assert e.check().ok


def test_a_missing_dependent_variable_is_found():
    e = gx.explain("x**2 + y**2 = 25", x=3)
    assert e.value == 4.0
    assert e.gradient_values["x"] == -0.75
    assert "y = 4 was found from the equation (also y = -4)" in str(e)


def test_a_rounded_point_is_moved_onto_the_curve():
    e = gx.explain("x**2 + y**2 = 2.5", x=1.0, y=1.2247449)
    assert e.value == pytest.approx(float(mp.sqrt(1.5)), abs=1e-15)
    assert e.check().ok


def test_the_members_of_an_explanation():
    e = gx.explain("x**2 + y**2 = 25", x=3, y=4)
    x, y = sp.symbols("x y", real=True)
    assert e.gradient == -x / y
    assert e["x"].conditions == ("y != 0",)
    assert e.gradients.keys() == ("x",)
    assert [row.name for row in e.tape][:2] == ["x", "y"]
    assert e.check(-0.75).ok
    assert not e.check(-0.76).ok
    assert "return -x/y" in e.python()
    assert "dF/dy = 8" in str(e.derivation(style="reverse"))
    assert "pass of y" in str(e.derivation(style="forward"))
    assert pickle.loads(pickle.dumps(e)).to_text() == e.to_text()
    assert repr(e) == "<Explanation of F: x: -x/y>"


def test_all_formats():
    e = gx.explain("x**2 + y**2 = 25", x=3, y=4)
    assert r"\frac{d y}{d x} = - \frac{x}{y}" in e.to_latex()
    assert "differentiate both sides" in e.to_markdown()
    assert "differentiate both sides" in e.to_html()
    data = json.loads(e.to_json())
    assert data["kind"] == "implicit"
    assert data["equation"][1]["text"] == "25"
    assert data["derivations"][0]["type"] == "ImplicitDerivation"


def test_branches_and_kinks():
    e = gx.explain("abs(x) + abs(y) = 1", x=0.25, y=-0.75)
    assert e.gradient_values["x"] == 1.0
    assert e.check().ok


def test_no_point_on_the_curve_is_said():
    e = gx.explain("x**2 + y**2 = -1")
    assert "no point was found on the curve" in str(e)
    assert not e.check().ok
    assert e.check().rows == ()


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: gx.explain("x**2 + y**2 = 25", x=3, y=5), DomainError, "minus the right side is 9.0 there"),
        (lambda: gx.explain("x**2 + y**2 = 25", x=3, y=5), DomainError, "y = 4.0 or -4.0 is on it"),
        (lambda: gx.explain("x**2 + y**2 = 25", x=5, y=0), DomainError, "does not exist at x = 5, y = 0"),
        (lambda: gx.explain("x**3 + y**3 = 6*x*y", x=0, y=0), DomainError, "the curve meets itself"),
        (lambda: gx.explain("x**2 + y**2 = 25", x=7), DomainError, "no point with x = 7"),
        (lambda: gx.explain("x**2 + y**2 = 25", z=1), ArgumentError, "has no argument z"),
        (lambda: gx.explain("x**2 + y**2 = 25", wrt="z"), ArgumentError, "no argument z"),
        (lambda: gx.explain_implicit("x*y = 1", of="z"), ArgumentError, "there is no variable z"),
        (lambda: gx.explain_implicit("x*y = 1", of="y", wrt="y"), ArgumentError, "can't depend on itself"),
        (lambda: gx.explain_implicit("x**2 = 25"), ArgumentError, "nothing that x could depend on"),
        (lambda: gx.explain_implicit(lambda x, y: x**2), ArgumentError, "y does not appear in the equation"),
        (lambda: gx.explain_implicit("x + floor(y) = 1"), ArgumentError, "does not change with y"),
        (lambda: gx.explain("a*b*c = 1"), ArgumentError, "not clear which variable"),
        (lambda: gx.explain("x*y = 1", x=[1.0, 2.0]), ArgumentError, "equations of arrays"),
        (lambda: gx.explain_implicit(lambda x, y: np.array([x, y]) * y), ArgumentError, "equations of arrays"),
        (lambda: gx.explain("x*y = 1", order=9), ArgumentError, "order 9"),
        (lambda: gx.explain("x*y = 1", x=float("nan")), ArgumentError, "not finite"),
        (lambda: gx.explain("x*y = 1").check(1.0), ArgumentError, "needs a point"),
        (lambda: gx.explain("x = y = 1"), ParseError, "this is the second"),
        (lambda: gx.explain_jacobian("x*y = 1"), ParseError, "an equation"),
    ],
)
def test_mistakes(call, kind, words):
    with pytest.raises(GradexplainError) as caught:
        call()
    assert type(caught.value) is kind
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "expected", "code"),
    [
        (["x**2 + y**2 = 25"], "dy/dx = -x/y", 0),
        (["x**2 + y**2 = 25", "--at", "x=3,y=4"], "at x = 3, y = 4: dy/dx = -0.75", 0),
        (["x**2 + y**2 = 25", "--at", "x=3", "--at", "y=-4"], "dy/dx = 0.75", 0),
        (["x**2 + y**2 = 25", "--wrt", "y"], "dx/dy = -y/x", 0),
        (["p*v = n*t", "--of", "p", "--wrt", "t"], "dp/dt = n/v", 0),
        (["x*y = 1", "--order", "2", "--steps"], "d^2y/dx^2 = 2*y/x**2", 0),
        (["x**2 + y**2 = 25", "--at", "x=3,y=5"], "", 3),
        (["x**2 + y**2 == 25"], "", 2),
    ],
)
def test_the_command_line(capsys, arguments, expected, code):
    assert main(arguments) == code
    assert expected in capsys.readouterr().out


def test_why_is_about_the_curve():
    """The slope of F in x is 0 at the top of a circle; that of y is, too, but nothing lets nothing back."""
    assert gx.explain_implicit("x**2 + y**2 = 25", x=0, y=5).why().codes == ()
    assert "kink" in gx.explain_implicit("abs(x) + y = 1", x=0, y=1).why().codes
