"""Points of a program's domain, and the exact values there that every formula is compared with."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mpmath as mp
import numpy as np

from gradexplain.evaluate import evaluate, evaluate_exact
from gradexplain.graph import Node, ancestors
from gradexplain.ops import special
from gradexplain.ops.arithmetic import add, sub
from gradexplain.simplify.numeric import UnknownFunctionError, value
from gradexplain.simplify.poles import has_new_pole

DIGITS = 60
MORE_DIGITS = 160  # a second evaluation: points at which it differs are too ill-conditioned to tell anything
_AGREEING = 20  # digits that two values have in common
# Values in no special relation, of both signs and several sizes; sines of integers would do as well.
_POOL = (
    0.7312,
    1.4187,
    -0.8461,
    2.3709,
    -1.6293,
    0.2154,
    -2.7183,
    3.5521,
    0.9437,
    -0.3391,
    1.8823,
    0.5116,
    -1.2047,
    4.6091,
)
_WIDE = (
    -113.7,
    21.3,
    -6.41,
    0.0361,
    47.9,
    -0.457,
    7.93,
    -23.6,
    2.06,
    131.1,
    -1.873,
    0.6203,
    11.7,
    -3.19,
    -0.0713,
    303.3,
)
_ROUNDING = mp.mpf(10) ** -30  # what is smaller may be the rounding error of a 0
_UNUSUAL, _TINY, _MOST_SCALES = 40.0, 1e-30, 2  # of constants that samples are scaled by
_SMALLEST = mp.mpf(10) ** -500
_WIDEST_SPREAD = 400  # binary digits; all are there with MORE_DIGITS
_TRIES = 28
_ENOUGH = 7
_FEW = 3  # with fewer points than these, a domain is searched for
_USUAL = 400  # operations; of larger programs fewer points are looked at
_SCANNED = 60_000
_MANY = 240
_EVERY = 3  # which of the many are tried where they are evaluated one by one


@dataclass(frozen=True, slots=True)
class Samples:
    """Points, as values of the variables by name, and the exact values of some nodes there."""

    points: tuple[Mapping[str, Any], ...]
    values: tuple[tuple[Any, ...], ...]
    regular: Any = None  # a formula: whatever agrees must have a value where this has one
    _asked: dict[Any, bool] = field(default_factory=dict, compare=False, repr=False)

    def joined(self, other: Samples) -> Samples:
        """These points and others."""
        return Samples(self.points + other.points, self.values + other.values, self.regular)

    def as_regular_as(self, formula: Any) -> Samples:
        """These points, and those at which another formula divides by 0 where this one does not."""
        return Samples(self.points, self.values, formula)

    def named(self, where: Mapping[str, Any]) -> Samples:
        """The same points with the values of named parts, each of which may use earlier ones."""
        with mp.workdps(DIGITS):
            try:
                return Samples(tuple(_with_names(where, point) for point in self.points), self.values)
            except (UnknownFunctionError, KeyError):
                return Samples((), ())

    def of(self, expr: Any) -> Samples:
        """The points at which an expression is a real number, with its values there."""
        with mp.workdps(DIGITS):
            try:
                found = [(point, value(expr, point)) for point in self.points]
            except (UnknownFunctionError, KeyError):
                return Samples((), ())
        kept = [(point, v) for point, v in found if mp.isfinite(v) and not mp.im(v)]
        return Samples(tuple(p for p, _ in kept), tuple((v,) for _, v in kept))

    def agrees(self, expr: Any, which: int, where: Sequence[tuple[str, Any]] = (), digits: int = _AGREEING) -> bool:
        """Whether an expression has the values of node number `which` at all points."""
        question = (expr, which, tuple(where), digits)
        if question not in self._asked:
            self._asked[question] = self._agrees(expr, which, where, digits)
        return self._asked[question]

    def _agrees(self, expr: Any, which: int, where: Sequence[tuple[str, Any]], digits: int) -> bool:
        try:
            if not all(
                any(_has_value(expr, where, point, exact[which], digits, n) for n in (DIGITS, MORE_DIGITS))
                for point, exact in zip(self.points, self.values, strict=True)
            ):
                return False
            with mp.workdps(DIGITS):
                known = self.regular is None or not self.points
                return known or not has_new_pole(expr, where, self.regular, self.points[0])
        except (UnknownFunctionError, KeyError):
            return False

    def agree(self, a: Any, b: Any) -> bool:
        """Whether two expressions are equal wherever the first is a real number, which is at three points at least."""
        pairs = []
        with mp.workdps(DIGITS):
            try:
                for point in self.points:
                    one = value(a, point)
                    if mp.isfinite(one) and not mp.im(one):
                        pairs.append((one, value(b, point)))
                return len(pairs) >= _FEW and all(_close(two, one) for one, two in pairs)
            except (UnknownFunctionError, KeyError):
                return False


def _has_value(
    expr: Any, where: Sequence[tuple[str, Any]], point: Mapping[str, Any], exact: Any, digits: int, working: int
) -> bool:
    """With more digits where fewer say no: terms that cancel may take them all."""
    with mp.workdps(working):
        return _close(value(expr, _with_names(dict(where), point)), exact, digits)


def _with_names(where: Mapping[str, Any], point: Mapping[str, Any]) -> dict[str, Any]:
    table = dict(point)
    for name, definition in where.items():
        table[name] = value(definition, table)
    return table


def _close(a: Any, b: Any, digits: int = _AGREEING) -> bool:
    """Whether a number is another one to some digits; beside 0, whether it is what rounding leaves of 0."""
    if mp.isnan(a):
        return False
    if b == 0:
        return bool(abs(a) < mp.mpf(10) ** (-10 - digits))
    return bool(abs(a - b) <= mp.mpf(10) ** -digits * max(abs(a), abs(b)))


def sample(outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any]) -> Samples:
    """Points near the given one and about the origin at which all outputs are finite real numbers."""
    found = _sample(outputs, inputs, _candidates(inputs, point, _POOL, near=8), _ENOUGH)
    if len(found.points) >= _FEW:
        return found
    return found.joined(_sample(outputs, inputs, _scanned(outputs, inputs), _ENOUGH))


def sample_widely(outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any]) -> Samples:
    """Points of all sizes and signs: what is true near one point need not be true on the other side of a root."""
    scaled = _sample(outputs, inputs, _scaled(outputs, inputs, point), _ENOUGH)
    return scaled.joined(_sample(outputs, inputs, _candidates(inputs, point, _WIDE, near=0), 2 * _ENOUGH))


def _scaled(outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Points at which one of the variables has a value of the scale that the program's constants tell of."""
    scales = _scales(outputs)
    for candidate, scale in zip(_candidates(inputs, point, _WIDE, near=0), scales, strict=False):
        for name in (n for n, x in inputs.items() if x.kind == "float"):
            yield {**candidate, name: mp.mpf(scale)}


def _scales(outputs: Sequence[Node]) -> list[float]:
    """Where things happen that large and small constants tell of: tanh(1000*x) is 1 or -1 but for some thousandths."""
    constants = {abs(float(n.data)) for n in ancestors(outputs) if n.is_constant and isinstance(n.data, (int, float))}
    unusual = sorted(c for c in constants if _UNUSUAL < c < 1 / _TINY or _TINY < c < 1 / _UNUSUAL)[-_MOST_SCALES:]
    centers = [0.0, *sorted(_centers(outputs))[:_MOST_SCALES]] if unusual else []
    return [a + sign * share / c for c in unusual for a in centers for sign, share in ((1, 0.73), (-1, 0.31))]


def _centers(outputs: Sequence[Node]) -> set[float]:
    """Where sums of a variable and a number are 0."""
    found = set()
    for n in ancestors(outputs):
        if n.op in (add, sub) and not n.inputs[0].inputs and n.inputs[1].is_constant:
            number = n.inputs[1].data
            if isinstance(number, (int, float)) and number:
                found.add(float(number) if n.op is sub else -float(number))
    return found


def sample_positive(outputs: Sequence[Node], inputs: Mapping[str, Node], positive: Iterable[str]) -> Samples:
    """Points at which some of the inputs are positive."""
    chosen = set(positive)
    candidates = (
        {n: abs(v) if n in chosen else v for n, v in c.items()} for c in _candidates(inputs, {}, _WIDE + _POOL, near=0)
    )
    return _sample(outputs, inputs, candidates, 2 * _ENOUGH)


def _scanned(outputs: Sequence[Node], inputs: Mapping[str, Node]) -> Iterator[dict[str, Any]]:
    """Points of a small domain, found among many at which the program is evaluated in float64, all at once."""
    generator = np.random.default_rng(0)
    count = _SCANNED // 100 if _has_special_functions(outputs) else _SCANNED
    columns = {}
    for name, node in inputs.items():
        if node.kind != "float":
            return
        close = generator.uniform(-30.0, 30.0, count // 2)
        wide = 10 ** generator.uniform(-5.0, 5.0, count // 2) * generator.choice([-1.0, 1.0], count // 2)
        columns[name] = generator.permutation(np.concatenate([close, wide]))
    try:
        values = evaluate(outputs, {inputs[n]: c for n, c in columns.items()})
    except (TypeError, ValueError, ArithmeticError):
        return
    finite = np.logical_and.reduce([np.isfinite(np.broadcast_to(v, count)) for v in values])
    for i in np.flatnonzero(finite)[: 3 * _ENOUGH]:
        yield {name: mp.mpf(round(float(c[i]), 12)) for name, c in columns.items()}


def _sample(
    outputs: Sequence[Node], inputs: Mapping[str, Node], candidates: Iterable[dict[str, Any]], enough: int
) -> Samples:
    points, values = [], []
    enough = max(_FEW, enough * _USUAL // max(_USUAL, len(ancestors(outputs))))  # each takes as long as the program
    for candidate in candidates:
        found = _evaluated(outputs, inputs, candidate, DIGITS)
        if found is None:
            continue
        better = _evaluated(outputs, inputs, candidate, MORE_DIGITS)
        settled = None if better is None else [settled_value(a, b) for a, b in zip(found, better, strict=True)]
        if settled is not None and None not in settled:
            points.append(candidate)
            values.append(tuple(settled))
            if len(points) == enough:
                break
    return Samples(tuple(points), tuple(values))


def settled_value(found: Any, better: Any) -> Any:
    """A value from two evaluations, the second with more digits: 0 where all is rounding, None where they disagree.

    >>> settled_value(mp.mpf("1e-200"), mp.mpf("1e-200")), settled_value(mp.mpf("3e-58"), mp.mpf("2e-157"))
    (mpf('1.0e-200'), 0)
    """
    if _close(found, better):
        return better
    return 0 if abs(found) < _ROUNDING and abs(better) < _ROUNDING * abs(found) else None


def _evaluated(outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any], digits: int) -> Any:
    """Finite real values of the outputs, None if they are not, or if they may have been lost on the way."""
    order = ancestors(outputs)
    with mp.workdps(digits):
        try:
            everything = evaluate_exact([*outputs, *order], {inputs[n]: v for n, v in point.items()})
        except (TypeError, ValueError, ArithmeticError):
            return None
    found = everything[: len(outputs)]
    if not all(isinstance(v, (mp.mpf, int)) and mp.isfinite(v) and _is_usual(v) for v in found):
        return None
    if digits == DIGITS and _spread(everything) > _WIDEST_SPREAD:  # with more digits, what is left of a 0 is smaller
        return None
    return tuple(found)


def _spread(values: Sequence[Any]) -> int:
    """How many binary digits lie between the least and the largest of some numbers: their sum has lost the former."""
    sizes = [v._mpf_[2] + v._mpf_[3] for v in values if isinstance(v, mp.mpf) and mp.isfinite(v) and v]
    return max(sizes, default=0) - min(sizes, default=0)


def _is_usual(v: Any) -> bool:
    """Whether a value is none of which the reciprocal is as good as infinite: formulas of the same function meet it."""
    return not v or abs(v) > _SMALLEST


def evaluated_widely(outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any]) -> list[Any]:
    """The outputs in floats at many points, small and large; at fewer where special functions would load SciPy."""
    columns = _columns(inputs, point)
    if not _has_special_functions(outputs):
        return [np.broadcast_to(v, _MANY) for v in evaluate(outputs, dict(columns))]
    points = [{x: c[i] if np.ndim(c) else c for x, c in columns.items()} for i in range(0, _MANY, _EVERY)]
    return [np.array(values, dtype=float) for values in zip(*(evaluate(outputs, p) for p in points), strict=True)]


def _has_special_functions(outputs: Sequence[Node]) -> bool:
    """Whether functions are in use that take their time, number by number."""
    return any(n.op.value.__module__ == special.__name__ for n in ancestors(outputs) if n.inputs)


def _columns(inputs: Mapping[str, Node], point: Mapping[str, Any]) -> dict[Node, Any]:
    """Values of the arguments: small and large, of both signs; whole numbers as they were given."""
    generator = random.Random(0)
    half = _MANY // 2
    columns: dict[Node, Any] = {}
    for name, node in inputs.items():
        close = [generator.uniform(-4.0, 4.0) for _ in range(half)]
        wide = [10 ** generator.uniform(-3.0, 3.0) * generator.choice((-1.0, 1.0)) for _ in range(half)]
        given = point.get(name)
        columns[node] = np.array([*close, *wide]) if node.kind == "float" else 1 if given is None else given
    return columns


def _candidates(
    inputs: Mapping[str, Node], point: Mapping[str, Any], pool: Sequence[float], *, near: int
) -> Iterator[dict[str, Any]]:
    """Every other one of the first `near` lies near the point, the rest anywhere; integers stay whole."""
    for i in range(_TRIES):
        candidate = {}
        for k, (name, node) in enumerate(inputs.items()):
            base = point.get(name)
            if node.kind != "float" and base is not None:
                candidate[name] = mp.mpf(int(base) + i % 3)
            elif base is not None and i % 2 == 0 and i < near:
                near_by = mp.mpf(float(base)) * (i + k + 1) / 97 + mp.mpf(i + 1) / 1013
                candidate[name] = float(base) + near_by / (1 if i % 4 else 1000)  # the domain may be small
            else:
                apart = mp.mpf(k * (i + 3)) / 211  # else two variables may take the same number from the pool
                candidate[name] = mp.mpf(pool[(i * (k + 1) + 3 * k) % len(pool)]) + mp.mpf(i) / 1009 + apart
        yield candidate
