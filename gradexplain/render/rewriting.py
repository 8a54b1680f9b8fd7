"""Rewrites in words: a remark beside a line, or a numbered step each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from gradexplain.render import formula as formulas
from gradexplain.render.blocks import Formula, Inline, Line, Link, StepItem, line
from gradexplain.render.changes import marked
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
        Link(formulas.formula(raw), line("(raw)")),
        Link(simplified(rewrites[-1].after, arrangement), remark(rewrites)),
    )


def remark(rewrites: Sequence[Rewrite]) -> Line:
    """What was done, in short: "2*x**3*sin(3*x) cancels; factor x"."""
    told = [r for r in rewrites if r.rule not in _SILENT] or rewrites
    parts = dict.fromkeys(_words(r, brief=True) for r in told)
    return tuple(inline for i, part in enumerate(parts) for inline in ((*line("; "), *part) if i else part))


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
        return line(f"{rewrite.rule}: ", *_equations(rewrite.terms))
    return line(rewrite.rule)


def _listed(terms: Sequence[Any]) -> Iterator[Inline]:
    """One, two and three terms."""
    for i, term in enumerate(terms):
        yield from line(" and " if i == len(terms) - 1 else ", ") if i else ()
        yield formulas.formula(term)


def _equations(terms: Sequence[Any]) -> Iterator[Inline]:
    """Pairs of terms as equations."""
    for i, (a, b) in enumerate(zip(terms[::2], terms[1::2], strict=True)):
        yield from line(", ") if i else ()
        yield formulas.equal(formulas.formula(a), formulas.formula(b))


def _with(before: str, after: str = "") -> Words:
    return lambda terms: line(before, *_listed(terms), after) if after else line(before, *_listed(terms))


def _cancelled(terms: Sequence[Any]) -> Line:
    return (*_listed(terms), *line(" cancels" if len(terms) == 1 else " cancel"))


_WORDS: dict[str, Words] = {
    matching.DISTRIBUTE: lambda terms: line(
        "distribute ", formulas.formula(terms[0]), " over ", formulas.formula(terms[1])
    ),
    matching.MULTIPLY_OUT: _with("multiply out "),
    matching.CANCEL: _cancelled,
    matching.LIKE_TERMS: lambda terms: line("like terms: ", *_equations(terms)),
    matching.COMMON_FACTOR: _with("common factor "),
    matching.FACTOR: _with("factor into "),
    matching.REDUCE: _with("cancel ", " in the fraction"),
    matching.EXTEND: _with("multiply numerator and denominator by "),
    matching.SPLIT: _with("divide each term by "),
    steps.SUBSTITUTE: lambda terms: line("put in ", *_equations(terms)),
    steps.EQUAL: lambda terms: line("equal terms cancel: ", *_equations(terms)),
    NAMES: lambda terms: line("in terms of ", *_equations(terms)),
}
_BRIEF: dict[str, Words] = {
    matching.COMMON_FACTOR: _with("factor "),
    matching.REDUCE: _with("cancel "),
    steps.SUBSTITUTE: lambda terms: line("put in ", *_listed(terms[::2])),
    matching.LIKE_TERMS: lambda terms: tuple(_equations(terms)),
}
