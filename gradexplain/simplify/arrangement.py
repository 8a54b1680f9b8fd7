"""The order in which a formula is written: `Arrangement`, in which sums and products look as in the user's program.

SymPy keeps sums and products as sets and prints them in an order of its own. Here what occurs in the program is written
as there, with its grouping (`2*(x + 1)` for `2*x + 2`). Everything else is written as in a textbook: numbers, powers of
variables, sums, then functions, each kind in the order in which the program first has it; powers falling unless the
program's rise; no minus in front of a sum that can begin with a plus; `1/sqrt(2*pi)` for `sqrt(2)/(2*sqrt(pi))`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

Factor = tuple[Any, Any]  # base and exponent
_LATER = math.inf
_PLAIN_DENOMINATOR, _MOST_DECIMAL = 10, 10**9
_UNITS = (sp.S.One, sp.S.NegativeOne)
_MATES = {sp.sin: sp.cos, sp.cos: sp.sin, sp.sinh: sp.cosh, sp.cosh: sp.sinh}
_SYMBOL, _POWER, _SUM, _OTHER = range(4)  # kinds of factors, in the order of a textbook


@dataclass(frozen=True, slots=True)
class Product:
    """A product as the program has it: a number, and bases with their exponents in order."""

    number: Any
    factors: tuple[Factor, ...]


@dataclass(slots=True)
class Fraction:
    """A product as it is written: a sign, the factors above and those below the bar, all exponents positive."""

    sign: int
    above: list[Factor]
    below: list[Factor]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a program writes its sums and products; without one, the textbook's order.

    `sums` have their terms in order. `positions` say when a reader of the program first meets a value; under the
    arguments of a function, when the first function of them; under a set of symbols, when the first term in them.
    """

    sums: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    products: dict[Any, Product] = field(default_factory=dict)
    positions: dict[Any, int] = field(default_factory=dict)
    symbols: tuple[Any, ...] = ()  # the arguments
    rising: frozenset[Any] = frozenset()  # symbols whose powers rise
    numbers_first: bool = False  # 1 + log(x) rather than log(x) + 1
    relations: dict[Any, Any] = field(default_factory=dict)  # conditions, each as the program has it

    def terms(self, total: Any) -> list[Any]:
        """The terms of a sum in order.

        >>> x = sp.Symbol("x", real=True)
        >>> TEXTBOOK.terms(1 - x**2), TEXTBOOK.terms(sp.log(x) + 1 + x)
        ([1, -x**2], [x, log(x), 1])
        """
        known = self.sums.get(total)
        if known is not None:
            return list(known)
        terms, is_polynomial = self._sorted(total)
        first = next((i for i, t in enumerate(terms) if self.fraction(t).sign > 0), 0)
        for turned in self._by_degree(terms) if first and is_polynomial else ():
            if self.fraction(turned[0]).sign > 0:
                return turned
        return [terms[first], *terms[:first], *terms[first + 1 :]]

    def _sorted(self, total: Any) -> tuple[list[Any], bool]:
        """The terms of a sum by degree or by what is in them, and whether it is a polynomial."""
        parts = {t: self._parts(t) for t in total.args}
        is_polynomial = all(not others for _, others in parts.values())
        ranks = {s: i for i, s in enumerate(self.symbols)}
        symbols = {s for powers, _ in parts.values() for s in powers}
        ranked = sorted(symbols, key=lambda s: (ranks.get(s, len(ranks)), self._position(s), s.name))
        terms = sorted(
            total.args,
            key=lambda t: (
                () if is_polynomial else self._place(*parts[t]),
                [parts[t][0].get(s, 0) * (1 if s in self.rising else -1) for s in ranked],
                sp.default_sort_key(t),
            ),
        )
        return self._as_among(terms), is_polynomial

    def _by_degree(self, terms: list[Any]) -> tuple[list[Any], ...]:
        """The terms of a polynomial by rising and by falling degree."""
        degrees = {t: sum(self._parts(t)[0].values()) for t in terms}
        rising = sorted(terms, key=lambda t: degrees[t])
        return rising, sorted(terms, key=lambda t: -degrees[t])

    def _as_among(self, terms: list[Any]) -> list[Any]:
        """Terms of which the program has a sum of its own stand together, in its order."""
        for known in self.sums.values() if len(set(terms)) == len(terms) > 2 else ():
            if len(known) < len(terms) and all(t in terms for t in known):
                at = min(terms.index(t) for t in known)
                others = [t for t in terms if t not in known]
                terms = [*others[:at], *known, *others[at:]]
        return terms

    def relate(self, relation: Any) -> None:
        """The program has this comparison: it and its opposite are written with these sides, however SymPy has them."""
        opposite = relation.negated
        turned = type(opposite)(*relation.args, evaluate=False)
        for kept, written in ((relation, relation), (opposite, turned)):
            for form in (kept, kept.reversed, kept.canonical, kept.reversedsign):
                self.relations.setdefault(form, written)

    def place(self, key: Any, position: int) -> None:
        """A reader meets what the key stands for at a position, unless it was met before."""
        self.positions.setdefault(key, position)

    def is_product(self, total: Any) -> bool:
        """Whether the program has this sum as a product: 2*x + 2 as 2*(x + 1), but x - 1 not as -(1 - x)."""
        known = self.products.get(total) or (None if total in self.sums else self.products.get(-total))
        return known is not None and not any(base in (total, -total) for base, _ in known.factors)

    def fraction(self, product: Any) -> Fraction:
        """A product, a power or a number as it is written.

        >>> x = sp.Symbol("x", real=True)
        >>> TEXTBOOK.fraction(sp.exp(x) * x / sp.sqrt(2))
        Fraction(sign=1, above=[(x, 1), (exp(x), 1)], below=[(2, 1/2)])
        """
        number, factors = self._turned(*self._ungrouped(*self.product(product)))
        found = _number(number)
        for base, exponent in factors:
            if exponent.is_Rational and exponent.is_negative:
                found.below.append((base, -exponent))
            else:
                found.above.append((base, exponent))
        return Fraction(found.sign, _with_root(found.above), _with_root(found.below))

    def product(self, product: Any) -> tuple[Any, list[Factor]]:
        """The number and the other factors in order."""
        coefficient, rest = product.as_coeff_Mul()
        for key, number in ((product, sp.S.One), (-product, sp.S.NegativeOne), (rest, coefficient)):
            known = self.products.get(key)
            if known is not None:
                return number * known.number, list(known.factors)
        number, factors = split(sp.Mul.make_args(product))
        if len(factors) > 1:
            factors = self._as_beside(sorted(factors, key=self._factor_key))
        return number, factors

    def _as_beside(self, factors: list[Factor]) -> list[Factor]:
        """Factors that stand together in a product of the program, on one side of the bar, are in its order."""
        sides = {b: bool(e.is_negative) for b, e in factors}
        together: list[Any] = []
        for known in self.products.values() if len(sides) == len(factors) else ():
            for below in (False, True):
                shared = [b for b, e in known.factors if bool(e.is_negative) is below and sides.get(b) is below]
                together = shared if len(shared) > max(1, len(together)) else together
        if not together:
            return factors
        powers, there = dict(factors), iter(together)
        return [(b, powers[b]) for b in (next(there) if b in together else b for b in powers)]

    def _ungrouped(self, number: Any, factors: Iterable[Factor]) -> tuple[Any, list[Factor]]:
        """A product with the factors of what stands in it as a product."""
        found: list[Factor] = []
        for base, exponent in factors:
            if base.is_Add and exponent in _UNITS and self.is_product(base):
                inner, more = self.product(base)
                number *= inner**exponent
                found += [(b, e * exponent) for b, e in more]
            else:
                found.append((base, exponent))
        return number, found

    def _turned(self, number: Any, factors: Iterable[Factor]) -> tuple[Any, list[Factor]]:
        """A product with a sign fewer, where a sum can take it in: (1 - x)*y for -(x - 1)*y."""
        found: list[Factor] = []
        for base, exponent in factors:
            if base.is_Add and exponent in _UNITS:
                negative = sum(_is_negative(t) for t in base.args)
                positive = len(base.args) - negative
                unknown = base not in self.sums and positive <= negative
                if not positive or (unknown and (number.is_negative or self._begins_inside(base))):
                    number, base = -number, -base
            found.append((base, exponent))
        return number, found

    def _factor_key(self, factor: Factor) -> Any:
        base, exponent = factor
        value = base if exponent.is_Rational else base**exponent
        if base.is_Number or (base.is_Symbol and base.is_integer):  # (-1)**k, and the index k of a sum
            return -1, 0.0, 0, sp.default_sort_key(value)
        return _kind(base, exponent), self._position(value), _manner(value), sp.default_sort_key(value)

    def _position(self, value: Any) -> float:
        """When a reader of the program meets a value, or else what is like it."""
        for i, key in enumerate(_likes(value)):
            if key in self.positions:
                return self.positions[key] + i / 8
        if value.is_Add:
            return min((self._position(f) for f in value.atoms(sp.Function)), default=_LATER)
        return _LATER

    def _parts(self, term: Any) -> tuple[dict[Any, Any], list[Factor]]:
        """The powers of symbols in a term, and its other factors."""
        _, factors = split(sp.Mul.make_args(term))
        powers = {b: e for b, e in factors if _kind(b, e) == _SYMBOL}
        return powers, [(b, e) for b, e in factors if b not in powers]

    def _place(self, powers: Mapping[Any, Any], others: Sequence[Factor]) -> tuple[Any, ...]:
        """Where a term stands in a sum that is no polynomial."""
        if not others and not powers:
            return (0,) if self.numbers_first else (4,)
        met = sorted(self._position(b if e.is_Rational else b**e) for b, e in others)
        if not others:
            met = [self.positions.get(frozenset(powers), _LATER)]
        if met[0] == _LATER:
            return (3,) if others else (2,)
        return 1, met

    def _begins_inside(self, total: Any) -> bool:
        """Whether a polynomial begins and ends with a minus, by rising and by falling powers."""
        terms, is_polynomial = self._sorted(total)
        return is_polynomial and _is_negative(terms[0]) and _is_negative(terms[-1])


TEXTBOOK = Arrangement()


def split(factors: Iterable[Any]) -> tuple[Any, list[Factor]]:
    """Factors as a number and the others with their exponents.

    >>> x = sp.Symbol("x", real=True)
    >>> split([sp.pi, 1 / x, sp.exp(-x)])
    (pi, [(x, -1), (exp(-x), 1)])
    """
    number, others = sp.S.One, []
    for factor in factors:
        base, exponent = (factor.base, factor.exp) if factor.is_Pow else (factor, sp.S.One)
        is_root = factor.is_Mul and factor.is_number and all(f.is_Pow for f in factor.args)  # sqrt(2)*sqrt(pi)
        if is_root or ((base.is_Number or base.is_NumberSymbol) and exponent.is_Rational):
            number *= factor
        else:
            others.append((base, exponent))
    return number, others


def _kind(base: Any, exponent: Any) -> int:
    if not exponent.is_Rational:
        return _POWER
    if base.is_Symbol:
        return _SYMBOL
    return _SUM if base.is_Add and not base.has(sp.Function) else _OTHER


def _manner(value: Any) -> int:
    """Of what the program does not have: exponentials before other functions, sums last."""
    return 0 if isinstance(value, (sp.exp, sp.Pow)) else 2 if value.is_Add else 1


def _likes(value: Any) -> Iterator[Any]:
    """What stands where a value would stand: itself, the function that it is the derivative of, one of the same."""
    yield value
    if isinstance(value, sp.Function):
        if type(value) in _MATES:
            yield _MATES[type(value)](*value.args)
        yield value.args
        yield value.args[0]
    elif value.is_Pow:
        yield value.base


def _is_negative(term: Any) -> bool:
    return bool(term.as_coeff_Mul()[0].is_negative)


def _number(number: Any) -> Fraction:
    """A number as people write it: roots of whole numbers and of pi together, on one side of the bar if they can be.

    >>> _number(-sp.sqrt(2) / (2 * sp.sqrt(sp.pi)))
    Fraction(sign=-1, above=[], below=[(2*pi, 1/2)])
    """
    coefficient, rest = number.as_coeff_Mul()
    sign = -1 if coefficient.is_negative else 1
    root, half, others = 1, sp.S.Zero, []
    for factor in sp.Mul.make_args(rest):
        base, exponent = factor.as_base_exp() if factor.is_Pow else (factor, sp.S.One)
        if base.is_Integer and base.is_positive and exponent == sp.S.Half:
            root *= int(base)
        elif base is sp.pi and abs(exponent) == sp.S.Half:
            half = exponent
        elif factor != 1:
            others.append((base, exponent))
    decimal = as_decimal(abs(coefficient)) if coefficient.is_Rational else sign * coefficient
    if decimal is not None:
        others.insert(0, (decimal, sp.S.One))
        coefficient = sp.S.One
    found = Fraction(sign, *_roots(abs(coefficient.p), coefficient.q, root, half))
    for base, exponent in others:
        (found.below if exponent.is_negative else found.above).append((base, abs(exponent)))
    return found


def as_decimal(number: Any) -> Any:
    """A fraction as the decimal that people write for it, if that is shorter; None where they write the fraction.

    >>> as_decimal(sp.Rational(981, 100)), as_decimal(sp.Rational(3, 20)), as_decimal(sp.Rational(1, 100))
    (9.81, None, None)
    """
    p, q = abs(number.p), number.q
    if p == 1 or q <= _PLAIN_DENOMINATOR or _MOST_DECIMAL % q:
        return None
    text = repr(p / q)
    return sp.Float(math.copysign(p / q, number.p)) if "e" not in text and len(text) < len(f"{p}/{q}") else None


def _with_root(factors: list[Factor]) -> list[Factor]:
    """Factors with the root of a number in the root of a variable: sqrt(2*pi*t)."""
    number = next((f for f in factors if f[0].is_number and f[1] == sp.S.Half), None)
    root = next((f for f in factors if f[0].is_Symbol and f[1] == sp.S.Half), None)
    if number is None or root is None:
        return factors
    return [(number[0] * root[0], sp.S.Half) if f is root else f for f in factors if f is not number]


def _roots(p: int, q: int, root: int, half: Any) -> tuple[list[Factor], list[Factor]]:
    """The factors of p*sqrt(root)*pi**half/q above and below the bar."""
    down = root > 1 and q % root == 0 and (half < 0 or q == root)  # 1/sqrt(2) for sqrt(2)/2
    above, below = (1, root) if down else (root, 1)
    roots: tuple[Any, Any] = above * (sp.pi if half > 0 else 1), below * (sp.pi if half < 0 else 1)
    if half and min(roots) > 1:  # sqrt(pi/2), sqrt(2/pi)
        roots = roots[0] / roots[1], 1
    numbers = p, q // root if down else q
    up, low = (
        [(sp.Integer(b) if isinstance(b, int) else b, e) for b, e in ((n, sp.S.One), (r, sp.S.Half)) if b != 1]
        for n, r in zip(numbers, roots, strict=True)
    )
    return up, low
