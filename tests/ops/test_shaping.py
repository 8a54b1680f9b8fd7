"""Functions that move, join, split, repeat and pad, called as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gradexplain.errors import GradexplainError, NoRuleError, ShapeError
from gradexplain.graph import variable
from gradexplain.primitive import NUMPY

from .against_numpy import check, numbers

S, V, W, M, N, T = numbers(), numbers(4), numbers(3, seed=1), numbers(2, 3), numbers(2, 3, seed=2), numbers(2, 3, 2)
Q, R = numbers(3, 3), numbers(4, 2)


def calls(function, *arguments):
    """A parameter for every call: positional arguments in a tuple, keyword arguments in a dictionary at its end."""
    for given in arguments:
        args, kwargs = (given[:-1], given[-1]) if isinstance(given[-1], dict) else (given, {})
        shown = str([getattr(a, "value", a) for a in args]).replace("\n", "")
        yield pytest.param(function, args, kwargs, id=f"{function.__name__}-{shown[:60]}-{kwargs}")


# fmt: off
ARRANGEMENT = [
    *calls(np.reshape, (M, (3, 2)), (M, -1), (M, (3, -1)), (M, 6), (S, (1, 1)), (M, (3, 2), {"order": "F"}),
           (T, (-1, 4), "F")),
    *calls(np.ravel, (M,), (M, "F"), (S,)),
    *calls(np.transpose, (M,), (T,), (T, (1, 0, 2)), (T, (-1, 0, 1)), (V,)),
    *calls(np.swapaxes, (T, 0, 2), (T, -1, 1), (M, 0, 0)),
    *calls(np.moveaxis, (T, 0, -1), (T, (0, 1), (-1, 0)), (T, [2], [0])),
    *calls(np.rollaxis, (T, 2), (T, 0, 3), (T, 1, -1)),
    *calls(np.expand_dims, (M, 0), (M, -1), (M, (0, 2)), (S, 0)),
    *calls(np.squeeze, (numbers(1, 3, 1),), (numbers(1, 3, 1), 0), (numbers(1, 3, 1), (0, -1))),
    *calls(np.broadcast_to, (V, (2, 4)), (S, 3), (numbers(2, 1), (3, 2, 2))),
    *calls(np.broadcast_arrays, (numbers(2, 1), W), (S, M)),
    *calls(np.atleast_1d, (S,), (S, V)),
    *calls(np.atleast_2d, (S,), (V,), (M,)),
    *calls(np.atleast_3d, (S,), (V,), (M,), (T,)),
    *calls(np.copy, (M,)),
]
DIAGONALS = [
    *calls(np.diag, (V,), (V, 1), (V, -2), (Q,), (M, 1), (R, -1), (R, -3)),
    *calls(np.diagflat, (M,), (V, 1), (S,)),
    *calls(np.diagonal, (Q,), (M, 1), (R, -1), (T,), (T, 1, 1, 2), (T, {"axis1": 2, "axis2": 0}), (M, 3)),
    *calls(np.trace, (Q,), (M,), (M, 1), (R, -2), (T,), (T, 0, 1, 2), (Q, 0, 1, 0)),
    *calls(np.triu, (Q,), (M, 1), (T, -1), (V,)),
    *calls(np.tril, (Q,), (R, -1), (T,), (V, 1)),
]
JOINS = [
    *calls(np.concatenate, ([V, W],), ((M, N), 1), ([M, N], {"axis": -2}), ([M, V], None),
           ([V, [1.0, 2.0], np.ones(2)],), ([V],), (M,)),
    *calls(np.stack, ([M, N],), ([M, N], 1), ([M, N], -1), ([S, 1.0, S],), ([V, np.arange(4.0)],)),
    *calls(np.vstack, ([M, W],), ([W, np.ones((1, 3))],), ([S, S],)),
    *calls(np.hstack, ([V, W],), ([M, N],), ([S, 2.0, V],)),
    *calls(np.dstack, ([M, N],), ([V, V],)),
    *calls(np.column_stack, ([W, numbers(3, seed=4)],), ([Q, W],)),
    *calls(np.append, (V, 1.0), (V, W), (M, N, 0), (M, S), (V, [S, 3.0])),
    *calls(np.block, ([[M, N], [np.ones((1, 6))]],), ([V, W],), ([[S, W]],)),
]
SPLITS = [
    *calls(np.split, (V, 2), (V, [1, 3]), (M, 3, 1), (M, [1], -1), (V, [3, 1])),
    *calls(np.array_split, (V, 3), (R, 3), (R, [1], 1), (V, 6)),
    *calls(np.hsplit, (M, 3), (V, 2)), *calls(np.vsplit, (M, 2)), *calls(np.dsplit, (T, 2)),
]
REPETITION = [
    *calls(np.tile, (V, 2), (V, (2, 1)), (M, 2), (M, (2, 1)), (M, (2, 1, 3)), (S, 3), (V, 0)),
    *calls(np.repeat, (V, 2), (M, 2), (M, 2, 0), (M, [1, 0, 2], 1), (V, [1, 2, 0, 1]), (M, np.array([3]), -1)),
    *calls(np.roll, (V, 1), (V, -5), (M, 2), (M, 1, 1), (M, (1, -1), (0, 1)), (M, (1, 2), 1), (M, 1, (0, 1)),
           (M, (1, 1))),
    *calls(np.flip, (V,), (M,), (M, 0), (T, (0, -1))),
    *calls(np.fliplr, (M,)), *calls(np.flipud, (M,)),
    *calls(np.rot90, (M,), (M, 2), (M, -1), (T, 3, (1, 2)), (T, 1, (2, 0)), (M, 4)),
    *calls(np.pad, (V, 1), (V, (0, 2)), (M, 1), (M, ((0, 1), (2, 0))), (V, 2, {"constant_values": 3.0}),
           (M, 1, {"constant_values": (1.0, 2.0)}),
           (V, 2, "edge"), (V, (2, 1), "reflect"), (V, 3, "symmetric"), (M, (1, 2), "wrap"),
           (V, 1, {"constant_values": S}), (V, 0)),
    *calls(np.delete, (V, 1), (V, [0, -1]), (M, 1, 0), (M, slice(0, 2), 1), (M, 3), (V, [True, False, False, True])),
    *calls(np.insert, (V, 1, 5.0), (V, 1, S), (V, 4, W), (V, [1, 3], [S, 7.0]), (V, -1, 2.0), (M, 2, S),
           (V, [0, 0], W.value[:2]), (V, [2], W)),
]
GRIDS = [
    *calls(np.meshgrid, (V, W), (V, W, {"indexing": "ij"}), (V, W, {"sparse": True}), (V, W, numbers(2)), (V,),
           (V, np.ones(2))),
    *calls(np.linspace, (S, 3.0, 5), (0.0, S, 4), (S, numbers(seed=9), 4, False), (V, 1.0, 3),
           (V, 2.0, 3, {"axis": 1}), (S, 1.0, 1), (S, 1.0, 3, {"retstep": True})),
    *calls(np.full_like, (V, S), (M, 3.0), (M, W), (V, S, {"shape": (2,)})),
]
# fmt: on


@pytest.mark.parametrize(
    ("function", "args", "kwargs"), [*ARRANGEMENT, *DIAGONALS, *JOINS, *SPLITS, *REPETITION, *GRIDS]
)
def test_against_numpy(function, args, kwargs):
    check(function, *args, **kwargs)


@pytest.mark.skipif(not hasattr(np, "unstack"), reason="np.unstack came with NumPy 2.1")
def test_unstack():
    check(np.unstack, M)
    check(np.unstack, M, axis=1)


def test_constants_and_facts():
    x = variable("x", (2, 3))
    assert NUMPY[np.zeros_like](x).shape == NUMPY[np.ones_like](x).shape == NUMPY[np.empty_like](x).shape == (2, 3)
    assert (NUMPY[np.shape](x), NUMPY[np.ndim](x), NUMPY[np.size](x), NUMPY[np.size](x, 1)) == ((2, 3), 2, 6, 3)


def test_what_is_undone_disappears():
    x = variable("x", (2, 3))
    assert NUMPY[np.transpose](NUMPY[np.transpose](x)) is x
    assert NUMPY[np.flip](NUMPY[np.flip](x, 0), 0) is x
    assert NUMPY[np.reshape](NUMPY[np.ravel](x), (2, 3)) is x
    assert NUMPY[np.stack]([x[0], x[1]])[1] is x[1]


REFUSED = [
    (NoRuleError, np.reshape, (M, 6, "A")), (NoRuleError, np.pad, (V, 1, "linear_ramp")),
    (NoRuleError, np.insert, (M, 1, W, 0)),
    (ShapeError, np.reshape, (M, (4, 2))), (ShapeError, np.reshape, (M, (-1, -1))),
    (ShapeError, np.concatenate, ([V, M],)),
    (ShapeError, np.concatenate, ([M, Q], 1)), (ShapeError, np.stack, ([V, W],)), (ShapeError, np.stack, ([],)),
    (ShapeError, np.squeeze, (M, 0)), (ShapeError, np.split, (V, 3)), (ShapeError, np.diag, (T,)),
    (ShapeError, np.swapaxes, (M, 0, 2)),
    (ShapeError, np.concatenate, ([S, S],)), (ShapeError, np.broadcast_to, (W, (4,))),
]  # fmt: skip


@pytest.mark.parametrize(("error", "function", "args"), REFUSED, ids=lambda v: getattr(v, "__name__", ""))
def test_refusals_say_what_to_do(error, function, args):
    nodes = [_nodes(a) for a in args]
    with pytest.raises(error) as caught:
        NUMPY[function](*nodes)
    assert isinstance(caught.value, GradexplainError)
    assert caught.value.fix


def _nodes(value):
    if isinstance(value, list):
        return [_nodes(v) for v in value]
    return variable("x", np.shape(value.value)) if hasattr(value, "value") else value
