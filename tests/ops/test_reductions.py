"""Reductions and accumulations, called as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gradexplain.autodiff import vjp
from gradexplain.errors import NoRuleError, ShapeError
from gradexplain.evaluate import evaluate
from gradexplain.graph import variable
from gradexplain.primitive import NUMPY

from .against_numpy import check, numbers

V, M, T = numbers(4), numbers(2, 3), numbers(2, 3, 2)
REDUCTIONS = (np.sum, np.prod, np.max, np.amax, np.min, np.amin)
AXES = (
    (V, {}), (V, {"axis": 0}), (V, {"axis": -1, "keepdims": True}), (M, {}), (M, {"keepdims": True}), (M, {"axis": -2}),
    (M, {"axis": (0, 1)}), (T, {"axis": (0, -1)}), (T, {"axis": 1, "keepdims": True}), (T, {"axis": ()}),
    (numbers(), {}), (M, {"axis": np.int64(1)}),
)  # fmt: skip


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("x", "options"), AXES, ids=lambda v: str(getattr(v, "value", v)).replace("\n", ""))
def test_reductions(function, x, options):
    check(function, x, **options)


@pytest.mark.parametrize("function", [np.cumsum, np.cumprod], ids=lambda f: f.__name__)
@pytest.mark.parametrize(("x", "axis"), [(V, None), (V, 0), (M, None), (M, 0), (M, -1), (T, 1), (numbers(), None)])
def test_accumulations(function, x, axis):
    check(function, x, axis)


@pytest.mark.parametrize("function", [np.argmax, np.argmin], ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"keepdims": True}])
def test_positions(function, options):
    check(function, M, **options)


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": None}, {"kind": "stable"}, {"stable": True}])
def test_argsort(options):
    check(np.argsort, M, **options)


@pytest.mark.parametrize("function", [np.any, np.all, np.count_nonzero], ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}])
def test_conditions(function, options):
    x = variable("x", (2, 3))
    node = NUMPY[function](NUMPY[np.greater](x, 0), **options)
    (value,) = evaluate([node], {x: M.value})
    np.testing.assert_array_equal(value, function(M.value > 0, **options))
    assert node.kind == {np.count_nonzero: "int"}.get(function, "bool")


def test_a_mean_of_conditions():
    x = variable("x", (2, 3))
    node = NUMPY[np.sum](NUMPY[np.greater](x, 0), axis=1)
    np.testing.assert_array_equal(evaluate([node], {x: M.value})[0], np.sum(M.value > 0, axis=1))


# Values at zeros and ties: by hand, and by differences of NumPy's function, which is smooth there for products.


@pytest.mark.parametrize("zeros", [(0,), (1, 3), (0, 1, 2), (0, 1, 2, 3)])
@pytest.mark.parametrize("function", [np.prod, np.cumprod], ids=lambda f: f.__name__)
def test_products_with_zeros(function, zeros):
    x = V.value.copy()
    x[list(zeros)] = 0.0
    check(function, type(V)(x))


def test_third_derivative_of_a_product_with_zeros():
    x = variable("x", (4,))
    node = NUMPY[np.prod](x)
    for i in (0, 1, 2):
        node = vjp(node, [x])[0][i]
    assert evaluate([node], {x: np.array([0.0, 0.0, 0.0, 5.0])}) == [5.0]


def gradient(function, x, **options):
    node = variable("x", np.shape(x))
    return evaluate(vjp(NUMPY[function](node, **options), [node]), {node: np.asarray(x, dtype=float)})[0]


# fmt: off
HARD = [
    (np.max,     [1.0, 3.0, 3.0],               [0, 0.5, 0.5]),
    (np.min,     [2.0, 2.0, 2.0, 7.0],          [1 / 3, 1 / 3, 1 / 3, 0]),
    (np.max,     [-np.inf, 1.0],                [0, 1]),
    (np.max,     [-np.inf, -np.inf],            [0.5, 0.5]),
    (np.prod,    [0.0, 2.0, 3.0],               [6, 0, 0]),
    (np.prod,    [0.0, 0.0, 3.0],               [0, 0, 0]),
    (np.cumprod, [0.0, 2.0, 3.0],               [1 + 2 + 6, 0, 0]),
    (np.std,     [5.0, 5.0, 5.0],               [0, 0, 0]),
    (np.ptp,     [1.0, 1.0],                    [0, 0]),
]
# fmt: on


@pytest.mark.parametrize(("function", "x", "expected"), HARD, ids=lambda v: getattr(v, "__name__", str(v)))
def test_hard_points(function, x, expected):
    np.testing.assert_allclose(gradient(function, x), expected, rtol=1e-15)


def test_the_second_derivative_of_std_of_constants_is_finite():
    x = variable("x", (3,))
    (g,) = vjp(NUMPY[np.std](x), [x])
    np.testing.assert_array_equal(evaluate(vjp(g[0], [x]), {x: np.full(3, 2.0)})[0], np.zeros(3))


REFUSED = [
    (np.sum, {"where": [True, False, True, True]}), (np.sum, {"initial": 1.0}), (np.sum, {"dtype": np.float32}),
    (np.max, {"initial": 0.0}), (np.cumsum, {"out": np.zeros(4)}), (np.nansum, {}), (np.unique, {}), (np.resize, {}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "options"), REFUSED)
def test_refusals_say_what_to_do(function, options):
    with pytest.raises(NoRuleError) as caught:
        NUMPY[function](variable("x", (4,)), **options)
    assert caught.value.why
    assert caught.value.fix


def test_axes_out_of_range():
    with pytest.raises(ShapeError):
        NUMPY[np.sum](variable("x", (4,)), axis=1)
