"""Tapes and sweeps in tables: what was computed, in which order, and what was handed on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradexplain.errors import Place
from gradexplain.escape import math_text
from gradexplain.exposition.model import Local, Modes, PullbackRow, Sweep, TangentRow, TapeRow
from gradexplain.language import joined, say
from gradexplain.render import formula as formulas
from gradexplain.render.blocks import (
    Block,
    Code,
    Equation,
    Formula,
    Heading,
    Line,
    Note,
    Paragraph,
    Table,
    line,
)
from gradexplain.render.costs import cost_table, cost_words, verdict
from gradexplain.render.formula import derivative_of
from gradexplain.render.phrases import phrase
from gradexplain.settings import current

_SMALL_ARRAY, _SMALL_MATRIX = 6, 4  # entries that are printed


def sweep(record: Sweep) -> Iterator[Block]:
    """A sweep as tables: what was computed, and what was handed on; and what that cost."""
    if record.style == "reverse":
        yield from _reverse(record)
    else:
        yield from _forward(record)
    if record.cost is not None:
        yield from cost_words(record.cost, record.style)


def modes(record: Modes) -> Iterator[Block]:
    """Both modes one after the other, and their costs beside each other."""
    yield Heading(line(say("Reverse mode")), 1)
    yield from _reverse(record.reverse)
    yield Heading(line(say("Forward mode")), 1)
    yield from _forward(record.forward)
    if record.reverse.cost is not None:
        yield Heading(line(say("What they cost")), 1)
        yield cost_table(record.reverse.cost)
        yield Paragraph(line(verdict(record.reverse.cost)))


def _reverse(record: Sweep) -> Iterator[Block]:
    yield Heading(line(say("Forward: the operations in order")), 2)
    yield tape_table(record.tape)
    yield Heading(line(say("Backward: every operation hands its adjoint to its operands")), 2)
    if not record.pullbacks:
        yield _no_path(record)
    else:
        yield Paragraph(_seed_words(record))
        yield _pullback_table(record.pullbacks)
        yield from _path_words(record.pullbacks)
    for name, expr, value in record.results:
        yield from _result(record, name, expr, value)


def _no_path(record: Sweep) -> Note:
    sentence = "No path leads from {names} to the result: the derivative is 0."
    return Note(line(say(sentence, names=say(" or ").join(record.wrt))), "warning")


def _path_words(rows: Sequence[PullbackRow]) -> Iterator[Block]:
    """What each path adds to a sum: paths into x: via u 0.84672, via v -8.90993, sum -8.06321."""
    for total in (r for r in rows if r.kind == "sum"):
        paths = [r for r in rows if r.kind == "pullback" and r.number == total.number]
        if any(np.ndim(r.value) for r in paths) or any(r.value is None for r in paths):
            continue
        via = [phrase(" via {operation} {value},", operation=Code(p.source), value=number(p.value)) for p in paths]
        left_out = line(" …,") if "..." in str(total.formula) else ()
        yield Paragraph(
            phrase(
                "paths into {name}:{paths} sum {value}",
                name=Code(total.target.removesuffix("_bar")),
                paths=[*(inline for path in via for inline in path), *left_out],
                value=number(total.value),
            )
        )


def _seed_words(record: Sweep) -> Line:
    seed = record.pullbacks[0]
    if record.shape == ():
        return phrase("The seed is {seed}.", seed=formulas.named(seed.target, seed.formula))
    sentence = "The seed {name} is ones of shape {shape}: this is the gradient of the sum of the entries."
    return phrase(sentence, name=Code(seed.target), shape=str(record.shape))


def _result(record: Sweep, name: str, expr: Any, value: Any) -> Iterator[Block]:
    left = gradient_name(record.output, name, record.shape, partial=len(record.wrt) > 1)
    if expr is not None:
        label = say("with the seed g") if any(s.name == "g" for s in expr.free_symbols) else ""
        yield Equation(formulas.equal(left, formulas.formula(expr)), label=label)
    if value is not None:
        yield Equation(formulas.equal(left, numeral(value)))


def gradient_name(output: str, variable: str, shape: tuple[int, ...], *, partial: bool = False) -> Formula:
    """The name of a gradient: of a result with several entries it is that of their sum.

    >>> gradient_name("y", "A", (2, 2)).text
    'd sum(y)/dA'
    """
    if shape == ():
        return derivative_of(output, (variable,), partial=partial)
    return Formula(
        f"d sum({output})/d{variable}",
        rf"\frac{{d \sum {formulas.name_latex(output)}}}{{d {formulas.name_latex(variable)}}}",
    )


def tape_table(rows: Sequence[TapeRow], *, adjoints: bool = False) -> Table:
    """The operations of a program, one a row; with `adjoints`, what the sweep back gave each of them."""
    valued = any(r.value is not None for r in rows)
    placed = any(r.place is not None for r in rows)
    adjoints = adjoints and any(r.adjoint_value is not None for r in rows)
    headers = (
        say("name"),
        say("operation"),
        *([say("value")] if valued else []),
        *([say("line")] if placed else []),
        say("local derivative"),
        *([say("adjoint")] if adjoints else []),
    )
    table: list[tuple[Line, ...]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None and row.number != before.number + 1:
            table.append((_skipped(before, row),))
        operation = (formulas.formula(row.formula),) if row.inputs else line(say("input"))
        cells = [line(Code(row.name)), operation]
        cells += [line(number(row.value))] if valued else []
        cells += [_line_number(row.place)] if placed else []
        first, *others = [local_derivative(row, local) for local in row.locals] or [()]
        table.append((*cells, first, *([_adjoint(row)] if adjoints else [])))
        table += [(*[()] * len(cells), other) for other in others]
    return Table(headers, tuple(table))


def _skipped(before: TapeRow | PullbackRow | TangentRow, row: TapeRow | PullbackRow | TangentRow) -> Line:
    return line(say("… {count} more", count=row.number - before.number - 1))


def _adjoint(row: TapeRow) -> Line:
    if row.adjoint_value is None:
        return ()
    return (formulas.equal(Formula(row.adjoint, formulas.name_latex(row.adjoint)), numeral(row.adjoint_value)),)


def local_derivative(row: TapeRow, local: Local) -> Line:
    """A local derivative: as a rule gives it, worked out, and as a number; or what the adjoint becomes."""
    if not local.is_partial:
        return (formulas.named(f"{local.operand}_bar", local.formula),)
    shown = [derivative_of(row.name, (local.operand,), partial=True)]
    shown += [formulas.formula(e) for e in (local.applied, local.formula) if e is not None]
    if local.value is not None and np.ndim(local.value) == 0 and not local.formula.is_Number:
        shown.append(numeral(local.value))
    return (Formula(" = ".join(f.text for f in shown), " = ".join(f.latex for f in shown)),)


def _pullback_table(rows: Sequence[PullbackRow]) -> Table:
    valued = any(r.value is not None for r in rows)
    headers = (say("adjoint"), *([say("value")] if valued else []), say("handed on by"), say("rule"))
    table: list[tuple[Line, ...]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        if (
            before is not None
            and row.number > before.number + 1
            and row.number - before.number > 2
            and before.kind != "seed"
        ):
            table.append((_skipped(before, row),))
        cells: list[Line] = [(formulas.named(row.target, row.formula),)]
        cells += [line(number(row.value))] if valued else []
        table.append(
            (
                *cells,
                line(Code(row.source)) if row.source else (),
                line(say("seed" if row.kind == "seed" else row.rule)),
            )
        )
    return Table(headers, tuple(table))


def _forward(record: Sweep) -> Iterator[Block]:
    yield Paragraph(line(_direction(record)))
    yield _tangent_table(record)
    reached = [r for r in record.results if r[1] is not None]
    if not reached:
        yield _no_path(record)
    for name, _, value in reached:
        if value is not None:
            one = record.passes or (len(record.wrt) == 1 and not _has_arrays(record))
            variable = name if record.passes else record.wrt[0]
            left = (
                gradient_name(record.output, variable, (), partial=len(record.wrt) > 1) if one else formulas.name(name)
            )
            yield Equation(formulas.equal(left, numeral(value)))


def _has_arrays(record: Sweep) -> bool:
    return bool(record.shape) or any(np.ndim(r.value) for r in record.tangents if r.name in record.wrt)


def _direction(record: Sweep) -> str:
    seeds = [r.tangent for r in record.tangents if r.name in record.wrt]
    if record.passes:
        passes = (
            "Every operation carries its tangent along, in {count} passes, one for each of {names}: its own tangent "
            "starts at 1, the others at 0."
        )
        return say(passes, count=len(record.passes), names=joined(record.passes))
    one = "Every operation carries its tangent along; the direction is {direction}."
    many = "Every operation carries its tangent along; the direction is {direction} (all entries alike)."
    words = ", ".join(f"{seed} = 1" for seed in seeds)
    return say(many if len(seeds) > 1 or _has_arrays(record) else one, direction=words)


def _tangent_table(record: Sweep) -> Table:
    rows = record.tangents
    valued = any(r.value is not None for r in rows)
    several = record.passes if valued else ()
    value = [say("value")] if valued else []
    columns = [say("pass of {name}", name=name) for name in several] or value
    headers = (say("operation"), *value, say("tangent"), *columns)
    table: list[tuple[Line, ...]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None and row.number != before.number + 1:
            table.append((_skipped(before, row),))
        is_input = str(row.formula) == row.name
        cells: list[Line] = [line(Code(row.name)) if is_input else (formulas.named(row.name, row.formula),)]
        cells += [line(number(row.value))] if valued else []
        cells.append((_tangent(row, record),))
        if several:
            cells += [line(number(v)) for v in row.tangent_values]
        elif valued:
            cells.append(line(number(row.tangent_value) if row.tangent_value is not None else "0"))
        table.append(tuple(cells))
    return Table(headers, tuple(table))


def _tangent(row: TangentRow, record: Sweep) -> Formula:
    """A tangent with its formula: a seed's is 1 in its own pass, 0 in those of others."""
    if row.tangent_formula is None:
        return Formula(f"{row.tangent} = 0", f"{formulas.name_latex(row.tangent)} = 0")
    if record.passes and row.name in record.wrt:
        return formulas.name(row.tangent)
    return formulas.named(row.tangent, row.tangent_formula)


def _line_number(place: Place | None) -> Line:
    return line(str(place.line)) if place is not None else ()


def number(value: Any) -> str:
    """A number to the digits of `options`; an array by its entries if it is small, else by its shape and range.

    >>> number(2 / 3), number(np.array([1.0, 2.5])), number(np.zeros((3, 4)))
    ('0.666667', '[1, 2.5]', '(3, 4): 0 .. 0, mean 0')
    """
    if value is None:
        return ""
    array = np.asarray(value)
    digits = current().precision
    if array.ndim == 0:
        return str(array[()]) if array.dtype == bool else f"{float(array) + 0.0:.{digits}g}"
    if is_small(array):
        written = np.array2string(array, separator=", ", formatter={"float_kind": lambda x: f"{x + 0.0:.{digits}g}"})
        return written.replace("\n", "")
    low, high, mean = (f"{float(f(array)) + 0.0:.4g}" for f in (np.min, np.max, np.mean))
    return say("{shape}: {low} .. {high}, mean {mean}", shape=array.shape, low=low, high=high, mean=mean)


def is_small(array: Any) -> bool:
    """Whether an array is printed by its entries."""
    return bool(array.size <= (_SMALL_ARRAY if array.ndim == 1 else _SMALL_MATRIX))


def numeral(value: Any) -> Formula:
    r"""A number as a formula; an array as a vector, as a matrix, or, of more axes, as rows of matrices.

    >>> numeral(np.array([1.0, 2.5])), numeral(1e-7).latex, numeral(-np.inf).latex
    (Formula(text='[1, 2.5]', latex='\\begin{bmatrix}1 & 2.5\\end{bmatrix}'), '1 \\cdot 10^{-7}', '-\\infty')
    """
    text, array = number(value), np.asarray(value)
    return Formula(text, _array_latex(array) if is_small(array) else math_text(text))


def _array_latex(array: Any) -> str:
    if array.ndim == 0:
        return _number_latex(number(array))
    rows = array if array.ndim > 1 else [array]
    body = r" \\ ".join(" & ".join(_array_latex(np.asarray(entry)) for entry in row) for row in rows)
    return rf"\begin{{bmatrix}}{body}\end{{bmatrix}}"


def _number_latex(shown: str) -> str:
    mantissa, e, exponent = shown.partition("e")
    if e and exponent.lstrip("+-").isdigit():
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
    return {"inf": r"\infty", "-inf": r"-\infty"}.get(shown) or (shown if shown[-1:].isdigit() else math_text(shown))
