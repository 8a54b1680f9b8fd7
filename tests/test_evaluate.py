"""Graphs on numbers: float64, and mpmath at any precision."""

import math
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from gradexplain.autodiff import vjp
from gradexplain.evaluate import evaluate, evaluate_exact, exact_array
from gradexplain.graph import constant, variable
from gradexplain.ops.elementary import exp, log, sin, sqrt
from gradexplain.ops.ordering import greater, where
from gradexplain.primitive import NUMPY

x, v = variable("x"), variable("v", (3,))


def test_values_on_the_way_are_kept_and_used():
    a = sin(x)
    values = {x: 1.0}
    assert evaluate([a * 2], values) == [2 * math.sin(1.0)]
    assert values[a] == math.sin(1.0)
    values[a] = 10.0
    assert evaluate([a * 3], values) == [30.0]


def test_constants_of_all_kinds():
    values = [evaluate([constant(c)], {})[0] for c in (2, Fraction(1, 4), 0.5, True, [1.0, 2.0])]
    assert values[:4] == [2.0, 0.25, 0.5, True]
    assert type(values[0]) is float
    assert values[4].tolist() == [1.0, 2.0]


def test_nothing_is_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluate([log(x), 1 / x, exp(1000 / (x + 1))], {x: 0.0})
    assert found[:2] == [-math.inf, math.inf]


def test_the_result_may_be_a_variable():
    assert evaluate([x, x], {x: 3.0}) == [3.0, 3.0]


def test_exact_values():
    with mpmath.workdps(50):
        (found,) = evaluate_exact([sin(x) * Fraction(1, 3) + 0.1], {x: mpmath.mpf(1)})
        assert mpmath.almosteq(found, mpmath.sin(1) / 3 + mpmath.mpf(1) / 10, rel_eps=mpmath.mpf(10) ** -48)


def test_exact_values_of_arrays():
    with mpmath.workdps(40):
        at = exact_array(np.array([0.5, -1.0, 2.0]))
        total, chosen = evaluate_exact([NUMPY[np.sum](exp(v)), where(greater(v, 0), v, 0)], {v: at})
        assert mpmath.almosteq(total, sum(mpmath.exp(t) for t in at), rel_eps=mpmath.mpf(10) ** -38)
        assert list(chosen) == [0.5, 0, 2]


def test_exact_gradients_agree_with_floats():
    y = NUMPY[np.linalg.norm](v) * log(NUMPY[np.sum](v * v)) + NUMPY[np.prod](v)
    (gradient,) = vjp(y, [v])
    point = np.array([0.5, -1.0, 2.0])
    with mpmath.workdps(40):
        exact = evaluate_exact([gradient], {v: exact_array(point)})[0]
    np.testing.assert_allclose(evaluate([gradient], {v: point})[0], np.array(exact, dtype=float), rtol=1e-14)


@pytest.mark.parametrize(
    ("node", "at", "wanted"),
    [(1 / x, 0, mpmath.inf), (-1 / x, 0, -mpmath.inf), (x / x, 0, mpmath.nan), (sqrt(x), -1, mpmath.nan)],
)
def test_undefined_values(node, at, wanted):
    (found,) = evaluate_exact([node], {x: mpmath.mpf(at)})
    assert found == wanted or (mpmath.isnan(found) and mpmath.isnan(wanted))


def test_depth_costs_no_recursion():
    node = x
    for _ in range(5000):
        node = sin(node) + 1
    assert math.isfinite(evaluate([node], {x: 0.5})[0])
