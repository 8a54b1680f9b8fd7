"""Closed forms of scalar functions: a portfolio of SymPy's rewrites, each candidate checked, the cheapest kept.

The cost of a form is the number of its operations plus penalties for what no textbook prints: functions that the
user did not write, decimal numbers for fractions, branches at isolated points. Of two equal costs the form nearest
to the program wins, since candidates are tried in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from gradexplain.notation import loggamma
from gradexplain.simplify import branches
from gradexplain.simplify.counting import operations
from gradexplain.simplify.rewrite import Rewrite
from gradexplain.simplify.rules import RULES
from gradexplain.simplify.sampling import Samples
from gradexplain.simplify.watchdog import within

_SECONDS = 2.0
_LARGEST_EXPONENT = 2000  # binary digits
_LARGEST_BRANCHED = 200  # operations
_MINIMAL = 1.0  # nothing that says as much is shorter
_FOREIGN, _FLOAT, _UNWRITTEN = 12, 0.3, 0.3
_RELATED = 1.9  # a function that the reader passes to without a word, though the program has another
_TURNED = 1.1  # exp(x) where the program has exp(-x): what can't overflow there must not here
_ROOT = 4.5  # sqrt(u**2) is Abs(u), whatever the program wrote: worth it where it saves a lot
_FAMILIES = ({sp.sinh, sp.cosh, sp.tanh}, {sp.Abs, sp.sign})
# The functions that belong to a function: those of its derivative.
_NATURAL = {sp.sin: {sp.cos}, sp.cos: {sp.sin}, sp.Abs: {sp.sign}, sp.gamma: {sp.polygamma}, sp.erf: {sp.exp},
            loggamma: {sp.polygamma}, sp.sinh: {sp.cosh}, sp.cosh: {sp.sinh}}  # fmt: skip


Vocabulary = Mapping[Any, float]  # functions, and exponentials, with what they add to the cost


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate form and the name of the rewrite that gave it."""

    rule: str
    expr: Any


def simplified(
    raw: Any, samples: Samples, which: int, known: Vocabulary, where: tuple[tuple[str, Any], ...] = ()
) -> tuple[Any, tuple[Rewrite, ...], tuple[str, ...]]:
    """The cheapest candidate that agrees with the program at all samples, the log, and what was cut short."""
    best, rewrites = raw, []
    evidence = f"checked at {len(samples.points)} points to 20 digits"
    notes: list[str] = []
    if cost(raw, known) <= _MINIMAL:
        return raw, (), ()
    for attempt in _attempts(raw, samples, known, notes):
        if attempt.expr is None or _forbidden(attempt.expr) or cost(attempt.expr, known) >= cost(best, known):
            continue
        if samples.points and samples.agrees(attempt.expr, which, where):
            rewrites = [Rewrite(attempt.rule, raw, attempt.expr, evidence)]
            best = attempt.expr
    return best, tuple(rewrites), tuple(notes)


def vocabulary(program: Any, derivative: Any) -> Vocabulary:
    """What each function costs: nothing where the program has it, little where it belongs to one of those."""
    written = {type(f) for f in program.atoms(sp.Function)}
    derived = {type(f) for f in derivative.atoms(sp.Function)}
    natural = {g for f in written for g in _NATURAL.get(f, ())}
    related = {g for family in _FAMILIES if family & (written | derived) for g in family}
    prices = dict.fromkeys((sp.Abs, sp.sign), _ROOT) | dict.fromkeys(related, _RELATED)
    prices |= dict.fromkeys(derived | natural | {sp.exp, sp.log}, _UNWRITTEN)
    turned = {sp.exp(-e.args[0]) for e in program.atoms(sp.exp)} - program.atoms(sp.exp)
    return prices | dict.fromkeys(written, 0.0) | dict.fromkeys(turned, _TURNED)


def cost(expr: Any, known: Vocabulary) -> float:
    """Operations and penalties.

    >>> x = sp.Symbol("x", real=True)
    >>> cost(x**2 + x, {}) < cost(x * (x + 1) + 0.5 * x, {})
    True
    """
    functions = [f for f in expr.atoms(sp.Function) if not isinstance(f, sp.Piecewise)]
    foreign = sum(known.get(type(f), _FOREIGN) for f in functions)
    points = len(expr.atoms(sp.Eq, sp.Ne))
    floats = len(expr.atoms(sp.Float))
    turned = sum(known.get(e, 0.0) for e in expr.atoms(sp.exp))
    return operations(expr) + foreign + turned + _FOREIGN * points + _FLOAT * floats


def _forbidden(expr: Any) -> bool:
    return bool(
        expr.has(sp.Heaviside, sp.DiracDelta, sp.Derivative, sp.Subs, sp.re, sp.im, sp.I, sp.nan, sp.zoo, sp.oo)
    )


def _has_huge_numbers(expr: Any) -> bool:
    """Whether a number is far beyond the floats: as a fraction, which SymPy makes of it, it would fill the memory."""
    if any(f != 0 and f.is_finite and abs(f._mpf_[2] + f._mpf_[3]) > _LARGEST_EXPONENT for f in expr.atoms(sp.Float)):
        return True
    return any(max(abs(r.p), r.q).bit_length() > _LARGEST_EXPONENT for r in expr.atoms(sp.Rational))


def _attempts(raw: Any, samples: Samples, known: Vocabulary, notes: list[str]) -> Iterator[Attempt]:
    size = operations(raw)
    if _has_huge_numbers(raw):
        return
    if raw.has(sp.Piecewise):
        if size <= _LARGEST_BRANCHED:
            yield from _by_branches(raw, samples, known, notes)
        return
    for rule in RULES:
        if rule.is_tried(raw, size):
            result = _guarded(rule.apply, raw, rule.name, notes)
            if result is not None:
                yield Attempt(rule.name, result)
                yield Attempt(f"{rule.name}, common factor", sp.factor_terms(result))


_FAILURES = (ValueError, TypeError, AttributeError, NotImplementedError, RecursionError, ZeroDivisionError,
             sp.PolynomialError)  # fmt: skip


def _tried(rewrite: Callable[[Any], Any], raw: Any) -> Any:
    """The rewritten formula; the formula itself where SymPy fails."""
    try:
        return rewrite(raw)
    except _FAILURES:
        return raw


def _guarded(rewrite: Callable[[Any], Any], raw: Any, rule: str, notes: list[str]) -> Any:
    result = within(_SECONDS, lambda: (_tried(rewrite, raw),))
    if result is None:
        notes.append(f"the rewrite '{rule}' was stopped after {_SECONDS:g} s; the form before it is shown")
        return None
    return result[0]


def _by_branches(raw: Any, samples: Samples, known: Vocabulary, notes: list[str]) -> Iterator[Attempt]:
    """Branches in front, each the cheapest of its own candidates: those that agree at every point, not on their side of
    a condition alone, since no point may lie there.
    """

    def cheapest(piece: Any) -> Any:
        if piece.has(sp.Piecewise):
            return piece
        options = [a.expr for a in _attempts(piece, samples, known, notes) if not _forbidden(a.expr)]
        cheaper = sorted((e for e in dict.fromkeys(options) if cost(e, known) < cost(piece, known)), key=by_cost)
        return next((e for e in cheaper if samples.agree(piece, e)), piece)

    def by_cost(expr: Any) -> float:
        return cost(expr, known)

    result = _guarded(lambda e: branches.opened(e, lambda piece: piece), raw, "branch by branch", notes)
    if result is not None:
        yield Attempt("branch by branch", result)
        yield Attempt("branch by branch, each simplified", _tried(lambda e: branches.opened(e, cheapest), raw))
