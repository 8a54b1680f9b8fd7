"""One-sided slopes of a traced program at one point, from difference quotients with hundreds of digits.

Difference quotients are a bad check in float64: a step small enough for the curve is too small for the rounding. With
mpmath there is no such conflict. At a step of 10**-60 of the point and 240 digits the quotient of a smooth function is
right to about 60 digits, and a second, much smaller step shows whether it is: a slope does not depend on the step, a
slope of zero shrinks with it, a vertical tangent grows as it shrinks. Each side of the point is judged alone, so that
kinks, jumps and the edge of a domain are recognised instead of averaged over.

What it promises: no threshold depends on the scale of the point, of the function or of its slope, and nothing is
assumed about the function beyond its values. What it cannot see is whether the graph that it evaluates is the user's
program: that is the job of `quotients`.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from mpmath import mp

Real = Any
"""An mpmath number (``mpf``): mpmath has no types."""

STEPS = range(60, 421, 60)
"""Steps are s * 10**-k, s = |x| or 1. The first two decide nearly always. The others are for what is slow to settle and
for what turns fast (sin(exp 300)); equal distances between them make Aitken's extrapolation right for powers of h.

The decimal exponent of x is added to k: sin(1e300) and sin(1/1e-300) turn many times within 1e-60 of their point.
"""

GUARD_DIGITS = 60
"""Digits beyond the 3k that a difference of second order in the step needs: room for cancellation inside f.

Twice the decimal exponent of x is added here too: that much is lost by (1 - cos x) / x**2.
"""

NOISE_DIGITS = 20
"""A difference is rounding if it reaches at most this many digits up from the last one that is carried."""

AGREEMENT = 1e-20
"""Two numbers that agree this well are the same slope: the errors of smooth functions are near 10**-60."""

SETTLING = 1e-3
"""A slope settles if its changes shrink by this from step to step: any power of the step above 1/20 does so."""

JUMP = 0.9
"""A function jumps if its rise keeps this share of itself each time that the step shrinks by 10**60."""

ROUNDING = 2.0**-50
"""Four roundings: how far from an exact zero a slope computed in float64 may lie, in units of |f| / |x|."""

UNDEFINED = (ArithmeticError, ValueError, TypeError, mp.NoConvergence)
"""What f raises outside of its domain (TypeError: mpmath refuses to order complex numbers)."""


@dataclass(frozen=True, slots=True)
class Slope:
    """The slopes of a function on both sides of a point.

    kind: "smooth", "kink" (the sides differ), "vertical" (infinite on every side where it is defined), "edge" (only one
    side is defined), "jump" (the value at the point is not the limit from one or both sides) or "undefined".
    left, right: the one-sided slopes, None where there is none, infinite at a vertical tangent. At a jump: the slopes
    towards the limit of each side rather than towards the value at the point.
    value: the derivative if smooth; at a jump, the slope that both sides share, if they do.
    unit: |f| / |x|, the slope that would change f by all of itself over the distance to the origin (there: by |f|).
    """

    kind: str
    left: Real = None
    right: Real = None
    value: Real = None
    unit: float = 0.0


def slope(f: Callable[[Real], Real], x: float | Fraction) -> Slope:
    """The one-sided slopes of f at x; f computes in whatever precision mpmath is set to.

    Where f raises, or returns a number that is not real and finite, it is undefined. No slope is "undefined" too:
    x * sin(1/x) has none at 0 although it is continuous. So is a slope that settles more slowly than any power of the
    step, such as that of x / log(x) at 0.

    >>> from mpmath import mp
    >>> float(slope(mp.exp, 1).value)
    2.718281828459045
    >>> kink = slope(abs, 0.0)
    >>> kink.kind, float(kink.left), float(kink.right)
    ('kink', -1.0, 1.0)
    >>> slope(mp.sqrt, 0).kind, slope(mp.log, 0).kind
    ('vertical', 'undefined')
    """
    if isinstance(x, float) and not math.isfinite(x):
        return Slope("undefined")
    value = _values(f)
    with mp.workdps(_digits(x, STEPS[0])):
        point = _point(x)
        unit = float(abs(value(point, mp.prec) or 0) / (abs(point) or 1))
    left, right = _side(value, x, -1), _side(value, x, 1)
    if left.jumps or right.jumps:
        left, right = (_side(value, x, way, away=side.jumps) for way, side in ((-1, left), (1, right)))
        return _classified(left.slope, right.slope, unit, jumps=True)
    return _classified(left.slope, right.slope, unit)


def accepts(s: Slope, claimed: float, *, rtol: float = 1e-9) -> bool:
    """Whether a claimed derivative is one that these slopes allow.

    Smooth and edge: that slope. Kink: every number from one slope to the other. Vertical: only an infinity that one
    side has. Jump: the slope that both sides share; if they share none, nan. Undefined: nan. A slope beyond the range
    of floats is met by what it rounds to (an infinity, or anything below the normal floats), and a slope of exactly
    zero by what float64 rounding can leave of it.

    >>> accepts(slope(lambda x: x * x, 3.0), 6.0), accepts(slope(lambda x: x * x, 3.0), 6.000001)
    (True, False)
    >>> accepts(slope(abs, 0), 0.5), accepts(slope(abs, 0), 1.5)
    (True, False)
    """
    slopes = [float(side) for side in (s.left, s.right) if side is not None]
    if s.kind == "undefined" or (s.kind == "jump" and s.value is None):
        return math.isnan(claimed)
    if s.kind == "vertical":
        return claimed in slopes
    low, high = min(slopes), max(slopes)
    return low - _slack(low, s.unit, rtol) <= claimed <= high + _slack(high, s.unit, rtol)


def _slack(bound: float, unit: float, rtol: float) -> float:
    if math.isinf(bound):
        return 0.0
    return max(rtol * abs(bound) if bound else ROUNDING * unit, sys.float_info.min)


@dataclass(frozen=True, slots=True)
class _Side:
    slope: Real  # None: undefined on this side, nan: there is no limit
    jumps: bool = False


Values = Callable[[Real, int], Real]
"""f with None for undefined, remembered for each point and precision: both sides start at the same point."""


def _values(f: Callable[[Real], Real]) -> Values:
    @cache
    def value(point: Real, _precision: int) -> Real:
        try:
            result = mp.mpmathify(f(point))
        except UNDEFINED:
            return None
        return result if isinstance(result, mp.mpf) and mp.isfinite(result) else None

    return value


def _point(x: float | Fraction) -> Real:
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mp.mpf(x)


def _exponent(x: float | Fraction) -> int:
    """300 for a point of 1e-300 or 1e300."""
    return int(abs(mp.mag(_point(x))) * math.log10(2)) if x else 0


def _digits(x: float | Fraction, power: int) -> int:
    return 3 * (power + _exponent(x)) + 2 * _exponent(x) + GUARD_DIGITS


def _side(value: Values, x: float | Fraction, way: int, *, away: bool = False) -> _Side:
    """The slope on one side; with `away`, of the function that is continued to the point by its limit."""
    quotients: list[Real] = []
    rises: list[Real] = []
    for power in STEPS:
        with mp.workdps(_digits(x, power)):
            step = way * (abs(_point(x)) or 1) * mp.mpf(10) ** -(power + _exponent(x))
            start = _point(x) + step if away else _point(x)
            before, after = value(start, mp.prec), value(start + step, mp.prec)
            if before is None or after is None:
                return _Side(None)
            noise = abs(before) * mp.mpf(10) ** (NOISE_DIGITS - _digits(x, power))
            rises.append(after - before if abs(after - before) > noise else mp.zero)
            quotients.append(rises[-1] / step)
            if len(quotients) > 1 and (limit := _limit(*quotients[-3:])) is not None:
                return _Side(limit)
    if not away and all(abs(after) > JUMP * abs(before) for before, after in pairwise(rises)):
        return _Side(mp.nan, jumps=True)
    return _Side(mp.sign(quotients[-1]) * mp.inf if _grow(quotients) else mp.nan)


def _limit(*quotients: Real) -> Real:
    """The limit that the last two or three quotients show; None if they show none."""
    before, last = quotients[-2:]
    if _agree(before, last):
        return last
    if abs(last) <= AGREEMENT * abs(before):
        return mp.zero
    earlier, later = before - quotients[0], last - before
    if len(quotients) > 2 and abs(later) <= SETTLING * abs(earlier):  # limit + c * h**p: Aitken removes the second term
        limit = last - later**2 / (later - earlier)
        return limit if abs(limit) > SETTLING * abs(last) else mp.zero
    return None


def _grow(quotients: list[Real]) -> bool:
    return all(abs(after) > abs(before) and after * before > 0 for before, after in pairwise(quotients))


def _agree(a: Real, b: Real) -> bool:
    return bool(mp.isfinite(a) and mp.isfinite(b) and abs(a - b) <= AGREEMENT * abs(b))


def _classified(left: Real, right: Real, unit: float, *, jumps: bool = False) -> Slope:
    slopes = [side for side in (left, right) if side is not None]
    if not slopes or any(mp.isnan(side) for side in slopes):
        return Slope("undefined", unit=unit)
    same = slopes[0] == slopes[-1] or _agree(slopes[0], slopes[-1])
    if jumps:
        return Slope("jump", left, right, slopes[-1] if same else None, unit)
    if all(map(mp.isinf, slopes)):
        return Slope("vertical", left, right, unit=unit)
    if len(slopes) == 1:
        return Slope("edge", left, right, unit=unit)
    return Slope("smooth", left, right, right, unit) if same else Slope("kink", left, right, unit=unit)
