"""Tapes and sweeps in tables: what was computed, in which order, and what was handed on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradexplain.errors import Place
from gradexplain.escape import math_text
from gradexplain.exposition.model import Local, PullbackRow, Sweep, TangentRow, TapeRow
from gradexplain.render import formula as formulas
from gradexplain.render.blocks import Block, Code, Equation, Formula, Heading, Line, Note, Paragraph, Table, line
from gradexplain.render.formula import derivative_of
from gradexplain.settings import current

_SMALL_ARRAY, _SMALL_MATRIX = 6, 4  # entries that are printed


def sweep(record: Sweep) -> Iterator[Block]:
    """A sweep as tables: what was computed, and what was handed on."""
    if record.style == "reverse":
        yield from _reverse(record)
    else:
        yield from _forward(record)


def _reverse(record: Sweep) -> Iterator[Block]:
    yield Heading(line("Forward: the operations in order"), 2)
    yield tape_table(record.tape)
    yield Heading(line("Backward: every operation hands its adjoint to its operands"), 2)
    if not record.pullbacks:
        yield Note(line(f"No path leads from {' or '.join(record.wrt)} to the result: the derivative is 0."), "warning")
    else:
        yield Paragraph(_seed_words(record))
        yield _pullback_table(record.pullbacks)
    for name, expr, value in record.results:
        yield from _result(record, name, expr, value)


def _seed_words(record: Sweep) -> Line:
    seed = record.pullbacks[0]
    if record.shape == ():
        return line("The seed is ", formulas.named(seed.target, seed.formula), ".")
    return line(
        "The seed ",
        Code(seed.target),
        f" is ones of shape {record.shape}: this is the gradient of the sum of the entries.",
    )


def _result(record: Sweep, name: str, expr: Any, value: Any) -> Iterator[Block]:
    left = gradient_name(record.output, name, record.shape)
    if expr is not None:
        label = "together" if any(s.name == "g" for s in expr.free_symbols) else ""
        yield Equation(formulas.equal(left, formulas.formula(expr)), label=label and "with the seed g")
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
    headers = ("name", "operation", *(["value"] if valued else []), *(["line"] if placed else []), "local derivative")
    adjoints = adjoints and any(r.adjoint_value is not None for r in rows)
    headers += ("adjoint",) if adjoints else ()
    table: list[tuple[Line, ...]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None and row.number != before.number + 1:
            table.append((line(f"… {row.number - before.number - 1} more"),))
        operation = (formulas.formula(row.formula),) if row.inputs else line("input")
        cells = [line(Code(row.name)), operation]
        cells += [line(number(row.value))] if valued else []
        cells += [_line_number(row.place)] if placed else []
        first, *others = [local_derivative(row, local) for local in row.locals] or [()]
        table.append((*cells, first, *([_adjoint(row)] if adjoints else [])))
        table += [(*[()] * len(cells), other) for other in others]
    return Table(headers, tuple(table))


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
    headers = ("adjoint", *(["value"] if valued else []), "handed on by", "rule")
    table: list[tuple[Line, ...]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        if (
            before is not None
            and row.number > before.number + 1
            and row.number - before.number > 2
            and before.kind != "seed"
        ):
            table.append((line(f"… {row.number - before.number - 1} more"),))
        cells: list[Line] = [(formulas.named(row.target, row.formula),)]
        cells += [line(number(row.value))] if valued else []
        table.append(
            (*cells, line(Code(row.source)) if row.source else (), line("seed" if row.kind == "seed" else row.rule))
        )
    return Table(headers, tuple(table))


def _forward(record: Sweep) -> Iterator[Block]:
    seeds = [r for r in record.tangents if r.name in record.wrt]
    words = ", ".join(f"{r.tangent} = 1" for r in seeds)
    many = " (all entries alike)" if any(np.ndim(r.value) for r in seeds) or len(seeds) > 1 else ""
    yield Paragraph(line(f"Every operation carries its tangent along; the direction is {words}{many}."))
    yield _tangent_table(record.tangents)
    left = gradient_name(record.output, record.wrt[0], ())
    for name, expr, value in record.results:
        if expr is None:
            yield Note(
                line(f"No path leads from {' or '.join(record.wrt)} to the result: the derivative is 0."), "warning"
            )
        elif value is not None:
            result = Formula(name, formulas.name_latex(name)) if many or record.shape else left
            yield Equation(formulas.equal(result, numeral(value)))


def _tangent_table(rows: Sequence[TangentRow]) -> Table:
    valued = any(r.value is not None for r in rows)
    headers = ("operation", *(["value"] if valued else []), "tangent", *(["value"] if valued else []))
    table: list[tuple[Line, ...]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None and row.number != before.number + 1:
            table.append((line(f"… {row.number - before.number - 1} more"),))
        is_input = str(row.formula) == row.name
        cells: list[Line] = [line(Code(row.name)) if is_input else (formulas.named(row.name, row.formula),)]
        cells += [line(number(row.value))] if valued else []
        tangent = Formula(f"{row.tangent} = 0", f"{formulas.name_latex(row.tangent)} = 0")
        cells.append((tangent if row.tangent_formula is None else formulas.named(row.tangent, row.tangent_formula),))
        cells += [line(number(row.tangent_value) if row.tangent_value is not None else "0")] if valued else []
        table.append(tuple(cells))
    return Table(headers, tuple(table))


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
    return f"{array.shape}: {low} .. {high}, mean {mean}"


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
