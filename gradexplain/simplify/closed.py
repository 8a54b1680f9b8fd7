"""How a closed form is made from a gradient graph: written out, in named parts, entry by entry, or as a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from gradexplain.escape import math_text
from gradexplain.evaluate import evaluate
from gradexplain.graph import Node, ancestors, as_node
from gradexplain.lambdify import Writer
from gradexplain.simplify import reading
from gradexplain.simplify.arrangement import TEXTBOOK, Arrangement
from gradexplain.simplify.candidates import (
    MOST_WRITTEN_OUT,
    cheapest_form,
    evidence_of,
    form_in_names,
    tangent_form,
)
from gradexplain.simplify.conditions import conditions
from gradexplain.simplify.counting import operations
from gradexplain.simplify.entrywise import entries, is_suitable, runs_over_all, source_names
from gradexplain.simplify.form import ClosedForm, Written
from gradexplain.simplify.naming import namings
from gradexplain.simplify.numeric import rounded
from gradexplain.simplify.parts import Parts
from gradexplain.simplify.passes import derived_by_terms, has_passes
from gradexplain.simplify.printing import latex, numpy_source
from gradexplain.simplify.sampling import sample, sample_widely
from gradexplain.simplify.settled import has_lost_slopes, settled
from gradexplain.symbolic import expressions, symbol, tree_size
from gradexplain.trace.run import Program

_RECURRENCE = 3  # named parts from which on derivatives of their own are tried for them,
_AT_A_GLANCE = 25  # if the formula has more operations than this
_SMALL = 4  # operations of a shared part that is worth a name
_MOST_CHECKED = 300  # parts of a formula that is evaluated at points


def arrangement(program: Program, names: Mapping[Node, str]) -> Arrangement:
    """The order in which the formulas of a program are written."""
    return reading.arrangement(program.output, [n.given for n in namings(program, names)])


def closed_form(
    key: str,
    gradient: Node,
    program: Program,
    names: Mapping[Node, str],
    arranged: Arrangement = TEXTBOOK,
    matrix: ClosedForm | None = None,
) -> ClosedForm:
    """The closed form of a derivative: a formula of numbers, entries of small arrays, matrix notation, else a program.

    `matrix` is what was found in matrix notation.
    """
    if gradient.shape == () and all(x.shape == () for x in ancestors([gradient, program.output])):
        numbers = {n: x for n, x in program.inputs.items() if x.shape == ()}
        program = replace(program, inputs=numbers)  # arrays that nothing depends on have no values to sample
        found = scalar_form(key, gradient, program, names)
        if _has_no_value(found) or has_lost_slopes(program, gradient):
            other = settled(program, key.split(","))
            if other is not None:
                program, gradient = other
                found = scalar_form(key, gradient, program, names)
        stated = (*found.conditions, *conditions(program, gradient))
        return replace(found, conditions=tuple(dict.fromkeys(stated)), arrangement=arranged)
    in_matrices = matrix is not None and matrix.level == "matrix notation"
    if is_suitable(program, gradient) and not (in_matrices and runs_over_all(program)):
        form = entry_form(key, gradient, program)
        if form is not None:
            return form
    if matrix is None:
        return array_form(key, gradient, program, names)
    if tree_size(gradient) > MOST_WRITTEN_OUT:
        return matrix
    expr = rounded(expressions([gradient])[0])
    return replace(matrix, expr=expr, raw=expr)


def _has_no_value(form: ClosedForm) -> bool:
    if len(form.where) > _MOST_CHECKED:
        return False  # written node by node, only where it is shown
    return any(e.has(sp.nan, sp.zoo) for e in (form.expr, form.raw, *form.where.values()))


def entry_form(key: str, gradient: Node, program: Program) -> ClosedForm | None:
    """The derivative of a small array as the array of its entries' closed forms."""
    found = entries(program, gradient)
    if found is None:
        return None
    numbers, nodes = found
    arranged = arrangement(numbers, {})
    forms: Any = np.empty(gradient.shape, dtype=object)
    for index in np.ndindex(gradient.shape):
        node = as_node(np.asarray(nodes)[index])
        if tree_size(node) > MOST_WRITTEN_OUT:
            return None
        forms[index] = replace(scalar_form(key, node, numbers, {}), arrangement=arranged)
    if any(f.where for f in forms.flat):
        return None
    expr = sp.Array([f.expr for f in forms.flat], gradient.shape) if gradient.shape else forms.item().expr
    raw = sp.Array([f.raw for f in forms.flat], gradient.shape) if gradient.shape else forms.item().raw
    rewrites = tuple(dict.fromkeys(r for f in forms.flat for r in f.rewrites))
    notes = tuple(dict.fromkeys(n for f in forms.flat for n in f.notes))
    source = _nested([numpy_source(f.expr, source_names(program), arranged) for f in forms.flat], gradient.shape)
    shown = _nested([f.text for f in forms.flat], gradient.shape)
    numpy_text = f"np.array({source})" if gradient.shape else source
    texts = Written(numpy_text, shown, latex(expr, arranged), level="element-wise")
    return ClosedForm(key, expr, {}, raw, rewrites, (), notes, gradient.shape, texts, arranged)


def _nested(texts: list[str], shape: tuple[int, ...]) -> str:
    """Entries as nested brackets."""
    for size in reversed(shape):
        texts = [f"[{', '.join(texts[i : i + size])}]" for i in range(0, len(texts), size)]
    return texts[0]


def scalar_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm:
    """The closed form of a scalar derivative of a scalar program: the cheapest of the checked candidates."""
    is_long = tree_size(gradient) > MOST_WRITTEN_OUT
    flat = derived_by_terms(key.split(","), gradient, program, is_long=is_long) if has_passes(program) else None
    if flat is not None:
        return _rounded(ClosedForm(key, flat.expr, {}, flat.raw, flat.rewrites))
    if is_long:
        found = form_in_names(key, gradient, program, names) or tangent_form(key, gradient, program, names)
        return named_form(key, gradient, program, names) if found is None else _rounded(found)
    wide = sample_widely([gradient, program.output], program.inputs, program.point)
    found = cheapest_form(key, gradient, program, names, wide)
    if found is None:
        return named_form(key, gradient, program, names)
    if len(found.where) >= _RECURRENCE and operations(found.expr) > _AT_A_GLANCE:
        found = min((found, tangent_form(key, gradient, program, names) or found), key=_written_length)
    return _rounded(found)


def _written_length(form: ClosedForm) -> int:
    return operations(form.expr) + sum(operations(e) for e in form.where.values())


def _rounded(found: ClosedForm) -> ClosedForm:
    where = {n: rounded(e) for n, e in found.where.items()}
    return replace(found, expr=rounded(found.expr), where=where, raw=rounded(found.raw))


def named_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm:
    """A long formula in parts: shared nodes get names, the program's own where it has them."""
    parts = Parts()
    taken = set(names.values()) | set(program.inputs)
    uses = _uses(gradient)
    sizes: dict[Node, int] = {}
    count = 0
    for node in ancestors([gradient]):
        sizes[node] = bool(node.inputs) + sum(1 if n in parts.symbols else sizes[n] for n in node.inputs)
        if node is gradient or not node.inputs or node.kind == "bool":
            continue
        if (uses[node] > 1 and sizes[node] >= 2) or sizes[node] > 12 * _SMALL:
            name = names.get(node)
            while name is None or name in parts:
                count += 1
                name = None if f"d{count}" in taken else f"d{count}"
            parts.add(name, node)
    expr = parts.written(gradient)
    notes = _sampled_evidence(gradient, program, expr, parts)
    return ClosedForm(key, rounded(expr), parts, rounded(expr), notes=notes)


def _sampled_evidence(gradient: Node, program: Program, expr: Any, parts: Parts) -> tuple[str, ...]:
    if len(parts) > _MOST_CHECKED:
        return ()  # written node by node, and each name stands for its node: there is nothing that could differ
    samples = sample([gradient, program.output], program.inputs, program.point)
    return evidence_of(samples, expr, tuple((name, parts.written(node)) for node, name in parts.nodes()))


def _uses(gradient: Node) -> dict[Node, int]:
    uses: dict[Node, int] = {}
    for node in ancestors([gradient]):
        for n in node.inputs:
            uses[n] = uses.get(n, 0) + 1
    return uses


def _blank(gradient: Node, program: Program) -> str | None:
    """A derivative without entries, or of what has no value at the point nor beside it: the variance of one entry."""
    from gradexplain.simplify.tensor.checking import points

    if gradient.size == 0:
        return f"np.zeros({gradient.shape})"
    if not program.is_numeric or not np.all(np.isnan(program.trace.value(program.output))):
        return None
    with np.errstate(all="ignore"):
        around = [evaluate([program.output], {program.inputs[n]: v for n, v in p.items()}) for p in points(program, {})]
    return f"np.full({gradient.shape}, np.nan)" if np.all(np.isnan(around)) else None


def array_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm:
    """The derivative of an array program as the named program that computes it: the last rung of the ladder."""
    from gradexplain.simplify.tensor.source import plain

    inputs = {x: n for n, x in program.inputs.items()}
    writer = Writer(dict(inputs), inline_arrays=True, prefix="d")
    blank = _blank(gradient, program)
    text_form = str(writer.write([gradient])[0]) if blank is None else blank
    where = [s.split(" = ", 1) for s in writer.statements]
    symbols = {x: symbol(x) for x in program.inputs.values()}
    is_short = blank is None and tree_size(gradient) <= MOST_WRITTEN_OUT
    expr = expressions([gradient], symbols)[0] if is_short else sp.Symbol(text_form)
    expr = rounded(expr)
    parts = tuple((n, t, plain(t), math_text(plain(t), "texttt")) for n, t in where)
    tex = math_text(plain(text_form), "texttt") if parts or blank else latex(expr)
    texts = Written(text_form, plain(text_form), tex, parts, level="program")
    named = {n: sp.Symbol(shown) for n, _, shown, _ in parts}
    return ClosedForm(key, expr, named, expr, shape=gradient.shape, texts=texts)
