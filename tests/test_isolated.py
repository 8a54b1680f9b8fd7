"""Points that a branch singles out: the derivative there is the limit around them."""

import math

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.isolated import isolated_points
from gradexplain.trace.run import trace
from gradexplain.trace.signature import bind


def sinc(x):
    return 1.0 if x == 0 else math.sin(x) / x


def sinc_of_numpy(x):
    return np.where(x == 0, 1.0, np.sin(x) / np.where(x == 0, 1.0, x))


def hole(x):
    if x != 2:
        return (x**2 - 4) / (x - 2)
    return 4.0


def jump(x):
    return 5.0 if x == 1 else x**2


def kink(x):
    return 0.0 if x == 0 else abs(x)


@pytest.mark.parametrize(
    ("f", "at", "slope"), [(sinc, 0.0, 0.0), (sinc_of_numpy, 0.0, 0.0), (hole, 2.0, 1.0), (jump, 1.0, 2.0)]
)
def test_the_limit_is_taken(f, at, slope):
    grad = gx.grad(f)
    for _ in range(2):
        assert grad(at) == pytest.approx(slope, abs=1e-12)
        assert grad(at + 0.5) == pytest.approx((f(at + 0.5 + 1e-6) - f(at + 0.5 - 1e-6)) / 2e-6, rel=1e-6)


def test_second_derivatives_at_the_point():
    assert gx.hessian(sinc)(0.0) == pytest.approx(-1 / 3)
    assert gx.value_and_grad(hole)(2.0) == (pytest.approx(4.0), pytest.approx(1.0))


def test_where_the_sides_differ_the_convention_stays():
    assert gx.grad(kink)(0.0) == 0.0
    assert gx.grad(kink)(-1.0) == -1.0


def test_two_arguments():
    def f(x, y):
        return 0.0 if x == y else (x**2 - y**2) / (x - y)

    assert gx.grad(f, (0, 1))(1.0, 1.0) == (pytest.approx(1.0), pytest.approx(1.0))


def test_arrays_have_none():
    grad = gx.grad(lambda v: v.sum() if v[0] == 0 else (v**2).sum())
    np.testing.assert_array_equal(grad(np.array([0.0, 2.0])), [1.0, 1.0])
    np.testing.assert_array_equal(grad(np.array([1.0, 2.0])), [2.0, 4.0])


def test_which_conditions_single_out_a_point():
    def f(x, n):
        y = 1.0 if x == 0 else 2.0
        z = 1.0 if n == 3 else y
        return x * z if x > 0 else np.where(x == 5, x, 2 * x)

    program = trace(f, bind(f, (0.0, 2), {}, symbolic=False))
    found = isolated_points(program, [program.inputs["x"]])
    assert {n.inputs[1].data for n in found} == {0, 5}


def ratio(x):
    if x != 1:
        return (x**3 - 1) / (x - 1)
    return 3.0


def oscillating(x):
    return 0.0 if x == 0 else x**2 * np.sin(1 / x)


def test_where_the_slope_does_not_settle_there_is_none():
    assert math.isnan(gx.grad(oscillating)(0.0))
    assert math.isnan(gx.grad(lambda x: 0.0 if x == 0 else 3 * x + abs(x))(0.0))


def test_where_the_slope_depends_on_the_direction_there_is_none():
    def f(x, y):
        if x == 0 and y == 0:
            return 0.0
        return x**3 / (x**2 + y**2)

    assert all(map(math.isnan, gx.grad(f, (0, 1))(0.0, 0.0)))


def test_one_sided_domains_have_the_limit_of_their_side():
    assert gx.grad(lambda x: 1.0 if x == 0 else np.sin(np.sqrt(x)) / np.sqrt(x))(0.0) == pytest.approx(-1 / 6)


def test_all_kinds_of_derivatives_take_the_limit():
    assert gx.jvp(ratio, (1.0,), (1.0,)) == (3.0, pytest.approx(3.0))
    value, pullback = gx.vjp(ratio, 1.0)
    assert (value, pullback(2.0)) == (3.0, (pytest.approx(6.0),))
    assert gx.hessian(ratio)(1.0) == pytest.approx(2.0)
    assert gx.value_and_grad(jump)(1.0) == (5.0, pytest.approx(2.0))


def test_derivatives_of_derivatives_take_the_limit():
    assert gx.grad(gx.grad(ratio))(1.0) == pytest.approx(2.0)
    assert gx.value_and_grad(gx.grad(ratio))(1.0) == (pytest.approx(3.0), pytest.approx(2.0))
    assert gx.grad(lambda x: x * gx.grad(ratio)(x))(1.0) == pytest.approx(5.0)
    assert gx.grad(lambda x: gx.jvp(ratio, (x,), (1.0,))[1])(1.0) == pytest.approx(2.0)


def test_decimals_are_read_as_they_are_meant():
    assert gx.grad(lambda x: (x**2 - 0.01) / (x - 0.1) if x != 0.1 else 0.2)(0.1) == pytest.approx(1.0, abs=1e-13)


def test_explanations_say_what_grad_says():
    def wild(x):
        if x == 0:
            return 0.0
        return math.sin(1 / x)

    def smooth(x):
        if x == 0:
            return 1.0
        return math.sin(x) / x

    explained = gx.explain(wild, x=0.0)
    assert math.isnan(explained.gradient_values["x"])
    assert math.isnan(gx.grad(wild)(0.0))
    assert "if x == 0" not in explained["x"].text, "a slope where there is none"
    assert gx.explain(smooth, x=0.0).gradient_values["x"] == gx.grad(smooth)(0.0) == 0.0


@pytest.mark.parametrize(
    ("f", "at", "slope"),
    [
        (lambda v: v[0] * (v[1] + np.log(v[0])), np.array([0.0, 1.0]), [-np.inf, 0.0]),
        (lambda v: np.sum(v * np.log(v)), np.array([0.0, 1.0]), [-np.inf, 1.0]),
        (lambda x: x * np.log(x), 0.0, -np.inf),
        (lambda x: -x * np.log(x), 0.0, np.inf),
    ],
)
def test_a_slope_without_bound_is_infinite_where_the_function_is_nan(f, at, slope):
    """0*inf has no value, yet the slope is known to have no bound: the first call, the next, and the explanation."""
    with np.errstate(all="ignore"):
        assert np.isnan(f(at))
        grad = gx.grad(f)
        for _ in range(2):
            np.testing.assert_array_equal(grad(at), slope)
        e = gx.explain(f, at)
        np.testing.assert_array_equal(next(iter(e.gradient_values.values())), slope)
        assert any("log" in found.text and "no finite value" in found.text for found in e.why().data)


def test_nothing_is_said_of_a_slope_where_the_function_is_nan_for_another_reason():
    with np.errstate(all="ignore"):
        for f in (lambda x: np.sin(x) / x, lambda x: x / x**2, lambda x: np.sqrt(x - 1) * 2):
            assert math.isnan(gx.grad(f)(0.0))
            assert math.isnan(gx.explain(f, x=0.0).gradient_values["x"])
