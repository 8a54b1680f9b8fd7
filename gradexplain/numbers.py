"""Floats read as the exact numbers that the user meant: 0.5 is 1/2, 1/3 is 1/3, math.pi is pi, math.sqrt(2) a root.

A reading is accepted only if it rounds to the same float. What has none stays the float it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

_LARGEST_DENOMINATOR = 100_000
_LARGEST_FRACTION = 2**33  # numerator times denominator: by chance one float in fifty thousand is one
_DIGITS = 60
_SHORT_DECIMAL = 10  # digits: what a person types
_PLACES = 6  # of a decimal that 1 - 0.999 was meant to be
_SMALL = 1000  # numerators and denominators inside roots and beside pi

_ULP_OF_ONE = math.ulp(1.0)

# What a factor multiplies, given Python's math, mpmath or SymPy; "sqrt" forms stand under the root with it.
_UNITS: Mapping[str, Callable[[Any], Any]] = {
    "pi": lambda m: m.pi,
    "pi**2": lambda m: m.pi**2,
    "1/pi": lambda m: 1 / m.pi,
    "e": lambda m: m.exp(1),
    "golden": lambda m: (1 + m.sqrt(5)) / 2,
    "log 2": lambda m: m.log(2),
    "log 10": lambda m: m.log(10),
    "1/log 2": lambda m: 1 / m.log(2),
    "1/log 10": lambda m: 1 / m.log(10),
}
_RADICANDS: Mapping[str, Callable[[Any], Any]] = {
    "sqrt": lambda m: 1,
    "sqrt pi": lambda m: m.pi,
    "sqrt 1/pi": lambda m: 1 / m.pi,
}


@dataclass(frozen=True, slots=True)
class ExactNumber:
    """A number as `factor` times a unit (1, pi, 1/pi, e, log 2 …), as a square root of that, or a plain float."""

    form: str
    factor: Fraction | float
    sign: int = 1

    def mpf(self) -> Any:
        """The number in mpmath, at its current precision."""
        import mpmath as mp

        if not isinstance(self.factor, Fraction):
            return mp.mpf(self.factor)
        return self._in(mp, mp.mpf(self.factor.numerator) / self.factor.denominator)

    def sympy(self) -> Any:
        """The number as a SymPy expression."""
        import sympy as sp

        if not isinstance(self.factor, Fraction):
            # With more digits than a float has, so that what SymPy computes with it keeps those that it has.
            return sp.Float(self.factor, _DIGITS) if math.isfinite(self.factor) else _infinite(sp, self.factor)
        return self._in(sp, sp.Rational(self.factor.numerator, self.factor.denominator))

    def _in(self, m: Any, factor: Any) -> Any:
        if self.form in _RADICANDS:
            return self.sign * m.sqrt(factor * _RADICANDS[self.form](m))
        return factor * _UNITS[self.form](m) if self.form in _UNITS else factor


def _infinite(sp: Any, value: float) -> Any:
    return sp.nan if math.isnan(value) else sp.oo if value > 0 else -sp.oo


@lru_cache(maxsize=4096)
def exact_number(value: int | float | Fraction) -> ExactNumber:
    """The exact reading of a number.

    >>> exact_number(0.1).factor, exact_number(1 / 3).factor
    (Fraction(1, 10), Fraction(1, 3))
    >>> exact_number(math.pi / 2).form, exact_number(math.sqrt(2)).form
    ('pi', 'sqrt')
    """
    if isinstance(value, (int, Fraction)):
        return ExactNumber("rational", Fraction(value))
    value = float(value)
    if not math.isfinite(value):
        return ExactNumber("float", value)
    return _rational(value) or _multiple(value) or _root(value) or ExactNumber("float", value)


def _rational(value: float) -> ExactNumber | None:
    if value.is_integer() and abs(value) < 2**53:
        return ExactNumber("rational", Fraction(int(value)))
    digits = repr(value).lower().split("e")[0].lstrip("-").replace(".", "").strip("0")
    if len(digits) <= _SHORT_DECIMAL:
        return ExactNumber("rational", Fraction(repr(value)))
    near = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    is_small = 0 < abs(near.numerator) * near.denominator <= _LARGEST_FRACTION
    if is_small and near.numerator / near.denominator == value:
        return ExactNumber("rational", near)
    rounded = round(value, _PLACES)  # 1 - 0.9 is 0.09999999999999998: off by a rounding error of the 1
    if rounded and abs(value) < 1 and abs(value - rounded) <= _ULP_OF_ONE and len(repr(abs(rounded))) <= _PLACES:
        return ExactNumber("rational", Fraction(repr(rounded)))
    return None


def _multiple(value: float) -> ExactNumber | None:
    if not 1e-3 < abs(value) < 1e4:
        return None
    for form, unit in _UNITS.items():
        factor = Fraction(value / unit(math)).limit_denominator(_SMALL)
        if 0 < abs(factor.numerator) <= _SMALL and _same(float(factor) * unit(math), value):
            return ExactNumber(form, factor)
    return None


def _root(value: float) -> ExactNumber | None:
    if not 1e-3 < abs(value) < 1e3:
        return None
    sign = 1 if value > 0 else -1
    for form, radicand in _RADICANDS.items():
        factor = Fraction(value * value / radicand(math)).limit_denominator(_SMALL)
        if 0 < factor.numerator <= _SMALL and _same(math.sqrt(float(factor) * radicand(math)), abs(value)):
            return ExactNumber(form, factor, sign)
    return None


def _same(a: float, b: float) -> bool:
    """Equal but for the rounding of one or two operations on the way."""
    return abs(a - b) <= 2 * math.ulp(b)
