"""What to know beside the formula: branches, kinks at the point, arguments without influence, infinities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradexplain.autodiff import Sweep
from gradexplain.evaluate import evaluate
from gradexplain.exposition.kinks import kinks
from gradexplain.exposition.model import Finding
from gradexplain.exposition.naming import names
from gradexplain.graph import Node, ancestors
from gradexplain.lambdify import expression
from gradexplain.language import Sentence
from gradexplain.ops import arithmetic, elementary, ordering
from gradexplain.trace.run import Program
from gradexplain.trace.source import place_of

MOST_OF_A_KIND = 5
_LONGEST = 60  # characters of an expression inside a sentence


def find(program: Program, wrt: Sequence[str], sweep: Sweep) -> tuple[Finding, ...]:
    """The findings about a program at its point; `sweep` is its reverse sweep.

    >>> from gradexplain.autodiff import sweep
    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x, y: abs(x)
    >>> program = trace(f, bind(f, (0.0, 1.0), {}, symbolic=False))
    >>> for finding in find(program, ["x", "y"], sweep(program.output, list(program.inputs.values()))):
    ...     print(finding.text)
    y does not appear: its derivative is 0
    abs(x) has a kink here (x = 0: slopes -1 and 1, 0 is taken)
    """
    finder = _Finder(program, wrt, sweep)
    found = [*finder.branches(), *finder.influence()]
    if not program.is_numeric:
        found += [*_some(finder.steps()), *(Finding("kink", text) for text in kinks(program, sweep.gradients[0]))]
    else:
        found += [*_some(finder.kinks()), *_some(finder.zeros()), *_some(finder.undefined())]
    found += [Finding("note", note) for note in program.trace.notes]
    found += [
        Finding("limit", Sentence("not all branches are in the formula: {limit}", limit=limit))
        for limit in program.limits
    ]
    return tuple(found)


def _some(found: Iterator[Finding]) -> list[Finding]:
    """The first of many, and how many more there are."""
    listed = list(found)
    more = len(listed) - MOST_OF_A_KIND
    if more > 0:
        listed = [
            *listed[:MOST_OF_A_KIND],
            Finding(listed[0].kind, Sentence("and {count} more of this kind", count=more)),
        ]
    return listed


class _Finder:
    def __init__(self, program: Program, wrt: Sequence[str], sweep: Sweep) -> None:
        self.program, self.wrt, self.sweep = program, wrt, sweep
        self.order = ancestors([program.output])
        self.names = names(program)
        self._values: dict[Node, Any] = dict(program.trace.values)
        self._at_kinks: set[Node] = set()

    def branches(self) -> list[Finding]:
        """The branches taken at the point; where the formula is that of one path, it holds only there."""
        if self.program.explored and not self.program.is_numeric:
            return []
        conditions = dict.fromkeys((c.node, c.truth, c.site) for c in self.program.conditions)
        there = "{condition} is {truth}: the formula holds only there"
        sentence = "{condition} is {truth}" if self.program.explored else there
        return _some(
            Finding(
                "branch",
                Sentence(sentence, condition=self._text(node), truth=Sentence("True" if truth else "False")),
                place_of(site),
            )
            for node, truth, site in conditions
        )

    def zeros(self) -> Iterator[Finding]:
        """Operations that let nothing back to an argument whose derivative is 0: slope 0 here, or another operand."""
        blocked = {x for x in self.sweep.wrt if self.sweep.is_connected(x) and not np.any(self._slope(x))}
        if not blocked:
            return
        told = set(self._at_kinks)
        for p in self.sweep.pullbacks:
            x = p.node.inputs[p.operand]
            if p.node in told or not np.any(self._value(p.adjoint)) or np.any(self._value(p.contribution)):
                continue
            is_branch = p.node.op is ordering.where and p.node not in self.program.trace.sites
            if not is_branch and any(n in blocked for n in ancestors([x])):
                told.add(p.node)
                sentence = "{formula} does not change with {operand} here: nothing comes back through it"
                text = Sentence(sentence, formula=self._text(p.node), operand=self._text(x))
                yield Finding("zero", text, self._place(p.node))

    def _slope(self, x: Node) -> Any:
        return self._value(self.sweep.adjoints[x])

    def influence(self) -> Iterator[Finding]:
        """Arguments that the result does not depend on, or only through steps."""
        reached = set(self.order)
        for name in self.wrt:
            x = self.program.inputs[name]
            if x not in reached:
                yield Finding("unused", Sentence("{name} does not appear: its derivative is 0", name=name))
            elif not self.sweep.is_connected(x):
                cut = next((n for n in self.order if x in n.inputs and not n.op.differentiable), None)
                text = Sentence("{name} appears: its derivative is 0", name=name)
                if cut is not None:
                    sentence = (
                        "{name} appears only inside {formula}, which is constant between its jumps: its derivative is 0"
                    )
                    text = Sentence(sentence, name=name, formula=self._text(cut))
                yield Finding("constant", text, self._place(cut))

    def kinks(self) -> Iterator[Finding]:
        """Operations that are exactly at a kink or a jump."""
        for node in self.order:
            at_kink = _AT_KINK.get(node.op.name)
            if at_kink is None or not self._depends(node):
                continue
            operands = [np.asarray(self._value(n)) for n in node.inputs]
            with np.errstate(all="ignore"):
                hits = int(np.sum(at_kink(*operands)))
            if hits:
                self._at_kinks.add(node)
                entries = "{formula} has a kink at {hits} of {size} entries ({slopes})"
                sentence = "{formula} has a kink here ({slopes})" if node.size == 1 else entries
                told = {"formula": self._text(node), "slopes": Sentence(node.op.kinks), "hits": hits, "size": node.size}
                yield Finding("kink", Sentence(sentence, **told), self._place(node))

    def steps(self) -> Iterator[Finding]:
        """Operations that jump at infinitely many points, where no point is given."""
        for node in self.order:
            if node.op.kinks.startswith("jumps") and node.shape == () and self._depends(node):
                jumps = Sentence("{formula} {jumps}", formula=self._text(node), jumps=Sentence(node.op.kinks))
                yield Finding("kink", jumps, self._place(node))

    def undefined(self) -> Iterator[Finding]:
        """Values and slopes that are infinite or not a number, where they first arise."""
        for node in self.order:
            if node.inputs and not self._is_finite(node) and all(map(self._is_finite, node.inputs)):
                equation = f"{self._text(node)} = {self._put_in(node)}"
                text = Sentence("{equation} has no finite value", equation=equation)
                yield Finding("undefined", text, self._place(node))
        for p in self.sweep.pullbacks:
            if self._is_finite(p.adjoint) and self._is_finite(p.node) and not self._is_finite(p.contribution):
                yield Finding("undefined", self._slope_text(p.node, p.operand, p.adjoint), self._place(p.node))

    def _slope_text(self, node: Node, i: int, adjoint: Node) -> str:
        operand, text = node.inputs[i], self._text(node)
        rule = node.op.partials[i] if node.op.partials and node.shape == () else None
        if rule is not None:
            partial = rule(node, *node.inputs)
            slope = self._value(partial) if isinstance(partial, Node) else partial
            at = f"{self._text(operand)} = {_number(self._value(operand))}"
            zero = "0 times infinity: {formula} has slope {slope} at {point}, its user has slope 0"
            sentence = zero if self._value(adjoint) == 0 else "{formula} has slope {slope} at {point}"
            return Sentence(sentence, formula=text, slope=_number(slope), point=at)
        sentence = "the slope of {formula} with respect to {operand} is not finite here"
        return Sentence(sentence, formula=text, operand=self._text(operand))

    def _put_in(self, node: Node) -> str:
        """The operation with its operands' numbers: log(0), 0/0."""
        if node.shape != () or node.op.numpy is None:
            return str(node.shape)
        shown = {n: _number(self._value(n)) for n in node.inputs}
        return _plain(expression(node, shown))

    def _depends(self, node: Node) -> bool:
        """Whether one of the arguments in question comes into a node."""
        if not hasattr(self, "_influenced"):
            self._influenced = set(self.sweep.wrt)
            for n in self.order:
                if any(m in self._influenced for m in n.inputs):
                    self._influenced.add(n)
        return node in self._influenced

    def _value(self, node: Node) -> Any:
        (found,) = evaluate([node], self._values)
        return found

    def _is_finite(self, node: Node) -> bool:
        return bool(np.all(np.isfinite(self._value(node))))

    def _text(self, node: Node) -> str:
        """A node in a sentence: its formula over the names of its operands, written out where that is short."""
        inputs = {x: n for n, x in self.program.inputs.items()}
        written = _plain(expression(node, inputs)) if len(ancestors([node])) <= 12 else ""
        if written and len(written) <= _LONGEST:
            return written
        given = {n: self.names[n] for n in node.inputs if n in self.names}
        return _plain(expression(node, {**inputs, **given})) if node.inputs else self.names.get(node, "it")

    def _place(self, node: Node | None) -> Any:
        return None if node is None else place_of(self.program.trace.sites.get(node))


def _plain(source: str) -> str:
    """NumPy source as it stands in a sentence."""
    return source.replace("np.", "").replace("absolute(", "abs(")


def _number(value: Any) -> str:
    return f"{float(value):.6g}" if np.ndim(value) == 0 else str(np.shape(value))


def _whole(x: Any, *_: Any) -> Any:
    return x == np.round(x)


def _tie(a: Any, b: Any) -> Any:
    return a == b


_AT_KINK: Mapping[str, Callable[..., Any]] = {
    arithmetic.absolute.name: lambda x: x == 0,
    ordering.sign.name: lambda x: x == 0,
    ordering.heaviside.name: lambda x, _: x == 0,
    ordering.maximum.name: _tie,
    ordering.minimum.name: _tie,
    ordering.clip.name: lambda x, low, high: (x == low) | (x == high),
    ordering.floor.name: _whole,
    ordering.ceil.name: _whole,
    ordering.trunc.name: lambda x: (x == np.round(x)) & (x != 0),
    ordering.rint.name: lambda x: _whole(x + 0.5),
    ordering.floor_divide.name: lambda a, b: _whole(a / b),
    ordering.mod.name: lambda a, b: _whole(a / b),
    ordering.fmod.name: lambda a, b: _whole(a / b) & (a != 0),
    elementary.hypot.name: lambda a, b: (a == 0) & (b == 0),
    elementary.arctan2.name: lambda a, b: (a == 0) & (b <= 0),
    elementary.copysign.name: lambda a, b: (a == 0) | (b == 0),
}
