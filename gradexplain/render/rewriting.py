"""Rewrites in words: a remark beside a line, or a numbered step each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradexplain.language import say
from gradexplain.render import formula as formulas
from gradexplain.render.blocks import Formula, Line, Link, StepItem, line
from gradexplain.render.changes import marked
from gradexplain.render.phrases import listed, phrase, separated
from gradexplain.simplify import matching, printing, steps
from gradexplain.simplify.arrangement import Arrangement
from gradexplain.simplify.rewrite import NAMES, Rewrite

Words = Callable[[Sequence[Any]], Line]
_SILENT = (matching.DISTRIBUTE, matching.MULTIPLY_OUT, matching.POWERS, matching.ARITHMETIC)  # in a remark


def simplified(expr: Any, arrangement: Arrangement) -> Formula:
    """A closed form as a formula."""
    return Formula(printing.text(expr, arrangement), printing.latex(expr, arrangement))


def links(raw: Any, rewrites: Sequence[Rewrite], arrangement: Arrangement) -> tuple[Link, ...]:
    """The raw line and the closed form, with a remark on how the one becomes the other."""
    return (
        Link(formulas.formula(raw), line(say("(raw)"))),
        Link(simplified(rewrites[-1].after, arrangement), remark(rewrites)),
    )


def remark(rewrites: Sequence[Rewrite]) -> Line:
    """What was done, in short: "2*x**3*sin(3*x) cancels; factor x"."""
    told = [r for r in rewrites if r.rule not in _SILENT] or rewrites
    parts = dict.fromkeys(_words(r, brief=True) for r in told)
    return tuple(inline for i, part in enumerate(parts) for inline in ((*line(say("; ")), *part) if i else part))


def items(left: Formula, rewrites: Sequence[Rewrite], arrangement: Arrangement) -> tuple[StepItem, ...]:
    """A step for each rewrite: what was done, and the whole formula after it, with what changed marked."""
    steps: list[StepItem] = []
    for rewrite in rewrites:
        way = arrangement if rewrite is rewrites[-1] else None
        after = marked(rewrite.before, rewrite.after, _written(rewrite.after, way), partial(_written, arrangement=way))
        steps.append(StepItem(_words(rewrite, brief=False), formulas.equal(left, after)))
    return tuple(steps)


def _written(expr: Any, arrangement: Arrangement | None) -> Formula:
    return simplified(expr, arrangement) if arrangement is not None else formulas.formula(expr)


def _words(rewrite: Rewrite, *, brief: bool) -> Line:
    template = (_BRIEF if brief else {}).get(rewrite.rule) or _WORDS.get(rewrite.rule)
    if rewrite.terms and template is not None:
        return template(rewrite.terms)
    if len(rewrite.terms) >= 2 and template is None:
        return phrase("{rule}: {equations}", rule=say(rewrite.rule), equations=_equations(rewrite.terms))
    return line(say(rewrite.rule))


def _equations(terms: Sequence[Any]) -> Line:
    """Pairs of terms as equations."""
    pairs = zip(terms[::2], terms[1::2], strict=True)
    return separated([formulas.equal(formulas.formula(a), formulas.formula(b)) for a, b in pairs])


def _with(sentence: str) -> Words:
    return lambda terms: phrase(sentence, terms=listed([formulas.formula(t) for t in terms]))


def _with_equations(sentence: str) -> Words:
    return lambda terms: phrase(sentence, equations=_equations(terms))


def _cancelled(terms: Sequence[Any]) -> Line:
    return _with("{terms} cancels" if len(terms) == 1 else "{terms} cancel")(terms)


def _distributed(terms: Sequence[Any]) -> Line:
    return phrase("distribute {factor} over {sum}", factor=formulas.formula(terms[0]), sum=formulas.formula(terms[1]))


_WORDS: dict[str, Words] = {
    matching.DISTRIBUTE: _distributed,
    matching.MULTIPLY_OUT: _with("multiply out {terms}"),
    matching.CANCEL: _cancelled,
    matching.LIKE_TERMS: _with_equations("like terms: {equations}"),
    matching.COMMON_FACTOR: _with("common factor {terms}"),
    matching.FACTOR: _with("factor into {terms}"),
    matching.REDUCE: _with("cancel {terms} in the fraction"),
    matching.EXTEND: _with("multiply numerator and denominator by {terms}"),
    matching.SPLIT: _with("divide each term by {terms}"),
    steps.SUBSTITUTE: _with_equations("put in {equations}"),
    steps.EQUAL: _with_equations("equal terms cancel: {equations}"),
    NAMES: _with_equations("in terms of {equations}"),
}
_BRIEF: dict[str, Words] = {
    matching.COMMON_FACTOR: _with("factor {terms}"),
    matching.REDUCE: _with("cancel {terms}"),
    steps.SUBSTITUTE: lambda terms: _with("put in {terms}")(terms[::2]),
    matching.LIKE_TERMS: _equations,
}
