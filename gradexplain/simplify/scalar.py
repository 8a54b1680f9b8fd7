"""Closed forms of scalar functions: a portfolio of SymPy's rewrites, each candidate checked, the cheapest kept.

The cost of a form is the number of its operations plus penalties for what no textbook prints: functions that the
user did not write, decimal numbers for fractions, branches at isolated points. Of two equal costs the form nearest
to the program wins, since candidates are tried in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import sympy as sp

from gradexplain.language import Sentence, chained
from gradexplain.notation import loggamma
from gradexplain.simplify import branches
from gradexplain.simplify.counting import nested_fractions, operations, shares_a_divisor
from gradexplain.simplify.elimination import in_terms_of_names
from gradexplain.simplify.rewrite import WRITTEN_OUT, Rewrite
from gradexplain.simplify.rules import FINISHING, RULES, SPLITTING, Rule
from gradexplain.simplify.sampling import Samples
from gradexplain.simplify.watchdog import FAILURES, within

_SECONDS = 2.0
_LARGEST_EXPONENT = 2000  # binary digits
_LARGEST_BRANCHED = 200  # operations
_LARGEST_ELIMINATED = 80
_MINIMAL = 1.0  # nothing that says as much is shorter
_NESTED, _PIECE, _SHARED = 1.2, 1.2, 0.4
_SPLIT = 2.5  # one fraction is what people leave
_FOREIGN, _FLOAT, _UNWRITTEN = 12, 0.3, 0.3
_DIGIT, _GLANCE = 0.1, 14  # binary digits
_RELATED = 1.9  # a function that the reader passes to without a word, though the program has another
_TURNED = 1.1  # exp(x) where the program has exp(-x): what can't overflow there must not here
_ROOT = 2.5  # sqrt(u**2) is Abs(u), whatever the program wrote: worth it where it saves a lot
_FAMILIES = ({sp.sinh, sp.cosh, sp.tanh}, {sp.sin, sp.cos, sp.tan}, {sp.Abs, sp.sign})
# The functions that belong to a function: those of its derivative.
_NATURAL = {sp.sin: {sp.cos}, sp.cos: {sp.sin}, sp.Abs: {sp.sign}, sp.gamma: {sp.polygamma}, sp.erf: {sp.exp},
            loggamma: {sp.polygamma}, sp.sinh: {sp.cosh}, sp.cosh: {sp.sinh}}  # fmt: skip


Vocabulary = Mapping[Any, float]  # functions, exponentials, names and numbers, with what they add to the cost


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate form and the name of the rewrite that gave it."""

    rule: str
    expr: Any


def simplified(
    raw: Any,
    samples: Samples,
    which: int,
    known: Vocabulary,
    names: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
) -> tuple[Any, tuple[Rewrite, ...], tuple[str, ...]]:
    """The cheapest candidate that agrees with the program at all samples, over some of its names; the log; and what was
    cut short. `constants` are numbers that stand in the formula as symbols.
    """
    where = (*names.items(), *(constants or {}).items())
    notes: list[str] = []
    if cost(raw, known) <= _MINIMAL or not samples.points:
        return raw, (), ()
    attempts = chain(_by_names(raw, names, notes), _attempts(raw, RULES, samples, known, notes))
    first = _cheapest(raw, attempts, samples, which, known, where)
    found = first.expr if first else raw
    attempts = chain(_by_names(found, names, notes), _attempts(found, FINISHING, samples, known, notes))
    second = _cheapest(found, attempts, samples, which, known, where)
    evidence = f"checked at {len(samples.points)} points to 20 digits"
    rewrites, before = [], raw
    for attempt in filter(None, (first, second)):
        rewrites.append(Rewrite(attempt.rule, before, attempt.expr, evidence))
        before = attempt.expr
    return before, tuple(rewrites), tuple(notes)


def _cheapest(
    raw: Any,
    attempts: Iterator[Attempt],
    samples: Samples,
    which: int,
    known: Vocabulary,
    where: tuple[tuple[str, Any], ...],
) -> Attempt | None:
    """The cheapest attempt that costs less than the formula itself and agrees with the program."""
    price = cost(raw, known)
    priced = [(cost(a.expr, known) + (_SPLIT if a.rule in SPLITTING else 0.0), a) for a in attempts]
    for _, attempt in sorted(((c, a) for c, a in priced if c < price), key=lambda pair: pair[0]):
        if not _forbidden(attempt.expr) and samples.agrees(attempt.expr, which, where):
            return attempt
    return None


def vocabulary(program: Any, derivative: Any) -> Vocabulary:
    """What each function costs: nothing where the program has it, little where it belongs to one of those."""
    written = {type(f) for f in program.atoms(sp.Function)}
    derived = {type(f) for f in derivative.atoms(sp.Function)}
    natural = {g for f in written for g in _NATURAL.get(f, ())}
    related = {g for family in _FAMILIES if family & (written | derived) for g in family}
    prices = dict.fromkeys((sp.Abs, sp.sign), _ROOT) | dict.fromkeys(related, _RELATED)
    prices |= dict.fromkeys(derived | natural | {sp.exp, sp.log}, _UNWRITTEN)
    turned = {sp.exp(-e.args[0]) for e in program.atoms(sp.exp)} - program.atoms(sp.exp)
    typed = dict.fromkeys(program.atoms(sp.Rational), 0.0)
    return prices | typed | dict.fromkeys(written, 0.0) | dict.fromkeys(turned, _TURNED)


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
    choices = expr.atoms(sp.Piecewise)
    pieces = sum(len(p.args) - 1 for p in choices)
    nested = (
        _PIECE * max(0, pieces - 1)
        + max(0, len(choices) - 1)
        + _NESTED * nested_fractions(expr)
        + _SHARED * shares_a_divisor(expr)
    )
    names = sum(known.get(s, 0.0) for s in expr.free_symbols)
    numbers = sum(_long(r.p) + _long(r.q) for r in expr.atoms(sp.Rational) if r not in known)
    return operations(expr) + nested + names + foreign + turned + _FOREIGN * points + _FLOAT * floats + numbers


def _long(number: Any) -> float:
    """What the digits of a number that the program does not have cost, beyond those that are read at a glance."""
    return _DIGIT * max(0, int(number).bit_length() - _GLANCE)


def _forbidden(expr: Any) -> bool:
    return bool(
        expr.has(sp.Heaviside, sp.DiracDelta, sp.Derivative, sp.Subs, sp.re, sp.im, sp.I, sp.nan, sp.zoo, sp.oo)
    )


def _has_huge_numbers(expr: Any) -> bool:
    """Whether a number is far beyond the floats: as a fraction, which SymPy makes of it, it would fill the memory."""
    if any(f != 0 and f.is_finite and abs(f._mpf_[2] + f._mpf_[3]) > _LARGEST_EXPONENT for f in expr.atoms(sp.Float)):
        return True
    return any(max(abs(r.p), r.q).bit_length() > _LARGEST_EXPONENT for r in expr.atoms(sp.Rational))


def _attempts(
    raw: Any, rules: tuple[Rule, ...], samples: Samples, known: Vocabulary, notes: list[str]
) -> Iterator[Attempt]:
    size = operations(raw)
    if _has_huge_numbers(raw):
        return
    if raw.has(sp.Piecewise):
        if size <= _LARGEST_BRANCHED:
            yield from _by_branches(raw, samples, known, notes)
        return
    seen = {raw}
    for rule in rules:
        if not rule.is_tried(raw, size):
            continue
        result = _guarded(rule.apply, raw, rule.name, notes)
        if result is None or result in seen:
            continue
        seen.add(result)
        yield Attempt(rule.name, result)
        factored = sp.factor_terms(result) if operations(result) <= 2 * size else result
        if factored not in seen:
            seen.add(factored)
            yield Attempt(chained([rule.name, "common factor"]), factored)


def _by_names(raw: Any, names: Mapping[str, Any], notes: list[str]) -> Iterator[Attempt]:
    if names and operations(raw) <= _LARGEST_ELIMINATED and not raw.has(sp.Piecewise):
        found = within(_SECONDS, lambda: _tried(lambda e: list(in_terms_of_names(e, names)), raw))
        for name, expr in found if isinstance(found, list) else ():
            yield Attempt(Sentence("in terms of {equations}", equations=name) if name else WRITTEN_OUT, expr)


def _tried(rewrite: Callable[[Any], Any], raw: Any) -> Any:
    """The rewritten formula; the formula itself where SymPy fails."""
    try:
        return rewrite(raw)
    except FAILURES:
        return raw


def _guarded(rewrite: Callable[[Any], Any], raw: Any, rule: str, notes: list[str]) -> Any:
    result = within(_SECONDS, lambda: (_tried(rewrite, raw),))
    if result is None:
        sentence = "the rewrite '{rule}' was stopped after {seconds:g} s; the form before it is shown"
        notes.append(Sentence(sentence, rule=Sentence(rule), seconds=_SECONDS))
        return None
    return result[0]


def _by_branches(raw: Any, samples: Samples, known: Vocabulary, notes: list[str]) -> Iterator[Attempt]:
    """Branches in front, each the cheapest of its own candidates: those that agree at every point, not on their side of
    a condition alone, since no point may lie there.
    """

    def cheapest(piece: Any) -> Any:
        if piece.has(sp.Piecewise):
            return piece
        options = [a.expr for a in _attempts(piece, RULES, samples, known, notes) if not _forbidden(a.expr)]
        cheaper = sorted((e for e in dict.fromkeys(options) if cost(e, known) < cost(piece, known)), key=by_cost)
        return next((e for e in cheaper if samples.agree(piece, e)), piece)

    def by_cost(expr: Any) -> float:
        return cost(expr, known)

    formula = branches.smooth(raw, samples.agree)
    if formula is not None:
        yield Attempt("the same in all branches", formula)
        options = [a for a in _attempts(formula, RULES, samples, known, notes) if not _forbidden(a.expr)]
        best = min(options, key=lambda a: by_cost(a.expr), default=None)
        if best is not None:
            yield Attempt(chained(["the same in all branches", best.rule]), best.expr)
    result = _guarded(lambda e: branches.opened(e, lambda piece: piece), raw, "branch by branch", notes)
    if result is not None:
        yield Attempt("branch by branch", result)
        yield Attempt("branch by branch, each simplified", _tried(lambda e: branches.opened(e, cheapest), raw))
