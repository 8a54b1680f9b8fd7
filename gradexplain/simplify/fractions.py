"""Sums and fractions in the forms that people write: factored, sorted, divided, with few brackets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import sympy as sp

from gradexplain.simplify.arrangement import as_decimal
from gradexplain.simplify.counting import operations
from gradexplain.simplify.powers import has_high_powers

_MOST_COLLECTED = 6  # symbols that a sum is sorted by
_FEW_TERMS, _MANY_TERMS = 4, 40
_LONG_DENOMINATOR = 1000


def common_denominator(expr: Any) -> Any:
    """One fraction, numerator and denominator factored."""
    return sp.factor(sp.together(expr))


def by_functions(expr: Any) -> Any:
    """One fraction, the numerator sorted by the functions in it: x*(2*sin(x) + 3*(1 + x**2)*cos(x))/(1 + x**2)**2.

    >>> x = sp.Symbol("x", real=True)
    >>> by_functions(sp.cos(x) / x - sp.sin(x) / x**2)
    (x*cos(x) - sin(x))/x**2
    """
    top, bottom = sp.fraction(sp.together(expr))
    kernels = sorted(_kernels(top), key=sp.default_sort_key)
    collected = sp.collect(sp.expand_mul(top), kernels, func=sp.factor) if kernels else sp.factor(top)
    return sp.factor_terms(sp.factor_terms(collected) / bottom)


def _kernels(expr: Any) -> set[Any]:
    """What a formula is a polynomial in, besides its symbols: functions and roots, the outermost."""
    found, waiting = set(), [expr]
    while waiting:
        node = waiting.pop()
        if node.is_Function or (node.is_Pow and not node.exp.is_Integer):
            found.add(node)
        else:
            waiting.extend(node.args)
    return {k for k in found if k.free_symbols}


def by_monomials(expr: Any) -> Any:
    """A sum of products sorted by powers of one or two of its symbols, whichever makes it shortest.

    >>> s, t, p, q = sp.symbols("s t p q", real=True)
    >>> by_monomials(p * s * t - q * s * t + p * s**2 + q * s**2 + t**2)
    s**2*(p + q) + s*t*(p - q) + t**2
    """
    opened = sp.expand(expr)
    symbols = sorted(opened.free_symbols, key=sp.default_sort_key)[:_MOST_COLLECTED]
    choices = [*((x,) for x in symbols), *combinations(symbols, 2)]
    sums = [sp.collect(opened, c, evaluate=False, func=sp.factor) for c in choices if opened.is_polynomial(*c)]
    return min((sp.factor_terms(sp.Add(*(k * v for k, v in parts.items()))) for parts in sums), key=operations,
               default=expr)  # fmt: skip


def is_no_long_sum(expr: Any) -> bool:
    """Whether there are too few terms to be sorted, or too many."""
    longest = max((len(a.args) for a in expr.atoms(sp.Add)), default=0)
    return not _FEW_TERMS <= longest <= _MANY_TERMS or has_high_powers(expr)


def partial_fractions(expr: Any) -> Any:
    """A fraction in one variable as a sum of simple ones."""
    (x,) = expr.free_symbols
    return sp.apart(sp.together(expr), x)


def is_no_fraction(expr: Any) -> bool:
    """Whether an expression is anything but a fraction of polynomials in one variable."""
    return len(expr.free_symbols) != 1 or not expr.is_rational_function() or expr.is_polynomial()


def divided(expr: Any) -> Any:
    """A fraction whose numerator holds multiples of the denominator, as what these give and the rest.

    >>> x, a, b = sp.symbols("x a b", real=True)
    >>> divided((a * (x + 1) + b * (x - 1)) / (a + b))
    x + (a - b)/(a + b)
    """
    top, bottom = sp.fraction(sp.together(expr))
    if not bottom.free_symbols:
        return expr
    quotient, rest = sp.div(sp.expand(top), sp.expand(bottom))
    return expr if quotient == 0 else quotient + sp.factor(rest) / bottom


def expanded_denominator(expr: Any) -> Any:
    """1/((1 - x)*(1 + x)) is 1/(1 - x**2)."""
    top, bottom = sp.fraction(sp.factor(expr))
    return top / sp.expand(bottom)


def has_no_sum_below(expr: Any) -> bool:
    """Whether no denominator is a sum."""
    return has_high_powers(expr) or not any(p.base.is_Add and p.exp.is_negative for p in expr.atoms(sp.Pow))


def open_numerator(expr: Any) -> Any:
    """(1 - x)*(1 + x)/(x**2 + 1)**2 is (1 - x**2)/(x**2 + 1)**2.

    >>> x = sp.Symbol("x", real=True)
    >>> open_numerator(2 * (1 - x) * (1 + x) / (x**2 + 1) ** 2)
    2*(1 - x**2)/(x**2 + 1)**2
    """
    top, bottom = sp.fraction(sp.factor(expr))
    return sp.factor_terms(sp.expand(top)) / bottom


def squares(expr: Any) -> Any:
    """a**2 - 2*a*b + b**2 within a sum is (a - b)**2.

    >>> a, b = sp.symbols("a b", real=True)
    >>> squares(1 / sp.sqrt(a**2 - 2 * a * b + b**2 + 4))
    1/sqrt((a - b)**2 + 4)
    """

    def completed(total: Any) -> Any:
        terms = set(total.args)
        roots = sorted((r for r in map(_root, total.args) if r is not None), key=sp.default_sort_key)
        for a, b in combinations(roots, 2):
            for middle, square in ((2 * a * b, (a + b) ** 2), (-2 * a * b, (a - b) ** 2)):
                if {a**2, b**2, middle} <= terms:
                    return square + completed(sp.Add(*(terms - {a**2, b**2, middle})))
        return total

    return expr.replace(lambda e: e.is_Add and len(e.args) >= 3, lambda e: completed(e) if e.is_Add else e)


def _root(term: Any) -> Any:
    """What a term is the square of, None where it is no square of a product of symbols."""
    root = sp.sqrt(term)
    root = root.replace(sp.Abs, lambda u: u)
    return root if root**2 == term and root.is_rational_function() else None


def has_no_squares(expr: Any) -> bool:
    """Whether no sum holds two squares and a third term."""
    return not any(len(a.args) >= 3 for a in expr.atoms(sp.Add)) or len(
        [p for p in expr.atoms(sp.Pow) if p.exp == 2]) < 2  # fmt: skip


def decimals(expr: Any) -> Any:
    """Fractions that were typed as long decimals, as decimals: 10507/10000 is 1.0507.

    >>> decimals(sp.Rational(10507, 10000) * sp.Symbol("x"))
    1.0507*x
    >>> decimals(sp.sqrt(sp.Symbol("x")) + sp.Rational(1, 10**8))
    sqrt(x) + 1.0e-8
    """
    numbers = [r for r in expr.atoms(sp.Rational) if not r.is_Integer]
    if not any(r.q >= _LONG_DENOMINATOR for r in numbers):
        return expr
    found = {r: _decimal(r) for r in numbers}
    return _but_exponents(expr, {r: d for r, d in found.items() if d is not None})


def constants(expr: Any) -> tuple[Any, dict[str, Any]]:
    """The formula with symbols for its decimal numbers, which stay whole so, and what they are.

    >>> x = sp.Symbol("x")
    >>> constants(sp.Rational(981, 100) * x**2)
    (9.81*x**2, {'9.81': 981/100})
    """
    numbers = {abs(r) for r in expr.atoms(sp.Rational) if as_decimal(r) is not None}
    named = {repr(float(r)): r for r in sorted(numbers)}
    symbols = {r: sp.Symbol(name, positive=True) for name, r in named.items()}
    table = symbols | {-r: -s for r, s in symbols.items()}
    return _but_exponents(expr, table), named


def with_constants(expr: Any, named: Mapping[str, Any]) -> Any:
    """The formula with the numbers back."""
    return expr.xreplace({s: named[s.name] for s in expr.free_symbols if s.name in named})


def _but_exponents(expr: Any, table: Mapping[Any, Any]) -> Any:
    """The formula with numbers replaced, except in exponents: a root is no decimal."""
    if expr in table or not expr.args:
        return table.get(expr, expr)
    if expr.is_Pow and expr.exp.is_Rational:
        return sp.Pow(_but_exponents(expr.base, table), expr.exp)
    args = [_but_exponents(a, table) for a in expr.args]
    return expr if all(a is b for a, b in zip(args, expr.args, strict=True)) else expr.func(*args)


def _decimal(r: Any) -> Any:
    text = repr(float(r))
    return sp.Float(text) if sp.Rational(text) == r and len(text) <= 12 else None
