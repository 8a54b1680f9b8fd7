"""The differentials of a program's statements in matrix notation, each over the names of the statements before it, and
the differential of the result when they are put into it one after another.

Every formula is compared with autodiff at points, and at other sizes if it has names for sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradexplain.autodiff import sweep
from gradexplain.escape import identifier_latex
from gradexplain.evaluate import evaluate
from gradexplain.graph import Node, ancestors, depends_on, substitute
from gradexplain.ops.reductions import sum_over
from gradexplain.simplify.form import Written
from gradexplain.simplify.tensor import notation
from gradexplain.simplify.tensor.calling import called
from gradexplain.simplify.tensor.domain import conditions
from gradexplain.simplify.tensor.folding import folded
from gradexplain.simplify.tensor.forms import FAILURES, written
from gradexplain.simplify.tensor.notation import (
    Form,
    joint_cost,
    replaced,
    subforms,
    with_signs_inside,
    with_statistics,
)
from gradexplain.simplify.tensor.program import TensorProgram
from gradexplain.simplify.tensor.simplifying import Simplifier
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.statements import Facts, Letters, Names, Statements
from gradexplain.simplify.tensor.terms import Tensor
from gradexplain.simplify.tensor.writing import Writer, shaped


@dataclass(frozen=True, slots=True)
class Differential:
    """A statement's differential, and that of the result after it was put in: a coefficient for each differential.

    `delta` is what the coefficient of the next statement's differential is called, if it has a name.
    """

    name: str
    differential: Written
    conditions: tuple[str, ...] = ()
    gathered: tuple[tuple[str, Written], ...] = ()
    delta: tuple[str, Written] | None = None


def differentials(
    at: Statements, elsewhere: Statements | None, facts: Facts, deltas: Mapping[str, str]
) -> tuple[Differential, ...] | None:
    """The differentials of the statements that vary, in the order of computation; None where one is not found.

    `elsewhere` are the same statements at other sizes; `deltas` are names for adjoints, by statement.
    """
    for sized in (True, False):
        try:
            names = Names(at, elsewhere, facts, sized=sized)
            found = {n: _Lines(names).differential(n) for n in at.varying[1:]}
        except FAILURES:
            continue
        found |= {x.name: x for x in _gathered(names, found, deltas)}
        return tuple(found.values())
    return None


def _gathered(names: Names, found: Mapping[str, Differential], deltas: Mapping[str, str]) -> Iterator[Differential]:
    """The differentials with that of the result, from the last backwards, as far as that is found."""
    gathering = _Gathering(names, deltas)
    for last in reversed(names.at.varying[1:]):
        try:
            yield gathering.after(found[last])
        except FAILURES:
            return


class _InNames(Simplifier):
    """Prefers what is short when statements are called by their names."""

    def __init__(self, space: Space, names: Mapping[Form, Form]) -> None:
        super().__init__(space)
        self.names = names

    def cost(self, tensor: Tensor) -> float:
        """What the tensor costs in print, with names."""
        form = with_signs_inside(self._writer.form(Tensor(tensor.axes, tensor.terms)))
        return joint_cost([called(form, self.names)])


class _Lines:
    """Writes nodes over names."""

    def __init__(self, names: Names) -> None:
        self.names, self.at = names, names.at

    def form(self, name: str, node_of: Any, letters: Letters, known: Mapping[Form, Form]) -> Form:
        """A node over names, of the shape of a statement; the values of other statements by their names."""
        program, sizing = self.names.program(node_of, letters)
        lowered = TensorProgram(program, (), self.names.facts, sizing=sizing)
        for i, dim in zip(lowered.output.axes, self.names.axes(name), strict=True):
            if i is not None and dim is not None:  # what is spread over rows has as many as there are
                i.dim.same(dim)
        tensor = folded(lowered.space, _InNames(lowered.space, known)(lowered.output))
        writer = Writer(lowered.space, sizing.totals if sizing else {})
        form = with_signs_inside(with_statistics(writer.form(Tensor(tensor.indices, tensor.terms))))
        return called(shaped(form, tensor.axes), known)

    def values(self, wanted: Sequence[str], over: Sequence[str]) -> dict[Form, Form]:
        """The names of statements by what they are in matrix notation, the longest first."""
        found: dict[Form, Form] = {}
        for name in wanted:
            try:
                value = self.form(
                    name, lambda side, n=name: side.over(side.nodes[n], over), {n: n for n in over}, found
                )
            except FAILURES:
                continue
            if value.parts:
                found[value] = notation.name(name, value.ndim)
        return found

    def differential(self, name: str) -> Differential:
        """The differential of a statement over everything that has a name: dp = p*(1 - p)*dz."""
        others = [n for n in self.at.known if n != name]
        letters = {n: n for n in self.at.known} | {f"d{n}": n for n in self.at.before(name)}
        known = self.values([name], others)
        form = self.form(name, lambda side: side.over(side.tangent(name), others), letters, known)
        changes = frozenset(f"d{n}" for n in self.at.before(name))
        form = _with_differentials_last(form, changes)
        self.names.require(form, letters, lambda _, values: values[f"d{name}"])
        made = written(form, ())
        made = replace(made, latex=_with_differentials(made.latex, changes))
        written_out = replaced(form, {letter: value for value, letter in known.items()})
        return Differential(name, made, conditions((written_out,)))


class _Gathering(_Lines):
    """Puts the differentials of statements into that of the result, from the last statement backwards."""

    def __init__(self, names: Names, deltas: Mapping[str, str]) -> None:
        super().__init__(names)
        self.deltas = deltas
        self.named: list[tuple[str, str]] = []  # statements whose adjoint has a name, the last first
        self.put_in: list[str] = []

    def _result(self, side: Statements) -> Node:
        """A number with the differential of the result: what lies behind a named adjoint is that times its value."""
        node = list(side.nodes.values())[-1]
        for name, delta in self.named:
            value = side.nodes[name]
            (rest,) = substitute([node], {value: side.letter(name)})
            product = side.letter(delta, name) * value
            node = sum_over(product, axis=tuple(range(product.ndim)), keepdims=False) if product.shape else product
            if rest in depends_on(ancestors([rest]), [side.program.inputs[side.variable]]):
                node = rest + node
        return node

    def after(self, x: Differential) -> Differential:
        """The differential of the result after that of one more statement was put in."""
        self.put_in.insert(0, x.name)
        before = self.at.before(x.name)
        over = [n for n in self.at.known if n not in self.put_in]

        def result(side: Statements) -> Node:
            return side.over(self._result(side), over)

        letters = {n: n for n in self.at.known} | {delta: n for n, delta in self.named}
        node = result(self.at)
        moving = [n for n in before if node in depends_on(ancestors([node]), [self.at.letter(n)])]
        known = self.values(self.put_in[:-1], over)
        forms = self._coefficients(result, letters, moving, known)
        gathered = []
        delta: tuple[str, Written] | None = None
        for name, form in forms.items():

            def adjoint(side: Statements, values: Mapping[str, Any], name: str = name) -> Any:
                return self._adjoint(side, result(side), name, values)

            self.names.require(form, letters, adjoint)
            if name == before[-1] and name in self.deltas and form.parts:
                letter = self.deltas[name]
                for side, points in self.names.sides():
                    for values in points:
                        values[letter] = adjoint(side, values)
                self.named.append((name, letter))
                delta = (letter, written(form, ()))
                form = notation.name(letter, form.ndim)
            gathered.append((name, written(form, ())))
        return replace(x, gathered=tuple(gathered), delta=delta)

    def _coefficients(
        self, result: Any, letters: Letters, moving: Sequence[str], known: Mapping[Form, Form]
    ) -> dict[str, Form]:
        """The derivatives of the result by the statements that its differential has, the shorter of two ways."""
        program, sizing = self.names.program(result, letters)
        ways = []
        for keep in (False, True):
            lowered = TensorProgram(program, moving, self.names.facts, keep=keep, sizing=sizing)
            found, *_ = lowered.forms("gradient")
            ways.append({n: with_signs_inside(called(f, known)) for n, f in found.items()})
        return min(ways, key=lambda forms: joint_cost(forms.values()))

    def _adjoint(self, side: Statements, result: Node, name: str, values: Mapping[str, Any]) -> Any:
        (node,) = sweep(result, [side.letter(name)]).gradients
        letters = [n for n in ancestors([node]) if not n.inputs and "name" in n.params]
        return evaluate([node], {x: values[x.params["name"]] for x in letters})[0]


def _with_differentials(latex: str, names: frozenset[str]) -> str:
    """LaTeX in which the variables `dw` are written as differentials."""
    for name in sorted(names, key=len, reverse=True):
        latex = latex.replace(identifier_latex(name), f"d {identifier_latex(name[1:])}")
    return latex


def _with_differentials_last(form: Form, changes: frozenset[str]) -> Form:
    """A form in which differentials come last among factors whose order is free."""
    parts = tuple(_with_differentials_last(p, changes) for p in form.parts)
    if form.op == "product" or (form.op == "matmul" and all(p.ndim == 1 for p in parts)):
        parts = tuple(sorted(parts, key=lambda p: any(q.data in changes for q in subforms(p) if q.op == "name")))
    return form if parts == form.parts else replace(form, parts=parts)
