"""A derivation by differentials as blocks: statements, their differentials put into that of the result, the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gradexplain.escape import math_text
from gradexplain.exposition.layout import GRADIENT
from gradexplain.exposition.model import DifferentialLine, Differentials
from gradexplain.language import say
from gradexplain.render import formula as formulas
from gradexplain.render.blocks import (
    Block,
    Chain,
    Equation,
    Formula,
    Line,
    Link,
    Note,
    Paragraph,
    StepItem,
    Steps,
    line,
)
from gradexplain.render.derivations import conditions
from gradexplain.render.formula import derivative_of
from gradexplain.render.phrases import listed, phrase
from gradexplain.simplify.form import ClosedForm, Written

_ONE_BY_ONE = "Put into {result} one by one, the differentials leave {differential}: its coefficient is the derivative."


def differentials(record: Differentials) -> Iterator[Block]:
    """The function in its statements, what varies, the steps and the answer."""
    name, value = record.values[-1]
    yield Equation(formulas.named(name, value), where=statements(record))
    yield from differential_steps(record, explained=True)
    yield read_off(record, derivative_of(record.output, (record.variable,), partial=bool(record.constants)))
    yield from conditions(record.conditions)
    if record.result.shape:
        yield Note(line(say(GRADIENT)), "info")


def statements(record: Differentials) -> tuple[Formula, ...]:
    """What the names in the formula of the function stand for."""
    return (*(formulas.named(n, e) for n, e in record.values[:-1]), *_sizes(record.sizes))


def differential_steps(record: Differentials, *, explained: bool) -> Iterator[Block]:
    """What varies, then a step for each differential that is put in, the result's first; `explained`: what that is."""
    moving = formulas.name(record.variable)
    held = [formulas.name(n) for n in record.constants]
    if len(held) == 1:
        yield Paragraph(phrase("{variable} varies; {names} is held constant.", variable=moving, names=held[0]))
    elif held:
        yield Paragraph(phrase("{variable} varies; {names} are held constant.", variable=moving, names=listed(held)))
    else:
        yield Paragraph(phrase("{variable} varies.", variable=moving))
    own, of = _differential(record.variable), _differential(record.output)
    if explained and len(record.lines) > 1:
        yield Paragraph(phrase(_ONE_BY_ONE, result=of, differential=own))
    elif explained:
        yield Paragraph(phrase("{differential} is brought out: its coefficient is the derivative.", differential=own))
    yield Steps(tuple(_items(record)))


def read_off(record: Differentials, left: Formula) -> Equation | Chain:
    """The derivative: the coefficient of the variable's differential, and the same as a closed form."""
    shown, form = _in_names(record), record.result
    closed = Formula(form.text, form.latex)
    if shown.text == form.text:
        return Equation(formulas.equal(left, closed))
    return Chain(left, (Link(Formula(shown.text, shown.latex)), Link(closed)))


def _items(record: Differentials) -> Iterator[StepItem]:
    shapes = dict(record.shapes)
    known = names_of(record)
    for x in reversed(record.lines):
        own = formulas.equal(_differential(x.name), Formula(x.differential.text, x.differential.latex))
        notes = []
        if x is record.lines[0]:
            notes.append(_put_in(record, [(record.variable, _in_names(record))], shapes))
            notes += [(f,) for f in undefined(record.result, known)]
        elif x.gathered:
            notes.append(_put_in(record, x.gathered, shapes))
            if x.delta is not None:
                name, form = x.delta
                known.add(name)
                notes.append((formulas.equal(formulas.name(name), Formula(form.text, form.latex)),))
        notes += [line(say(k)) for k in x.kinks]
        yield StepItem(line(_title(x)), own, tuple(n for n in notes if getattr(n[0], "text", "") != own.text))


def _title(x: DifferentialLine) -> str:
    return say(", ").join(say(r) for r in x.rules if r) or x.name


def _in_names(record: Differentials) -> Written:
    """The derivative in the names of the steps; the closed form where that has names of its own."""
    form, gathered = record.result, record.lines[0].gathered
    if not gathered or (form.texts is not None and form.texts.parts):
        return Written(form.numpy, form.text, form.latex)
    return gathered[0][1]


def _put_in(
    record: Differentials, coefficients: Sequence[tuple[str, Written]], shapes: dict[str, tuple[int, ...]]
) -> Line:
    """The differential of the result as a sum over those that it is made of."""
    terms = [_product(form, n, shapes[n]) for n, form in coefficients]
    text = " + ".join(t.text for t in terms)
    return (formulas.equal(_differential(record.output), Formula(text, " + ".join(t.latex for t in terms))),)


def _product(form: Written, name: str, shape: tuple[int, ...]) -> Formula:
    """The sum of the entries of a coefficient times those of a differential."""
    d = _differential(name)
    text, latex = form.text, form.latex
    if not _is_one(text):
        text, latex = f"({text})", rf"\left({latex}\right)"
    if shape == ():
        return Formula(f"{text}*{d.text}", rf"{latex} \, {d.latex}")
    if len(shape) == 1:
        return Formula(f"{text} @ {d.text}", rf"{{{latex}}}^{{\top}} {d.latex}")
    return Formula(f"sum({text}*{d.text})", rf"\operatorname{{sum}}\left({latex} \odot {d.latex}\right)")


def _is_one(text: str) -> bool:
    """Whether a formula is a name, a call or the like, which needs no parentheses as a factor."""
    depth = 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if not depth and character in " +-*/@":
            return False
    return True


def _differential(name: str) -> Formula:
    return Formula(f"d{name}", f"d {formulas.name_latex(name)}")


def _sizes(sizes: Iterable[tuple[str, str]]) -> tuple[Formula, ...]:
    """What the letters for sizes stand for."""
    return tuple(formulas.equal(formulas.name(n), Formula(of, math_text(of, "texttt"))) for n, of in sizes)


def definitions_of(form: ClosedForm) -> tuple[Formula, ...]:
    """The names in a formula."""
    return tuple(
        formulas.gap(t) if not tex else formulas.equal(formulas.name(n), Formula(t, tex))
        for n, t, tex in form.shown_parts
    )


def names_of(record: Differentials) -> set[str]:
    """The names that the formula of the function defines."""
    return {n for n, _ in (*record.values, *record.sizes)}


def undefined(form: ClosedForm, known: set[str]) -> tuple[Formula, ...]:
    """What the names in a closed form stand for that are not known, those that it needs."""
    needed = _names_in(form.text)
    found: list[Formula] = []
    for name, text, latex in reversed(form.shown_parts):
        if not latex:
            found.append(formulas.gap(text))
        elif name in needed and name not in known:
            needed |= _names_in(text)
            found.append(formulas.equal(formulas.name(name), Formula(text, latex)))
    return tuple(reversed(found))


def _names_in(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d]\w*", text))
