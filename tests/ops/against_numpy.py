"""NumPy's functions on nodes, compared with NumPy: values, differences of the plain function, source text, mpmath."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from gradexplain.autodiff import jvp, vjp
from gradexplain.evaluate import evaluate, evaluate_exact, exact_array
from gradexplain.graph import CONSTANT, VARIABLE, Fixed, Node, ancestors, as_node, variable
from gradexplain.primitive import NUMPY, Code

STEP = 1e-6


@dataclass(frozen=True, eq=False)
class Traced:
    """An operand that is a variable; everything else is passed as it is."""

    value: Any


def numbers(*shape: int, seed: int = 0) -> Traced:
    """Random entries that differ by at least 0.1, so that no order changes within a step."""
    rng = np.random.default_rng([seed, *shape])
    count = int(np.prod(shape, dtype=int))
    return Traced((0.5 * rng.permutation(count).reshape(shape) - 0.24 * count + rng.uniform(0.0, 0.4, shape))[()])


def integers(*values: int) -> Traced:
    return Traced(np.array(values) if len(values) > 1 else np.int64(values[0]))


def _traced(value: Any) -> Iterator[Traced]:
    if isinstance(value, Traced):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _traced(v)


def _filled(value: Any, table: dict[Traced, Any]) -> Any:
    if isinstance(value, Traced):
        return table[value]
    return type(value)(_filled(v, table) for v in value) if isinstance(value, (list, tuple)) else value


def _flat(result: Any) -> list[Any]:
    return [y for r in result for y in _flat(r)] if isinstance(result, (list, tuple)) else [result]


class Comparison:
    """One call of a function, on nodes and on arrays."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], on_nodes: Any = None) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.operands = list(dict.fromkeys(_traced([*args, *kwargs.values()])))
        self.floats = [t for t in self.operands if np.asarray(t.value).dtype.kind == "f"]
        self.nodes = {
            t: variable(f"x{i}", np.shape(t.value), "float" if t in self.floats else "int")
            for i, t in enumerate(self.operands)
        }
        self.table = {self.nodes[t]: t.value for t in self.operands}
        result = (on_nodes or NUMPY[function])(
            *_filled(args, self.nodes), **{k: _filled(v, self.nodes) for k, v in kwargs.items()}
        )
        self.results = [as_node(y) for y in _flat(result)]
        rng = np.random.default_rng(7)
        self.weights = [np.asarray(rng.normal(size=y.shape))[()] for y in self.results]
        self.variables = [self.nodes[t] for t in self.floats]

    def plain(self, changes: dict[Traced, Any] | None = None) -> list[Any]:
        table = {t: t.value for t in self.operands} | (changes or {})
        return _flat(
            self.function(*_filled(self.args, table), **{k: _filled(v, table) for k, v in self.kwargs.items()})
        )

    def check(self) -> None:
        self.check_values()
        gradients = self.gradients()
        self.check_differences(evaluate(gradients, dict(self.table)))
        self.check_second_order(gradients)
        self.check_forward(gradients)
        self.check_notations([*self.results, *gradients])

    def check_values(self) -> None:
        plain = self.plain()
        assert len(plain) == len(self.results)
        for node, value, expected in zip(self.results, evaluate(self.results, dict(self.table)), plain, strict=True):
            assert node.shape == np.shape(expected) == np.shape(value)
            np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)

    def gradients(self) -> list[Node]:
        """The gradients of the weighted sum of all results."""
        parts = [vjp(y, self.variables, as_node(w)) for y, w in zip(self.results, self.weights, strict=True)]
        return [_total(column) for column in zip(*parts, strict=True)]

    def check_differences(self, gradients: list[Any]) -> None:
        for t, gradient in zip(self.floats, gradients, strict=True):
            expected = difference(lambda v, t=t: self._weighted(self.plain({t: v})), t.value)
            np.testing.assert_allclose(gradient, expected, rtol=2e-6, atol=2e-7)

    def _weighted(self, results: list[Any]) -> float:
        return float(sum(np.sum(w * y) for w, y in zip(self.weights, results, strict=True)))

    def check_second_order(self, gradients: list[Node]) -> None:
        """The gradient of a weighted sum of the gradients, against differences of the gradients."""
        rng = np.random.default_rng(11)
        weights = [np.asarray(rng.normal(size=g.shape))[()] for g in gradients]
        parts = [vjp(g, self.variables, as_node(w)) for g, w in zip(gradients, weights, strict=True)]
        found = evaluate([_total(column) for column in zip(*parts, strict=True)], dict(self.table))

        def first(t: Traced, value: Any) -> float:
            values = evaluate(gradients, {**self.table, self.nodes[t]: value})
            return float(sum(np.sum(w * g) for w, g in zip(weights, values, strict=True)))

        for t, second in zip(self.floats, found, strict=True):
            np.testing.assert_allclose(second, difference(lambda v, t=t: first(t, v), t.value), rtol=2e-6, atol=2e-7)

    def check_forward(self, gradients: list[Node]) -> None:
        """<w, J t> is <J^T w, t>."""
        rng = np.random.default_rng(13)
        tangents = {x: variable("t", x.shape) for x in self.variables}
        table = dict(self.table) | {t: np.asarray(rng.normal(size=t.shape))[()] for t in tangents.values()}
        forward = self._weighted(evaluate(jvp(self.results, tangents), table))
        backward = sum(np.sum(g * table[t]) for g, t in zip(evaluate(gradients, table), tangents.values(), strict=True))
        np.testing.assert_allclose(forward, backward, rtol=1e-9, atol=1e-10)

    def check_notations(self, outputs: list[Node]) -> None:
        """Every node's source text and every node in mpmath give its value."""
        values = dict(self.table)
        evaluate(outputs, values)
        with mpmath.workdps(30):
            exact = {x: v if np.asarray(v).dtype.kind in "iu" else _exact(v) for x, v in self.table.items()}
            results = evaluate_exact(outputs, exact)
        for node, result in zip(outputs, results, strict=True):
            np.testing.assert_allclose(np.asarray(result, dtype=float), values[node], rtol=1e-9, atol=1e-10)
        for node in ancestors(outputs):
            if node.op not in (CONSTANT, VARIABLE):
                assert_text(node, values)


def assert_text(node: Node, values: dict[Node, Any]) -> None:
    names = [f"v{i}" for i in range(len(node.inputs))]
    scope = {"np": np, "__builtins__": {}} | {n: _value(x, values) for n, x in zip(names, node.inputs, strict=True)}
    text = node.op.numpy(*map(Code, names), **node.params)
    with np.errstate(all="ignore"):
        result = eval(text, scope)
    assert np.shape(result) == node.shape, text
    np.testing.assert_allclose(result, values[node], rtol=1e-12, atol=1e-12, err_msg=text)


def _value(node: Node, values: dict[Node, Any]) -> Any:
    if node.op is not CONSTANT:
        return values[node]
    return node.data.array if isinstance(node.data, Fixed) else float(node.data) if node.kind != "bool" else node.data


def _exact(value: Any) -> Any:
    return mpmath.mpf(float(value)) if np.ndim(value) == 0 else exact_array(value)


def _total(nodes: Any) -> Node:
    first, *rest = nodes
    for node in rest:
        first = first + node
    return first


def difference(function: Callable[[Any], float], value: Any) -> Any:
    """Central differences, entry by entry."""
    value = np.asarray(value, dtype=float)
    found = np.zeros(value.shape)
    for index in np.ndindex(value.shape):
        step = np.zeros(value.shape)
        step[index] = STEP
        found[index] = (function((value + step)[()]) - function((value - step)[()])) / (2 * STEP)
    return found


def check(function: Any, *args: Any, on_nodes: Any = None, **kwargs: Any) -> None:
    """Compares a call of a NumPy function on nodes with the same call on arrays, in every respect."""
    Comparison(function, args, kwargs, on_nodes).check()
