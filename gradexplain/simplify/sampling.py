"""Points of a program's domain, and the exact values there that every formula is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp

from gradexplain.evaluate import evaluate_exact
from gradexplain.graph import Node
from gradexplain.simplify.numeric import UnknownFunctionError, value

DIGITS = 40
_TOLERANCE = mp.mpf(10) ** -20
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
_TRIES = 28
_ENOUGH = 6


@dataclass(frozen=True, slots=True)
class Samples:
    """Points, as values of the variables by name, and the exact values of some nodes there."""

    points: tuple[Mapping[str, Any], ...]
    values: tuple[tuple[Any, ...], ...]

    def agrees(self, expr: Any, which: int, where: Sequence[tuple[str, Any]] = ()) -> bool:
        """Whether an expression has the values of node number `which` at all points."""
        with mp.workdps(DIGITS):
            try:
                return all(
                    _close(_with_names(expr, where, point), exact[which])
                    for point, exact in zip(self.points, self.values, strict=True)
                )
            except (UnknownFunctionError, KeyError):
                return False


def _with_names(expr: Any, where: Sequence[tuple[str, Any]], point: Mapping[str, Any]) -> Any:
    table = dict(point)
    for name, definition in where:
        table[name] = value(definition, table)
    return value(expr, table)


def _close(a: Any, b: Any) -> bool:
    if mp.isnan(a):
        return False
    return bool(abs(a - b) <= _TOLERANCE * max(abs(a), abs(b)) or abs(a - b) < mp.mpf(10) ** -30)


def sample(outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any]) -> Samples:
    """Points near the given one and spread over the reals at which all outputs are finite real numbers."""
    points, values = [], []
    with mp.workdps(DIGITS):
        for candidate in _candidates(inputs, point):
            try:
                found = evaluate_exact(outputs, {inputs[n]: v for n, v in candidate.items()})
            except (TypeError, ValueError, ArithmeticError):
                continue
            if all(isinstance(v, (mp.mpf, int)) and mp.isfinite(v) for v in found):
                points.append(candidate)
                values.append(tuple(found))
                if len(points) == _ENOUGH:
                    break
    return Samples(tuple(points), tuple(values))


def _candidates(inputs: Mapping[str, Node], point: Mapping[str, Any]) -> list[dict[str, Any]]:
    """First near the point, then anywhere; integer arguments keep their number."""
    out = []
    for i in range(_TRIES):
        candidate = {}
        for k, (name, node) in enumerate(inputs.items()):
            base = point.get(name)
            if node.kind != "float" and base is not None:
                candidate[name] = mp.mpf(int(base))
            elif base is not None and i % 2 == 0 and i < 8:
                candidate[name] = mp.mpf(float(base)) * (1 + mp.mpf(i + k + 1) / 97) + mp.mpf(i + 1) / 1013
            else:
                candidate[name] = mp.mpf(_POOL[(i + 3 * k) % len(_POOL)]) + mp.mpf(i) / 1009
        out.append(candidate)
    return out
