"""Floats read as the exact numbers that the user meant: 0.5 is 1/2, 1/3 is 1/3, math.pi is pi, math.sqrt(2) a root.

A reading is accepted only if it rounds to the same float. What has none stays the float it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

Form = Literal["rational", "pi", "over_pi", "sqrt", "sqrt_pi", "sqrt_over_pi", "e", "float"]
_LARGEST_DENOMINATOR = 100_000
_LARGEST_FRACTION = 2**33  # numerator times denominator: by chance one float in fifty thousand is one
_DIGITS = 60
_SHORT_DECIMAL = 10  # digits: what a person types
_SMALL = 1000  # numerators and denominators inside roots and beside pi


@dataclass(frozen=True, slots=True)
class ExactNumber:
    """A number as `factor` times: 1, pi, 1/pi, e; or a square root of `factor` times 1, pi, 1/pi; or a plain float."""

    form: Form
    factor: Fraction | float
    sign: int = 1

    def mpf(self) -> Any:
        """The number in mpmath, at its current precision."""
        import mpmath as mp

        if not isinstance(self.factor, Fraction):
            return mp.mpf(self.factor)
        value = mp.mpf(self.factor.numerator) / self.factor.denominator
        match self.form:
            case "pi":
                value = value * mp.pi
            case "over_pi":
                value = value / mp.pi
            case "e":
                value = value * mp.e
            case "sqrt":
                value = self.sign * mp.sqrt(value)
            case "sqrt_over_pi":
                value = self.sign * mp.sqrt(value / mp.pi)
            case "sqrt_pi":
                value = self.sign * mp.sqrt(value * mp.pi)
        return value

    def sympy(self) -> Any:
        """The number as a SymPy expression."""
        import sympy as sp

        if not isinstance(self.factor, Fraction):
            # With more digits than a float has, so that what SymPy computes with it keeps those that it has.
            return sp.Float(self.factor, _DIGITS) if math.isfinite(self.factor) else _infinite(sp, self.factor)
        value = sp.Rational(self.factor.numerator, self.factor.denominator)
        match self.form:
            case "pi":
                return value * sp.pi
            case "over_pi":
                return value / sp.pi
            case "e":
                return value * sp.E
            case "sqrt_over_pi":
                return self.sign * sp.sqrt(value / sp.pi)
            case "sqrt":
                return self.sign * sp.sqrt(value)
            case "sqrt_pi":
                return self.sign * sp.sqrt(value * sp.pi)
        return value


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
    for candidate in (
        _rational(value),
        _multiple(value, math.pi, "pi"),
        _multiple(value, 1 / math.pi, "over_pi"),
        _multiple(value, math.e, "e"),
        _root(value),
    ):
        if candidate is not None:
            return candidate
    return ExactNumber("float", value)


def _rational(value: float) -> ExactNumber | None:
    if value.is_integer() and abs(value) < 2**53:
        return ExactNumber("rational", Fraction(int(value)))
    digits = repr(value).lower().split("e")[0].lstrip("-").replace(".", "").strip("0")
    if len(digits) <= _SHORT_DECIMAL:
        return ExactNumber("rational", Fraction(repr(value)))
    near = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    is_small = 0 < abs(near.numerator) * near.denominator <= _LARGEST_FRACTION
    return ExactNumber("rational", near) if is_small and near.numerator / near.denominator == value else None


def _multiple(value: float, unit: float, form: Form) -> ExactNumber | None:
    if not 1e-3 < abs(value) < 1e4:
        return None
    factor = Fraction(value / unit).limit_denominator(_SMALL)
    if not factor or abs(factor.numerator) > _SMALL:
        return None
    return ExactNumber(form, factor) if _same(float(factor) * unit, value) else None


def _root(value: float) -> ExactNumber | None:
    if not 1e-3 < abs(value) < 1e3:
        return None
    sign = 1 if value > 0 else -1
    for form, unit in (("sqrt", 1.0), ("sqrt_pi", math.pi), ("sqrt_over_pi", 1 / math.pi)):
        factor = Fraction(value * value / unit).limit_denominator(_SMALL)
        if 0 < factor.numerator <= _SMALL and _same(math.sqrt(float(factor) * unit), abs(value)):
            return ExactNumber(form, factor, sign)  # type: ignore[arg-type]
    return None


def _same(a: float, b: float) -> bool:
    """Equal but for the rounding of one or two operations on the way."""
    return abs(a - b) <= 2 * math.ulp(b)
