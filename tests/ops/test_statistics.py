"""Statistics and differences, called as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gradexplain.errors import GradexplainError
from gradexplain.graph import variable
from gradexplain.primitive import NUMPY

from .against_numpy import check, numbers
from .test_shaping import calls

S, V, M, T = numbers(), numbers(5), numbers(3, 4), numbers(2, 3, 4)
W = np.array([0.2, 1.0, 0.5])
OVER_AXES = [(V,), (M,), (M, 0), (M, -1, {"keepdims": True}), (T, (0, 2)), (T, {"axis": (0, 1), "keepdims": True})]

# fmt: off
MOMENTS = [
    *calls(np.mean, *OVER_AXES, (S,)),
    *calls(np.var, *OVER_AXES, (M, 0, {"ddof": 1}), (V, {"correction": 1}), (M, 1, {"mean": numbers(3, 1)}),
           (V, {"ddof": 0.5})),
    *calls(np.std, *OVER_AXES, (M, 0, {"ddof": 1}), (V, {"correction": 1}), (V, {"mean": 0.1})),
    *calls(np.average, *OVER_AXES, (M, {"weights": np.abs(M.value)}), (M, 0, W), (M, 0, numbers(3)),
           (M, {"axis": 0, "weights": W, "returned": True}),
           (T, 1, W), (M, 1, numbers(3, 4, seed=3), {"keepdims": True}), (V, {"returned": True})),
    *calls(np.ptp, *OVER_AXES),
    *calls(np.cov, (M,), (V,), (V, numbers(5, seed=1)), (M, {"rowvar": False}), (M, {"bias": True}), (M, {"ddof": 0}),
           (M, numbers(2, 4))),
    *calls(np.corrcoef, (M,), (V, numbers(5, seed=1)), (M, {"rowvar": False})),
]
ORDER = [
    *calls(np.median, *OVER_AXES, (numbers(6),)),
    *calls(np.quantile, (V, 0.3), (M, 0.25, 0), (V, [0.1, 0.5, 1.0]), (M, np.array([[0.2], [0.9]]), 1),
           (T, 0.4, (0, 2)), (V, 0), (M, [0.5], {"axis": 1, "keepdims": True})),
    *calls(np.percentile, (V, 30), (M, [25, 75], 1), (M, 50.0, {"keepdims": True})),
]
DIFFERENCES = [
    *calls(np.diff, (V,), (M,), (M, 1, 0), (V, 2), (V, 0), (V, {"prepend": 0.0}), (V, {"append": numbers(2)}),
           (M, {"axis": 0, "prepend": S, "append": 1.0}), (V, {"n": 3})),
    *calls(np.ediff1d, (V,), (M,), (V, 1.0, [S, 2.0])),
    *calls(np.gradient, (V,), (V, 0.5), (M,), (M, {"axis": 0}), (M, 0.5, 2.0), (V, S), (M, 2.0, {"axis": (0, 1)})),
]
if hasattr(np, "trapezoid"):
    DIFFERENCES += calls(np.trapezoid, (V,), (M,), (V, {"dx": 0.5}), (V, numbers(5, seed=1)), (M, W, {"axis": 0}),
        (M, numbers(3, 4, seed=2)), (V, {"dx": S}))
if hasattr(np, "cumulative_sum"):
    DIFFERENCES += calls(np.cumulative_sum, (V,), (M, {"axis": 1}), (V, {"include_initial": True}),
        (M, {"axis": 0, "include_initial": True}))
    DIFFERENCES += calls(np.cumulative_prod, (V,), (M, {"axis": -1}), (V, {"include_initial": True}))
# fmt: on


@pytest.mark.parametrize(("function", "args", "kwargs"), [*MOMENTS, *ORDER, *DIFFERENCES])
def test_against_numpy(function, args, kwargs):
    check(function, *args, **kwargs)


x = variable("x", (3, 4))
REFUSED = [
    lambda: NUMPY[np.mean](x, where=np.ones((3, 4), bool)), lambda: NUMPY[np.var](x, dtype=np.float32),
    lambda: NUMPY[np.median](x, out=np.zeros(3)),
    lambda: NUMPY[np.quantile](x, 0.5, method="nearest"), lambda: NUMPY[np.quantile](x, variable("q")),
    lambda: NUMPY[np.average](x, 0, np.ones(4)),
    lambda: NUMPY[np.cov](x, fweights=[1, 2, 3, 4]), lambda: NUMPY[np.gradient](x, edge_order=2),
    lambda: NUMPY[np.gradient](x[0], np.arange(4.0)),
    lambda: NUMPY[np.gradient](x[:1, 0]), lambda: NUMPY[np.quantile](x, -0.5), lambda: NUMPY[np.percentile](x, 101),
]  # fmt: skip


@pytest.mark.parametrize("call", REFUSED)
def test_refusals_say_what_to_do(call):
    with pytest.raises(GradexplainError) as caught:
        call()
    assert caught.value.fix
