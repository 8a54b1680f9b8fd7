"""Why a rule and no other, and why it holds: what the full detail says of logarithms and inverse functions."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from gradexplain.exposition.model import Step
from gradexplain.exposition.rules import BRANCHES, LOGARITHMIC
from gradexplain.language import say
from gradexplain.render import formula as formulas
from gradexplain.render.blocks import Formula, Line, line
from gradexplain.render.phrases import phrase

_LOG_OF_POWER = Formula("log(a**b) = b*log(a)", r"\ln\left(a^{b}\right) = b \ln\left(a\right)")


def reasons(step: Step) -> Iterator[Line]:
    """The lines that come before a rule is stated."""
    if step.rule == LOGARITHMIC and step.bindings:
        neither = "the power rule needs a constant exponent, the exponential rule a constant base: neither applies"
        yield line(say(neither))
        yield phrase("condition: {base} > 0, so that the power is real", base=formulas.formula(step.before.args[0]))
    if step.inverse is not None:
        value, operand = formulas.name(step.inverse.value), formulas.formula(step.inverse.operand)
        slope, primed = formulas.formula(step.inverse.slope), formulas.prime(step.inverse.operand)
        yield phrase(
            "inverse function: {value} with {equation}", value=value, equation=formulas.equal(_written(step), operand)
        )
        moving = Formula(f"{_factor(slope.text)}*{value.text}'", rf"\left({slope.latex}\right) {value.latex}'")
        both = formulas.equal(moving, primed)
        written = formulas.equal(slope, formulas.formula(step.inverse.in_operand))
        yield phrase("both sides: {equation}, where {slope}", equation=both, slope=written)


def single_points(step: Step) -> Iterator[Line]:
    """What a branch for one point alone leaves open: it has a value there, and no slope of its own."""
    if step.rule == BRANCHES and step.reference is None and step.before.has(sp.Eq):
        yield line(say("a branch of a single point has no slope of its own: there the limit decides"))


def logarithm_taken(name: str, step: Step) -> Line:
    """The logarithm of a power, which the reader gets from the law of logarithms."""
    whole = formulas.formula(step.before)
    taken = Formula(f"log({whole.text})", rf"\ln\left({whole.latex}\right)")
    named = formulas.equal(formulas.equal(formulas.name(name), taken), formulas.formula(step.bindings[0][1]))
    return phrase("take logarithms: {equation}, by {law}", equation=named, law=_LOG_OF_POWER)


def rewritten(step: Step) -> Line:
    """The other way to the same: the power as an exponential."""
    whole, exponent = formulas.formula(step.before), formulas.formula(step.bindings[0][1])
    written = Formula(f"exp({exponent.text})", rf"e^{{{exponent.latex}}}")
    rewriting = formulas.equal(whole, written)
    return phrase("the same by rewriting: {equation} and the chain rule", equation=rewriting)


def _written(step: Step) -> Formula:
    assert step.inverse is not None
    return formulas.formula(step.inverse.function)


def _factor(text: str) -> str:
    return f"({text})" if " " in text else text
