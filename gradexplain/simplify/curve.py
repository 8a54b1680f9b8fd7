"""Curves F(x, y) = 0: points on them, and the function y(x) that they are near a point.

Newton's method in mpmath follows the curve from a known point; where none is known, sign changes of F on a grid show
where to begin. Bounded, and the same for the same equation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath as mp
import numpy as np

from gradexplain.autodiff import vjp
from gradexplain.evaluate import evaluate, evaluate_exact
from gradexplain.graph import Node
from gradexplain.simplify.sampling import DIGITS

_MOST_STEPS = 40
_GUARD = 6  # digits that a root may lack
_PLACES = 72  # choices of the independent variables among which points are looked for
_GRID = np.unique(np.concatenate([s * np.geomspace(1e-3, 1e3, 140) for s in (-1, 1)] + [np.linspace(-8.03, 8.01, 161)]))
_ENOUGH = 7


@dataclass(frozen=True)
class Curve:
    """The zeros of a node, along which one variable depends on the others.

    >>> from gradexplain.graph import variable
    >>> x, y = variable("x"), variable("y")
    >>> circle = Curve(x**2 + y**2 - 25, {"x": x, "y": y}, "y")
    >>> [float(y) for y in circle.roots({"x": 3.0})]
    [4.0, -4.0]
    """

    equation: Node
    inputs: Mapping[str, Node]
    dependent: str

    @cached_property
    def slope(self) -> Node:
        """The partial derivative of F with respect to the dependent variable."""
        return vjp(self.equation, [self.inputs[self.dependent]])[0]

    def values(self, nodes: list[Node], point: Mapping[str, Any]) -> list[Any]:
        """Nodes at a point, in mpmath's current precision; nan where they are not real."""
        found = evaluate_exact(nodes, {self.inputs[n]: mp.mpf(v) for n, v in point.items()})
        return [v if isinstance(v, (mp.mpf, int)) else mp.nan for v in found]

    def root(self, others: Mapping[str, Any], start: Any) -> Any:
        """The dependent variable by Newton's method, to the current precision; None where it does not settle."""
        y = mp.mpf(start)
        least = mp.mpf(10) ** (_GUARD - mp.mp.dps)
        for _ in range(_MOST_STEPS):
            residual, slope = self.values([self.equation, self.slope], {**others, self.dependent: y})
            if residual == 0:
                return y
            if not (mp.isfinite(residual) and mp.isfinite(slope)) or slope == 0:
                return None
            step = residual / slope
            y -= step
            if abs(step) <= least * max(abs(y), abs(mp.mpf(start)), least):
                return y
        return None

    def roots(self, others: Mapping[str, Any]) -> list[Any]:
        """Values of the dependent variable at a place, those nearest to 0 first."""
        with mp.workdps(DIGITS):
            found: list[Any] = []
            for start in self._starts({n: np.array([float(v)]) for n, v in others.items()}):
                y = self.root(others, start[self.dependent])
                if y is not None and not any(abs(y - z) <= 1e-12 * (1 + abs(z)) for z in found):
                    found.append(y)
        return sorted(found, key=lambda y: (abs(y), -y))

    def points(self) -> list[dict[str, Any]]:
        """Points on the curve where it has a slope, in places that are in no special relation; [] if none is found."""
        generator = np.random.default_rng(0)
        free = [n for n in self.inputs if n != self.dependent]
        scales = np.repeat([1.0, 3.0, 20.0], _PLACES // 3)
        places = {n: (generator.uniform(-1, 1, _PLACES) * scales).round(4) for n in free}
        found: list[dict[str, Any]] = []
        seen: set[tuple[float, ...]] = set()
        for start in self._starts(places):
            others = {n: start[n] for n in free}
            if tuple(others.values()) in seen:
                continue
            with mp.workdps(DIGITS):
                y = self.root(others, start[self.dependent])
                if y is None:
                    continue
                point = {n: mp.mpf(others[n]) if n in others else y for n in self.inputs}
                (slope,) = self.values([self.slope], point)
            if mp.isfinite(slope) and abs(slope) > 1e-9:
                seen.add(tuple(others.values()))
                found.append(point)
            if len(found) == _ENOUGH:
                break
        return found

    def _starts(self, places: Mapping[str, Any]) -> Iterator[dict[str, float]]:
        """Between which values of the grid F changes its sign, at each place."""
        count = len(next(iter(places.values()), np.zeros(1)))
        shape = (count, len(_GRID))
        columns = {n: np.broadcast_to(v[:, None], shape).ravel() for n, v in places.items()}
        columns[self.dependent] = np.broadcast_to(_GRID, shape).ravel()
        values = evaluate([self.equation], {x: columns[n] for n, x in self.inputs.items()})[0]
        signs = np.sign(np.broadcast_to(values, count * len(_GRID)).reshape(shape))
        changes = (signs[:, :-1] * signs[:, 1:] < 0) | (signs[:, :-1] == 0)
        for i, k in zip(*np.nonzero(changes), strict=True):
            start = _GRID[k] if signs[i, k] == 0 else (_GRID[k] + _GRID[k + 1]) / 2
            yield {**{n: float(v[i]) for n, v in places.items()}, self.dependent: float(start)}


def along(curve: Curve, point: Mapping[str, Any], variable: str, of: Node | None = None) -> Callable[[Any], Any]:
    """A node (None: the dependent variable) along the curve, as a function of one independent variable in mpmath.

    Undefined (nan) where the curve can't be followed from the point.
    """
    name = curve.dependent

    def value(t: Any) -> Any:
        others = {n: mp.mpf(v) for n, v in point.items() if n != name} | {variable: t}
        y = curve.root(others, point[name])
        if y is None:
            return mp.nan
        return y if of is None else curve.values([of], {**others, name: y})[0]

    return value
