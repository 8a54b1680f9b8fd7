"""A function along a direction in its arguments: what difference quotients are taken of, exactly and in float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

from gradexplain.evaluate import evaluate_exact
from gradexplain.exposition.values import moved
from gradexplain.graph import Node, ancestors
from gradexplain.trace.run import Program, apply


@dataclass(frozen=True, slots=True)
class Subject:
    """A function of one number: a node of the program (None: its output) along a direction in its arguments.

    `centre` is where the number stands at the point: the coordinate that is varied, or 0.
    """

    program: Program
    of: Node | None
    direction: Mapping[str, Any]
    centre: float

    def exact(self, t: Any) -> Any:
        """Its value in mpmath."""
        program = self.program
        values = {
            node: moved(program.point[name], self.direction.get(name), t, self.centre, node.kind)
            for name, node in program.inputs.items()
        }
        (y,) = evaluate_exact([self.of or program.output], values)
        return np.sum(y) if isinstance(y, np.ndarray) else y

    def plain(self, t: float) -> float:
        """The user's own function in float64 (for the program's output only)."""
        moved = {}
        for a in self.program.arguments:
            if a.name in self.direction:
                along = self.centre == a.value if np.shape(a.value) == () else False
                value = t if along else a.value + (t - self.centre) * self.direction[a.name]
                moved[a.name] = np.float64(value) if np.shape(value) == () else value
        held = {a.name: _read_only(a.value) for a in self.program.arguments if isinstance(a.value, np.ndarray)}
        values = {a.name: a.plain() for a in self.program.arguments if a.name not in held}
        with np.errstate(all="ignore"):
            try:  # hundreds of copies of a large array take longer than the function
                result = apply(self.program.function, self.program.arguments, values | held | moved)
            except ValueError:  # it writes into its arguments
                copies = {a.name: a.plain() for a in self.program.arguments}
                result = apply(self.program.function, self.program.arguments, copies | moved)
            return float(np.sum(result))

    def noise(self, t: float) -> float:
        """How far the float64 value is from the exact one."""
        return abs(self.difference(t))

    def difference(self, t: float) -> float:
        """What the plain function has more than the exact value of its trace."""
        with mp.workdps(30):
            return float(mp.mpf(self.plain(t)) - self.exact(mp.mpf(t)))

    @property
    def has_plain(self) -> bool:
        """Whether the user's own function computes it."""
        return self.of is None

    @property
    def work(self) -> int:
        """The numbers in one exact evaluation."""
        return sum(max(1, n.size) for n in ancestors([self.of or self.program.output]))


def _read_only(array: Any) -> Any:
    view = array.view()
    view.flags.writeable = False
    return view
