"""Implicit differentiation in words: differentiate both sides, collect y', solve for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradexplain.exposition.model import Derivation, ImplicitDerivation
from gradexplain.exposition.rules import QUIET
from gradexplain.language import say
from gradexplain.render import formula as formulas
from gradexplain.render.blocks import Block, Equation, Formula, Heading, Line, StepItem, Steps, line
from gradexplain.render.derivations import (
    conditions,
    order_title,
    rules_of,
    where_evaluated,
)
from gradexplain.render.formula import derivative_of
from gradexplain.render.phrases import phrase, separated
from gradexplain.render.rewriting import simplified


def implicit_derivation(record: ImplicitDerivation) -> Iterator[Block]:
    """The equation, the steps of every order, and the answer."""
    yield Equation(equation(record))
    yield from implicit_steps(record)
    yield Equation(_answer(record), where=where_evaluated(record.where, record.arrangement))
    yield from conditions(record.conditions)


def equation(record: ImplicitDerivation) -> Formula:
    """Both sides, as they were written."""
    left, right = record.equation
    return formulas.equal(formulas.formula(left), formulas.formula(right))


def implicit_steps(record: ImplicitDerivation) -> Iterator[Block]:
    """The steps of each order."""
    stages = [record]
    while (before := stages[-1].previous) is not None:
        stages.append(before)
    for stage in reversed(stages):
        if len(stages) > 1:
            yield Heading(line(order_title(len(stage.variables))), 3)
        yield Steps(tuple(_items(stage)))


def _items(record: ImplicitDerivation) -> Iterator[StepItem]:
    prime = _primed(record.dependent, len(record.variables))
    shown = [formulas.formula(e) for e in record.differentiated]
    rules: list[StepItem] = []  # inside of step 1
    for side in record.sides:
        rules += _rules(side, len(rules) + 1)
    last = formulas.equal(prime, formulas.formula(record.solved))
    if record.collected:
        both = formulas.equal(*shown)
        yield StepItem(line(say("differentiate both sides")), both, tuple(_notes(record)), tuple(rules))
        left, right = map(formulas.formula, record.collected)
        collected = formulas.equal(left, right)
        if collected.text not in (both.text, last.text):
            yield StepItem(phrase("collect {name}", name=prime), collected)
        if last.text != both.text:
            yield StepItem(phrase("solve for {name}", name=prime), last)
    else:
        again = formulas.equal(prime, shown[0])
        yield StepItem(line(say("differentiate again")), again, (), tuple(rules))
        if last.text != again.text:
            yield StepItem(phrase("put in {terms}", terms=_primed(record.dependent, 1)), last)
    for rewrite in record.rewrites:
        after = formulas.equal(prime, simplified(rewrite.after, record.arrangement))
        if after.text != last.text:
            yield StepItem(line(say(rewrite.rule)), last := after)


def _notes(record: ImplicitDerivation) -> Iterator[Line]:
    """What depends on what."""
    name, x = record.dependent, record.variables[-1]
    yield phrase(
        "{name} depends on {variable}; {prime} stands for {derivative}",
        name=_name(name),
        variable=_name(x),
        prime=_primed(name, 1),
        derivative=derivative_of(name, (x,)),
    )
    if record.constants:
        yield phrase("{names} held constant", names=separated([_name(n) for n in record.constants]))


def _rules(side: Derivation, first: int) -> Sequence[StepItem]:
    """The rules of one side; in brief without the sums and constant multiples around them."""
    root = side.root
    if root is None or (side.detail == "brief" and root.rule in QUIET and not root.substeps):
        return ()
    return rules_of(side, formulas.prime(side.function), prefix="1.", first=first)


def _name(name: str) -> Formula:
    return Formula(name, formulas.name_latex(name))


def _primed(name: str, order: int) -> Formula:
    return Formula(name + "'" * order, formulas.name_latex(name) + "'" * order)


def _answer(record: ImplicitDerivation) -> Formula:
    return formulas.equal(
        derivative_of(record.dependent, record.variables), simplified(record.result, record.arrangement)
    )
