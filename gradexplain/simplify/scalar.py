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

from gradexplain.simplify import branches
from gradexplain.simplify.rewrite import Rewrite
from gradexplain.simplify.rules import RULES
from gradexplain.simplify.sampling import Samples
from gradexplain.simplify.watchdog import within

_SECONDS = 2.0
_LARGEST_BRANCHED = 200  # operations
_FOREIGN, _FLOAT = 12, 3
_RELATED = 2.5  # a function that the reader passes to without a word, though the program has another
_FAMILIES = ({sp.sinh, sp.cosh, sp.tanh}, {sp.Abs, sp.sign})
# The functions that belong to a function: those of its derivative.
_NATURAL = {sp.sin: {sp.cos}, sp.cos: {sp.sin}, sp.Abs: {sp.sign}, sp.gamma: {sp.polygamma}, sp.erf: {sp.exp},
            sp.loggamma: {sp.polygamma}, sp.sinh: {sp.cosh}, sp.cosh: {sp.sinh}}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate form and the name of the rewrite that gave it."""

    rule: str
    expr: Any


def simplified(
    raw: Any, samples: Samples, which: int, vocabulary: frozenset[Any], where: tuple[tuple[str, Any], ...] = ()
) -> tuple[Any, tuple[Rewrite, ...], tuple[str, ...]]:
    """The cheapest candidate that agrees with the program at all sample points, the log, and notes on what was cut short."""
    best, rewrites = raw, []
    evidence = f"checked at {len(samples.points)} points to {20} digits"
    notes: list[str] = []
    for attempt in _attempts(raw, vocabulary, notes):
        if attempt.expr is None or _forbidden(attempt.expr) or cost(attempt.expr, vocabulary) >= cost(best, vocabulary):
            continue
        if samples.points and samples.agrees(attempt.expr, which, where):
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
    foreign = sum(_strangeness(type(f), known) for f in functions)
    points = len(expr.atoms(sp.Eq, sp.Ne))
    floats = len(expr.atoms(sp.Float))
    return float(sp.count_ops(expr)) + foreign + _FOREIGN * points + _FLOAT * floats


def _strangeness(function: Any, known: frozenset[Any]) -> float:
    if function in known:
        return 0.0
    related = any(function in family and (family & known or sp.Abs in family) for family in _FAMILIES)
    return _RELATED if related else _FOREIGN


def _forbidden(expr: Any) -> bool:
    return bool(
        expr.has(sp.Heaviside, sp.DiracDelta, sp.Derivative, sp.Subs, sp.re, sp.im, sp.I, sp.nan, sp.zoo, sp.oo)
    )


def _attempts(raw: Any, known: frozenset[Any], notes: list[str]) -> Iterator[Attempt]:
    size = int(sp.count_ops(raw))
    if raw.has(sp.Piecewise):
        if size <= _LARGEST_BRANCHED:
            yield from _by_branches(raw, known, notes)
        return
    for rule in RULES:
        if size <= rule.most:
            result = _guarded(rule.apply, raw, rule.name, notes)
            if result is not None:
                yield Attempt(rule.name, result)
                yield Attempt(f"{rule.name}, common factor", sp.factor_terms(result))


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


def _by_branches(raw: Any, known: frozenset[Any], notes: list[str]) -> Iterator[Attempt]:
    """Branches in front, each the cheapest of its own candidates."""

    def cheapest(piece: Any) -> Any:
        if piece.has(sp.Piecewise):
            return piece
        options = [a.expr for a in _attempts(piece, known, notes) if not _forbidden(a.expr)]
        return min([piece, *options], key=lambda e: cost(e, known))

    result = _guarded(lambda e: branches.opened(e, lambda piece: piece), raw, "branch by branch", notes)
    if result is not None:
        yield Attempt("branch by branch", result)
        yield Attempt("branch by branch, each simplified", branches.opened(raw, cheapest))
