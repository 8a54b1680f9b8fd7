"""From the line that the rules of calculus give to the closed form: the rewrites of a derivation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gradexplain.exposition.calculus import Calculus
from gradexplain.exposition.naming import names
from gradexplain.exposition.pen import Pen
from gradexplain.graph import Node, ancestors
from gradexplain.language import chained
from gradexplain.simplify import printing, written
from gradexplain.simplify.form import ClosedForm
from gradexplain.simplify.orthant import ASSUMING
from gradexplain.simplify.rewrite import LIMIT, NAMES, WRITTEN_OUT, Rewrite
from gradexplain.simplify.sampling import Samples, sample, sample_widely
from gradexplain.simplify.steps import SUBSTITUTE, Path, is_small, one_step, path, without_names
from gradexplain.symbolic import tree_size
from gradexplain.trace.run import Program

LONGEST = 400  # operations of a program, and of a derivative, whose rewrites are looked for
_MOST_NAMES = 24


def with_path(form: ClosedForm, program: Program, calculus: Calculus) -> ClosedForm:
    """The closed form with the derivation's result as its raw form, and the steps from there."""
    if not _is_told(form, calculus):
        return form
    raw, _ = without_names(calculus.raw, set(form.where), calculus.definitions)
    if not is_small(raw):
        return form
    limits = [r for r in form.rewrites[:1] if r.rule == LIMIT]
    rule = _summary([r.rule for r in form.rewrites[len(limits) :]])

    def find() -> tuple[Rewrite, ...]:
        samples, where = _samples(program, calculus.slope), _as_written(form, program)
        lead = one_step(LIMIT, raw, limits[0].after, samples, where) if limits else ()
        start = lead[-1].after if lead else raw
        found = path(start, form.expr, samples, rule=rule, where=where, kept=set(where))
        assuming = tuple(replace(r, before=start) for r in form.rewrites[-1:] if r.rule == ASSUMING)
        return _visible(lead + (found or assuming), form)

    return replace(form, raw=raw, rewrites=Path(find))


def rewrites(program: Program, calculus: Calculus, form: ClosedForm) -> tuple[Rewrite, ...]:
    """The rewrites from a derivation's result: its names are put in first, unless the closed form has them too."""
    if not _is_told(form, calculus):
        return ()
    own = calculus.definitions
    start, terms = without_names(calculus.raw, set(form.where), own)
    samples, where = _samples(program, calculus.slope), own | {n: e for n, e in form.where.items() if n not in own}
    if start != form.raw:
        return _visible(path(calculus.raw, form.expr, samples, where=where, kept=set(form.where)), form)
    steps = tuple(form.rewrites)
    if not terms:
        return steps
    return one_step(SUBSTITUTE, calculus.raw, start if steps else form.expr, samples, where, terms) + steps


def _summary(rules: Sequence[str]) -> str:
    """What the only step is called where no small ones are found; names that come and go are not told."""
    if WRITTEN_OUT in rules:
        rules = [r for r in rules if r != WRITTEN_OUT and not r.startswith(NAMES)]
    return chained(dict.fromkeys(rules)) if rules else "simplify"


def _visible(steps: tuple[Rewrite, ...], form: ClosedForm) -> tuple[Rewrite, ...]:
    """The steps without those that a reader can't see: the formula is written the same before and after."""
    kept: list[Rewrite] = []
    start = None
    for i, step in enumerate(steps):
        step = step if start is None else replace(step, before=start)
        is_last = i == len(steps) - 1
        after = printing.text(step.after, form.arrangement) if is_last else written.text(step.after)
        if written.text(step.before) != after:
            kept.append(step)
            start = None
        elif kept:
            kept[-1] = replace(kept[-1], after=step.after)
        else:
            start = step.before
    return tuple(kept)


def _as_written(form: ClosedForm, program: Program) -> dict[str, Any]:
    """What the names in a closed form stand for, as the program has it."""
    nodes = {name: node for node, name in names(program).items() if name in form.where and node.inputs}
    pen = Pen({node: name for name, node in nodes.items()})
    return dict(form.where) | dict(zip(nodes, pen.open(list(nodes.values())), strict=True))


def _is_told(form: ClosedForm, calculus: Calculus) -> bool:
    """Whether a derivative is short enough for its simplification to be told."""
    return form.texts is None and len(form.where) <= _MOST_NAMES and tree_size(calculus.slope) <= LONGEST


def _samples(program: Program, slope: Node) -> Samples:
    """Points at which steps are checked; many where there are branches, so that some lie on each."""
    nodes = [slope, program.output]
    found = sample(nodes, program.inputs, program.point)
    if any(n.kind == "bool" for n in ancestors(nodes)):
        found = found.joined(sample_widely(nodes, program.inputs, program.point))
    return found
