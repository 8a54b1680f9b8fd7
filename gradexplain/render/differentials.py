"""A derivation by differentials as blocks: the statements, a step for each differential, the derivative read off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradexplain.escape import math_text
from gradexplain.exposition.model import DifferentialLine, Differentials
from gradexplain.language import say
from gradexplain.render import formula as formulas
from gradexplain.render.blocks import Block, Equation, Formula, Paragraph, StepItem, Steps, line
from gradexplain.render.derivations import conditions
from gradexplain.render.formula import derivative_of
from gradexplain.render.phrases import listed, phrase
from gradexplain.simplify.form import ClosedForm, Written


def differentials(record: Differentials) -> Iterator[Block]:
    """The function in its statements, what varies, the steps and the answer."""
    *before, last = record.lines
    defined = tuple(_equal(formulas.name(x.name), x.value) for x in before)
    sizes = _sizes(w for x in record.lines for w in (x.value, x.differential) if w is not None)
    yield Equation(_equal(formulas.name(last.name), last.value), where=defined + sizes)
    moving = formulas.name(record.variable)
    if len(record.constants) == 1:
        (only,) = map(formulas.name, record.constants)
        yield Paragraph(phrase("{variable} varies; {names} is held constant.", variable=moving, names=only))
    elif record.constants:
        held = listed([formulas.name(n) for n in record.constants])
        yield Paragraph(phrase("{variable} varies; {names} are held constant.", variable=moving, names=held))
    else:
        yield Paragraph(phrase("{variable} varies.", variable=moving))
    items = [_step(x, x.differential) for x in record.lines if x.differential is not None]
    d = _differential(record.variable)
    where = definitions_of(record.result)
    brought = formulas.equal(_differential(record.output), _coefficient_form(record, d))
    items.append(StepItem(phrase("put in the differentials, bring out {differential}", differential=d), brought))
    yield Steps(tuple(items))
    yield Paragraph(line(say("read off")))
    left = derivative_of(record.output, (record.variable,), partial=bool(record.constants))
    yield Equation(formulas.equal(left, Formula(record.result.text, record.result.latex)), where=where)
    yield from conditions(record.result.conditions)


def _step(x: DifferentialLine, differential: Written) -> StepItem:
    rules = say(", ").join(say(r) for r in x.rules if r)
    return StepItem(line(rules or x.name), _equal(_differential(x.name), differential))


def _coefficient_form(record: Differentials, d: Formula) -> Formula:
    """The sum of the entries of the derivative times those of the differential."""
    text, latex = record.result.text, record.result.latex
    if record.shape == ():
        return Formula(f"({text})*{d.text}", rf"\left({latex}\right) {d.latex}")
    if len(record.shape) == 1:
        return Formula(f"({text}).T @ {d.text}", rf"\left({latex}\right)^{{\top}} {d.latex}")
    return Formula(f"sum(({text})*{d.text})", rf"\sum \left(\left({latex}\right) \odot {d.latex}\right)")


def _differential(name: str) -> Formula:
    return Formula(f"d{name}", f"d {formulas.name_latex(name)}")


def _equal(left: Formula, right: Written) -> Formula:
    return formulas.equal(left, Formula(right.text, right.latex))


def _sizes(texts: Iterable[Written]) -> tuple[Formula, ...]:
    """What the letters for sizes stand for."""
    found = dict(pair for w in texts for pair in w.sizes)
    return tuple(formulas.equal(formulas.name(n), Formula(of, math_text(of, "texttt"))) for n, of in found.items())


def definitions_of(form: ClosedForm) -> tuple[Formula, ...]:
    """The names in a formula."""
    return tuple(
        formulas.gap(t) if not tex else formulas.equal(formulas.name(n), Formula(t, tex))
        for n, t, tex in form.shown_parts
    )
