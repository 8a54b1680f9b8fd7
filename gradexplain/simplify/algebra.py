"""Sums of products of powers, as they are written: nothing combines unless a step says so.

SymPy adds like terms, orders factors and multiplies numbers into sums as soon as an expression is built; a derivation
has to show these things happen. Here a sum is a list of products, a product is a number and powers of bases, and a base
is a symbol, a function, or a sum that stays closed until it is opened (multiplied out).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import sympy as sp

from gradexplain.errors import GradexplainError
from gradexplain.simplify.unevaluated import OPEN

Key = frozenset[Any]
_REMEMBERED = 2048  # formulas: the same ones are looked at again with every identity that is tried


class UnreadableError(GradexplainError):
    """A formula that is no sum of products: it has branches, or is undefined somewhere."""


class Sum:
    """A sum within a product, known by its terms whatever their order; `shown` is how it was written."""

    __slots__ = ("key", "shown", "terms")

    def __init__(self, terms: Sequence[Product], shown: Any) -> None:
        self.terms, self.shown = tuple(terms), shown
        self.key: Key = frozenset(Counter((t.key, t.number) for t in self.terms).items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sum) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class Atom:
    """What is not taken apart: a symbol, a function, a power with a symbol in the exponent."""

    __slots__ = ("expr", "shown")

    def __init__(self, expr: Any, shown: Any) -> None:
        self.expr, self.shown = expr, shown

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.expr == other.expr

    def __hash__(self) -> int:
        return hash(self.expr)


Base = Sum | Atom


class Product:
    """A number times powers of bases; `shown` is how it was written, None if it came about later."""

    __slots__ = ("key", "number", "powers", "shown")

    def __init__(self, number: Any, powers: Mapping[Base, Any], shown: Any = None) -> None:
        self.number, self.powers, self.shown = number, {b: e for b, e in powers.items() if e != 0}, shown
        self.key: Key = frozenset(self.powers.items())

    def times(self, other: Product) -> Product:
        """The product of both, like powers joined."""
        if self.is_one:
            return other
        powers = dict(self.powers)
        number = self.number * other.number
        for base, exponent in other.powers.items():
            powers[base] = powers.get(base, 0) + exponent
            if isinstance(base, Atom) and base.expr.is_Integer and powers[base] >= 1:  # sqrt(2)*sqrt(2)
                whole = sp.floor(powers[base])
                number *= base.expr**whole
                powers[base] -= whole
        return Product(number, powers)

    def power(self, exponent: Any) -> Product:
        """A whole power of it."""
        return Product(self.number**exponent, {b: e * exponent for b, e in self.powers.items()})

    def without(self, base: Base) -> Product:
        """It divided by a base."""
        return Product(self.number, {**self.powers, base: self.powers[base] - 1})

    @property
    def is_one(self) -> bool:
        """Whether it is the number 1."""
        return not self.powers and self.number == 1

    @property
    def sums(self) -> list[Sum]:
        """The sums in it that can be multiplied out."""
        return [b for b, e in self.powers.items() if isinstance(b, Sum) and e >= 1]


ONE = Product(sp.S.One, {})


def sums_within(terms: Sequence[Product]) -> Iterator[Sum]:
    """The sums in some terms, at any depth."""
    for t in terms:
        for base in t.powers:
            if isinstance(base, Sum):
                yield base
                yield from sums_within(base.terms)


def total(terms: Iterable[Product]) -> Key:
    """The sum of some terms, like terms combined: equal keys are equal sums."""
    numbers: Counter[Key] = Counter()
    for t in terms:
        numbers[t.key] += t.number
    return frozenset((k, n) for k, n in numbers.items() if n != 0)


def combined(terms: Sequence[Product]) -> tuple[list[Product], list[Product]]:
    """The terms with like ones added up, where the first one stood; and those that were not alone."""
    groups: dict[Key, list[Product]] = {}
    for t in terms:
        groups.setdefault(t.key, []).append(t)
    left, joined = [], []
    for group in groups.values():
        number = sum((t.number for t in group), sp.S.Zero)
        joined += group if len(group) > 1 else []
        if number != 0:
            left.append(group[0] if len(group) == 1 else Product(number, group[0].powers))
    return left, joined


def shared(terms: Sequence[Product]) -> Product:
    """The highest powers that all terms have in common: their common factor, over their common denominator."""
    bases = dict.fromkeys(b for t in terms for b in t.powers)
    return Product(sp.S.One, {b: min(t.powers.get(b, sp.S.Zero) for t in terms) for b in bases})


@lru_cache(_REMEMBERED)
def read(expr: Any) -> tuple[Product, ...]:
    """A formula as a sum of products; raises `UnreadableError` where it is none.

    >>> x = sp.Symbol("x")
    >>> [written(t) for t in read(x**2 + 3 * x * (x + 1))]
    [x**2, 3*x*(x + 1)]
    """
    if isinstance(expr, sp.Add):
        return tuple(t for a in expr.args for t in read(a))
    if isinstance(expr, sp.Mul):
        product = ONE
        for a in expr.args:
            product = product.times(closed(a))
        return (Product(product.number, product.powers, expr),) if product.number != 0 else ()
    if expr.is_Rational:
        return (Product(expr, {}, expr),) if expr != 0 else ()
    if expr.is_Float and expr.is_finite:
        return (Product(sp.Rational(repr(float(expr))), {}, expr),)
    if isinstance(expr, sp.Pow):
        found = _power(expr)
    elif isinstance(expr, sp.exp):
        found = _exponential(expr)
    elif expr.is_Symbol or expr in (sp.pi, sp.E) or (isinstance(expr, sp.Function) and not expr.has(sp.Piecewise)):
        plain = canonical(expr)
        found = _atom(plain, expr) if type(plain) is type(expr) else closed(plain)  # cos(0) is 1, sign(-x) is -sign(x)
    else:
        raise UnreadableError(f"{type(expr).__name__} is no part of a sum of products")
    return (Product(found.number, found.powers, expr),)


def closed(expr: Any) -> Product:
    """A formula as one product: a sum of several terms becomes a base."""
    terms = read(expr)
    if len(terms) == 1:
        return terms[0]
    return Product(sp.S.One, {Sum(terms, expr): sp.S.One}) if terms else Product(sp.S.Zero, {})


def _atom(expr: Any, shown: Any, exponent: Any = sp.S.One) -> Product:
    return Product(sp.S.One, {Atom(expr, shown): exponent})


def _power(expr: Any) -> Product:
    exponent = canonical(expr.exp)
    if exponent.is_Integer:
        base = closed(expr.base)
        if base.number == 0 and exponent < 0:
            raise UnreadableError("a division by zero")
        return base.power(exponent)
    base = canonical(expr.base)
    if exponent.is_Rational:
        if base.is_Add:
            return Product(sp.S.One, {Sum(read(expr.base), expr.base): exponent})
        return _atom(base, expr.base, exponent)
    number, rest = exponent.as_coeff_Add()
    factor, rest = rest.as_coeff_Mul()
    symbolic = _atom(sp.Pow(base, rest, evaluate=False), sp.Pow(expr.base, rest, evaluate=False), factor)
    if number == 0:
        return symbolic
    whole = closed(expr.base).power(number) if number.is_Integer else _atom(base, expr.base, number)
    return symbolic.times(whole)


def _exponential(expr: Any) -> Product:
    """exp(-2*u) is exp(u) to the power -2."""
    number, rest = canonical(expr.args[0]).as_content_primitive()
    if rest.could_extract_minus_sign():
        number, rest = -number, -rest
    if rest.is_Rational and rest != 1:
        number, rest = number * rest, sp.S.One
    return _atom(sp.exp(rest), sp.exp(rest), number)


@lru_cache(_REMEMBERED)
def canonical(expr: Any) -> Any:
    """The formula as SymPy evaluates it, so that two ways of writing it are equal."""
    if not expr.args or not isinstance(expr, OPEN) or isinstance(expr, sp.Piecewise):
        return expr
    return expr.func(*map(canonical, expr.args))


def written(product: Product, *, among: Sequence[Product] | None = None) -> Any:
    """A product as a formula, as it was written if it was; with `among`, times the sum of these terms."""
    if among is None and product.shown is not None:
        return product.shown
    factors = [product.number] if product.number != 1 else []
    factors += [f for _, f in sorted(_factors(product), key=lambda ranked: ranked[0])]
    if among is not None:
        factors.insert(sum(not _is_below(f) for f in factors), in_all(among))
    if len(factors) > 1:
        return sp.Mul(*factors, evaluate=False)
    (only,) = factors or [sp.S.One]
    if not _is_below(only) or only.exp == -1:
        return only
    return sp.Pow(sp.Pow(only.base, -only.exp, evaluate=False), -1, evaluate=False)


def _is_below(factor: Any) -> bool:
    return bool(isinstance(factor, sp.Pow) and factor.exp.is_Rational and factor.exp.is_negative)


def _factors(product: Product) -> Iterator[tuple[int, Any]]:
    """The powers of a product with their ranks: symbols come before functions and sums."""
    symbolic = {b.expr.base: b for b in product.powers if isinstance(b, Atom) and _is_symbolic(b.expr)}
    for base, exponent in product.powers.items():
        if isinstance(base, Sum):
            yield 1, _raised(base.shown, exponent)
        elif isinstance(base.expr, sp.exp):
            yield 1, sp.exp(exponent * base.expr.args[0])
        elif _is_symbolic(base.expr):
            added = product.powers.get(Atom(base.expr.base, None), sp.S.Zero)
            yield 1, sp.Pow(base.shown.base, exponent * base.expr.exp + added, evaluate=False)
        elif base.expr not in symbolic:
            yield int(not base.expr.is_Symbol), _raised(base.shown, exponent)


def _is_symbolic(expr: Any) -> bool:
    return isinstance(expr, sp.Pow) and not expr.exp.is_Number


def _raised(base: Any, exponent: Any) -> Any:
    return base if exponent == 1 else sp.Pow(base, exponent, evaluate=False)


def in_all(terms: Sequence[Product]) -> Any:
    """The sum of some terms as a formula."""
    shown = [written(t) for t in terms]
    if len(shown) < 2:
        return shown[0] if shown else sp.S.Zero
    return sp.Add(*shown, evaluate=False)


_LOOK_OF_ONE = ("itself", sp.S.One)


def look(expr: Any) -> Any:
    """What a reader sees of a formula, whatever the order of terms and factors: equal looks need no step between them.

    >>> x = sp.Symbol("x")
    >>> look(sp.Mul(x, x, evaluate=False)) == look(x**2), look(sp.Add(1, x, evaluate=False)) == look(x + 1)
    (False, True)
    """
    if isinstance(expr, sp.Add):
        return ("sum", frozenset(Counter(map(look, _flat(expr, sp.Add))).items()))
    if isinstance(expr, (sp.Mul, sp.Pow)):
        number, factors = sp.S.One, Counter[Any]()
        for base, exponent in powers(expr):
            if base.is_Rational and exponent.is_Integer and (base != 0 or exponent > 0):
                number *= base**exponent
            else:
                factors[(look(base), look(exponent))] += 1
        if number == 1 and list(factors.values()) == [1] and (only := next(iter(factors)))[1] == _LOOK_OF_ONE:
            return only[0]
        if not factors:
            return ("itself", number)
        return ("product", number, frozenset(factors.items()))
    if isinstance(expr, (sp.StrictGreaterThan, sp.GreaterThan)):
        expr = expr.reversed
    if isinstance(expr, sp.digamma):  # printed alike
        expr = sp.polygamma(0, *expr.args)
    if expr.is_Float and expr.is_finite:
        expr = sp.Rational(repr(float(expr)))
    return (type(expr).__name__, *map(look, expr.args)) if expr.args else ("itself", expr)


def _flat(expr: Any, kind: Any) -> Iterator[Any]:
    for a in expr.args:
        yield from _flat(a, kind) if isinstance(a, kind) else (a,)


def powers(expr: Any) -> Iterator[tuple[Any, Any]]:
    """The factors of a product with their exponents: a fraction in a product is one with it."""
    if isinstance(expr, sp.Mul):
        for a in expr.args:
            yield from powers(a)
    elif isinstance(expr, sp.Pow) and expr.exp.is_Integer and isinstance(expr.base, (sp.Mul, sp.Rational)):
        for base, exponent in powers(expr.base):
            yield base, exponent * expr.exp
    elif isinstance(expr, sp.Pow) and expr.exp == -1 and isinstance(expr.base, sp.Pow) and expr.base.exp.is_Rational:
        yield expr.base.base, -expr.base.exp
    elif isinstance(expr, sp.Pow):
        yield expr.base, expr.exp
    else:
        yield expr, sp.S.One
