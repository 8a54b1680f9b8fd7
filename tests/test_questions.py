"""Questions that people ask about automatic differentiation, with their own numbers, through the public interface."""

import math
import re

import numpy as np
import pytest

import gradexplain as gx

A = np.array([[1.0, 3.0], [2.0, 6.0]])
B = np.array([[1.0], [2.0]])


def compact(text):
    """Text without what a reader would not miss: white space and parentheses."""
    return re.sub(r"[\s()]", "", text)


def product(A, B):
    return np.sin(A) @ B


def test_what_was_done_to_x_to_give_6():
    def f(x):
        return x**2

    e = gx.explain(f, x=3.0)
    assert e.value == 9.0
    assert e.gradient_values["x"] == 6.0
    assert e["x"].text == "2*x"
    shown = compact(e.derivation(style="reverse").to_text(unicode=False))
    assert compact("2*x**(2 - 1)") in shown
    assert compact("= 2*x = 6") in shown


def test_what_happens_to_a_matrix_product_of_a_sine():
    e = gx.explain(product, A=A, B=B)
    np.testing.assert_allclose(e.gradient_values["A"], [[0.5403, -1.97998], [-0.41615, 1.92034]], atol=1e-5)
    np.testing.assert_allclose(e.gradient_values["B"], [[1.75077], [-0.13830]], atol=1e-5)
    shown = compact(e.derivation(style="reverse").to_text(200, unicode=False))
    assert compact("g @ B.T * cos(A)") in shown or compact("cos(A) * g @ B.T") in shown
    assert compact("sin(A).T @ g") in shown


def test_the_product_of_a_sine_is_checked_by_difference_quotients():
    assert gx.check(product, A, B).ok


def test_two_partial_derivatives_of_a_polynomial():
    def f(w1, w2):
        return 3 * w1**2 + 2 * w1 * w2

    e = gx.explain(f, w1=5.0, w2=3.0)
    assert e.gradient_values == {"w1": 36.0, "w2": 10.0}
    assert gx.grad(f, argnums=(0, 1))(5.0, 3.0) == (36.0, 10.0)
    assert {compact(e["w2"].text)} == {"2*w1"}


def test_the_slope_of_a_sigmoid_of_several_numbers():
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    x = np.array([0.5, 0.6, 0.7])
    y = sigmoid(x)
    e = gx.explain(sigmoid, x=x)
    np.testing.assert_allclose(e.value, y)
    np.testing.assert_allclose(e.gradient_values["x"], y * (1 - y), rtol=1e-12)


def test_first_and_second_derivative_of_a_cube():
    assert gx.value_and_grad(lambda x: x**3)(5.0) == (125.0, 75.0)
    assert gx.grad(gx.grad(lambda x: x**3))(5.0) == 30.0
    e = gx.explain("x**3", x=5.0, order=2)
    assert e.gradient_values["x,x"] == 30.0
    assert e["x,x"].text == "6*x"


def vector(x):
    return np.array([x[0] ** 2, np.sin(x[1])])


def test_the_jacobian_of_a_vector_has_a_zero_column():
    x = np.array([1.0, 2.0, 3.0])
    expected = [[2.0, 0.0, 0.0], [0.0, math.cos(2.0), 0.0]]
    np.testing.assert_allclose(gx.jacobian(vector)(x), expected)
    e = gx.explain_jacobian(vector, x=x)
    np.testing.assert_allclose(e.gradient_values["x"], expected)
    assert e["x"].shape == (2, 3)


def test_a_loop_in_which_each_pass_is_differentiated_by_itself():
    def loss(w, x, target):
        return (w * x - target) ** 2

    slope = gx.grad(loss)
    w, seen = 0.0, []
    for x, target in ((1.0, 2.0), (2.0, 4.0), (0.5, 1.0)):
        gradient = slope(w, x, target)
        assert gradient == pytest.approx(2 * (w * x - target) * x)
        w -= 0.1 * gradient
        seen.append(gradient)
    assert len(set(seen)) == 3


def test_what_a_branch_does_to_the_derivative():
    def f(x):
        if x > 0:
            return x**2
        return -x

    e = gx.explain(f, x=3.0)
    assert e.gradient_values["x"] == 6.0
    assert e.gradient.subs("x", 3) == 6 or e["x"].expr.free_symbols
    text = e["x"].text
    assert "2*x" in text
    assert "-1" in text


def test_an_argument_without_influence_is_said_to_have_none():
    e = gx.explain(lambda x, y: x**2, x=1.0, y=2.0)
    assert e.gradient_values["y"] == 0.0
    assert "y" in e.why().to_text()
