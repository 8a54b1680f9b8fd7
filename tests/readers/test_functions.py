"""Formulas behave as functions: on numbers, on traced values, with any names."""

import inspect
import math

import pytest

import gradexplain as gx
from gradexplain.errors import ParseError
from gradexplain.readers.functions import ARITIES, TextFunction

# text, point, value, derivatives in the order of the variables
CASES = [
    ("x^2 + y", (3.0, 1.0), 10.0, (6.0, 1.0)),
    ("2", (3.0,), 2.0, (0.0,)),
    ("sin(1)*x", (3.0,), 3 * math.sin(1), (math.sin(1),)),
    ("max(x, y, 2)", (3.0, 1.0), 3.0, (1.0, 0.0)),
    ("clip(x, 0, y)", (0.5, 2.0), 0.5, (1.0, 0.0)),
    ("clip(x, 0, y)", (3.0, 2.0), 2.0, (0.0, 1.0)),
    ("min(x, 2, y)", (3.0, 1.0), 1.0, (0.0, 1.0)),
    ("|x - y|", (1.0, 3.0), 2.0, (-1.0, 1.0)),
    ("sign(x)*x^2", (-2.0,), -4.0, (4.0,)),
    ("x if x > 0 else -x", (-3.0,), 3.0, (-1.0,)),
    ("where(x > 0 and y > 0, x*y, x)", (2.0, 3.0), 6.0, (3.0, 2.0)),
    ("where(x < 0 or y < 0, 1, x*y)", (2.0, 3.0), 6.0, (3.0, 2.0)),
    ("1 if x > 0 else 2", (2.0,), 1.0, (0.0,)),
    ("log(x, 2) + log(x)", (2.0,), 1 + math.log(2), (0.5 / math.log(2) + 0.5,)),
    ("atan2(y, x)", (1.0, 2.0), math.atan2(1, 2), (0.4, -0.2)),
    ("pow(x, y)", (2.0, 3.0), 8.0, (12.0, 8 * math.log(2))),
    ("hypot(x, y, 0)", (3.0, 4.0), 5.0, (0.6, 0.8)),
    ("e^x*pi", (0.0,), math.pi, (math.pi,)),
    ("floor(x) + ceil(x)", (1.5,), 3.0, (0.0,)),
    ("x % 3 + x // 2", (4.5,), 3.5, (1.0,)),
    ("cbrt(x)", (8.0,), 2.0, (1 / 12,)),
    ("erf(x) + erfc(x) + gamma(x)*0", (1.5,), 1.0, (0.0,)),
    ("degrees(radians(x))", (2.0,), 2.0, (1.0,)),
    ("log1p(x) + expm1(x)", (0.5,), math.log1p(0.5) + math.expm1(0.5), (1 / 1.5 + math.exp(0.5),)),
]


@pytest.mark.parametrize(("text", "point", "value", "slopes"), CASES)
def test_values_and_derivatives(text, point, value, slopes):
    f = TextFunction.read(text)
    assert f(*point) == pytest.approx(value)
    e = gx.explain(text, *point)
    assert e.value == pytest.approx(value)
    assert list(e.gradient_values.values()) == pytest.approx(list(slopes))
    assert e.check().ok


@pytest.mark.parametrize("name", [n for n, (least, most) in ARITIES.items() if least == most == 1])
def test_functions_of_one_argument(name):
    x = 1.4 if name == "acosh" else 0.4
    e = gx.explain(f"{name}(x)", x=x)
    plain = {"abs": abs, "sign": lambda x: 1.0, "sec": lambda x: 1 / math.cos(x), "csc": lambda x: 1 / math.sin(x),
             "cot": lambda x: 1 / math.tan(x)}  # fmt: skip
    function = plain.get(name) or getattr(math, name, None)
    assert function is None or e.value == pytest.approx(function(x))
    assert e.check().ok
    assert math.isfinite(e.gradient_values["x"])


def test_constants_stay_formulas_while_a_trace_runs():
    assert "0.84" not in gx.explain("sin(1)*x")["x"].text
    assert gx.explain("sin(1)*x")["x"].text == "sin(1)"
    assert gx.explain("x/3")["x"].text == "1/3"


@pytest.mark.parametrize("name", ["lambda", "E", "I", "S", "N", "gamma", "if_", "α", "λ", "theta_1"])
def test_names_that_python_would_not_have(name):
    f = TextFunction.read(f"{name}*2 + {name}^2")
    assert list(inspect.signature(f).parameters) == [name]
    assert f(3.0) == 15.0
    assert f(**{name: 3.0}) == 15.0
    assert gx.explain(f"{name}^2", **{name: 3.0}).gradient_values == {name: 6.0}


def test_names_that_are_given_values_are_variables():
    e = gx.explain("E*A*3/4", E=1.0, A=10.2)
    assert e.gradient_values == pytest.approx({"E": 7.65, "A": 0.75})
    assert gx.explain("e*x", e=2.0, x=3.0).gradient_values == {"e": 3.0, "x": 2.0}
    assert list(gx.explain("e*x", wrt="e").gradients) == ["e"]


def test_a_formula_without_variables_is_a_function_of_x():
    assert list(inspect.signature(TextFunction.read("2*pi")).parameters) == ["x"]
    assert gx.explain("2*pi")["x"].text == "0"


def test_echo_and_notes():
    f = TextFunction.read("x^2 sin x")
    assert f.echo == "x**2*sin(x)"
    assert any("power" in note for note in f.notes)
    assert TextFunction.read("x**2").notes == ()
    assert f.__name__ == "f"


@pytest.mark.parametrize("text", ["sin()", "atan2(x)", "max(x)", "pow(x)", "clip(x, 1)", "sin(x, y)", "log(x, 2, 3)"])
def test_arities(text):
    with pytest.raises(ParseError, match="argument"):
        TextFunction.read(text)


def test_branches_of_formulas_are_explained_whole():
    form = gx.explain("x^2 if x > 1 else 2x")["x"]
    assert form.text == "2*x if x > 1 else 2"


@pytest.mark.parametrize(
    ("text", "x", "value"),
    [
        ("sqrt(x) if x > 0 else 0", -1.0, 0.0),
        ("1/x if x > 0 else x", 0.0, 0.0),
        ("log(x) + 1 if x > 0 else 1/x if x < 0 else 5", 0.0, 5.0),
    ],
)
def test_only_the_chosen_branch_has_to_have_a_value(text, x, value):
    assert TextFunction.read(text)(x) == value


def test_a_chosen_branch_without_a_value_raises():
    with pytest.raises(ZeroDivisionError):
        TextFunction.read("1/x if x >= 0 else x")(0.0)
