"""Functions that have a derivative where autodiff answers nan: an infinite slope of what does not move."""

import math

import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from tests.simplify.comparing import against_quotients
from tests.simplify.random_programs import function, random_source


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x**2 + np.sqrt(x - x), "2*x"),
        (lambda x: np.log(x) + np.cbrt(x - x), "1/x"),
        (lambda x: np.sin(x) * (1 + (x - x) ** 0.5), "cos(x)"),
        (lambda x: x + np.arcsin(x / x), "1"),
        (lambda x: np.hypot(x - x, 0) + x**3, "3*x**2"),
        (lambda x: x * np.sqrt(np.log(x / x)), "0"),
    ],
)
def test_parts_that_are_one_number_have_no_slope(function, expected):
    form = gx.explain(function)["x"]
    assert (form.text, form.notes) == (expected, ())


def test_within_branches():
    form = gx.explain(lambda x: np.where(x > 1, np.sqrt(x - x), x**2))["x"]
    assert form.text == "0 if x > 1 else 2*x"


def test_a_branch_that_no_sample_lies_on_is_no_number():
    def f(x):
        u = x**x if x > 4 else x - x
        return np.arctan(u)

    form = gx.explain(f)["x"]
    assert form.text == "0 if x <= 4 else x**x*(log(x) + 1)/(x**(2*x) + 1)"


def test_second_derivatives():
    assert gx.explain(lambda x: x**3 + np.sqrt(x - x), order=2)["x,x"].text == "6*x"


def test_what_is_tiny_is_no_zero():
    form = gx.explain(lambda x: np.sqrt(np.exp(-(x**2) * 1000)))["x"]
    assert form.text != "0"


def test_the_derivative_at_a_point_is_that_of_the_formula():
    assert math.isclose(gx.explain(lambda x: x**2 + np.sqrt(x - x), 3.0).gradient_values["x"], 6.0)


def test_constants_that_autodiff_passes_well_stay_in_the_program():
    assert gx.explain("sin(x)**2 + cos(x)**2")["x"].raw != 0


def zero_of_sinc(x, y):
    return x**2 + np.sinc(np.where(y > 0, y, 0))


def quotient_of_itself(x, y):
    return math.acosh(x / (y if y > 0 else x))


def angle_of_nothing(x, y):
    return np.where(x > 0, np.arctan2(0 * y, y - y) + x, y)


def nested(x, y):
    return math.acosh(x / (y if x > 0 and y > 0 else x)) * (y if y > 1 else x)


def test_what_a_branch_makes_one_number_has_no_slope_there():
    assert gx.explain(quotient_of_itself)["x"].text.startswith("0 if y <= 0 else ")
    assert gx.explain(angle_of_nothing)["x"].text == "1 if x > 0 else 0"
    for f in (zero_of_sinc, quotient_of_itself, angle_of_nothing, nested):
        for form in gx.explain(f).gradients.values():
            assert form.notes == ()
            assert "nan" not in form.text
            assert not any(e.has(sp.nan, sp.zoo) for e in (form.expr, *form.where.values()))


@pytest.mark.parametrize("seed", [1732, 1935])
def test_random_programs_with_such_branches(seed):
    source = random_source(seed)
    program = function(source, seed)
    explanation = gx.explain(program, order=2 if seed % 4 == 0 else 1)
    compared, wrong = against_quotients(source, program, explanation, seed)
    assert compared
    assert not wrong


def test_a_limit_behind_a_comparison_that_has_no_value_at_the_point():
    def f(x):
        v = 1.0 if x == 0 else np.sin(x) / x
        return np.maximum(v, x)

    assert gx.explain(f)["x"].text
    assert gx.explain(f, 0.5)["x"].text
