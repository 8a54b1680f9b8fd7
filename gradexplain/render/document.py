"""Records as documents: the wording of explanations, once for all formats.

`of(record)` gives the document of any record; the functions below give its blocks. A new kind of record is one more
function registered with `blocks_of`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import singledispatch
from typing import Any

from gradexplain.exposition.model import (
    MOST_DERIVATIONS,
    AlongSymmetric,
    CheckReport,
    CheckRow,
    Derivation,
    Differentials,
    Entrywise,
    Finding,
    ImplicitDerivation,
    Modes,
    Overview,
    Sweep,
)
from gradexplain.exposition.picture import ComputationGraph
from gradexplain.exposition.plots import DescentPlot, ErrorPlot, TangentPlot
from gradexplain.exposition.taped import Recording
from gradexplain.language import joined, say
from gradexplain.render import formula as formulas
from gradexplain.render.blocks import (
    Block,
    Chain,
    Code,
    Document,
    Equation,
    Formula,
    Heading,
    Line,
    Note,
    Paragraph,
    Section,
    Table,
    line,
)
from gradexplain.render.checks import check_line, point_text
from gradexplain.render.derivations import (
    all_steps,
    answer,
    conditions,
    definitions,
    derivation,
    entrywise,
    functions,
    is_plain,
    ordinal,
    repeated,
    stages_of,
    where_evaluated,
)
from gradexplain.render.differentials import (
    definitions_of,
    differential_steps,
    differentials,
    names_of,
    read_off,
    statements,
    undefined,
)
from gradexplain.render.findings import finding, remark
from gradexplain.render.formula import derivative_of
from gradexplain.render.implicit import implicit_derivation, implicit_steps
from gradexplain.render.listings import gradient_name, modes, number, sweep, tape_table
from gradexplain.render.phrases import phrase
from gradexplain.render.pictures import words
from gradexplain.render.pictures.graph_blocks import graph_blocks, image
from gradexplain.render.pictures.plots import plot_blocks, plot_title
from gradexplain.render.recordings import recording
from gradexplain.simplify.parts import GAP

_PASSES = ("The gradient passes: {counted}.", "The gradient passes at {point}: {counted}.")
_FAILS = ("The gradient FAILS: {counted}.", "The gradient FAILS at {point}: {counted}.")
_IS_INCONCLUSIVE = ("The gradient is inconclusive: {counted}.", "The gradient is inconclusive at {point}: {counted}.")
_LONGEST_TAPE = 12  # operations that are listed within an overview


def of(record: Any) -> Document:
    """The document of a record (or of several findings)."""
    return Document(title_of(record), tuple(blocks_of(record)))


@singledispatch
def blocks_of(record: Any) -> Iterator[Block]:
    """The blocks of a record."""
    raise TypeError(f"there is no wording for a {type(record).__name__}")


@blocks_of.register
def along_symmetric(record: AlongSymmetric) -> Iterator[Block]:
    """The derivation for independent entries, and what it is where those of a pair move together."""
    yield from blocks_of(record.independent)
    name = formulas.name(record.variable)
    both = (
        "{variable} stays symmetric: both entries of a pair move, their slopes add up, the diagonal's stay as they are"
    )
    yield Paragraph(phrase(both, variable=name))
    result = Formula(record.result.text, record.result.latex)
    left = derivative_of(record.output, (record.variable,))
    yield Equation(formulas.equal(left, result), where=definitions_of(record.result))


def title_of(record: Any) -> str:
    """What the document of a record is called."""
    match record:
        case Derivation():
            variables = joined(dict.fromkeys(record.variables))
            if record.order == 1:
                return say("The derivative with respect to {variables}", variables=variables)
            which = ordinal(record.order).lower()
            return say("The {which} derivative with respect to {variables}", which=which, variables=variables)
        case ImplicitDerivation():
            names = {"name": record.dependent, "variable": record.variables[-1]}
            return say("The derivative of {name} with respect to {variable}", **names)
        case Sweep():
            return say("Reverse mode" if record.style == "reverse" else "Forward mode")
        case Entrywise():
            return say("The derivative with respect to {variable}, entry by entry", variable=record.variable)
        case Differentials() | AlongSymmetric():
            return say("The derivative with respect to {variables}", variables=record.variable)
        case Modes():
            return say("Reverse and forward mode")
        case CheckReport():
            return say("Gradient check")
        case Recording():
            return say("What the tape recorded")
        case ComputationGraph():
            return words.title_of(record)
        case TangentPlot() | ErrorPlot() | DescentPlot():
            return plot_title(record)
        case Overview():
            return record.title or f"{record.name}({', '.join(record.arguments)})"
    return say("Findings")


blocks_of.register(Derivation, derivation)
blocks_of.register(ImplicitDerivation, implicit_derivation)
blocks_of.register(Entrywise, entrywise)
blocks_of.register(Differentials, differentials)
blocks_of.register(Sweep, sweep)
blocks_of.register(Modes, modes)
blocks_of.register(Finding, finding)
blocks_of.register(ComputationGraph, graph_blocks)
blocks_of.register(Recording, recording)
for _kind in (TangentPlot, ErrorPlot, DescentPlot):
    blocks_of.register(_kind, plot_blocks)


@blocks_of.register
def _(record: CheckReport) -> Iterator[Block]:
    yield Note(line(_verdict(record)), "ok" if record.ok else "error")
    headers = (say("derivative"), say("claimed"), say("difference quotient"), say("error"), say("verdict"))
    yield Table(headers, tuple(_check_row(row) for row in record.rows))
    for row in record.rows:
        if row.reason:
            yield Note(
                phrase("{name}: {remark}", name=say(row.name), remark=say(row.reason)),
                "warning" if row.verdict == "inconclusive" else "info",
            )
    for note in record.notes:
        yield Note(line(say(note)), "info")


def _verdict(record: CheckReport) -> str:
    at = point_text(record.point)
    passed = sum(row.verdict == "pass" for row in record.rows)
    counted = say("{passed} of {count} entries agree", passed=passed, count=len(record.rows))
    sentences = _PASSES if record.ok and passed else _IS_INCONCLUSIVE if record.ok else _FAILS
    return say(sentences[bool(at)], point=at, counted=counted)


def _check_row(row: CheckRow) -> tuple[Line, ...]:
    quotient = "" if row.quotient is None else f"{row.quotient:.10g}"
    error = "" if row.error is None else f"{row.error:.1e}"
    return (
        line(say(row.name)),
        line(f"{row.claimed:.10g}"),
        line(quotient),
        line(error),
        line(say("ok" if row.verdict == "pass" else row.verdict)),
    )


@blocks_of.register
def _(record: tuple) -> Iterator[Block]:  # type: ignore[type-arg]
    if not record:
        yield Note(line(say("Nothing out of the ordinary: no branch, kink, zero or infinity was met.")), "ok")
    for one in record:
        yield from blocks_of(one)


@blocks_of.register
def _(record: Overview) -> Iterator[Block]:
    output = output_of(record)
    yield Equation(given(record, output), where=where_of(record))
    derivations = dict(zip((key for key, _ in record.forms), record.derivations, strict=False))
    with_steps = sum(found is not None for found in record.derivations)
    for position, (key, form) in enumerate(record.forms):
        found = derivations.get(key)
        is_told = position < MOST_DERIVATIONS
        if with_steps and len(record.forms) > 1:
            yield Heading(phrase("With respect to {variables}", variables=repeated(tuple(key.split(",")))), 2)
        if found is not None and is_told:
            yield from steps_of(found, is_first=position == 0)
        yield from _form(record, output, key, form, found if is_told else None)
        if with_steps and not is_told:
            yield Note(phrase("The steps are those of {call}.", call=Code(f'derivation("{key}")')), "info")
    yield from remarks(record)
    yield from _check_lines(record, output)
    if 0 < len(record.tape) <= _LONGEST_TAPE:
        yield Section(line(say("What autodiff recorded")), (tape_table(record.tape, adjoints=True),), open=False)
    if record.graph is not None:
        yield Section(line(say("Computation graph")), (image(record.graph),), open=False)


def remarks(record: Overview) -> Iterator[Block]:
    """The findings, and the notes that say more."""
    yield from map(remark, record.findings)
    said = {finding.text for finding in record.findings}
    yield from (
        Note(line(say(note)), "info") for note in record.notes if note not in said and not any(note in s for s in said)
    )


def given(record: Overview, output: str) -> Formula:
    """What is differentiated: a function, or an equation."""
    if record.equation is None:
        return formulas.named(output, _function(record))
    return formulas.equal(*map(formulas.formula, record.equation))


def output_of(record: Overview) -> str:
    """The name of what is differentiated."""
    if record.kind == "jvp":
        return record.forms[0][0][1:]
    for found in record.derivations:
        if found is not None:
            return found.output
    return next(n for n in ("y", record.name, "f", "result", "the_result") if n not in record.arguments)


def _function(record: Overview) -> Any:
    """The function as the first derivation has it, so that the names in the steps are those in the formula."""
    matrix = _in_statements(record)
    if matrix is not None:
        return matrix.values[-1][1]
    stages = stages_of(record.derivations[0]) if record.derivations else []
    return stages[0].function if stages else record.function


def _in_statements(record: Overview) -> Differentials | None:
    """The first derivation of a matrix result: they all have the same statements."""
    return next((found for found in record.derivations if isinstance(found, Differentials)), None)


def where_of(record: Overview) -> tuple[Formula, ...]:
    """What the names in the formula of the function stand for."""
    matrix = _in_statements(record)
    return definitions(defined(record)) + functions_of(record) if matrix is None else statements(matrix)


def defined(record: Overview) -> tuple[tuple[str, Any], ...]:
    """The names in the formula of the function, or in the steps below it."""
    merged: dict[str, Any] = dict(record.where)
    for found in record.derivations[:MOST_DERIVATIONS]:
        for stage in stages_of(found):
            merged |= {n: e for n, e in stage.names if n not in merged}
    return tuple(merged.items())


def functions_of(record: Overview) -> tuple[Formula, ...]:
    """The user's functions in the formula of the function."""
    first = stages_of(record.derivations[0]) if record.derivations else []
    return where_evaluated(first[0].functions, first[0].arrangement) if first else ()


def steps_of(
    found: Derivation | ImplicitDerivation | Sweep | Differentials, *, is_first: bool = True
) -> Iterator[Block]:
    """The steps of a derivation, without the function before and the answer after them; the first explains more."""
    if isinstance(found, Differentials):
        yield from differential_steps(found, explained=is_first)
    elif isinstance(found, Sweep):
        yield from blocks_of(found)
    elif isinstance(found, ImplicitDerivation):
        yield from implicit_steps(found)
    elif found.root is not None:
        yield from all_steps(stages_of(found))


def _form(record: Overview, output: str, key: str, form: Any, found: Any) -> Iterator[Block]:
    yield answer_of(record, output, key, form, found)
    yield from conditions(found.conditions if isinstance(found, Differentials) else form.conditions)


def answer_of(record: Overview, output: str, key: str, form: Any, found: Any) -> Equation | Chain:
    """A derivative of an overview, with the line that it was simplified from if its steps end there."""
    left, matrix = left_side(record, output, key), _in_statements(record)
    if matrix is not None:  # what the steps define needs no word after them
        if isinstance(found, Differentials):
            return read_off(found, left)
        return Equation(_equals(left, form), where=undefined(form, names_of(matrix)))
    where = parts_of(form)
    if isinstance(found, Derivation) and (found.rewrites or is_plain(found)):
        return answer(found, left, where)
    return Equation(_equals(left, form), where=where)


def _equals(left: Formula, form: Any) -> Formula:
    return formulas.equal(left, Formula(form.text, form.latex))


def parts_of(form: Any) -> tuple[Formula, ...]:
    """What the names in a closed form stand for."""
    named = tuple(
        formulas.equal(Formula(n, formulas.name_latex(n)), Formula(t, tex)) if n != GAP else formulas.gap(t)
        for n, t, tex in form.shown_parts
    )
    return named + functions(form)


def left_side(record: Overview, output: str, key: str) -> Formula:
    """The name of a derivative of an overview."""
    variables = tuple(key.split(","))
    if record.kind == "jvp":
        return Formula(key, f"d {formulas.name_latex(key[1:])}")
    if record.kind == "hessian" and len(variables) == 1:
        variables *= 2
    others = record.forms if record.equation is not None else record.arguments  # y depends on x alone along a curve
    if len(variables) > 1 or record.kind == "jacobian":
        return derivative_of(output, variables, partial=len(others) > 1)
    return gradient_name(output, key, record.shape, partial=len(others) > 1)


def _check_lines(record: Overview, output: str) -> Iterator[Block]:
    if record.point:
        values: Mapping[str, Any] = dict(record.values)
        keys = [key for key, _ in record.forms if key in values]
        shown = [f"{left_side(record, output, key).text} = {number(values[key])}" for key in keys]
        words = say(", ").join([*([f"{output} = {number(record.value)}"] if record.equation is None else []), *shown])
        yield Paragraph(line(say("at {point}: {values}", point=point_text(record.point), values=words)))
    if record.check is not None and record.check.rows:
        yield check_line(record.check, output)
