"""A program as statements with names, and its nodes written over some of these names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradexplain.autodiff import jvp
from gradexplain.evaluate import evaluate
from gradexplain.graph import Node, ancestors, constant, depends_on, substitute, variable
from gradexplain.simplify.tensor.checking import agree, function_of, points
from gradexplain.simplify.tensor.forms import sizing_of
from gradexplain.simplify.tensor.lowering import NotLoweredError
from gradexplain.simplify.tensor.notation import Form, subforms
from gradexplain.simplify.tensor.program import TensorProgram
from gradexplain.simplify.tensor.regular import off_kinks
from gradexplain.simplify.tensor.sizes import Sizes, other_sizes, sizes_in
from gradexplain.simplify.tensor.sizing import Sizing
from gradexplain.simplify.tensor.terms import Dim
from gradexplain.trace.run import Program

Facts = Mapping[str, frozenset[str]]
Letters = Mapping[str, str]  # names of variables, and of which statement or argument each has the shape


@dataclass(frozen=True, slots=True)
class Statements:
    """The nodes that a derivation goes by, by name in the order of computation; the result is the last."""

    program: Program
    variable: str
    nodes: Mapping[str, Node]
    varying: tuple[str, ...]  # those that depend on the variable, which is the first
    _letters: dict[str, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, program: Program, variable_name: str, nodes: Mapping[str, Node]) -> Statements:
        """The statements of a program, and which of them depend on a variable."""
        hot = depends_on(ancestors([program.output]), [program.inputs[variable_name]])
        return cls(program, variable_name, nodes, (variable_name, *(n for n, x in nodes.items() if x in hot)))

    @property
    def known(self) -> dict[str, Node]:
        """Everything that has a name: the arguments and the statements."""
        return {**self.program.inputs, **self.nodes}

    def letter(self, name: str, of: str = "") -> Node:
        """The variable of a name, of the shape of an argument or a statement."""
        if name in self.program.inputs:
            return self.program.inputs[name]
        if name not in self._letters:
            self._letters[name] = variable(name, self.known[of or name].shape)
        return self._letters[name]

    def over(self, node: Node, names: Sequence[str]) -> Node:
        """A node in which statements are called by their names."""
        return substitute([node], {self.nodes[n]: self.letter(n) for n in names if n in self.nodes})[0]

    def before(self, name: str) -> tuple[str, ...]:
        """What varies before a statement."""
        return self.varying[: self.varying.index(name)]

    def tangent(self, name: str) -> Node:
        """The differential of a statement in terms of those of what it uses (`differentials`)."""
        seeds = {self.known[n]: self.letter(f"d{n}", n) for n in self.before(name)}
        return off_kinks(jvp([self.nodes[name]], seeds)[0])

    def values(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all names at a point, and of their differentials along one direction of the variable."""
        x = self.program.inputs[self.variable]
        direction = np.random.default_rng(1).uniform(-1, 1, x.shape)
        inputs = {self.program.inputs[n]: v for n, v in point.items()}
        found = {**point, **dict(zip(self.nodes, evaluate(list(self.nodes.values()), dict(inputs)), strict=True))}
        hot = self.varying[1:]
        tangents = jvp([self.nodes[n] for n in hot], {x: constant(direction if x.shape else float(direction))})
        found |= zip((f"d{n}" for n in hot), evaluate(list(tangents), dict(inputs)), strict=True)
        found[f"d{self.variable}"] = direction
        shapes = {f"d{n}": self.known[n].shape for n in self.varying}
        return found | {n: np.broadcast_to(found[n], s) if s else float(found[n]) for n, s in shapes.items()}


class Names:
    """Brings nodes over names into matrix notation, and compares formulas with numbers.

    `elsewhere` are the same statements at other sizes, where formulas with names for sizes are compared as well.
    """

    def __init__(self, at: Statements, elsewhere: Statements | None, facts: Facts, *, sized: bool) -> None:
        self.at, self.elsewhere, self.facts = at, elsewhere, facts
        self.sizing = sizing_of(at.program) if sized else None
        whole = TensorProgram(at.program, (), facts, sizing=self.sizing)
        self._axes = {
            n: tuple(None if i is None else i.dim for i in whole.lowering.known[x].axes) for n, x in at.known.items()
        }
        self.points = {id(side): [side.values(p) for p in points(side.program, facts)] for side in self._sides}

    @property
    def _sides(self) -> list[Statements]:
        return [self.at] if self.elsewhere is None else [self.at, self.elsewhere]

    def sides(self) -> Iterator[tuple[Statements, list[dict[str, Any]]]]:
        """The statements with the values of their names at points, at all sizes."""
        yield from ((side, self.points[id(side)]) for side in self._sides)

    def axes(self, name: str) -> tuple[Dim | None, ...]:
        """The dimensions of what has a name."""
        return self._axes[name]

    def program(self, node_of: Callable[[Statements], Node], letters: Letters) -> tuple[Program, Sizing | None]:
        """A node as a program of the names in it, and the sizes in that."""
        inputs = {n: self.at.letter(n, of) for n, of in letters.items()}
        node, sizing = node_of(self.at), self.sizing
        if sizing is not None:
            numbers: Sizes | None = {}
            if self.elsewhere is not None:
                numbers = sizes_in(node, node_of(self.elsewhere), sizing.named, other_sizes(sizing.named))
                if numbers is None:
                    raise NotLoweredError("numbers that may be sizes")
            axes: dict[str, tuple[Dim | None, ...]] = {n: self._axes[of] for n, of in letters.items()}
            totals = sizing.totals
            sizing = Sizing(sizing.program, axes, sizing.named)
            sizing.numbers, sizing.totals = numbers, totals
        return replace(self.at.program, inputs=inputs, output=node), sizing

    def require(self, form: Form, letters: Letters, wanted: Callable[[Statements, Mapping[str, Any]], Any]) -> None:
        """Raises `NotLoweredError` if a form over names does not have the wanted values, at any of the sizes."""
        if self.elsewhere is None and any(p.op == "size" for p in subforms(form)):
            raise NotLoweredError("sizes that can't be changed")
        function = function_of(form, (), {n: self.at.letter(n, of) for n, of in letters.items()})
        for side, values in self.sides():
            expected = iter([wanted(side, v) for v in values])
            if not agree(function, lambda _, rest=expected: next(rest), [{n: v[n] for n in letters} for v in values]):  # type: ignore[misc]
                raise NotLoweredError("a line that differs from autodiff")
