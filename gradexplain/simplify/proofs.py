"""Proofs of identities: that two formulas are equal wherever both have values.

Both are made rational functions of a few independent kernels (exp of one monomial, a root of one expression, sin and
cos of one angle, any other function of one argument), whose relations are r**n = u and c**2 = 1 - s**2. They are equal
if the numerator of their difference is 0 then. Budgets are counts of operations and terms: what is beyond is not
proved, which says nothing against it.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from math import lcm
from typing import Any

import sympy as sp

from gradexplain.simplify.counting import operations
from gradexplain.simplify.numeric import substituted
from gradexplain.simplify.watchdog import within
from gradexplain.userfunctions import written_out

_LONGEST = 160  # operations of both formulas
_MOST_KERNELS = 12
_MOST_TERMS = 3000  # of a numerator that is multiplied out
_HIGHEST = 12  # exponent
_PATIENCE = 2.0  # seconds
_OPAQUE = (sp.erf, sp.log, sp.gamma, sp.loggamma, sp.polygamma, sp.atan, sp.asin, sp.acos)


class _BeyondError(Exception):
    """A formula that is not looked at further."""


@lru_cache(maxsize=256)
def is_proved(one: Any, other: Any, where: tuple[tuple[str, Any], ...] = ()) -> bool:
    """Whether two formulas are the same function; `where` has the names that they use, earlier ones first.

    >>> x, s = sp.symbols("x s", real=True)
    >>> is_proved(sp.exp(-x) / (1 + sp.exp(-x)) ** 2, s * (1 - s), (("s", 1 / (1 + sp.exp(-x))),))
    True
    >>> is_proved(sp.sqrt(x**2), x)
    False
    """
    table: dict[Any, Any] = {}
    for name, definition in where:
        table[sp.Symbol(name, real=True)] = substituted(written_out(definition), table)
    one, other = (substituted(written_out(e), table) for e in (one, other))
    if one == other:
        return True
    if operations(one) + operations(other) > _LONGEST:
        return False
    return bool(within(_PATIENCE, lambda: _is_zero(one, other)))


def _is_zero(one: Any, other: Any) -> bool:
    kernels = _Kernels()
    try:
        top, _ = sp.fraction(sp.together(kernels.rational(one) - kernels.rational(other)))
        if _terms(top) > _MOST_TERMS:
            return False
        return bool(kernels.reduced(sp.expand(top)) == 0)
    except (_BeyondError, sp.PolynomialError, NotImplementedError):
        return False


def _terms(expr: Any) -> int:
    """How many terms a polynomial may have when it is multiplied out."""
    if expr.is_Add:
        return sum(map(_terms, expr.args))
    if expr.is_Mul:
        return min(10**6, reduce(lambda a, b: a * b, map(_terms, expr.args)))
    if expr.is_Pow and expr.exp.is_Integer:
        return min(10**6, int(_terms(expr.base) ** min(30, abs(expr.exp))))
    return 1


class _Kernels:
    """The kernels met so far, each with the symbol that stands for it."""

    def __init__(self) -> None:
        self.symbols: dict[Any, Any] = {}
        self.roots: list[tuple[Any, int, Any]] = []  # symbol**number is an expression
        self.circles: list[tuple[Any, Any]] = []  # sine and cosine of one angle
        self.exponents: dict[Any, list[tuple[Any, Any]]] = {}

    def symbol(self, kernel: Any) -> Any:
        """The symbol of a kernel."""
        if kernel not in self.symbols:
            if len(self.symbols) >= _MOST_KERNELS:
                raise _BeyondError
            self.symbols[kernel] = sp.Dummy(positive=True)
        return self.symbols[kernel]

    def rational(self, expr: Any) -> Any:
        """The formula as a rational function of symbols."""
        if expr.is_Rational or expr.is_Symbol:
            return expr
        if expr is sp.pi or expr is sp.E:
            return self.symbol(expr)
        if expr.is_Add or expr.is_Mul:
            return expr.func(*map(self.rational, expr.args))
        if isinstance(expr, sp.exp):
            return self._exponential(expr.args[0])
        if expr.is_Pow:
            return self._power(expr.base, expr.exp)
        if isinstance(expr, (sp.sinh, sp.cosh, sp.tanh)):
            up, down = self._exponential(expr.args[0]), self._exponential(-expr.args[0])
            sinh, cosh = (up - down) / 2, (up + down) / 2
            return sinh if isinstance(expr, sp.sinh) else cosh if isinstance(expr, sp.cosh) else sinh / cosh
        if isinstance(expr, (sp.sin, sp.cos, sp.tan)):
            sine, cosine = self._circle(expr.args[0])
            return sine if isinstance(expr, sp.sin) else cosine if isinstance(expr, sp.cos) else sine / cosine
        if isinstance(expr, _OPAQUE):
            return self.symbol(expr.func(*map(_canonical, expr.args)))
        raise _BeyondError

    def _circle(self, angle: Any) -> tuple[Any, Any]:
        angle = _canonical(angle)
        sign = -1 if angle.could_extract_minus_sign() else 1
        angle = sign * angle
        pair = self.symbol(sp.sin(angle, evaluate=False)), self.symbol(sp.cos(angle, evaluate=False))
        if pair not in self.circles:
            self.circles.append(pair)
        return sign * pair[0], pair[1]

    def _power(self, base: Any, exponent: Any) -> Any:
        if exponent.is_Integer:
            if abs(exponent) > _HIGHEST:
                raise _BeyondError
            return self.rational(base) ** exponent
        if exponent.is_Rational:
            return self._root(base, exponent)
        return self._exponential(exponent * sp.log(base))

    def _root(self, base: Any, exponent: Any) -> Any:
        if exponent.q > 6 or abs(exponent.p) > _HIGHEST:
            raise _BeyondError
        factors = sp.factor_list(base) if base.is_Rational else None
        if factors is not None and base > 0 and base != 1:  # a number by its primes: sqrt(6) is sqrt(2)*sqrt(3)
            primes = [(p, k) for p, k in sp.factorint(base).items()]
            if len(primes) > 1 or primes[0] != (base, 1):
                return sp.Mul(*[self._power(sp.Integer(p), k * exponent) for p, k in primes])
        base = _canonical(base)
        symbol = self.symbol(sp.Pow(base, sp.Rational(1, exponent.q), evaluate=False))
        if all(symbol != known for known, _, _ in self.roots):
            self.roots.append((symbol, exponent.q, self.rational(base)))
        return symbol**exponent.p

    def _exponential(self, exponent: Any) -> Any:
        """exp of a sum as the product of powers of exp(m), one for each monomial m; exp(log(u)/2) as a root of u."""
        product = sp.S.One
        for term in sp.Add.make_args(sp.expand(exponent)):
            factor, monomial = term.as_coeff_Mul()
            if not factor.is_Rational:
                raise _BeyondError
            if isinstance(monomial, sp.log):
                product *= self._power(monomial.args[0], factor)
            elif monomial == 1:
                product *= self._unit(sp.S.One, factor)
            else:
                product *= self._unit(monomial, factor)
        return product

    def _unit(self, monomial: Any, factor: Any) -> Any:
        """exp(factor*monomial) as a power of exp(monomial/24): enough for all small fractions."""
        scaled = factor * _UNITS
        if not scaled.is_Integer or abs(scaled) > _HIGHEST * _UNITS:
            raise _BeyondError
        return self.symbol(sp.exp(monomial / _UNITS, evaluate=False)) ** scaled

    def reduced(self, polynomial: Any) -> Any:
        """The numerator with the relations of the kernels put in."""
        for _ in range(len(self.roots) + len(self.circles) + 1):
            before = polynomial
            for symbol, number, inner in self.roots:
                polynomial = self._without(polynomial, symbol, number, inner)
            for sine, cosine in self.circles:
                polynomial = self._without(polynomial, cosine, 2, 1 - sine**2)
            if polynomial == before:
                break
        return polynomial

    @staticmethod
    def _without(polynomial: Any, symbol: Any, number: int, inner: Any) -> Any:
        """symbol**number replaced by an expression throughout."""
        if not polynomial.has(symbol):
            return polynomial
        total = sp.S.Zero
        for (power,), coefficient in sp.Poly(polynomial, symbol).terms():
            total += coefficient * inner ** (power // number) * symbol ** (power % number)
        top, _ = sp.fraction(sp.together(total))
        if _terms(top) > _MOST_TERMS:
            raise _BeyondError
        return sp.expand(top)


_UNITS = lcm(8, 3)


def _canonical(expr: Any) -> Any:
    """An argument in one of its many forms."""
    return sp.expand(sp.together(expr)) if expr.is_polynomial() else sp.cancel(sp.together(expr))
