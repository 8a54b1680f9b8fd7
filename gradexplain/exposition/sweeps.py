"""What automatic differentiation does, line by line: the tape of a program, its reverse and its forward sweep.

Formulas are over the names of the nodes (`explain.naming`); the adjoint of `u` is called `u_bar`, its tangent `u_dot`.
Long programs keep their first and last operations: only these get formulas, so a sweep costs what it shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import sympy as sp

from gradexplain import autodiff
from gradexplain.evaluate import evaluate
from gradexplain.exposition.costs import cost
from gradexplain.exposition.model import Local, Modes, PullbackRow, Sweep, TangentRow, TapeRow
from gradexplain.exposition.naming import is_silent, names, output_name, size_of, source_of
from gradexplain.exposition.pen import Pen, letter
from gradexplain.exposition.rules import LOUD, QUIET, Scope, rule_of
from gradexplain.graph import CONSTANT, Node, ancestors, as_node, substitute, variable
from gradexplain.ops.arithmetic import power
from gradexplain.primitive import filled
from gradexplain.trace.run import Program
from gradexplain.trace.source import place_of

T = TypeVar("T")
FIRST, LAST = 24, 12  # operations of a long program that are shown
_LONGEST_RESULT = 40  # operations of a gradient that is written on one line
_MOST_PASSES = 4  # inputs that have a forward pass each
_MOST_PATHS = 6  # paths into one node that get a line each; of more, the first three and the last


def tape(program: Program, wrt: Sequence[str]) -> tuple[TapeRow, ...]:
    """The operations of a program in order, with local derivatives and adjoints.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: x**2
    >>> x, y = tape(trace(f, bind(f, (3.0,), {}, symbolic=False)), ["x"])
    >>> y.formula, y.locals[0].formula, float(y.locals[0].value), y.adjoint
    (x**2, 2*x, 6.0, 'y_bar')
    """
    return _Recorder(program, wrt).tape()


def reverse(program: Program, wrt: Sequence[str], values: bool = True) -> Sweep:
    """Reverse mode: what every operation hands back to its operands, from the seed to the gradients."""
    recorder = _Recorder(program, wrt, values)
    return recorder.record("reverse", pullbacks=recorder.pullbacks(), results=recorder.gradients())


def forward(program: Program, wrt: Sequence[str], values: bool = True) -> Sweep:
    """Forward mode: the tangent of every operation; of a few numbers in a pass for each.

    Of arrays and of many numbers there is one pass, along the direction in which all entries of `wrt` grow alike.
    """
    recorder = _Recorder(program, wrt, values)
    passes = tuple(wrt) if 1 < len(wrt) <= _MOST_PASSES and all(x.shape == () for x in recorder.inputs) else ()
    rows = recorder.tangents(passes)
    last = rows[-1:]
    results = tuple((r.tangent, r.tangent_formula, r.tangent_value) for r in last)
    if passes:
        (y,) = last
        numbers = y.tangent_values or (None,) * len(passes)
        results = tuple((n, y.tangent_formula, v) for n, v in zip(passes, numbers, strict=True))
    return recorder.record("forward", tangents=rows, results=results, passes=passes)


def both(program: Program, wrt: Sequence[str]) -> Modes:
    """Both modes, to be compared."""
    return Modes(reverse(program, wrt), forward(program, wrt))


def bar(name: str) -> str:
    """The name of an adjoint."""
    return f"{name}_bar"


def dot(name: str) -> str:
    """The name of a tangent."""
    return f"{name}_dot"


@dataclass(frozen=True, slots=True)
class _Handed:
    """A pullback between nodes that are shown; what is silent between them is passed through."""

    node: Node
    target: Node
    contribution: Node  # over the adjoints that the sweep computed
    symbolic: Node  # over a symbol for the node's adjoint


class _Recorder:
    """The formulas and numbers of one program."""

    def __init__(self, program: Program, wrt: Sequence[str], values: bool = True) -> None:
        self.program, self.wrt = program, tuple(wrt)
        self.names = names(program)
        self.pen = Pen(self.names, lambda n: is_silent(n, program))
        self.inputs = [program.inputs[n] for n in wrt]
        self.order = [
            n for n in ancestors([program.output, *self.inputs]) if n.op is not CONSTANT and not is_silent(n, program)
        ]
        self.numbers = {n: i for i, n in enumerate(self.order, 1)}
        elided = len(self.order) > FIRST + LAST + 1
        self.shown = [*self.order[:FIRST], *self.order[-LAST:]] if elided else self.order
        self.sweep = autodiff.sweep(program.output, self.inputs)
        self.has_values = values and program.is_numeric
        self._values: dict[Node, Any] = dict(program.trace.values) if self.has_values else {}
        self._adjoints: dict[Node, Node] = {}

    def record(self, style: Any, **parts: Any) -> Sweep:
        """The sweep as a record."""
        return Sweep(
            style=style,
            wrt=self.wrt,
            output=output_name(self.program.name, set(self.program.inputs)),
            shape=self.program.output.shape,
            tape=self.tape(),
            pullbacks=parts.get("pullbacks", ()),
            tangents=parts.get("tangents", ()),
            results=parts["results"],
            elided=len(self.order) - len(self.shown),
            passes=parts.get("passes", ()),
            cost=cost(self.program, self.wrt),
        )

    # The tape.
    def tape(self) -> tuple[TapeRow, ...]:
        """A row for each operation that is shown."""
        return tuple(self._tape_row(n, self.handed.get(n, [])) for n in self.shown)

    def _tape_row(self, node: Node, handed: Sequence[_Handed]) -> TapeRow:
        name = self.names[node]
        (formula,) = self.pen.open([node]) if node.inputs else self.pen.write([node])
        reached = node in self.sweep.adjoints
        return TapeRow(
            number=self.numbers[node],
            name=name,
            operation=node.op.name,
            rule=self._rule(node),
            inputs=tuple(self._called(n) for n in node.inputs),
            formula=formula,
            value=self.value(node),
            locals=self._locals(node) if reached else (),
            adjoint=bar(name),
            adjoint_formula=self._collected(node, handed) if reached else None,
            adjoint_value=self.value(self.sweep.adjoints[node]) if reached else None,
            place=self._place(node),
        )

    def _locals(self, node: Node) -> tuple[Local, ...]:
        operands = [i for i, n in enumerate(node.inputs) if n in self.sweep.adjoints]
        return tuple(local for i in operands if (local := self._local(node, i)) is not None)

    def _local(self, node: Node, i: int) -> Local | None:
        """The local derivative of an entrywise operation, or the pullback of another."""
        operand = self.names[node.inputs[i]]
        rule = node.op.partials[i] if node.op.partials else None
        if rule is not None:
            partial = as_node(rule(node, *node.inputs))
            (formula,) = self.pen.write([partial])
            return Local(operand, formula, self.value(partial), self._applied(node, i, formula))
        pulled = self._pull(node, i, self._adjoint(node))
        return None if pulled is None else Local(operand, self.pen.write([pulled])[0], is_partial=False)

    def _applied(self, node: Node, i: int, formula: Any) -> Any:
        """The power rule before its exponent is worked out: 2*x**(2 - 1)."""
        if node.op is not power or i != 0 or not node.inputs[1].is_constant:
            return None
        exponent = variable("n", node.shape)
        partial = node.op.partials[0](node, node.inputs[0], exponent)  # type: ignore[misc]
        pen = Pen({node.inputs[0]: self.names[node.inputs[0]]})
        pen.put(exponent, self.pen.write([node.inputs[1]])[0])
        (applied,) = pen.write([partial])
        return applied if applied != formula else None

    def _collected(self, node: Node, handed: Sequence[_Handed]) -> Any:
        """The adjoint of a node in terms of those of its users."""
        if node is self.program.output:
            return self._seed()
        return _sum(self.pen.write([h.symbolic for h in _few(handed)]), len(handed))

    def _seed(self) -> Any:
        return (
            sp.S.One if self.program.output.shape == () else self.pen.write([filled(1, self.program.output.shape)])[0]
        )

    # Reverse mode.
    def pullbacks(self) -> tuple[PullbackRow, ...]:
        """The lines of the sweep in the order in which reverse mode does them."""
        y = self.program.output
        name = bar(self.names.get(y, "y"))
        if y not in self.sweep.adjoints:
            return ()
        rows = [
            PullbackRow(1, "seed", name, "", self._seed(), self.value(self.sweep.adjoints[y]), place=self._place(y))
        ]
        for node, handed in reversed(self.handed.items()):
            rows += self._lines(node, handed)
        return tuple(rows)

    def _lines(self, node: Node, handed: Sequence[_Handed]) -> list[PullbackRow]:
        """What a node was handed: one line for each path, and their sum where there are several."""
        name, number = bar(self.names[node]), len(self.order) - self.numbers[node] + 2
        paths = [name] if len(handed) == 1 else _few([f"{name}_{i}" for i in range(1, len(handed) + 1)])
        formulas = self.pen.write([h.symbolic for h in _few(handed)])
        rows = [
            PullbackRow(
                number,
                "pullback",
                path,
                self.names[h.node],
                formula,
                self.value(h.contribution),
                self._rule(h.node),
                self._place(h.node),
            )
            for path, h, formula in zip(paths, _few(handed), formulas, strict=True)
        ]
        if len(handed) > 1:
            total = _sum([letter(path) for path in paths], len(handed))
            rows.append(
                PullbackRow(number, "sum", name, "", total, self.value(self.sweep.adjoints[node]), "sum over the paths")
            )
        return rows

    @cached_property
    def handed(self) -> dict[Node, list[_Handed]]:
        """What each node that is shown was handed, in the order in which it happened."""
        found: dict[Node, list[_Handed]] = {n: [] for n in self.shown}
        for p in self.sweep.pullbacks:
            if is_silent(p.node, self.program):
                continue
            target = source_of(p.node.inputs[p.operand], self.program)
            if target in found:
                symbolic = self._pull(p.node, p.operand, self._adjoint(p.node))
                contribution = self._through(p.node.inputs[p.operand], p.contribution)
                if symbolic is not None:
                    found[target].append(_Handed(p.node, target, contribution, symbolic))
        return {n: handed for n, handed in found.items() if handed}

    def _pull(self, node: Node, i: int, g: Node) -> Node | None:
        assert node.op.pullback is not None
        pulled = node.op.pullback(i, g, node)
        return None if pulled is None else self._through(node.inputs[i], pulled)

    def _through(self, node: Node, g: Node) -> Node:
        """Hands a cotangent on to what a silent node spreads."""
        while is_silent(node, self.program):
            assert node.op.pullback is not None
            g, node = node.op.pullback(0, g, node) or g, node.inputs[0]
        return g

    def _adjoint(self, node: Node) -> Node:
        if node not in self._adjoints:
            self._adjoints[node] = variable(bar(self.names.get(node, "y")), node.shape)
        return self._adjoints[node]

    def gradients(self) -> tuple[tuple[str, Any, Any], ...]:
        """The gradients on one line each, over the arguments and the seed `g`; None where that is too long."""
        y = self.program.output
        seed = variable("g" if "g" not in self.names.values() else bar(self.names.get(y, "y")), y.shape)
        gradients = autodiff.vjp(y, self.inputs, seed)
        pen = Pen({x: n for n, x in self.program.inputs.items()}, lambda n: is_silent(n, self.program))
        results = []
        for name, gradient in zip(self.wrt, gradients, strict=True):
            short = size_of(gradient) <= _LONGEST_RESULT
            (number,) = substitute([gradient], {seed: filled(1, y.shape)})
            results.append((name, pen.write([gradient])[0] if short else None, self.value(number)))
        return tuple(results)

    # Forward mode.
    def tangents(self, passes: Sequence[str] = ()) -> tuple[TangentRow, ...]:
        """The value and the tangent of every operation that is shown; numbers also of each of the passes."""
        seeds = {x: filled(1, x.shape) for x in self.inputs}
        y = self.program.output
        numbers = autodiff.forward([y], seeds)
        symbols = {n: variable(dot(self.names[n]), n.shape) for n in self.names if n in numbers}
        single = [autodiff.forward([y], {x: seeds[x]}) for x in (self.program.inputs[n] for n in passes)]
        return tuple(self._tangent_row(n, numbers, symbols, single) for n in self.shown)

    def _tangent_row(
        self,
        node: Node,
        numbers: Mapping[Node, Node],
        symbols: Mapping[Node, Node],
        passes: Sequence[Mapping[Node, Node]],
    ) -> TangentRow:
        name = self.names[node]
        (formula,) = self.pen.open([node]) if node.inputs else self.pen.write([node])
        number = numbers.get(node)
        tangent = None
        if node in self.inputs:
            tangent = sp.S.One if node.shape == () else self.pen.write([filled(1, node.shape)])[0]
        elif number is not None:
            moved = autodiff.forward([node], {n: symbols[n] for n in node.inputs if n in symbols})
            tangent = self.pen.write([moved[node]])[0]
        value = None if number is None else self.value(number)
        values = tuple(self.value(p[node]) if node in p else 0.0 for p in passes) if self.has_values else ()
        return TangentRow(
            self.numbers[node], name, formula, self.value(node), dot(name), tangent, value, self._place(node), values
        )

    # Numbers, names and places.
    def value(self, node: Node) -> Any:
        """The number at a node, None without a point."""
        if not self.has_values:
            return None
        (found,) = evaluate([node], self._values)
        return found

    def _rule(self, node: Node) -> str:
        """The rule behind the local derivative: that of the table, or what it amounts to beside constants."""
        if node not in self.sweep.adjoints or node.op.family != "elementwise":
            return node.op.rule
        name = rule_of(node, Scope(self.sweep.adjoints, lambda _: False)).name
        return name if name in LOUD + QUIET + ("exponential rule",) else node.op.rule

    def _called(self, node: Node) -> str:
        return self.names.get(node) or str(self.pen.write([node])[0])

    def _place(self, node: Node) -> Any:
        return place_of(self.program.trace.sites.get(node))


def _few(items: Sequence[T]) -> Sequence[T]:
    """The first and last of many."""
    return items if len(items) <= _MOST_PATHS else [*items[:3], items[-1]]


def _sum(terms: Sequence[Any], count: int) -> Any:
    """The sum as it stands, with dots for the terms that are left out."""
    if count > len(terms):
        terms = [*terms[:-1], letter("..."), terms[-1]]
    with sp.evaluate(False):
        return sp.Add(*terms)
