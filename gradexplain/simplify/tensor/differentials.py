"""Statements of a program and their differentials in matrix notation, over the names of the statements before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradexplain.autodiff import jvp
from gradexplain.escape import identifier_latex
from gradexplain.evaluate import evaluate
from gradexplain.graph import Node, ancestors, constant, depends_on, substitute, variable
from gradexplain.simplify.form import Written
from gradexplain.simplify.tensor import notation
from gradexplain.simplify.tensor.checking import agree, function_of, points
from gradexplain.simplify.tensor.folding import folded
from gradexplain.simplify.tensor.forms import FAILURES, TensorProgram, sizing_of, written
from gradexplain.simplify.tensor.lowering import NotLoweredError
from gradexplain.simplify.tensor.notation import Form, replaced, subforms, with_statistics
from gradexplain.simplify.tensor.simplifying import Simplifier
from gradexplain.simplify.tensor.sizes import Sizes, other_sizes, sizes_in
from gradexplain.simplify.tensor.sizing import Sizing
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import Dim, Tensor
from gradexplain.simplify.tensor.writing import Writer, shaped
from gradexplain.trace.run import Program


@dataclass(frozen=True, slots=True)
class Statements:
    """The nodes that a derivation goes by, by name in the order of computation; the result is the last."""

    program: Program
    variable: str
    nodes: Mapping[str, Node]
    varying: tuple[str, ...]  # those that depend on the variable, which is the first
    changes: Mapping[str, Node]  # the variables that stand for their differentials

    @classmethod
    def of(cls, program: Program, variable_name: str, nodes: Mapping[str, Node]) -> Statements:
        """The statements of a program, and which of them depend on a variable."""
        hot = depends_on(ancestors([program.output]), [program.inputs[variable_name]])
        varying = {variable_name: program.inputs[variable_name], **{n: x for n, x in nodes.items() if x in hot}}
        changes = {n: variable(f"d{n}", x.shape) for n, x in varying.items()}
        return cls(program, variable_name, nodes, tuple(varying), changes)

    @property
    def known(self) -> dict[str, Node]:
        """Everything that has a name: the arguments and the statements."""
        return {**self.program.inputs, **self.nodes}

    def tangent(self, name: str) -> Node:
        """The differential of a statement in terms of those of what it uses (`differentials`)."""
        before = self.varying[: self.varying.index(name)]
        seeds = {self.known[n]: self.changes[n] for n in before}
        return jvp([self.nodes[name]], seeds)[0]


@dataclass(frozen=True, slots=True)
class Differential:
    """A statement and its differential, both over the names before it."""

    name: str
    value: Written
    differential: Written | None  # None: it does not vary


def differentials(
    at: Statements, elsewhere: Statements | None, facts: Mapping[str, frozenset[str]]
) -> tuple[Differential, ...] | None:
    """The statements with their differentials, each compared with autodiff at points; None where one is not found.

    `elsewhere` are the same statements at other sizes, where formulas with names for sizes are compared as well.
    """
    sizing = sizing_of(at.program)
    for named_sizes in (sizing, None) if sizing else (None,):
        try:
            return tuple(_Lines(at, elsewhere, named_sizes, facts).line(name) for name in at.nodes)
        except FAILURES:
            continue
    return None


class _Lines:
    """Writes and checks the lines of a derivation."""

    def __init__(
        self,
        at: Statements,
        elsewhere: Statements | None,
        sizing: Sizing | None,
        facts: Mapping[str, frozenset[str]],
    ) -> None:
        self.at, self.elsewhere, self.sizing, self.facts = at, elsewhere, sizing, facts
        whole = TensorProgram(at.program, (), facts, sizing=sizing)
        self.axes = {
            n: tuple(None if i is None else i.dim for i in whole.lowering.known[x].axes) for n, x in at.known.items()
        }

    def line(self, name: str) -> Differential:
        """One statement."""
        value = self._written(name, _value_node, [n for n in self.at.known if n != name], [])
        if name not in self.at.varying:
            return Differential(name, value, None)
        before = self.at.varying[: self.at.varying.index(name)]
        return Differential(name, value, self._written(name, Statements.tangent, list(self.at.known), before))

    def _written(self, name: str, node_of: Any, free: Sequence[str], before: Sequence[str]) -> Written:
        other = node_of(self.elsewhere, name) if self.elsewhere else None
        form, inputs = self._form(node_of(self.at, name), other, free, before)
        names = [*free, *(f"d{n}" for n in before)]
        is_tangent = node_of is Statements.tangent
        sides = [self.at]
        if any(p.op == "size" for p in subforms(form)):
            if self.elsewhere is None:
                raise NotLoweredError("sizes that can't be changed")
            sides.append(self.elsewhere)
        if is_tangent:  # dp = p*(1 - p)*dz: what the statement computes has its name
            value, _ = self._form(
                self.at.nodes[name],
                self.elsewhere.nodes[name] if self.elsewhere else None,
                [n for n in free if n != name],
                [],
            )
            form = replaced(form, {value: notation.name(name, value.ndim)}) if value.parts else form
        function = function_of(form, (), inputs)
        for side in sides:
            values = [_values(side, p) for p in points(side.program, self.facts)]
            wanted = iter([v[f"d{name}" if is_tangent else name] for v in values])
            at = [{n: v[n] for n in names} for v in values]
            if not agree(function, lambda _, wanted=wanted: next(wanted), at):  # type: ignore[misc]
                raise NotLoweredError(name)
        made = written(form, ())
        return replace(made, latex=_with_differentials(made.latex, before))

    def _form(
        self, node: Node, other: Node | None, free: Sequence[str], before: Sequence[str]
    ) -> tuple[Form, dict[str, Node]]:
        """A node over the names, in matrix notation."""
        inputs = {n: self.at.program.inputs.get(n) or variable(n, self.at.known[n].shape) for n in free}
        inputs |= {f"d{n}": self.at.changes[n] for n in before}
        table = {self.at.nodes[n]: inputs[n] for n in free if n in self.at.nodes}
        (node,) = substitute([node], table)
        if other is not None and self.elsewhere is not None:
            cut = {x: variable(n, x.shape) for n, x in self.elsewhere.nodes.items() if n in free}
            (other,) = substitute([other], cut)
        sizing = self.sizing
        if sizing is not None:
            axes: dict[str, tuple[Dim | None, ...]] = {n: self.axes[n] for n in free}
            axes |= {f"d{n}": self.axes[n] for n in before}
            sizing = Sizing(sizing.program, axes, sizing.named)
            sizing.numbers = self._sizes_in(node, other)
            sizing.totals = self.sizing.totals if self.sizing else {}
        program = replace(self.at.program, inputs=inputs, output=node)
        lowered = TensorProgram(program, (), self.facts, sizing=sizing)
        space: Space = lowered.space
        tensor: Tensor = folded(space, Simplifier(space)(lowered.output))
        form = with_statistics(
            Writer(space, sizing.totals if sizing else {}).form(Tensor(tensor.indices, tensor.terms))
        )
        return shaped(form, tensor.axes), inputs

    def _sizes_in(self, node: Node, other: Node | None) -> Sizes:
        """The numbers of a statement that are made of sizes: those that differ where the sizes do."""
        assert self.sizing is not None
        if other is None:
            return {}
        found = sizes_in(node, other, self.sizing.named, other_sizes(self.sizing.named))
        if found is None:
            raise NotLoweredError("numbers that may be sizes")
        return found


def _with_differentials(latex: str, names: Sequence[str]) -> str:
    """LaTeX in which the variables `dw` are written as differentials."""
    for name in sorted(names, key=len, reverse=True):
        latex = latex.replace(identifier_latex(f"d{name}"), f"d {identifier_latex(name)}")
    return latex


def _value_node(at: Statements, name: str) -> Node:
    return at.nodes[name]


def _values(at: Statements, point: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all names at a point, and of their differentials along one direction of the variable."""
    x = at.program.inputs[at.variable]
    direction = np.random.default_rng(1).uniform(-1, 1, x.shape)
    inputs = {at.program.inputs[n]: v for n, v in point.items()}
    values = dict(zip(at.nodes, evaluate(list(at.nodes.values()), dict(inputs)), strict=True))
    hot = at.varying[1:]
    tangents = jvp([at.nodes[n] for n in hot], {x: constant(direction if x.shape else float(direction))})
    found = dict(zip((f"d{n}" for n in hot), evaluate(list(tangents), dict(inputs)), strict=True))
    found[f"d{at.variable}"] = direction if x.shape else float(direction)
    shapes = {f"d{n}": at.known[n].shape for n in at.varying}
    found = {n: np.broadcast_to(v, shapes[n]) if shapes[n] else float(v) for n, v in found.items()}
    return {**point, **values, **found}
