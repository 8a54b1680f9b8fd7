"""The conventions where there is no derivative, and the points where a careless rule gives NaN."""

from __future__ import annotations

import numpy as np
import pytest

from gradexplain.autodiff import vjp
from gradexplain.evaluate import evaluate
from gradexplain.graph import variable
from gradexplain.ops import TABLE
from gradexplain.primitive import NUMPY

HALF = 0.5
INF = np.inf


def on(function):
    """NumPy's function, or the row of a name, on nodes (looked up when the test runs)."""
    return lambda *xs, **named: (TABLE[function] if isinstance(function, str) else NUMPY[function])(*xs, **named)


def where_positive(then):
    """Selects `then(x)` where x > 0, else 0."""
    return lambda x: TABLE["where"](TABLE["greater"](x, 0), then(x), 0)


# fmt: off
KINKS = {
    "abs":               (on(np.abs),                              [0.0],                   [0]),
    "fabs":              (on(np.fabs),                             [0.0],                   [0]),
    "relu":              (lambda x: on(np.maximum)(x, 0),          [0.0],                   [0]),
    "relu, swapped":     (lambda x: on(np.maximum)(0, x),          [0.0],                   [0]),
    "relu of array":     (lambda x: on(np.maximum)(x, 0),          [[-1.0, 0.0, 1.0]],      [[0, 0, 1]]),
    "minimum, constant": (lambda x: on(np.minimum)(x, 2),          [2.0],                   [0]),
    "maximum, tie":      (on(np.maximum),                          [1.5, 1.5],              [HALF, HALF]),
    "minimum, tie":      (on(np.minimum),                          [1.5, 1.5],              [HALF, HALF]),
    "maximum, same":     (lambda x: on(np.maximum)(x, x),          [1.5],                   [1]),
    "clip, low edge":    (lambda x: on(np.clip)(x, -1, 1),         [-1.0],                  [0]),
    "clip, high edge":   (lambda x: on(np.clip)(x, -1, 1),         [1.0],                   [0]),
    "clip, bounds":      (on("clip"),                              [2.0, -1.0, 1.0],        [0, 0, 1]),
    "clip, tie":         (on("clip"),                              [2.0, -1.0, 2.0],        [1, 0, 0]),
    "clip, low tie":     (on("clip"),                              [-1.0, -1.0, 2.0],       [1, 0, 0]),
    "sign":              (on(np.sign),                             [0.0],                   [0]),
    "max, tie":          (on(np.max),                              [[2.0, 1.0, 2.0]],       [[HALF, 0, HALF]]),
    "min, tie":          (on(np.min),                              [[2.0, 1.0, 1.0, 1.0]],  [[0, 1 / 3, 1 / 3, 1 / 3]]),
    "prod, one zero":    (on(np.prod),                             [[0.0, 2.0, 3.0]],       [[6, 0, 0]]),
    "prod, two zeros":   (on(np.prod),                             [[0.0, 0.0, 3.0]],       [[0, 0, 0]]),
    "norm":              (on(np.linalg.norm),                      [[0.0, 0.0]],            [[0, 0]]),
    "hypot":             (on(np.hypot),                            [0.0, 0.0],              [0, 0]),
    "std of constants":  (on(np.std),                              [[1.0, 1.0, 1.0]],       [[0, 0, 0]]),
    "sinc":              (on(np.sinc),                             [0.0],                   [0]),
    "sqrt":              (on(np.sqrt),                             [0.0],                   [INF]),
    "x**0":              (lambda x: x**0,                          [0.0],                   [0]),
    "x**1":              (lambda x: x**1,                          [0.0],                   [1]),
    "x**2":              (lambda x: x**2,                          [0.0],                   [0]),
    "copysign":          (on(np.copysign),                         [-2.0, 3.0],             [-1, 0]),
    "where, sqrt":       (where_positive(on(np.sqrt)),             [0.0],                   [0]),
    "where, log":        (where_positive(on(np.log)),              [0.0],                   [0]),
    "where, 1/x":        (where_positive(lambda x: 1 / x),         [[0.0, 2.0]],            [[0, -0.25]]),
    "where, log, array": (where_positive(on(np.log)),              [[-1.0, 0.0, 2.0]],      [[0, 0, HALF]]),
    "logaddexp, large":  (on(np.logaddexp),                        [0.0, 800.0],            [0, 1]),
    "logaddexp, equal":  (on(np.logaddexp),                        [900.0, 900.0],          [HALF, HALF]),
    "arctan2, small":    (on(np.arctan2),                          [1e-200, 1e-200],        [5e199, -5e199]),
    "arctan2, large":    (on(np.arctan2),                          [1e200, 1e200],          [5e-201, -5e-201]),
    "hypot, small":      (on(np.hypot),                            [3e-200, 4e-200],        [0.6, 0.8]),
}
# fmt: on


@pytest.mark.parametrize(("function", "point", "expected"), KINKS.values(), ids=KINKS)
def test_convention(function, point, expected):
    values = [np.asarray(p)[()] for p in point]
    variables = [variable(f"x{i}", np.shape(v)) for i, v in enumerate(values)]
    gradients = evaluate(vjp(function(*variables), variables), dict(zip(variables, values, strict=True)))
    for gradient, wanted in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(gradient, wanted, rtol=2e-13)
