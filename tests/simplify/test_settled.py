"""Functions that have a derivative where autodiff answers nan: an infinite slope of what does not move."""

import math

import numpy as np
import pytest

import gradexplain as gx


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
