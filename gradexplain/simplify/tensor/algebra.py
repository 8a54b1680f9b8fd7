"""Factors as numbers: what stands on its own indices is a symbol, and SymPy cancels and factors the whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from gradexplain.simplify.tensor.keys import tensor_key
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import (
    ONE,
    Atom,
    Factor,
    Index,
    Tensor,
    Term,
    indices_of,
    instance,
)
from gradexplain.simplify.watchdog import within

_MOST_SYMBOLS = 8
_LONGEST, _LONGEST_FACTORED = 80, 40  # terms of numerator and denominator when all is multiplied out
_MANY_SYMBOLS, _FEW_TERMS = 6, 12  # SymPy may try for minutes to factor many terms in many variables
_SECONDS = 2.0
Place = tuple[Atom, tuple[Index, ...]]


@dataclass
class Scalars:
    """The symbols that stand for factors."""

    space: Space
    axes: tuple[Index | None, ...]
    level: int
    symbols: dict[Place, Any] = field(default_factory=dict)
    places: dict[Any, Tensor] = field(default_factory=dict)
    exponentials: list[tuple[Any, Place]] = field(default_factory=list)

    def expression(self, tensor: Tensor, free: set[Index], level: int) -> Any:
        """A tensor as a SymPy expression."""
        return sp.Add(*(self._term(t, free, level) for t in tensor.terms))

    def _term(self, term: Term, free: set[Index], level: int) -> Any:
        out: Any = _rational(term.number)
        alone, groups = components(term.factors, free)
        for f in alone:
            out *= self._factor(f, free, level)
        for group in groups:
            outer = tuple(dict.fromkeys(i for f in group for i in f.indices if i in free or i.pinned))
            atom = self.space.atom("sum", None, [Tensor(outer, (Term(ONE, tuple(group)),))], outer)
            out *= self._symbol(atom, outer)
        return out

    def _factor(self, f: Factor, free: set[Index], level: int) -> Any:
        if f.atom.kind == "sum" and level and f.power.denominator == 1 and len(f.atom.parts[0].terms) > 1:
            axes = f.indices
            inner = Tensor(axes, tuple(instance(f.atom.parts[0], axes)))
            return self.expression(inner, free | set(axes), level - 1) ** int(f.power)
        return self._symbol(f.atom, f.indices) ** _rational(f.power)

    def _symbol(self, atom: Atom, indices: tuple[Index, ...]) -> Any:
        found = self.symbols.get((atom, indices))
        if found is not None:
            return found
        if atom.kind == "function" and atom.data[0] == "exp":
            for symbol, (other, theirs) in self.exponentials:
                if theirs == indices and _opposite(self.space, atom, other):
                    return 1 / symbol
        symbol = sp.Symbol(f"t{len(self.symbols)}", positive=True)
        self.symbols[(atom, indices)] = symbol
        self.places[symbol] = Tensor(self.axes, (Term(ONE, (Factor(atom, indices, ONE),)),))
        if atom.kind == "function" and atom.data[0] == "exp":
            self.exponentials.append((symbol, (atom, indices)))
        return symbol

    def tensor(self, expr: Any) -> Tensor:
        """A SymPy expression over the symbols as a tensor."""
        if expr.is_Rational:
            number = Fraction(int(expr.p), int(expr.q))
            return Tensor(self.axes, (Term(number, ()),) if number else ())
        if expr in self.places:
            return self.places[expr]
        if expr.is_Add:
            parts = [self.tensor(a) for a in expr.args]
            return self.space.total(self.axes, parts, [1] * len(parts))
        if expr.is_Mul:
            return self.space.product(self.axes, [self.tensor(a) for a in expr.args])
        if expr.is_Pow and expr.exp.is_Rational:
            return self.space.power(self.tensor(expr.base), Fraction(int(expr.exp.p), int(expr.exp.q)))
        raise ValueError(f"not a rational expression: {expr}")


def components(factors: Sequence[Factor], free: set[Index]) -> tuple[list[Factor], list[list[Factor]]]:
    """Factors without summed indices, and groups of those that summed indices hold together."""
    alone = [f for f in factors if all(i in free or i.pinned for i in f.indices)]
    rest = [f for f in factors if f not in alone]
    groups: list[list[Factor]] = []
    while rest:
        group = [rest.pop(0)]
        grown = True
        while grown:
            bound = {i for i in indices_of(group) if i not in free and not i.pinned}
            more = [f for f in rest if bound & set(f.indices)]
            rest = [f for f in rest if f not in more]
            group += more
            grown = bool(more)
        groups.append(group)
    return alone, groups


def _rational(number: Fraction) -> Any:
    return sp.Rational(number.numerator, number.denominator)


def _negated(space: Space, atom: Atom, indices: tuple[Index, ...], axes: tuple[Index | None, ...]) -> Tensor:
    """exp(-u) for the atom exp(u)."""
    (u,) = atom.parts
    part = Tensor(u.axes, tuple(Term(-t.number, t.factors) for t in u.terms))
    return Tensor(axes, (Term(ONE, (Factor(space.atom("function", atom.data, [part], atom.axes), indices, ONE),)),))


def _opposite(space: Space, a: Atom, b: Atom) -> bool:
    """Whether a = exp(-u) and b = exp(u)."""
    negated = Tensor(a.parts[0].axes, tuple(Term(-t.number, t.factors) for t in a.parts[0].terms))
    mine = {i: n for n, i in enumerate(a.axes)}
    theirs = {i: n for n, i in enumerate(b.axes)}
    return bool(tensor_key(negated, mine) == tensor_key(b.parts[0], theirs))


def equals(space: Space, tensor: Tensor) -> Iterator[Tensor]:
    """The tensor as SymPy has it: cancelled, factored, with the inner sums written out or not."""
    free = {*tensor.indices}
    if any(f.atom is space.delta for t in tensor.terms for f in t.factors):
        return
    before = None
    for level in (0, 1, 2):
        scalars = Scalars(space, tensor.axes, level)
        expr = scalars.expression(tensor, free, level)
        symbols = expr.free_symbols
        if expr == before or _is_monomial(expr):
            continue
        before = expr
        if len(symbols) > _MOST_SYMBOLS or sum(_length(expr)) > _LONGEST or expr.is_Atom:
            continue
        seen = set()
        for written in _rewritten(expr, scalars):
            if written not in seen:
                seen.add(written)
                yield scalars.tensor(written)


def _is_monomial(expr: Any) -> bool:
    """Whether there is nothing to cancel or to factor."""
    return all(a.is_Symbol or a.is_Number or (a.is_Pow and a.base.is_Symbol) for a in sp.Mul.make_args(expr))


def _length(expr: Any) -> tuple[int, int]:
    """How many terms the numerator and the denominator have at most when they are multiplied out."""
    if expr.is_Add:
        parts = [(*_length(a), sp.fraction(a)[1]) for a in expr.args]
        below = {den: d for _, d, den in parts if den != 1}
        whole = math.prod(below.values())
        return sum(n * max(whole // d, 1) for n, d, _ in parts), whole
    if expr.is_Mul:
        lengths = [_length(a) for a in expr.args]
        return math.prod(n for n, _ in lengths), math.prod(d for _, d in lengths)
    if expr.is_Pow and expr.exp.is_Integer:
        above, under = _length(expr.base)
        size = min(abs(int(expr.exp)), 20)
        return (above**size, under**size) if expr.exp > 0 else (under**size, above**size)
    return 1, 1


@lru_cache(maxsize=4096)
def _plain_forms(expr: Any) -> tuple[Any, ...]:
    """The expression cancelled, factored, and as a sum of quotients."""
    cancelled = within(_SECONDS, lambda: sp.cancel(expr))
    if cancelled is None:
        return (expr,)
    found = [cancelled]
    longest = _LONGEST_FACTORED if len(expr.free_symbols) < _MANY_SYMBOLS else _FEW_TERMS
    if sum(_length(cancelled)) <= longest:
        found.append(within(_SECONDS, lambda: sp.factor(cancelled)) or cancelled)
    if not expr.is_rational_function():
        found.append(sp.factor_terms(sp.expand(expr)))
    numerator, denominator = sp.fraction(cancelled)
    if denominator != 1 and numerator.is_Add:
        found.append(sp.Add(*(sp.cancel(a / denominator) for a in numerator.args)))
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=4096)
def _logistic_forms(expr: Any, symbol: Any, s: Any) -> tuple[Any, ...]:
    """The expression in terms of s = 1/(1 + symbol)."""
    image = sp.cancel(expr.subs(symbol, (1 - s) / s))
    return image, sp.factor(image)


def _rewritten(expr: Any, scalars: Scalars) -> Iterator[Any]:
    forms = _plain_forms(expr)
    yield from forms
    cancelled = forms[0]
    for symbol, (atom, indices) in scalars.exponentials:
        if symbol not in cancelled.free_symbols or not cancelled.is_rational_function(symbol):
            continue
        inner = Tensor(scalars.axes, (Term(ONE, ()), Term(ONE, (Factor(atom, indices, ONE),))))
        for sign in (1, -1):  # s = 1/(1 + exp(u)), so that exp(u) = (1 - s)/s; or the same of -u
            s = sp.Symbol(f"s{sign}", positive=True)
            below = scalars.space.power(inner, Fraction(-1))
            if sign < 0:
                opposite = _negated(scalars.space, atom, indices, scalars.axes)
                below = scalars.space.power(
                    scalars.space.total(scalars.axes, [Tensor(scalars.axes, (Term(ONE, ()),)), opposite], [1, 1]),
                    Fraction(-1),
                )
            scalars.places[s] = below
            images = _logistic_forms(cancelled, symbol, s)
            yield from images if sign > 0 else (i.subs(s, 1 - s) for i in images)
