"""Closed forms of scalar functions: a portfolio of SymPy's rewrites, each candidate checked, the cheapest kept.

The cost of a form is the number of its operations plus penalties for what no textbook prints: functions that the user did
not write, decimal numbers for fractions, branches at isolated points. Of two equal costs the form nearest to the program
wins, since candidates are tried in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import sympy as sp

from gradexplain.simplify.rewrite import Rewrite
from gradexplain.simplify.sampling import Samples
from gradexplain.simplify.watchdog import within

_LARGEST = 160  # operations: above, only the cheap rewrites are tried
_LARGEST_SIMPLIFIED = 60
_SECONDS = 2.0
_MOST_BRANCHES = 6
_FOREIGN, _FLOAT, _BRANCH = 12, 3, 4
_NATURAL = {sp.sin: {sp.cos}, sp.cos: {sp.sin}, sp.Abs: {sp.sign}, sp.gamma: {sp.polygamma}, sp.erf: {sp.exp},
            sp.loggamma: {sp.polygamma}}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate form and the name of the rewrite that gave it."""

    rule: str
    expr: Any


def simplified(
    raw: Any, samples: Samples, which: int, vocabulary: frozenset[Any]
) -> tuple[Any, tuple[Rewrite, ...], tuple[str, ...]]:
    """The cheapest candidate that agrees with the program at all sample points, the log, and notes on what was cut short."""
    best, rewrites = raw, []
    evidence = f"checked at {len(samples.points)} points to {20} digits"
    notes: list[str] = []
    for attempt in _attempts(raw, notes):
        if _forbidden(attempt.expr) or cost(attempt.expr, vocabulary) >= cost(best, vocabulary):
            continue
        if samples.points and samples.agrees(attempt.expr, which):
            rewrites = [Rewrite(attempt.rule, raw, attempt.expr, evidence)]
            best = attempt.expr
    return best, tuple(rewrites), tuple(notes)


def vocabulary(*written: Any) -> frozenset[Any]:
    """The functions that formulas may use: those of the program and of its raw derivative."""
    found = {type(f) for e in written for f in e.atoms(sp.Function)}
    return frozenset(found | {g for f in found for g in _NATURAL.get(f, ())} | {sp.exp, sp.log})


def cost(expr: Any, known: frozenset[Any]) -> float:
    """Operations and penalties.

    >>> x = sp.Symbol("x", real=True)
    >>> cost(x**2 + x, frozenset()) < cost(x * (x + 1) + 0.5 * x, frozenset())
    True
    """
    functions = [f for f in expr.atoms(sp.Function) if not isinstance(f, sp.Piecewise)]
    foreign = sum(type(f) not in known for f in functions)
    points = len(expr.atoms(sp.Eq, sp.Ne))
    floats = len(expr.atoms(sp.Float))
    return float(sp.count_ops(expr)) + _FOREIGN * (foreign + points) + _FLOAT * floats + _negative_powers(expr)


def _negative_powers(expr: Any) -> float:
    """A hair for x**-0.5 against 1/sqrt(x), which count the same."""
    return 0.1 * sum(1 for p in expr.atoms(sp.Pow) if p.exp.is_Rational and not p.exp.is_Integer and p.exp.q > 2)


def _forbidden(expr: Any) -> bool:
    return bool(
        expr.has(sp.Heaviside, sp.DiracDelta, sp.Derivative, sp.Subs, sp.re, sp.im, sp.I, sp.nan, sp.zoo, sp.oo)
    )


def _attempts(raw: Any, notes: list[str]) -> Iterator[Attempt]:
    size = int(sp.count_ops(raw))
    if raw.has(sp.Piecewise) and size <= _LARGEST and len(raw.atoms(sp.Piecewise)) <= _MOST_BRANCHES:
        yield from _by_branches(raw, notes)
        return
    yield Attempt("common factor", sp.factor_terms(raw))
    if size > _LARGEST:
        return
    for rule, rewrite in _PORTFOLIO:
        if rule == "simplify" and size > _LARGEST_SIMPLIFIED:
            continue
        result = _guarded(rewrite, raw, rule, notes)
        if result is not None:
            yield Attempt(rule, result)
            yield Attempt(f"{rule}, common factor", sp.factor_terms(result))


def _guarded(rewrite: Callable[[Any], Any], raw: Any, rule: str, notes: list[str]) -> Any:
    def call() -> Any:
        try:
            return rewrite(raw)
        except (
            ValueError,
            TypeError,
            AttributeError,
            NotImplementedError,
            RecursionError,
            ZeroDivisionError,
            sp.PolynomialError,
        ):
            return raw

    result = within(_SECONDS, call)
    if result is None:
        notes.append(f"the rewrite '{rule}' was stopped after {_SECONDS:g} s; the form before it is shown")
    return result


def _by_branches(raw: Any, notes: list[str]) -> Iterator[Attempt]:
    """Branches pulled out to the front, each simplified by itself, equal ones merged."""
    folded = _guarded(sp.piecewise_fold, raw, "branch by branch", notes)
    if folded is None or not isinstance(folded, sp.Piecewise) or len(folded.args) > 2 * _MOST_BRANCHES:
        return
    pieces = []
    for piece, condition in folded.args:
        known = vocabulary(piece)
        options = [piece, *(a.expr for a in _attempts(piece, notes))] if not piece.has(sp.Piecewise) else [piece]
        pieces.append(
            (min((o for o in options if not _forbidden(o)), key=lambda o: cost(o, known), default=piece), condition)
        )
    yield Attempt("branch by branch", folded)
    yield Attempt("branch by branch", sp.Piecewise(*pieces))


def _rational(expr: Any) -> Any:
    return sp.factor(sp.together(expr))


_PORTFOLIO: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("common denominator", sp.together),
    ("factor", sp.factor),
    ("cancel", sp.cancel),
    ("common denominator, factor", _rational),
    ("expand", sp.expand),
    ("power rules", sp.powsimp),
    ("trigonometric identity", sp.trigsimp),
    ("simplify", sp.simplify),
)
