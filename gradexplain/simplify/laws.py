"""The law of a sequence of numbers: 1, 1/2, 1/6, 1/24 … is 1/n!. Exact: a law is one only if every number obeys it.

A sequence is tried as a polynomial, as one over a polynomial, and as a product of powers, factorials and fractions of
the index: whatever has a ratio of neighbours that is a fraction of low degree. A law has at least two numbers more
than it has parameters, so that none is found by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from typing import Any

import sympy as sp

from gradexplain.simplify.counting import operations

_SPARE = 2  # numbers that a law must foretell
_HIGHEST_DEGREE = 4
_DEGREES = ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1), (2, 2))  # of the ratio of neighbours
_HALF = Fraction(1, 2)

Linear = tuple[int, int]  # (m, c) is m*k + c


def laws(values: Sequence[Fraction], first: int, k: Any, *, simple: bool = False) -> Iterator[Any]:
    """The expressions in `k` that have these values at `first`, `first` + 1 …; `simple` ones have no factorials.

    >>> k = sp.Symbol("k", integer=True)
    >>> next(laws([Fraction(n * n) for n in range(1, 8)], 1, k))
    k**2
    >>> next(laws([Fraction(1, 2**n) for n in range(7)], 0, k))
    (1/2)**k
    """
    if len(set(values)) == 1:
        yield _rational(values[0])
        return
    if max(values) < 0:
        yield from (-law for law in laws([-v for v in values], first, k, simple=simple))
        return
    if 0 in values:
        polynomial = _polynomial(values, first, k)
        if polynomial is not None:
            yield polynomial
        return
    sign = sp.S.One
    if all(a * b < 0 for a, b in pairwise(values)):
        sign = (-1) ** k if (values[0] > 0) == (first % 2 == 0) else (-1) ** (k + 1)
        values = [abs(v) for v in values]
        if len(set(values)) == 1:
            yield sign * _rational(values[0])
            return
    polynomial = _polynomial(values, first, k)
    if polynomial is not None:
        yield sign * polynomial
    inverse = _polynomial([1 / v for v in values], first, k)
    if inverse is not None:
        yield sign / inverse
    product = _product(values, first, k, _DEGREES[:1] if simple else _DEGREES)
    if product is not None:
        yield sign * product


def _rational(value: Fraction) -> Any:
    return sp.Rational(value.numerator, value.denominator)


def _polynomial(values: Sequence[Fraction], first: int, k: Any) -> Any:
    """A polynomial through all values, of a degree that leaves some of them to foretell."""
    differences = [list(values)]
    while any(differences[-1]):
        degree = len(differences) - 1
        if degree > min(_HIGHEST_DEGREE, len(values) - 1 - _SPARE):
            return None
        last = differences[-1]
        differences.append([b - a for a, b in pairwise(last)])
    steps = [_rational(d[0]) for d in differences[:-1]]
    newton: Any = sum(d * sp.ff(k - first, n).expand(func=True) / sp.factorial(n) for n, d in enumerate(steps))
    expanded = sp.expand(newton)
    return min(_without_sign(sp.factor(expanded), first, k), expanded, key=operations)


def _without_sign(law: Any, first: int, k: Any) -> Any:
    """-(k - 9)*(k + 1) is (9 - k)*(k + 1): where a factor is negative to begin with, it takes the sign."""
    number, rest = law.as_coeff_Mul()
    factors = list(sp.Mul.make_args(rest))
    negative = next((f for f in factors if f.is_Add and f.xreplace({k: sp.Integer(first)}).is_negative), None)
    if negative is None or number.is_positive:
        return law
    return sp.Mul(-number, *(-f if f is negative else f for f in factors))


def _product(values: Sequence[Fraction], first: int, k: Any, degrees: Sequence[tuple[int, int]]) -> Any:
    """A product of a number to the power of k, factorials and linear factors."""
    ratio = _ratio([b / a for a, b in pairwise(values)], first, degrees)
    if ratio is None:
        return None
    base, above, below = ratio
    product = _Product(base)
    for root in above:
        product.gamma(-root, 1)
    for root in below:
        product.gamma(-root, -1)
    if not product.settle():
        return None
    law = product.expression(k)
    start = law.xreplace({k: sp.Integer(first)})
    return law * (_rational(values[0]) / start) if start.is_Rational and start != 0 else None


def _ratio(
    ratios: Sequence[Fraction], first: int, degrees: Sequence[tuple[int, int]]
) -> tuple[Fraction, list[Fraction], list[Fraction]] | None:
    """The ratio of neighbours as a factor and the rational roots of numerator and denominator."""
    for top, bottom in degrees:
        unknown = top + 1 + bottom
        if len(ratios) < unknown + _SPARE:
            continue
        points = list(enumerate(ratios, first))
        # numerator(k) - r*(denominator(k) without its first term) = r*k**bottom, as linear equations
        rows = [
            [*(Fraction(k) ** i for i in range(top + 1)), *(-r * Fraction(k) ** i for i in range(bottom)),
             r * Fraction(k) ** bottom]
            for k, r in points
        ]  # fmt: skip
        found = _solved(rows, unknown)
        if found is None or not found[top] or any(not _at(k, [*found[top + 1 :], Fraction(1)]) for k, _ in points):
            continue  # where the denominator vanishes, the equations say nothing
        above, below = _roots(found[: top + 1]), _roots([*found[top + 1 :], Fraction(1)])
        return None if above is None or below is None else (found[top], above, below)
    return None


def _at(k: int, coefficients: Sequence[Fraction]) -> Fraction:
    return sum((c * k**i for i, c in enumerate(coefficients)), Fraction(0))


def _solved(rows: list[list[Fraction]], unknown: int) -> list[Fraction] | None:
    """The only solution of linear equations, of which there are more than unknowns; None if there is none."""
    rows = [list(row) for row in rows]
    for column in range(unknown):
        pivot = next((i for i in range(column, len(rows)) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = [v / rows[column][column] for v in rows[column]]
        rows[column] = head
        for i, row in enumerate(rows):
            if i != column and row[column]:
                rows[i] = [a - row[column] * b for a, b in zip(row, head, strict=True)]
    return None if any(row[-1] for row in rows[unknown:]) else [rows[i][-1] for i in range(unknown)]


def _roots(coefficients: Sequence[Fraction]) -> list[Fraction] | None:
    """The roots of a polynomial of degree two at most, None if one is irrational."""
    if len(coefficients) == 1:
        return []
    if len(coefficients) == 2:
        return [-coefficients[0] / coefficients[1]]
    c, b, a = coefficients
    square = b * b - 4 * a * c
    if square < 0:
        return None
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return [(-b - root) / (2 * a), (-b + root) / (2 * a)] if root * root == square else None


class _Product:
    """base**k times powers of linear factors m*k + c and of their factorials."""

    def __init__(self, base: Fraction) -> None:
        self.base = base
        self.gammas: Counter[Fraction] = Counter()
        self.linear: Counter[Linear] = Counter()
        self.factorials: Counter[Linear] = Counter()

    def gamma(self, shift: Fraction, power: int) -> None:
        """Multiplies by a power of gamma(k + shift)."""
        self.gammas[shift] += power

    def settle(self) -> bool:
        """Turns gamma functions into factors and factorials; False where one is neither."""
        for above in sorted(self.gammas):
            for below in sorted(self.gammas):
                if (above - below).denominator == 1:
                    while self.gammas[above] > 0 > self.gammas[below]:
                        self._quotient(above, below)
        left = {shift: power for shift, power in self.gammas.items() if power}
        if any(shift.denominator > 2 for shift in left):
            return False
        for shift, power in left.items():
            if shift.denominator == 1:
                self.factorials[1, int(shift) - 1] += power
            else:  # gamma(j + 1/2) is (2*j)!/(4**j*j!) but for a number, with j = k + m
                m = int(shift - _HALF)
                self.factorials[2, 2 * m] += power
                self.factorials[1, m] -= power
                self.base /= Fraction(4) ** power
        self._cancel_factorials()
        self._absorb()
        return True

    def _quotient(self, above: Fraction, below: Fraction) -> None:
        """gamma(k + a)/gamma(k + b) is a product of linear factors, above the bar or below."""
        self.gammas[above] -= 1
        self.gammas[below] += 1
        low, high = min(above, below), max(above, below)
        for i in range(int(high - low)):
            factor = low + i
            self.linear[factor.denominator, factor.numerator] += 1 if above > below else -1

    def _cancel_factorials(self) -> None:
        for above in sorted(self.factorials):
            for below in sorted(self.factorials):
                while above[0] == below[0] and self.factorials[above] > 0 > self.factorials[below]:
                    self.factorials[above] -= 1
                    self.factorials[below] += 1
                    m, low, high = above[0], min(above[1], below[1]), max(above[1], below[1])
                    for c in range(low + 1, high + 1):
                        self.linear[m, c] += 1 if above[1] > below[1] else -1

    def _absorb(self) -> None:
        """(k + 1)*k! is (k + 1)!, and (2*k + 2)!/(k + 1) is (2*k + 1)! but for a number."""
        for _ in range(8):
            for (m, c), power in list(self.factorials.items()):
                sign = 1 if power > 0 else -1
                if not power:
                    continue
                up, down = self._like(m, c + 1), self._like(m, c)
                if self.linear[up] * sign >= abs(power):
                    self._move((m, c), (m, c + 1), power)
                    self.linear[up] -= power
                elif self.linear[down] * sign <= -abs(power):
                    self._move((m, c), (m, c - 1), power)
                    self.linear[down] += power

    def _move(self, old: Linear, new: Linear, power: int) -> None:
        self.factorials[old] -= power
        self.factorials[new] += power

    def _like(self, m: int, c: int) -> Linear:
        """The linear factor that is a multiple of m*k + c, if there is one."""
        return next((f for f, power in self.linear.items() if power and f[0] * c == f[1] * m), (m, c))

    def expression(self, k: Any) -> Any:
        """The product in SymPy."""
        factors = [sp.Pow(_rational(self.base), k)]
        factors += [sp.Pow(m * k + c, power) for (m, c), power in self.linear.items() if power]
        factors += [sp.Pow(sp.factorial(m * k + c), power) for (m, c), power in self.factorials.items() if power]
        return sp.Mul(*factors)
