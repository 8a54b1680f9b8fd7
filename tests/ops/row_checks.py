"""What must hold for every row of the table, as functions of a `Case`: a row at sampled operands.

Nothing is compared with its own formula: values are compared across four notations (NumPy function, printed source,
mpmath, SymPy), derivatives with difference quotients: of the row's own exact value at 45 digits where mpmath can
compute it, else of its float64 value with Richardson extrapolation.
"""

from __future__ import annotations

import inspect
import itertools
import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
import scipy.special
import sympy

from gradexplain.autodiff import jvp, vjp
from gradexplain.evaluate import evaluate, evaluate_exact, exact_array
from gradexplain.graph import Kind, Node, Primitive, Sample, constant, variable
from gradexplain.primitive import BIT, POWER, PRODUCT, SUM, Code
from gradexplain.shapes import Shape

DIGITS = 45
STEP = mpmath.mpf(10) ** -13
BUILTINS = {"float": float, "int": int, "max": max, "min": min, "round": round, "abs": abs, "sum": sum}
NOT_EXACT = (TypeError, AttributeError, ValueError, ArithmeticError, np.linalg.LinAlgError)


@dataclass(frozen=True)
class Case:
    """A row, applied to variables, and values for these."""

    row: Primitive
    sample: Sample
    seed: int = 0

    def __str__(self) -> str:
        params = ",".join(f"{k}={v}" for k, v in self.sample.params.items())
        return f"{self.row.name}-{self.sample.shapes}-{params}-{self.sample.kind}-{self.seed}".replace(" ", "")

    @property
    def is_scalar(self) -> bool:
        return not any(self.sample.shapes)

    def rng(self, purpose: str) -> np.random.Generator:
        """Random numbers that depend on the case and the purpose only."""
        return np.random.default_rng(zlib.crc32(f"{self} {purpose}".encode()))

    @cached_property
    def operands(self) -> list[Node]:
        """Variables, and constants for the parameters of the row."""
        return [self._operand(i, shape) for i, shape in enumerate(self.sample.shapes)]

    @cached_property
    def variables(self) -> list[Node]:
        return [n for n in self.operands if not n.is_constant]

    @cached_property
    def output(self) -> Node:
        return self.row.record(*self.operands, **self.sample.params)

    @cached_property
    def values(self) -> list[Any]:
        """The values of the variables."""
        rng = self.rng("values")
        return [np.asarray(self._value(rng, i, n))[()] for i, n in enumerate(self.operands) if not n.is_constant]

    def per_operand(self, variables: Sequence[Any], of_constant: Callable[[int], Any]) -> list[Any]:
        """Something for every operand: given for the variables, made from the number for the parameters."""
        given = iter(variables)
        return [of_constant(n.data) if n.is_constant else next(given) for n in self.operands]

    def _operand(self, i: int, shape: Shape) -> Node:
        domain = self.row.domains[i % len(self.row.domains)]
        if domain.low == domain.high:
            return constant(domain.low)
        return variable(f"x{i}", shape, operand_kind(self.row, i))

    def _value(self, rng: np.random.Generator, i: int, operand: Node) -> Any:
        if operand.kind == "bool":
            return rng.random(operand.shape) < 0.5
        if operand.kind == "int":
            return rng.integers(0, min(self.sample.shapes[0], default=1), operand.shape)
        if self.row.family == "elementwise":
            domain = self.row.domains[i % len(self.row.domains)]
            return rng.uniform(domain.low, domain.high, operand.shape)
        return draw(rng, operand.shape, self.sample.kind, first=i == 0)


def operand_kind(row: Primitive, i: int) -> Kind:
    """Conditions are booleans; what a linear row takes beside its operand are indices."""
    if row.conditions and (not row.partials or row.partials[i] is None):
        return "bool"
    return "int" if row.family == "linear" and i > 0 else "float"


def draw(rng: np.random.Generator, shape: Shape, kind: str, first: bool) -> Any:
    """A float operand of a kind; the kinds of matrices concern the first operand if it is square."""
    x = rng.normal(size=shape)
    square = first and len(shape) >= 2 and shape[-1] == shape[-2]
    turned = np.swapaxes(x, -1, -2) if square else x
    match kind:
        case "positive":
            return rng.uniform(0.3, 2.0, shape)
        case "unit":
            return rng.uniform(0.05, 0.95, shape)
        case "distinct":
            order = rng.permutation(math.prod(shape)).reshape(shape)
            return 0.4 * order - 0.17 * math.prod(shape) + rng.uniform(-0.05, 0.05, shape)
        case "invertible" if square:
            return x + shape[-1] * np.eye(shape[-1])
        case "spd" if square:
            return x @ turned + shape[-1] * np.eye(shape[-1])
        case "symmetric" if square:
            return x + turned
        case "lower" if square:
            return np.tril(x) + 2 * np.eye(shape[-1])
    return x


def unit_arrays(shape: Shape) -> list[Any]:
    """The arrays with one 1 in them."""
    return list(np.eye(math.prod(shape)).reshape(-1, *shape))


def directions(case: Case, i: int) -> list[Any]:
    """A basis of the directions in which operand i can move (a symmetric matrix stays symmetric)."""
    shape = case.variables[i].shape
    basis = unit_arrays(shape)
    if i == 0 and len(shape) >= 2 and shape[-1] == shape[-2] and case.row.family != "elementwise":
        if case.sample.kind in ("spd", "symmetric"):
            return [b + np.swapaxes(b, -1, -2) for b in basis]
        if case.sample.kind == "lower":
            return [b for b in basis if np.tril(b).any()]
    return basis


def arity(row: Primitive) -> int:
    """The number of operands of an elementwise row."""
    if row.partials:
        return len(row.partials)
    if isinstance(row.value, np.ufunc):
        return row.value.nin
    return len(inspect.signature(row.value).parameters)


def cases(row: Primitive) -> list[Case]:
    """The samples of a row; a flat elementwise row that states none gets a scalar and a vector."""
    samples = row.samples
    if not samples and row.family == "elementwise":
        samples = tuple(Sample((s,) * arity(row)) for s in ((), (3,)))
    seeds = range(2) if row.family == "elementwise" else range(1)
    return [Case(row, sample, seed) for sample in samples for seed in seeds]


# Differences


@dataclass(frozen=True)
class Functional:
    """A weighted sum of the entries of some nodes, as a number that depends on the values of variables."""

    nodes: Sequence[Node]
    weights: Sequence[Any]
    variables: Sequence[Node]

    def real(self, values: Sequence[Any]) -> float:
        results = evaluate(self.nodes, dict(zip(self.variables, values, strict=True)))
        return float(sum(np.sum(w * y) for w, y in zip(self.weights, results, strict=True)))

    def exact(self, values: Sequence[Any]) -> Any:
        results = evaluate_exact(self.nodes, dict(zip(self.variables, values, strict=True)))
        weights = [as_exact(w) for w in self.weights]
        return sum(np.sum(w * y) for w, y in zip(weights, results, strict=True))

    def slope(self, values: Sequence[Any], i: int, direction: Any) -> float:
        """The derivative along a direction of operand i."""
        return self._exact_slope(values, i, direction) if self.is_exact(values) else self._slope(values, i, direction)

    def is_exact(self, values: Sequence[Any]) -> bool:
        """Whether mpmath can compute it, and does not fall back to floats on the way."""
        try:
            table = dict(zip(self.variables, map(as_exact, values), strict=True))
            results = evaluate_exact(self.nodes, table)
        except NOT_EXACT:
            return False
        return all(isinstance(y, (mpmath.mpf, int)) or np.asarray(y).dtype.kind == "O" for y in results)

    def _exact_slope(self, values: Sequence[Any], i: int, direction: Any) -> float:
        with mpmath.workdps(DIGITS):
            exact, step = [as_exact(v) for v in values], STEP * as_exact(direction)
            up, down = ([*exact[:i], exact[i] + s, *exact[i + 1 :]] for s in (step, -step))
            return float((self.exact(up) - self.exact(down)) / (2 * STEP))

    def _slope(self, values: Sequence[Any], i: int, direction: Any) -> float:
        """Richardson extrapolation of central quotients: step h has an error of order h**10."""
        table = []
        for h in 0.04 * 0.5 ** np.arange(5):
            up, down = ([*values[:i], values[i] + s, *values[i + 1 :]] for s in (h * direction, -h * direction))
            table.append((self.real(up) - self.real(down)) / (2 * h))
        for order in range(1, 5):
            table = [(4**order * b - a) / (4**order - 1) for a, b in itertools.pairwise(table)]
        return float(table[0])


def as_exact(value: Any) -> Any:
    """Float operands as mpf; indices and conditions as they are."""
    if np.asarray(value).dtype.kind != "f":
        return value
    return mpmath.mpf(float(value)) if np.ndim(value) == 0 else exact_array(value)


def assert_slopes(functional: Functional, values: Sequence[Any], gradients: Sequence[Any], case: Case) -> None:
    """Compares the gradients with differences, along every direction of every float operand."""
    rtol, atol = (1e-9, 1e-10) if functional.is_exact(values) else (1e-6, 1e-7)
    for i, gradient in enumerate(gradients):
        if np.asarray(values[i]).dtype.kind != "f":
            continue
        basis = directions(case, i) if i < len(case.values) else unit_arrays(np.shape(gradient))
        for direction in basis:
            expected = functional.slope(values, i, direction)
            np.testing.assert_allclose(np.sum(gradient * direction), expected, rtol, atol, err_msg=f"operand {i}")


# The checks


def value_of(case: Case) -> Any:
    return evaluate([case.output], dict(zip(case.variables, case.values, strict=True)))[0]


def weakened(x: Node) -> Code:
    """A variable, inside text that binds less tightly than most operators."""
    name = x.params["name"]
    return Code(f"True & {name} & True", BIT) if x.kind == "bool" else Code(f"0 + {name} + 0", SUM)


def literal(number: int) -> Code:
    return Code(str(number))


def run_text(text: str, names: Sequence[str], values: Sequence[Any]) -> Any:
    scope = {"__builtins__": BUILTINS, "np": np, "math": math, "scipy": scipy}
    with np.errstate(all="ignore"):
        return eval(text, scope, dict(zip(names, values, strict=True)))


def check_shape(case: Case) -> None:
    assert np.shape(value_of(case)) == case.output.shape


def check_numpy_text(case: Case) -> None:
    """The printed source gives the value, also with operands that are sums, and inside a product and a power."""
    names = [v.params["name"] for v in case.variables]
    sums = [weakened(v) for v in case.variables]
    value = value_of(case)
    for codes in (map(Code, names), sums):
        text = case.row.numpy(*case.per_operand(codes, literal), **case.sample.params)
        assert isinstance(text, Code), "the text must be a Code, which knows how tightly it binds"
        np.testing.assert_allclose(run_text(text, names, case.values), value, rtol=1e-13, err_msg=str(text))
        if case.output.kind == "float":
            inside = f"2*{text.at(PRODUCT + 1)} - {text.at(POWER + 1)}**2"
            np.testing.assert_allclose(run_text(inside, names, case.values), 2 * value - value**2, 1e-12, 1e-12)


def check_math_text(case: Case) -> None:
    names = [v.params["name"] for v in case.variables]
    numbers = [v.item() for v in case.values]
    text = case.row.math(*case.per_operand(map(Code, names), literal), **case.sample.params)
    result = run_text(text, names, numbers)
    assert type(result) in (float, bool), "Python's floats must give a float"
    np.testing.assert_allclose(result, value_of(case), rtol=1e-12, err_msg=str(text))


def check_exact(case: Case) -> None:
    table = {x: as_exact(v) for x, v in zip(case.variables, case.values, strict=True)}
    with mpmath.workdps(30):
        (exact,) = evaluate_exact([case.output], table)
    assert np.shape(exact) == case.output.shape
    np.testing.assert_allclose(np.asarray(exact, dtype=float), value_of(case), rtol=1e-12, atol=1e-13)


def check_symbol(case: Case) -> None:
    table = list(zip(case.variables, case.values, strict=True))
    given = [sympy.Symbol(v.params["name"], real=None if v.kind == "bool" else True) for v in case.variables]
    operands = case.per_operand(given, sympy.Integer)
    symbol = case.row.symbol
    form = getattr(sympy, symbol)(*operands) if isinstance(symbol, str) else symbol(sympy, *operands)
    numbers = [sympy.sympify(bool(v)) if x.kind == "bool" else sympy.Float(float(v), 30) for x, v in table]
    result = sympy.sympify(form).subs(dict(zip(given, numbers, strict=True)))
    number = bool(result) if case.output.kind == "bool" else float(result.evalf(20))
    np.testing.assert_allclose(number, value_of(case), rtol=1e-12, atol=1e-13, err_msg=str(form))


def check_vjp(case: Case) -> None:
    """The pullback, weighted at random, against differences of the value."""
    weight = np.asarray(case.rng("weight").normal(size=case.output.shape))[()]
    seed = variable("g", case.output.shape)
    nodes = vjp(case.output, case.variables, seed)
    gradients = evaluate(nodes, {seed: weight, **dict(zip(case.variables, case.values, strict=True))})
    assert_slopes(Functional([case.output], [weight], case.variables), case.values, gradients, case)


def check_jvp(case: Case) -> None:
    """<u, J t> is <J^T u, t>, and J t comes by itself from the pushforward."""
    floats = [i for i, x in enumerate(case.variables) if x.kind == "float"]
    seed, table = variable("g", case.output.shape), dict(zip(case.variables, case.values, strict=True))
    tangents = {case.variables[i]: variable(f"t{i}", case.variables[i].shape) for i in floats}
    (forward,) = jvp([case.output], tangents)
    assert forward.shape == case.output.shape
    rng = case.rng("tangents")
    table[seed] = rng.normal(size=seed.shape)
    for i in floats:
        table[tangents[case.variables[i]]] = sum(rng.normal() * b for b in directions(case, i))
    left = np.sum(table[seed] * evaluate([forward], table)[0])
    backward = evaluate(vjp(case.output, list(tangents), seed), table)
    right = sum(np.sum(a * table[t]) for a, t in zip(backward, tangents.values(), strict=True))
    np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-11)


def check_second_order(case: Case) -> None:
    """The gradient of a random functional of the gradient, by the operands and by the output's cotangent."""
    seed = variable("g", case.output.shape)
    floats = [x for x in case.variables if x.kind == "float"]
    first = vjp(case.output, floats, seed)
    rng = case.rng("second order")
    weights = [np.asarray(rng.normal(size=x.shape))[()] for x in floats]
    variables, values = [*case.variables, seed], [*case.values, np.asarray(rng.normal(size=seed.shape))[()]]
    table = dict(zip(variables, values, strict=True))
    parts = []
    for node, weight in zip(first, weights, strict=True):
        cotangent = variable("w", node.shape)
        table[cotangent] = weight
        parts.append(evaluate(vjp(node, variables, cotangent), table))
    gradients = [sum(column) for column in zip(*parts, strict=True)]
    assert_slopes(Functional(first, weights, variables), values, gradients, case)


def check_flat(case: Case) -> None:
    """No derivative is stated, and there is none: a small step does not change the value."""
    assert case.row.pullback is None
    assert case.row.pushforward is None
    value = value_of(case)
    for i, x in enumerate(case.variables):
        if x.kind == "float":
            moved = [*case.values[:i], case.values[i] + 1e-9, *case.values[i + 1 :]]
            (result,) = evaluate([case.output], dict(zip(case.variables, moved, strict=True)))
            np.testing.assert_array_equal(result, value)
