"""The orders of a derivative: each is taken of the closed form of the order before, as a person would go on from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from gradexplain.autodiff import sweep
from gradexplain.exposition.calculus import Calculus, Calls, names_of_more
from gradexplain.exposition.naming import names
from gradexplain.exposition.rewriting import LONGEST, with_path
from gradexplain.graph import Node, ancestors
from gradexplain.simplify.closed import arrangement, closed_form
from gradexplain.simplify.form import ClosedForm, functions_in
from gradexplain.simplify.naming import namings
from gradexplain.simplify.nodes import node_of
from gradexplain.symbolic import tree_size
from gradexplain.trace.run import Program


class Start(NamedTuple):
    """What an order differentiates: a node, the names in it, and the closed form that it was read from, if any."""

    node: Node
    named: Mapping[Node, str]
    form: ClosedForm | None = None
    calls: Calls = MappingProxyType({})  # results that are written as calls of the user's functions


class Orders:
    """The derivatives of a scalar program, one order after the other; each closed form is found once.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: x**4 / (1 + x**2)
    >>> orders = Orders(trace(f, bind(f, (), {}, symbolic=True)))
    >>> orders.start(("x",)).form.text, orders.calculus(("x", "x")).output is orders.start(("x",)).node
    ('2*x**3*(2 + x**2)/(1 + x**2)**2', True)
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._names = names(program)
        self._starts: dict[tuple[str, ...], Start] = {}
        self._calculi: dict[tuple[str, ...], Calculus] = {}

    def with_steps(self, forms: Mapping[str, ClosedForm]) -> dict[str, ClosedForm]:
        """Closed forms by key, each with the steps that lead to it from what the rules of calculus give."""
        if tree_size(self.program.output) > LONGEST:
            return dict(forms)
        return {key: self._with_path(form, key.split(",")) for key, form in forms.items()}

    def calculus(self, variables: Sequence[str]) -> Calculus:
        """The rules of the last of the variables, applied to the derivative with respect to those before."""
        key = tuple(variables)
        if key not in self._calculi:
            start = self.start(key[:-1])
            self._calculi[key] = Calculus(start.node, self.program.inputs[key[-1]], start.named, start.calls)
        return self._calculi[key]

    def start(self, variables: Sequence[str]) -> Start:
        """What the order after these variables differentiates: their closed form, or else what the rules gave."""
        key = tuple(variables)
        for n in range(len(key) + 1):
            if key[:n] not in self._starts:
                self._starts[key[:n]] = self._found(key[:n])
        return self._starts[key]

    def _found(self, key: tuple[str, ...]) -> Start:
        if not key:
            return Start(self.program.output, self._names, calls=self._calls())
        calculus = self.calculus(key)
        slope = self.program.output
        for name in key:
            (slope,) = sweep(slope, [self.program.inputs[name]]).gradients
        if tree_size(slope) <= LONGEST:
            form = closed_form(",".join(key), slope, self.program, self._names, arrangement(self.program, self._names))
            read = node_of(form, slope, self.program)
            if read is not None:
                node, parts = read
                kept = {n: name for n, name in self._names.items() if n is not self.program.output}
                return Start(node, names_of_more(node, kept | parts), self._with_path(form, key))
        return Start(calculus.slope, names_of_more(calculus.slope, calculus.names))

    def _calls(self) -> Calls:
        """The calls of the user's functions that a reader can look up: those of short ones."""
        if tree_size(self.program.output) > LONGEST or any(n.shape for n in ancestors([self.program.output])):
            return {}
        calls = namings(self.program, self._names)[-1].calls
        shown = {f.func for f, _ in functions_in([function(*function.parameters) for function, _ in calls.values()])}
        return {n: call for n, call in calls.items() if call[0] in shown}

    def _with_path(self, form: ClosedForm, variables: Sequence[str]) -> ClosedForm:
        return with_path(form, self.program, self.calculus(variables))
