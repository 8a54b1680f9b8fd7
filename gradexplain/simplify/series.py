"""Sums that a loop has unrolled, rolled up again: 1 + x + x**2/2 + … becomes the sum of x**n/n!.

The terms of a sum are compared as *shapes*, expressions with their numbers taken out: x**2/2 and x**3/6 are of one
shape, and each number follows a law of the index (laws.py) or the sum stays as it is. Degenerate terms (1, x, cos(x))
are found by putting the index into the general term. Every term is compared with its own before a sum is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product, takewhile
from typing import Any

import sympy as sp

from gradexplain.notation import FiniteSum
from gradexplain.simplify.counting import operations
from gradexplain.simplify.laws import laws

FEWEST = 7  # terms: fewer are read at a glance
_OVERHEAD = 4  # operations that the reader of a sum is spared must be more than this
_SHIFT = 1.0  # operations that k + 1 in place of k counts for, outside of exponents
_START = 0.2  # … and a sum that begins neither at 0 nor at 1
_SHORT = 5  # characters of a number that is read at a glance
_LAWS = 3  # laws of one number that are tried
_CHOICES = 24  # general terms that are compared
_FITTED = 14  # terms that a law is fitted to; it must hold for all
_FIRSTS = 6  # beginnings of the index, too
_ROUNDED = Fraction(1, 2**50)  # what a few operations on floats may be wrong by
_LARGEST_FRACTION = 2**33  # numerator times denominator of a fraction that a float is read as

Shape = Any
_NUMBER = "#"


def rerolled(expr: Any, letter: str) -> Any:
    """The expression with every long sum of like terms as a sum over an index.

    >>> x = sp.Symbol("x", real=True)
    >>> rerolled(sum((n + 1) * x**n for n in range(9)), "n")
    Sum(n*x**(n - 1), (n, 1, 9))
    """
    index = sp.Symbol(letter, integer=True)
    known: dict[Any, Any] = {}
    for node in sp.postorder_traversal(expr):
        if node in known:
            continue
        args = [known[a] for a in node.args]
        new = node if all(a is b for a, b in zip(args, node.args, strict=True)) else node.func(*args)
        known[node] = _of_sum(new, index) if new.is_Add and len(new.args) >= FEWEST else new
    return known[expr]


def _of_sum(expr: Any, index: Any) -> Any:
    """One sum: the families of like terms in it re-rolled, the rest as it is."""
    rest = dict.fromkeys(expr.args)
    sums = []
    families: dict[Shape, list[_Row]] = {}
    for term in expr.args:
        shape, numbers = taken_apart(term)
        families.setdefault(shape, []).append(_Row(term, numbers))
    for shape, rows in families.items():
        if len(rows) < FEWEST - 2:  # the first and the last may look different
            continue
        found = _family(shape, rows, rest, index)
        if found is not None:
            total, used = found
            sums.append(total)
            for term in used:
                del rest[term]
    return sp.Add(*rest, *_joined(sums)) if sums else expr


def _joined(sums: list[Any]) -> list[Any]:
    """Sums over the same passes as one, where their terms have a factor in common."""
    groups: dict[Any, list[Any]] = {}
    for total in sums:
        groups.setdefault(next(iter(total.atoms(FiniteSum))).limits, []).append(total)
    result = []
    for (limits,), group in groups.items():
        series = {total: next(iter(total.atoms(FiniteSum))) for total in group}
        term = sp.factor_terms(sp.Add(*(total.xreplace({s: s.function}) for total, s in series.items())))
        if len(group) == 1 or term.is_Add:
            result += group
        else:
            outside, inside = term.as_independent(limits[0], as_Add=False)
            result.append(outside * FiniteSum(inside, limits))
    return result


@dataclass(frozen=True, slots=True)
class _Row:
    term: Any
    numbers: tuple[Any, ...]


def _family(shape: Shape, rows: list[_Row], rest: Mapping[Any, None], index: Any) -> tuple[Any, list[Any]] | None:
    """The terms of one shape as a sum, and those that it stands for."""
    if any(not n.is_Rational for row in rows for n in row.numbers[1:]):
        return None
    rows = sorted(rows, key=lambda row: [(abs(n), n) for n in row.numbers[1:]])
    for start, stop in ((0, 0), (1, 0), (0, 1), (1, 1)):
        part = rows[start : len(rows) - stop]
        columns = _Columns.of(part[:_FITTED])
        if next(_general_terms(columns, 3, index), None) is None:
            continue  # no law; most sums of data are told apart here
        best: tuple[float, Any, list[Any]] | None = None
        for price, general, first in _priced(shape, columns, index):
            if best is not None and price >= best[0]:
                break
            used = _extended(general, first, part, rest, index)
            if used is None:
                continue
            low, terms = used
            price += 0 if low in (0, 1) else _START
            if len(terms) >= FEWEST and (best is None or price < best[0]):
                outside, inside = _split(general, index)
                best = price, outside * FiniteSum(inside, (index, low, low + len(terms) - 1)), terms
        if best is not None and _effort(sp.Add(*best[2])) > 2 * best[0] + _OVERHEAD:
            return best[1], best[2]
    return None


def _priced(shape: Shape, columns: _Columns, index: Any) -> list[tuple[float, Any, int]]:
    """General terms that the numbers may obey, the easiest to read first, and where the index begins in each."""
    found = []
    for first in columns.firsts():
        for numbers in _general_terms(columns, first, index):
            general = put_together(shape, iter(numbers))
            outside, inside = _split(general, index)
            found.append(((outside != 1) + _effort(inside) + _shifts(inside), general, first))
    return sorted(found, key=lambda candidate: candidate[0])


def _split(general: Any, index: Any) -> tuple[Any, Any]:
    """The factors of a general term that do not depend on the index, and the rest."""
    outside, inside = sp.factor_terms(general).as_independent(index, as_Add=False)
    return outside, inside


def _effort(expr: Any) -> float:
    """Operations, and what it takes to read long numbers."""
    numbers = (str(n if n.is_Rational else float(n)) for n in expr.atoms(sp.Number))
    return operations(expr) + sum(max(0, len(n) - _SHORT) / 3 for n in numbers)


def _shifts(expr: Any) -> float:
    """k*x**(k - 1) is easier to read than (k + 1)*x**k: sums outside of exponents."""
    count, waiting = 0, [expr]
    while waiting:
        node = waiting.pop()
        count += node.is_Add
        waiting += node.args[:1] if node.is_Pow else node.args
    return _SHIFT * count


@dataclass(frozen=True, slots=True)
class _Columns:
    """The numbers of like terms, position by position: those in front of the terms, and those within.

    The numbers in front are a scale times fractions. Of decimals, which are rounded, they are the longest run that can
    be read as fractions, and `start` says where it begins.
    """

    scale: Any
    start: int
    front: list[Fraction]
    within: list[list[Fraction]]

    @classmethod
    def of(cls, rows: Sequence[_Row]) -> _Columns:
        """The numbers of some rows."""
        front, *within = ([row.numbers[i] for row in rows] for i in range(len(rows[0].numbers)))
        return cls(*_readings(front), [[_fraction(n) for n in column] for column in within])

    def firsts(self) -> list[int]:
        """Where the index may begin so that one of the numbers is a multiple of it."""
        found = [0, 1, 2]
        for column in self.within:
            step = column[1] - column[0]
            if step:
                found += [int(column[0] / step), int(column[0] / step) + 1]
        return [n for n in dict.fromkeys(found) if n >= 0][:_FIRSTS]


def _general_terms(columns: _Columns, first: int, index: Any) -> Iterator[tuple[Any, ...]]:
    """The laws of all numbers together, where the first row has this index."""
    front = list(islice(laws(columns.front, first + columns.start, index), _LAWS))
    within: list[list[Any]] = []
    for column in columns.within if front else ():
        within.append(list(islice(laws(column, first, index, simple=True), _LAWS)))
        if not within[-1]:
            return
    for number, *numbers in islice(product(front, *within), _CHOICES):
        yield columns.scale * number, *numbers


def _fraction(number: Any) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _readings(factors: Sequence[Any]) -> tuple[Any, int, list[Fraction]]:
    """Factors as a scale times fractions. Of decimals, which are rounded, the longest run of those that can be read."""
    if all(f.is_Rational for f in factors):
        return sp.S.One, 0, [_fraction(f) for f in factors]
    scale = sp.S.One if any(f.is_Rational for f in factors) else abs(factors[0])
    read = [_simplest(Fraction(float(f)) / Fraction(float(scale))) for f in factors]
    start, run = 0, list[Fraction]()
    for i in range(len(read)):
        here = list(takewhile(lambda r: r is not None, read[i:]))
        if len(here) > len(run):
            start, run = i, [r for r in here if r is not None]
    return scale, start, run


def _simplest(value: Fraction) -> Fraction | None:
    """The fraction with the smallest denominator that is a rounded number but for a few units in its last place."""
    if not value:
        return None
    low, high = sorted((abs(value) * (1 - _ROUNDED), abs(value) * (1 + _ROUNDED)))
    parts: list[int] = []
    while (whole := -(-low.numerator // low.denominator)) > high:  # no whole number lies between them
        parts.append(whole - 1)
        low, high = 1 / (high - parts[-1]), 1 / (low - parts[-1])
    found = Fraction(whole)
    for part in reversed(parts):
        found = part + 1 / found
    return found * (1 if value > 0 else -1) if found.numerator * found.denominator <= _LARGEST_FRACTION else None


def _same(a: Any, b: Any) -> bool:
    """Whether two terms are equal, their decimals but for a few units in the last place."""
    if a == b:
        return True
    if not (a.has(sp.Float) or b.has(sp.Float)) or a == 0 or b == 0:
        return False
    ratio = a / b
    return bool(ratio.is_Number and abs(ratio - 1) < 4 * _ROUNDED)


def _extended(
    general: Any, first: int, rows: list[_Row], rest: Mapping[Any, None], index: Any
) -> tuple[int, list[Any]] | None:
    """The first index and the terms of the sum, the degenerate ones too; None where one is not as due."""
    terms = [row.term for row in rows]
    if not all(_same(general.xreplace({index: sp.Integer(i)}), term) for i, term in enumerate(terms, first)):
        return None
    low, high = first, first + len(terms) - 1
    own = set(terms)
    left = [term for term in rest if term not in own]
    for step in (-1, 1):
        while True:
            at = low - 1 if step < 0 else high + 1
            due = general.xreplace({index: sp.Integer(at)})
            term = next((t for t in left if _same(due, t)), None)
            if term is None:
                break
            left.remove(term)
            terms = [term, *terms] if step < 0 else [*terms, term]
            low, high = min(low, at), max(high, at)
    return low, terms


def taken_apart(expr: Any) -> tuple[Shape, tuple[Any, ...]]:
    """The shape of an expression and the numbers in it, that of a product first.

    >>> x = sp.Symbol("x", real=True)
    >>> taken_apart(3 * x**2)[1], taken_apart(x)[1]
    ((3, 2), (1, 1))
    """
    if expr.is_Number:
        return _NUMBER, (expr,)
    if expr.is_Add or not (expr.is_Mul or expr.is_Pow or expr.is_Symbol or isinstance(expr, (sp.Function, sp.exp))):
        parts = sorted((taken_apart(a) for a in expr.args), key=lambda part: (str(part[0]), part[1]))
        return (expr.func, *(s for s, _ in parts)) if parts else expr, tuple(n for _, ns in parts for n in ns)
    coefficient, rest = expr.as_coeff_Mul()
    factors = []
    for base, exponent in rest.as_powers_dict().items():
        base_shape, base_numbers = _of_base(base)
        if base.is_Integer and base > 0 and exponent.is_Mul and exponent.args[0].is_Integer:
            base_numbers, exponent = (base ** abs(exponent.args[0]),), exponent / abs(exponent.args[0])
        exponent_shape, exponent_numbers = taken_apart(exponent)
        factors.append(((base_shape, exponent_shape), (*base_numbers, *exponent_numbers)))
    factors.sort(key=lambda factor: (str(factor[0]), factor[1]))
    numbers = (coefficient, *(n for _, ns in factors for n in ns))
    return ("*", *(s for s, _ in factors)), numbers


def _of_base(base: Any) -> tuple[Shape, tuple[Any, ...]]:
    if base.is_Number:
        return _NUMBER, (base,)
    if base.is_Symbol or not base.args:
        return base, ()
    parts = [taken_apart(a) for a in base.args]
    if base.is_Add:
        parts.sort(key=lambda part: (str(part[0]), part[1]))
    return (base.func, *(s for s, _ in parts)), tuple(n for _, ns in parts for n in ns)


def put_together(shape: Shape, numbers: Iterator[Any]) -> Any:
    """The expression of a shape with these numbers."""
    if shape == _NUMBER:
        return next(numbers)
    if not isinstance(shape, tuple):
        return shape
    if shape[0] == "*":
        total = next(numbers)
        for base, exponent in shape[1:]:
            its_base = put_together(base, numbers)
            total = total * its_base ** put_together(exponent, numbers)
        return total
    return shape[0](*[put_together(part, numbers) for part in shape[1:]])
