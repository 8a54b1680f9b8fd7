"""A sweep step by step: forward through the operations, back through what they hand on, and the result.

`moves` are the steps in words, each with the rows of the tape and the line of the source that it is about. As a
document they are a list; `stepper` shows them one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gradexplain.errors import Place
from gradexplain.exposition.model import PullbackRow, TapeRow, Walk
from gradexplain.language import say
from gradexplain.render import formula as formulas
from gradexplain.render.blocks import Block, Code, Formula, Line, StepItem, Steps, Strong, line
from gradexplain.render.checks import point_text
from gradexplain.render.derivations import line_of
from gradexplain.render.document import blocks_of
from gradexplain.render.listings import gradient_name, local_derivative, number, numeral
from gradexplain.render.phrases import phrase


@dataclass(frozen=True, slots=True)
class Move:
    """One step: the words for it, the names of the rows and the number of the line that it is about."""

    phase: Literal["forward", "backward", "result"]
    item: StepItem
    rows: tuple[str, ...]
    line: int | None = None


def title(record: Walk) -> str:
    """What the walk is through, and where."""
    at = point_text(record.point)
    if not at:
        return say("{name}, step by step", name=record.name)
    return say("{name} at {point}, step by step", name=record.name, point=at)


@blocks_of.register
def _(record: Walk) -> Iterator[Block]:
    yield Steps(tuple(move.item for move in moves(record)))


def moves(record: Walk) -> tuple[Move, ...]:
    """The steps in order."""
    return (*_forward(record), *_backward(record), *_results(record))


def _forward(record: Walk) -> Iterator[Move]:
    before = 0
    for row in record.sweep.tape:
        if row.number > before + 1:
            yield Move(
                "forward",
                StepItem(line(say("… {count} operations that are not shown", count=row.number - before - 1))),
                (),
            )
        before = row.number
        title = (
            _led("forward", phrase("the argument {name}", name=Code(row.name))) if not row.inputs else _computed(row)
        )
        notes = tuple(local_derivative(row, local) for local in row.locals)
        item = StepItem(title, _valued(formulas.named(row.name, row.formula), row.value, bare=not row.inputs), notes)
        yield Move("forward", item, (row.name,), _line(record, row.place))


def _computed(row: TapeRow) -> Line:
    return _led("forward", line("", Code(row.name), line_of(row.place)))


def _backward(record: Walk) -> Iterator[Move]:
    names = {row.adjoint: row.name for row in record.sweep.tape}
    for row in record.sweep.pullbacks:
        target = names.get(row.target) or names.get(row.target.rpartition("_")[0], "")
        shown = _valued(formulas.named(row.target, row.formula), row.value, bare=row.kind == "seed")
        rows = tuple(filter(None, (target, row.source)))
        yield Move("backward", StepItem(_handed(row, target), shown), rows, _line(record, row.place))


def _handed(row: PullbackRow, target: str) -> Line:
    if row.kind == "seed":
        sentence = "the seed, the derivative of {name} with respect to itself"
        return _led("backward", phrase(sentence, name=Code(target)))
    if row.kind == "sum":
        return _led("backward", phrase("the adjoint of {name} is the sum over its paths", name=Code(target)))
    names = {"source": Code(row.source), "target": Code(target)}
    handed = phrase("{source} hands on to {target}", **names)
    if row.rule:
        handed = phrase("{source} hands on to {target} by the {rule}", **names, rule=say(row.rule))
    return _led("backward", (*handed, *line(line_of(row.place))))


def _results(record: Walk) -> Iterator[Move]:
    for name, _, value in record.sweep.results:
        left = gradient_name(record.sweep.output, name, record.sweep.shape, partial=len(record.sweep.wrt) > 1)
        adjoint = Formula(f"{name}_bar", formulas.name_latex(f"{name}_bar"))
        item = StepItem(
            _led("result", phrase("the adjoint of {name}", name=Code(name))),
            _valued(formulas.equal(left, adjoint), value),
        )
        yield Move("result", item, (name,))


def _valued(formula: Formula, value: object, *, bare: bool = False) -> Formula:
    """A formula with its number; of an argument (`bare`), whose formula is its name, the number alone."""
    if value is None:
        return formula
    if bare:
        left, _, right = formula.text.partition(" = ")
        latex = formula.latex.partition(" = ")[0]
        return formulas.equal(Formula(left, latex), numeral(value)) if right != number(value) else formula
    return formulas.equal(formula, numeral(value))


def _led(phase: str, words: Line) -> Line:
    return line(Strong(say(phase)), say(": "), *words)


def _line(record: Walk, place: Place | None) -> int | None:
    shown = place is not None and place.file == record.file and any(n == place.line for n, _ in record.lines)
    return place.line if place is not None and shown else None
