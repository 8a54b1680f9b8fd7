"""Calls as which nodes are written: what they name, and that NumPy gives the same for what they say."""

from __future__ import annotations

import numpy as np
import pytest

from gradexplain.evaluate import evaluate
from gradexplain.graph import Node, variable
from gradexplain.ops.reductions import root_sum_square
from gradexplain.ops.spelling import spelling
from gradexplain.primitive import NUMPY

_X = np.random.default_rng(3).normal(size=(3, 4, 2))


def _of(function, **options) -> tuple[Node, Node]:
    x = variable("x", _X.shape)
    return x, NUMPY[function](x, **options)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("function", [np.sum, np.prod, np.max, np.min, np.mean, np.var, np.std, np.count_nonzero])
def test_what_a_call_says_is_what_the_node_is(function, axis, keepdims):
    x, y = _of(function, axis=axis, keepdims=keepdims)
    said = spelling(y)
    assert (said.function, said.operands) == (function.__name__, (x,))
    assert ("axis" in said.keywords) == (axis not in (None, (0, 1, 2)))
    assert ("keepdims" in said.keywords) == keepdims
    (value,) = evaluate([y], {x: _X})
    np.testing.assert_allclose(value, getattr(np, said.function)(_X, **said.keywords))


@pytest.mark.parametrize("function", [np.var, np.std])
def test_degrees_of_freedom_are_named(function):
    x, y = _of(function, axis=1, ddof=1)
    assert spelling(y).keywords == {"axis": 1, "ddof": 1}
    np.testing.assert_allclose(evaluate([y], {x: _X})[0], function(_X, axis=1, ddof=1))
    assert spelling(_of(function, axis=1, ddof=2)[1]) is None


def test_what_a_call_hides_lies_between_it_and_its_operand():
    _, y = _of(np.mean)
    assert spelling(y).inside == (y.inputs[0],)
    assert {n.op.name for n in spelling(_of(np.std, axis=2)[1]).inside} >= {"root_sum_square", "sub", "div", "sum"}


def test_a_quotient_by_another_number_is_no_mean():
    x, total = _of(np.sum, axis=1)
    assert spelling(total / 4).function == "mean"
    for number in (3, 4.5, -4, 24):
        assert spelling(total / number) is None
    assert spelling(total / variable("n")) is None
    assert spelling(x / 4) is None


def test_data_less_another_mean_have_no_variance():
    x, across = _of(np.mean, axis=2, keepdims=True)
    centred = NUMPY[np.square](x - across)
    assert spelling(NUMPY[np.mean](centred, axis=2)).function == "var"
    assert spelling(NUMPY[np.mean](centred, axis=1)).function == "mean"
    other = NUMPY[np.mean](variable("z", _X.shape), axis=2, keepdims=True)
    assert spelling(NUMPY[np.mean](NUMPY[np.square](x - other), axis=2)).function == "mean"
    square = variable("S", (3, 3))  # along axis 1, but entries of the mean would stand in columns
    columns = NUMPY[np.square](square - NUMPY[np.mean](square, axis=1))
    assert spelling(NUMPY[np.mean](columns, axis=1)).function == "mean"


def test_norms_that_numpy_has():
    flat = spelling(NUMPY[np.linalg.norm](variable("v", (3,))))
    assert (flat.function, flat.keywords) == ("norm", {})
    four = variable("a", (2, 3, 2, 2))
    assert spelling(root_sum_square(four, axis=(0, 1, 2), keepdims=False)) is None
    assert spelling(root_sum_square(four, axis=(0, 1), keepdims=False)).keywords == {"axis": (0, 1)}
