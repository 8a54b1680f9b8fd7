"""Conditions as ranges: for each subject (a variable, or an expression) an open interval without some points.

`positive` and `nonzero` take an expression apart until a subject is compared with a number: 2*x + 3 > 0 is x > -3/2,
1 - x**2 > 0 is -1 < x < 1, x**2 > 0 is x != 0, log(x) > 0 is x > 1. `Ranges` intersects what it is given, drops what
follows from the rest, and writes it. What it can't take apart it keeps as it is: nothing here is a guess, and the work
is bounded by the size of the expressions that are let in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import sympy as sp

from gradexplain.simplify.printing import text

_MOST_ROOTS = 6  # of a polynomial whose signs are charted
_ODD = (sp.sinh, sp.tanh, sp.asin, sp.atan, sp.asinh, sp.atanh, sp.erf)  # rising, and 0 at 0 alone


@dataclass(frozen=True, slots=True)
class Range:
    """The subject lies between two numbers (None: no bound), and is none of the points."""

    subject: Any
    low: Any = None
    high: Any = None
    points: frozenset[Any] = frozenset()

    def joined(self, other: Range) -> Range:
        """Both conditions on one subject."""
        low = max((b for b in (self.low, other.low) if b is not None), key=float, default=None)
        high = min((b for b in (self.high, other.high) if b is not None), key=float, default=None)
        inside = {
            p
            for p in self.points | other.points
            if (low is None or float(p) > float(low)) and (high is None or float(p) < float(high))
        }
        return Range(self.subject, low, high, frozenset(inside))


@lru_cache(maxsize=4096)
def positive(expr: Any) -> tuple[Range, ...]:
    """expr > 0; no range at all where that always holds.

    >>> x = sp.Symbol("x", real=True)
    >>> [str(Ranges(positive(e))) for e in (2*x + 3, 1 - x**2, x**2, x**2 + 1, sp.log(x))]
    ['x > -3/2', '-1 < x < 1', 'x != 0', '', 'x > 1']
    """
    if expr.is_positive or expr.is_number:
        return ()
    sign, factors = _factors(expr)
    intervals = _charted(sign, factors)
    if intervals is not None:
        (x,) = factors[0][0].free_symbols
        charted = _joined(x, intervals)
        if charted is not None:
            return charted
    open_: list[Any] = []
    found: list[Range] = []
    for base, exponent in factors:
        if exponent.is_even or base.is_nonnegative:
            found += nonzero(base)
        elif exponent.is_integer is False:
            found += positive(base)
        elif base.is_negative:
            sign = -sign
        elif not base.is_positive:
            open_.append(base)
    if len(open_) == 1:
        return (*found, *_compared(sign * open_[0]))
    if not open_:
        return tuple(found) if sign > 0 else (Range(expr, low=sp.S.Zero),)  # never; it stays as it is
    whole = sp.Mul(*(base**exponent for base, exponent in factors if base in open_))
    return (*found, _half(whole, sp.S.Zero, sign > 0))


def within_one(expr: Any) -> tuple[Range, ...]:
    """-1 < expr < 1.

    >>> x, y = sp.symbols("x y", real=True)
    >>> [str(Ranges(within_one(e))) for e in (2*x - 1, sp.exp(x), x/y)]
    ['0 < x < 1', 'x < 0', 'abs(x/y) < 1']
    """
    found = (*positive(1 - expr), *positive(1 + expr))
    return found if all(r.subject.is_Symbol for r in found) else (Range(expr, -sp.S.One, sp.S.One),)


@lru_cache(maxsize=4096)
def nonzero(expr: Any) -> tuple[Range, ...]:
    """expr != 0: that of its factors.

    >>> x, y = sp.symbols("x y", real=True)
    >>> [str(Ranges(nonzero(e))) for e in (3*x, x**2 - 1, sp.exp(x)*y, sp.log(x), x - y)]
    ['x != 0', 'abs(x) != 1', 'y != 0', 'x != 1', 'x != y']
    """
    if expr.is_nonzero or expr.is_number:
        return ()
    return tuple(r for base, exponent in _factors(expr)[1] if not base.is_nonzero for r in _not_zero(base))


def _factors(expr: Any) -> tuple[int, list[tuple[Any, Any]]]:
    """The sign of the number in front, and the other factors with their exponents, positive ones left out."""
    number, factors = sp.S.One, []
    for factor in sp.Mul.make_args(sp.factor(sp.together(expr))):
        base, exponent = (factor.base, factor.exp) if isinstance(factor, sp.Pow) else (factor, sp.S.One)
        if factor.is_number:
            number *= factor
        elif not factor.is_positive:
            factors.append((base, exponent))
    return (-1 if number.is_negative else 1), factors


def _charted(sign: int, factors: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]] | None:
    """The intervals on which a product of polynomials in one variable is positive; None if it is no such product."""
    symbols = {s for base, _ in factors for s in base.free_symbols}
    if len(symbols) != 1 or not all(exponent.is_Integer for _, exponent in factors):
        return None
    (x,) = symbols
    roots: dict[Any, int] = {}
    for base, exponent in factors:
        found = _real_roots(base, x)
        if found is None:
            return None
        sign *= -1 if sp.Poly(base, x).LC() < 0 and exponent % 2 else 1
        for root in found:
            roots[root] = roots.get(root, 0) + int(exponent)
    points = sorted(roots, key=float)
    if len(points) > _MOST_ROOTS:
        return None
    ends = [None, *points, None]
    signs = [sign]
    for root in reversed(points):
        signs.append(-signs[-1] if roots[root] % 2 else signs[-1])
    return [pair for pair, s in zip(pairwise(ends), reversed(signs), strict=True) if s > 0]


def _joined(x: Any, intervals: Sequence[tuple[Any, Any]]) -> tuple[Range, ...] | None:
    """Neighbouring intervals as one with points left out; two on both sides of 0 by the absolute value."""
    merged: list[Range] = []
    for low, high in intervals:
        if merged and merged[-1].high == low:
            merged[-1] = replace(merged[-1], high=high, points=merged[-1].points | {low})
        else:
            merged.append(Range(x, low, high))
    if len(merged) == 1:
        (only,) = merged
        return () if only == Range(x) else (only,)
    if len(merged) == 2 and merged[0].low is None and merged[1].high is None:
        end = merged[1].low
        if merged[0].high == -end and not merged[0].points and not merged[1].points:
            return (Range(sp.Abs(x), low=end),)
    return None


def _real_roots(base: Any, x: Any) -> list[Any] | None:
    """The real roots of a factor of degree 1 or 2, each once; None for other factors."""
    if not base.is_polynomial(x):
        return None
    poly = sp.Poly(base, x)
    if poly.degree() > 2 or not all(c.is_number and c.is_real for c in poly.all_coeffs()):
        return None
    if poly.degree() == 2 and poly.discriminant() < 0:
        return []
    return list(sp.roots(poly))


def _compared(expr: Any) -> tuple[Range, ...]:
    """expr > 0 for one factor: rising functions are taken off, numbers go to the other side."""
    number, rest = expr.as_coeff_Add()
    content, core = rest.primitive() if rest.is_Add else rest.as_coeff_Mul()
    bound = -number / content
    rises = content > 0
    if core.could_extract_minus_sign():
        core, bound, rises = -core, -bound, not rises
    return _beyond(core, bound, rises)


def _beyond(core: Any, bound: Any, above: bool) -> tuple[Range, ...]:
    """core > bound (`above`), or core < bound."""
    if isinstance(core, sp.exp):
        if not bound.is_positive:
            return () if above else (Range(core, high=bound),)
        return _shifted(core.exp, sp.log(bound), above)
    if isinstance(core, sp.log):
        return _shifted(core.args[0], sp.exp(bound), above)
    if isinstance(core, sp.Pow) and core.exp.is_Rational and core.exp.q == 2 and core.exp.is_positive and above:
        return () if bound.is_negative else _shifted(core.base, bound ** (1 / core.exp), above)
    if isinstance(core, _ODD) and bound == 0:
        return _shifted(core.args[0], sp.S.Zero, above)
    if isinstance(core, (sp.sin, sp.cos, sp.tanh)) and abs(bound) > 1:
        return () if (bound < 0) == above else (_half(core, bound, above),)
    return (_half(core, bound, above),)


def _half(subject: Any, bound: Any, above: bool) -> Range:
    return Range(subject, low=bound) if above else Range(subject, high=bound)


def _shifted(inner: Any, bound: Any, above: bool) -> tuple[Range, ...]:
    difference = inner - bound if above else bound - inner
    return positive(difference) if bound.is_Rational else _compared(difference)


def _different(inner: Any, point: Any) -> tuple[Range, ...]:
    return nonzero(inner - point) if point.is_Rational else _not_zero(inner - point)


def _not_zero(base: Any) -> tuple[Range, ...]:
    """base != 0 for one factor."""
    if isinstance(base, sp.log):
        return nonzero(base.args[0] - 1)
    if isinstance(base, (*_ODD, sp.Abs)) or (isinstance(base, sp.Pow) and base.exp.is_positive):
        return nonzero(base.args[0])
    if isinstance(base, sp.tan):
        return (Range(sp.sin(base.args[0]), points=frozenset([sp.S.Zero])),)
    symbols = list(base.free_symbols)
    roots = _real_roots(base, symbols[0]) if len(symbols) == 1 else None
    if roots is not None and all(r.is_Rational for r in roots):
        return (Range(symbols[0], points=frozenset(roots)),) if roots else ()
    number, rest = base.as_coeff_Add()
    content, core = rest.primitive() if rest.is_Add else rest.as_coeff_Mul()
    point = -number / content
    if core.could_extract_minus_sign():
        core, point = -core, -point
    if isinstance(core, sp.exp):
        return _different(core.exp, sp.log(point)) if point.is_positive else ()
    if isinstance(core, sp.log):
        return _different(core.args[0], sp.exp(point))
    if isinstance(core, (sp.sin, sp.cos, sp.tanh)) and abs(point) > 1:
        return ()
    is_root = isinstance(core, sp.Pow) and core.exp.is_Rational and core.exp.q == 2
    if ((is_root or core.is_nonnegative) and point.is_negative) or (core.is_positive and point == 0):
        return ()
    return (Range(core, points=frozenset([point])),)


class Ranges:
    """Several conditions at once, the implied ones dropped; `texts` are what is printed, in the order they came."""

    def __init__(self, ranges: Sequence[Range]) -> None:
        self.by_subject: dict[Any, Range] = {}
        for r in ranges:
            self._add(r)
        self._simplify()

    def _add(self, r: Range) -> None:
        known = self.by_subject.get(r.subject)
        self.by_subject[r.subject] = r if known is None else known.joined(r)

    def _simplify(self) -> None:
        self._absolute_values()
        for subject in [s for s in self.by_subject if not s.is_Symbol]:
            self._follow(self.by_subject[subject])
        self._double_angles()
        for r in list(self.by_subject.values()):
            points = frozenset(p for p in r.points if not self._is_implied(r.subject - p, r.subject))
            if r == Range(r.subject, points=r.points) and not points:
                del self.by_subject[r.subject]
            else:
                self.by_subject[r.subject] = replace(r, points=points)

    def _absolute_values(self) -> None:
        """abs(x) > 1 and x > 0 is x > 1."""
        for subject in [s for s in self.by_subject if isinstance(s, sp.Abs) and s.args[0] in self.by_subject]:
            x = self.by_subject[subject.args[0]]
            low = self.by_subject[subject].low
            if low is not None and x.low is not None and not x.low.is_negative:
                self._add(Range(x.subject, low=low))
                del self.by_subject[subject]

    def _follow(self, r: Range) -> None:
        """A condition on an expression, once more with what is known of the variables in it."""
        table, back = {}, {}
        for s in sorted(r.subject.free_symbols & self.by_subject.keys(), key=sp.default_sort_key):
            dummy, inside = _known(self.by_subject[s])
            if dummy is not None:
                table[s], back[dummy] = inside, s if inside is dummy else s - (inside - dummy)
        if not table:
            return
        subject = r.subject.xreplace(table)
        followed: list[Range] = []
        for bound, difference in ((r.low, 1), (r.high, -1)):
            if bound is not None:
                followed += positive(difference * (subject - bound))
        for point in r.points:
            followed += nonzero(subject - point)
        if not any(back.keys() & f.subject.free_symbols for f in followed):
            del self.by_subject[r.subject]
            for f in followed:
                self._add(f)

    def _double_angles(self) -> None:
        """sin(u) != 0 and cos(u) != 0 is sin(2*u) != 0."""
        zero = frozenset([sp.S.Zero])
        for subject in [s for s in self.by_subject if isinstance(s, sp.sin)]:
            pair = Range(subject, points=zero), Range(sp.cos(*subject.args), points=zero)
            if all(self.by_subject.get(r.subject) == r for r in pair):
                for r in pair:
                    del self.by_subject[r.subject]
                self._add(Range(sp.sin(2 * subject.args[0]), points=zero))

    def _is_implied(self, base: Any, subject: Any) -> bool:
        """Whether base != 0 goes without saying: S/K > 0 has a meaning only where K != 0, x*y > 0 has no x = 0."""
        for r in self.by_subject.values():
            if r.subject == subject:
                continue
            never_zero = (r.low is not None and not r.low.is_negative) or (
                r.high is not None and not r.high.is_positive
            )
            for f in sp.Mul.make_args(r.subject):
                power = f.exp if f.is_Pow else sp.S.One
                if (f.base if f.is_Pow else f) in (base, -base) and (power.is_negative or never_zero or 0 in r.points):
                    return True
            if isinstance(base, sp.cos) and r.subject.has(sp.tan(*base.args)):
                return True
        return False

    @property
    def relations(self) -> list[tuple[str, Any]]:
        """What is printed, and the same as a SymPy condition."""
        return [pair for r in self.by_subject.values() for pair in _relations(r)]

    def __str__(self) -> str:
        return " and ".join(shown for shown, _ in self.relations)


def _known(r: Range) -> tuple[Any, Any]:
    """A symbol of known sign, and the variable in terms of it; None where nothing is known."""
    if r.low is not None and not r.low.is_negative:
        dummy = sp.Dummy(positive=True)
        return dummy, dummy + r.low if r.low != 0 else dummy
    if r.high is not None and not r.high.is_positive:
        dummy = sp.Dummy(negative=True)
        return dummy, dummy + r.high if r.high != 0 else dummy
    if 0 in r.points:
        dummy = sp.Dummy(real=True, zero=False)
        return dummy, dummy
    return None, None


def _relations(r: Range) -> Iterator[tuple[str, Any]]:
    subject, low, high = r.subject, r.low, r.high
    if low is not None and high is not None:
        both = sp.And(subject > low, subject < high)
        if low == -high and not subject.is_Symbol:
            yield f"abs({text(subject)}) < {text(high)}", both
        else:
            yield f"{text(low)} < {text(subject)} < {text(high)}", both
    elif low == 0 and (intervals := _intervals(subject)):
        yield " or ".join(_between(subject, *pair) for pair in intervals), subject > 0
    elif low is not None:
        yield _sides(subject, ">", low), subject > low
    elif high is not None:
        yield _sides(subject, "<", high), subject < high
    points = sorted(r.points, key=float)
    for p in points:
        if p > 0 and -p in r.points:
            yield f"abs({text(subject)}) != {text(p)}", sp.And(sp.Ne(subject, p), sp.Ne(subject, -p))
        elif not (p < 0 and -p in r.points):
            yield _sides(subject, "!=", p), sp.Ne(subject, p)


def _intervals(subject: Any) -> list[tuple[Any, Any]]:
    """Where a product of polynomials in one variable is positive, [] for what is no such product."""
    return [] if not subject.is_Mul or len(subject.free_symbols) != 1 else _charted(*_factors(subject)) or []


def _between(subject: Any, low: Any, high: Any) -> str:
    (x,) = subject.free_symbols
    return next(shown for shown, _ in _relations(Range(x, low, high)))


def _sides(subject: Any, sign: str, number: Any) -> str:
    """A comparison; of a difference with 0, the two terms with each other."""
    if number == 0 and subject.is_Add:
        minus = [t for t in subject.args if t.could_extract_minus_sign()]
        plus = [t for t in subject.args if not t.could_extract_minus_sign()]
        if minus and plus:
            return f"{text(sp.Add(*plus))} {sign} {text(-sp.Add(*minus))}"
    return f"{text(subject)} {sign} {text(number)}"
