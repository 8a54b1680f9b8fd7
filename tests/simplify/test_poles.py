"""A closed form has a value wherever the derivative has one: no divisor comes in with a name."""

import math

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.simplify.poles import has_new_pole
from tests.simplify.comparing import numpy_value


def cubed(x):
    y = x**3 * math.exp(x)
    return y - 1


def shifted(x):
    u = (x - 1) ** 4 * math.sin(x)
    return u + u**2


def two(x, b):
    z = x**2 * b**3 * math.cos(x)
    return z + z**2


def sloped(x, a):
    y = (x - a) ** 5
    return y * math.exp(y)


def halved(x):
    y = (2 * x + 1) ** 3 * math.tanh(x)
    return y - 1


AWKWARD = [
    (cubed, {"x": 0.0}), (shifted, {"x": 1.0}), (two, {"x": 0.0, "b": 0.7}), (two, {"x": 0.7, "b": 0.0}),
    (sloped, {"x": 2.0, "a": 2.0}), (halved, {"x": -0.5}),
]  # fmt: skip


@pytest.mark.parametrize(("f", "point"), AWKWARD)
def test_a_form_has_the_derivative_s_value_where_a_factor_of_the_program_is_zero(f, point):
    for e in (gx.explain(f), gx.explain(f, **point)):
        for key, form in e.gradients.items():
            h = 1e-5
            moved = [f(**{**point, key: point[key] + s * h}) for s in (1, -1)]
            found = numpy_value(form, point)
            assert np.isfinite(found)
            assert found == pytest.approx((moved[0] - moved[1]) / (2 * h), abs=1e-6)


def test_a_pole_of_the_derivative_itself_is_no_new_one():
    x, y = sp.symbols("x y", real=True)
    at = {"x": mp.mpf(2)}
    assert has_new_pole(y / x, (("y", x * sp.sin(x)),), sp.sin(x), at)
    assert not has_new_pole(y / x, (("y", sp.exp(x)),), sp.exp(x) / x, at)
    assert not has_new_pole(y / (1 + sp.exp(x)), (("y", x),), x / (1 + sp.exp(x)), at)


def test_short_forms_in_names_are_kept_where_the_program_divides_too():
    def f(x):
        y = math.sqrt(x) * math.exp(x)
        return y + y**2

    assert "y" in gx.explain(f)["x"].where


def test_where_there_is_no_sample_and_where_a_divisor_is_flat():
    f = lambda x, y: np.log(np.cos(x) / (1 / np.where((np.pi > np.pi / 2) & (y < 1), x, y)))  # noqa: E731
    assert gx.explain(f)["x"].text
    assert gx.explain(lambda x: np.exp(np.log(np.mod(x, x))))["x"].notes  # has a value nowhere
