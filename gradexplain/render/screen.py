"""The first screen of a notebook: the function, its derivative as a formula and as a number, whether that is right;
everything else folded into sections below.

The sections are in `_SECTIONS`: a title, and what makes the blocks of an overview for it. An empty one is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradexplain.exposition.model import MOST_DERIVATIONS, Overview
from gradexplain.language import say
from gradexplain.render import document
from gradexplain.render import formula as formulas
from gradexplain.render.blocks import (
    Block,
    Code,
    CodeBlock,
    Document,
    Equation,
    Formula,
    Heading,
    Inline,
    Line,
    Paragraph,
    Section,
    Strong,
    line,
)
from gradexplain.render.checks import check_line, point_text
from gradexplain.render.derivations import conditions, repeated
from gradexplain.render.listings import is_small, number, numeral, tape_table
from gradexplain.render.phrases import phrase
from gradexplain.render.pictures.graph_blocks import image


def of(record: Any) -> Document:
    """The document of a record as a notebook shows it; only that of an overview differs from `document.of`."""
    return Document("", tuple(_blocks(record))) if isinstance(record, Overview) else document.of(record)


def _blocks(record: Overview) -> Iterator[Block]:
    output = document.output_of(record)
    yield Paragraph(_lead(record))
    value = None if record.equation is not None else _value(record.value)
    stated = dict.fromkeys(document.where_of(record))  # a definition is shown once
    yield Equation(_with(document.given(record, output), value), where=tuple(stated))
    values = dict(record.values)
    for key, form in record.forms:
        left = document.left_side(record, output, key)
        closed = formulas.equal(left, Formula(form.text, form.latex))
        value = _value(values.get(key))
        is_number = value is not None and value.text == form.text
        where = tuple(part for part in document.parts_of(form) if part not in stated)
        stated |= dict.fromkeys(where)
        yield Equation(closed if is_number else _with(closed, value), where=where)
        yield from conditions(form.conditions)
        if value is None and values.get(key) is not None:
            of = number(values[key])
            yield Paragraph(phrase("at the point: {name} is of shape {shape}", name=left, shape=of))
    yield from document.remarks(record)
    if record.check is not None and record.check.rows:
        yield check_line(record.check, output)
    for title, blocks in _SECTIONS.items():
        if inner := tuple(blocks(record)):
            yield Section(line(say(title)), inner, open=False)


def _name(record: Overview) -> Inline:
    return Code(record.title) if record.title else Strong(document.title_of(record))


def _lead(record: Overview) -> Line:
    if not record.point:
        return line(_name(record))
    return phrase("{name} at {point}", name=_name(record), point=point_text(record.point))


def _with(formula: Formula, value: Formula | None) -> Formula:
    return formula if value is None else formulas.equal(formula, value)


def _value(value: Any) -> Formula | None:
    """A number, or an array that is small enough to be shown by its entries."""
    if value is None or not is_small(np.asarray(value)):
        return None
    return numeral(value)


def _steps(record: Overview) -> Iterator[Block]:
    output = document.output_of(record)
    shown = record.derivations[:MOST_DERIVATIONS]
    for (key, form), found in zip(record.forms, shown, strict=False):
        if found is None:
            continue
        if len(record.forms) > 1:
            yield Heading(phrase("With respect to {variables}", variables=repeated(tuple(key.split(",")))), 3)
        yield from document.steps_of(found, is_first=found is shown[0])
        yield document.answer_of(record, output, key, form, found)


def _autodiff(record: Overview) -> Iterator[Block]:
    if record.tape:
        yield tape_table(record.tape, adjoints=True)


def _graph(record: Overview) -> Iterator[Block]:
    if record.graph is not None:
        yield image(record.graph)


def _check(record: Overview) -> Iterator[Block]:
    if record.check is not None and record.check.rows:
        yield from document.blocks_of(record.check)


def _latex(record: Overview) -> Iterator[Block]:
    output = document.output_of(record)
    lines = [f"{document.left_side(record, output, key).latex} = {form.latex}" for key, form in record.forms]
    yield CodeBlock("\n".join(lines), "latex")


_SECTIONS: dict[str, Callable[[Overview], Iterator[Block]]] = {
    "Steps": _steps,
    "Autodiff": _autodiff,
    "Graph": _graph,
    "Check": _check,
    "LaTeX to copy": _latex,
}
