"""Functions on nodes against those of NumPy, SciPy or `math` that they stand for: values and difference quotients."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradexplain.autodiff import inner, vjp
from gradexplain.evaluate import evaluate
from gradexplain.graph import Node, constant, variable
from gradexplain.shapes import Shape


def assert_same_function(
    on_nodes: Callable[..., Any],
    reference: Callable[..., Any],
    *points: Any,
    rtol: float = 1e-7,
    value_rtol: float = 1e-13,
    step: float = 1e-2,
) -> None:
    """The value is the reference's, and the gradient (weighted at random) that of the reference by differences."""
    values = [np.asarray(p, dtype=float)[()] for p in points]
    variables = [variable(f"x{i}", np.shape(v)) for i, v in enumerate(values)]
    outputs, expected = _listed(on_nodes(*variables)), _listed(reference(*values))
    table = dict(zip(variables, values, strict=True))
    results = evaluate(outputs, dict(table))
    for node, result, wanted in zip(outputs, results, expected, strict=True):
        assert node.shape == np.shape(result) == np.shape(wanted)
        np.testing.assert_allclose(result, wanted, value_rtol, 1e-14)
    weights = [np.asarray(np.random.default_rng(1).normal(size=y.shape))[()] for y in outputs]
    total = sum((inner(y, constant(w)) for y, w in zip(outputs, weights, strict=True)), constant(0))
    gradients = evaluate(vjp(total, variables), dict(table))

    def functional(*xs: Any) -> float:
        return float(sum(np.sum(w * y) for w, y in zip(weights, _listed(reference(*xs)), strict=True)))

    for i, gradient in enumerate(gradients):
        np.testing.assert_allclose(gradient, slopes(functional, values, i, step), rtol, 1e-9, err_msg=f"operand {i}")


def slopes(function: Callable[..., float], values: Sequence[Any], i: int, step: float) -> Any:
    """Central differences of fourth order, Richardson-extrapolated twice, for each entry of operand i."""
    shape: Shape = np.shape(values[i])
    result = np.empty(shape)
    for index in np.ndindex(shape):
        unit = np.zeros(shape)
        unit[index] = 1.0
        table = []
        for h in step * 0.5 ** np.arange(4):
            up, down = ([*values[:i], values[i] + s * unit, *values[i + 1 :]] for s in (h, -h))
            table.append((function(*up) - function(*down)) / (2 * h))
        for order in (1, 2, 3):
            table = [(4**order * b - a) / (4**order - 1) for a, b in itertools.pairwise(table)]
        result[index] = table[0]
    return result[()]


def _listed(result: Any) -> list[Any]:
    if isinstance(result, Node) or not isinstance(result, (tuple, list)):
        return [result]
    return list(result)


def nth_derivative(row: Callable[[Node], Node], point: float, order: int) -> float:
    """The derivative of an order of a function of one variable, by repetition of the sweep."""
    x = variable("x")
    y = row(x)
    for _ in range(order):
        (y,) = vjp(y, [x])
    return float(evaluate([y], {x: np.float64(point)})[0])
