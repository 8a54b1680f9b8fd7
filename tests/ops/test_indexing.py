"""`x[key]`, `x[key] = value` and the functions that choose entries or values, compared with NumPy."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from gradexplain.errors import ArgumentError, GradexplainError, NoRuleError, ShapeError
from gradexplain.graph import operators, variable
from gradexplain.primitive import NUMPY, Code

from .against_numpy import check, integers, numbers
from .test_shaping import calls

S, V, M, T = numbers(), numbers(5), numbers(3, 4), numbers(2, 3, 4)
MASK = np.array([True, False, True, True, False])
K, J = integers(2), integers(0, 2, 2)

# fmt: off
KEYS = [
    (V, 0), (V, -1), (V, np.int64(2)), (V, slice(1, None)), (V, slice(None, -1)), (V, slice(None, None, 2)),
    (V, slice(None, None, -1)),
    (V, slice(3, 0, -1)), (V, slice(2, 2)), (V, slice(None)), (V, ...), (V, None), (V, (None, ..., None)), (V, ()),
    (S, ()), (S, None), (S, ...),
    (V, [0, 2, 2]), (V, np.array([[0, 1], [-1, 1]])), (V, []), (V, MASK), (V, MASK.tolist()), (V, np.array(3)),
    (V, True), (V, False),
    (M, 1), (M, (1, 2)), (M, (slice(None), 1)), (M, (slice(1, None), slice(None, 2))), (M, (..., 0)), (M, (0, ...)),
    (M, (slice(None), None, 0)),
    (M, [2, 0]), (M, (slice(None), [0, 0, 3])), (M, ([0, 1, 0], [1, 2, 1])), (M, ([[0], [2]], [1, 3])),
    (M, (1, [0, 2])), (M, M.value > 0),
    (M, (slice(None), np.array([True, False, True, False]))), (M, np.ix_([0, 2], [1, 3])),
    (M, (np.array([True, False, True]), 1)),
    (T, (0, slice(None), [0, 2])), (T, ([0, 1], slice(None), [1, 1])), (T, (..., [3, 0])),
    (T, (1, ..., None, slice(None, None, 2))), (T, (slice(None, None, -1), ..., slice(None, None, -1))),
    (V, K), (V, J), (M, K), (M, (K, 1)), (M, (slice(None), K)), (M, (J, slice(1, 3))), (M, (J, J)), (M, (K, J)),
    (T, (0, slice(None), J)), (V, integers(-1)), (V, integers(-2, 0)),
]
SLOTS = [
    (V, 0, S), (V, -1, S), (V, slice(1, 4), numbers(3)), (V, slice(None, None, 2), numbers(3)), (V, slice(1, 3), S),
    (V, ..., S), (V, slice(None), numbers(5, seed=1)),
    (V, slice(2, None), numbers(3)), (V, slice(None, 2), numbers(1, 2)), (V, slice(2, 2), 1.0),
    (V, [3, 1], numbers(2)), (V, MASK, numbers(3)), (V, MASK, 0.0),
    (V, [1, 1, 2], numbers(3)), (V, [1, 1], S), (M, ([0, 0, 1], [1, 1, 2]), numbers(3)), (M, [0, 0], numbers(2, 4)),
    (M, 1, numbers(4)), (M, 1, S), (M, (1, 2), S), (M, (slice(None), 1), numbers(3)), (M, (slice(None), 1), 2.0),
    (M, slice(1, None), numbers(2, 4)),
    (M, (slice(1, None), slice(None, 2)), numbers(2, 2)), (M, M.value > 0, S),
    (M, (slice(None), [0, 2]), numbers(3, 2)), (M, ..., numbers(4)), (M, (..., None, 0), numbers(3, 1)),
    (V, K, S), (M, K, numbers(4)), (M, (K, 1), S), (M, (slice(None), K), numbers(3)), (V, integers(-2), S),
    (np.zeros(5), 1, S), (np.arange(5), slice(1, 3), S),
]
CHOICES = [
    *calls(np.take, (V, 2), (V, [0, 0, -1]), (M, [5, 1]), (M, [1, 1], 0), (M, [[0, 1], [2, 3]], 1), (V, J), (M, J, 1),
           (M, K, -1)),
    *calls(np.take_along_axis, (V, np.array([3, 0, 0]), 0), (M, np.array([[0, 3], [1, 1], [2, 0]]), 1),
           (M, np.array([[2], [0], [1]]), -1),
           (M, np.array([[2, 0, 1, 1]]), 0), (M, np.array([7, 0]), None), (V, J, 0)),
    *calls(np.compress, ([True, False, True], V), ([0, 1, 1], M, 0), ([False, True], M, 1)),
    *calls(np.extract, (M.value > 0, M), (MASK, V)),
    *calls(np.sort, (V,), (M,), (M, 0), (M, None), (T, 1)),
    *calls(np.where, (MASK, V, 0.0), (MASK, V, numbers(5, seed=1)), (True, S, 1.0), (M.value > 0, numbers(4), S),
           (MASK[:, None], numbers(1, 4), 2.0), ([1, 0, 2, 0, 0], V, 1.0)),
    *calls(np.select, ([MASK, ~MASK], [V, 2.0]), ([MASK, [True] * 5], [V, numbers(5, seed=1)], S), ([MASK], [V], 3.0)),
    *calls(np.choose, ([0, 2, 1, 0, 1], [V, 1.0, numbers(5, seed=1)]), (integers(0, 1, 1), [S, numbers(3)]),
           (1, [S, V])),
    *calls(np.clip, (V, -0.3, 0.4), (V, None, 0.4), (V, -0.3, None), (V, {"min": 0.1}),
           (V, {"max": 0.1, "min": -1.0}), (V, {"a_min": 0.0, "a_max": None}),
           (V, S, 0.9), (V, numbers(5, seed=3), None), (M, numbers(4, seed=5), 3.0)),
    *calls(np.fmax, (V, 0.1), (V, numbers(5, seed=1)), (V, np.array([np.nan, 1.0, -1.0, 0.0, np.nan])),
           (M, numbers(4))),
    *calls(np.fmin, (V, 0.1), (numbers(5, seed=1), V), (V, np.array([np.nan, 1.0, -1.0, 0.0, np.nan]))),
    *calls(np.searchsorted, ([-1.0, 0.0, 1.0], V), ([-1.0, 0.0, 1.0], V, "right"), (np.array([0.0, 1.0]), S)),
    *calls(np.digitize, (V, [-1.0, 0.0, 1.0]), (V, np.array([0.0, 0.5]), True)),
    *calls(np.interp, (V, [-3.0, 0.1, 0.7, 3.0], numbers(4)), (numbers(2), [0.0, 1.0], [2.0, 5.0]),
           (V, [0.05, 0.3, 0.45], numbers(3), -7.0, 7.0),
           (S, [-2.0, 2.0], numbers(2)), (M, [-1.0, 0.0, 1.0], numbers(3), S)),
]
# fmt: on


def shown(value):
    return f"{getattr(value, 'value', value)}".replace("\n", "")[:40]


@pytest.mark.parametrize(("x", "key"), KEYS, ids=shown)
def test_getitem(x, key):
    check(operator.getitem, x, key, on_nodes=operators["getitem"])


@pytest.mark.parametrize(("x", "key", "value"), SLOTS, ids=shown)
def test_setitem(x, key, value):
    def changed(x, key, value):
        out = np.array(x, dtype=float)
        out[key] = value
        return out

    check(changed, x, key, value, on_nodes=operators["setitem"])


@pytest.mark.parametrize(("function", "args", "kwargs"), CHOICES)
def test_against_numpy(function, args, kwargs):
    check(function, *args, **kwargs)


def writes(y, a, b):
    """Readings of entries that were written, that were not, and that were in part."""
    put = operators["setitem"]
    if isinstance(y, np.ndarray):

        def put(x, key, value):
            out = np.array(x)
            out[key] = value
            return out

    y = put(y, (0, 1), a)
    y = put(y, (slice(1, None), 2), b)
    y = put(y, (0, 1), y[0, 1] * y[0, 0])
    return [y[0, 1], y[0], y[1:, 2], y[1:, 2:3], y[-1, -2], y[2, 2], y[1:, 1:], y[:1, 1:2], y[..., None][0]]


def test_readings_after_writes():
    check(writes, M, S, numbers(2), on_nodes=writes)


def test_readings_look_through_writes():
    y, a, b = (variable(n, s) for n, s in (("y", (4,)), ("a", ()), ("b", ())))
    z = operators["setitem"](operators["setitem"](y, 1, a), 2, b)
    assert z[1] is a
    assert z[-2] is b
    assert z[3] is y[3]
    assert z[0:1] is y[0:1]


def test_many_writes_are_no_recursion():
    y = variable("y", (20_000,))
    z = y
    for i in range(1, 20_000):
        z = operators["setitem"](z, i, y[i])
    assert z[19_999] is y[19_999]
    assert z[0].shape == ()


def test_traced_order():
    """The order is computed from the values, and used as an index."""

    def weighted(x, w):
        return np.sum(x[np.argsort(x)] * w) + x[np.argmax(x)] ** 2 + x[np.argmin(x) + 1]

    def on_nodes(x, w):
        order, largest, smallest = (NUMPY[f](x) for f in (np.argsort, np.argmax, np.argmin))
        return NUMPY[np.sum](x[order] * w) + x[largest] ** 2 + x[smallest + 1]

    x = np.array([0.3, -1.0, 2.0, 0.7, 0.1])
    check(weighted, type(V)(x), V, on_nodes=on_nodes)


TEXTS = [
    (-1, "x[-1]"), ((slice(None, -1), 0), "x[:-1, 0]"), ((slice(None, None, 2), ..., None), "x[::2, ..., None]"),
    (([0, 2], slice(None)), "x[[0, 2], :]"), ((slice(1, None), np.arange(9)), "x[1:, np.arange(9)]"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "expected"), TEXTS)
def test_text(key, expected):
    node = variable("x", (5, 9))[key]
    assert node.op.numpy(Code("x"), **node.params) == expected


TRANSPOSES = [
    ((5,), 1, "np.where(np.arange(5) == 1, g, 0.0)"), ((3, 4), -1, "np.where(np.arange(3)[:, None] == 2, g, 0.0)"),
    ((5,), slice(1, None), "np.pad(g, (1, 0))"), ((3, 4), (slice(1, 3), 2),
    "np.pad(np.reshape(g, (2, 1)), ((1, 0), (2, 1)))"),
    ((5,), [0, 0, 1], "np.bincount(np.arange(5)[[0, 0, 1]].ravel(), np.ravel(g), 5)"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "key", "expected"), TRANSPOSES)
def test_text_of_the_transpose(shape, key, expected):
    x = variable("x", shape)
    y = x[key]
    transpose = y.op.pullback(0, variable("g", y.shape), y)
    assert transpose.op.numpy(Code("g"), **transpose.params) == expected


def test_a_reversal_is_its_own_transpose():
    y = variable("x", (4,))[::-1]
    g = variable("g", (4,))
    assert y.op.pullback(0, g, y) is g[::-1]


x, i, c = variable("x", (4,)), variable("i", (3,), "int"), variable("c", (4,), "bool")
REFUSED = [
    (NoRuleError, lambda: x[c]), (ArgumentError, lambda: x[1.5]), (ArgumentError, lambda: x["name"]),
    (ShapeError, lambda: x[4]),
    (ShapeError, lambda: x[0, 0]), (ShapeError, lambda: x[[True, False]]),
    (NoRuleError, lambda: operators["setitem"](x, i, 1.0)),
    (ShapeError, lambda: operators["setitem"](x, slice(0, 2), np.ones(3))), (NoRuleError, lambda: NUMPY[np.where](c)),
    (NoRuleError, lambda: NUMPY[np.put](x, 0, 1.0)), (NoRuleError, lambda: NUMPY[np.piecewise](x, [c], [1.0])),
    (NoRuleError, lambda: NUMPY[np.compress](c, x)), (NoRuleError, lambda: NUMPY[np.extract](c, x)),
    (NoRuleError, lambda: NUMPY[np.take](x, [9], mode="clip")),
    (NoRuleError, lambda: NUMPY[np.interp](x, [0.0, 1.0], [1.0, 2.0], period=1.0)),
    (ShapeError, lambda: NUMPY[np.interp](x, [0.0, 1.0], [1.0])),
    (ArgumentError, lambda: NUMPY[np.clip](x, 0.0, None, min=1.0)),
    (ArgumentError, lambda: NUMPY[np.select]([c], [x, x])),
    (NoRuleError, lambda: NUMPY[np.digitize](x, [1.0, 0.0])),
    (ShapeError, lambda: NUMPY[np.take_along_axis](x, np.ones((1, 1), int), 0)),
]  # fmt: skip


@pytest.mark.parametrize(("error", "call"), REFUSED)
def test_refusals_say_what_to_do(error, call):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, GradexplainError)
    assert caught.value.fix
