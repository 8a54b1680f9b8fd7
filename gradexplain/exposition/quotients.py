"""A black-box check of one slope: float64 difference quotients over a ladder of steps, with their errors measured.

A difference quotient with one fixed step is wrong wherever the scale of the point or of the curve is not the one that
the step assumes. Here every power of two is a step, from half the point down to its last bit, and the function itself
says which steps can be trusted:

* truncation: Richardson's extrapolation of neighbouring steps, and how far it moves at the next step;
* rounding: combinations of values in which the low Taylor terms cancel leave the noise of the program, be it float64, a
  float32 inside, an unfinished iteration or a random number. Noise at a finer step counts for all coarser ones.

A step whose error is below 1e-4 of the slope is *credible*. A claim passes if the finest credible steps all agree with
it and no run of coarser ones contradicts it, fails if they all contradict it, and is inconclusive otherwise. Each side
is treated alike on its own, which finds kinks, jumps, vertical tangents and the edge of a domain.

What it promises: 100 to 170 calls of the function, nothing assumed about scale, "inconclusive" rather than a guess.
What it cannot see: a float64 program that is locally smooth with another slope than its formula, such as
(1 - cos x) / x**2 at 1e-7. The optional noise oracle tells it how far the program is from its formula.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from gradexplain.language import Sentence

Floats = npt.NDArray[np.float64]

CREDIBLE = 1e-4
"""Largest error, relative to the slope, of a step that may vote: a claim that is wrong by 1e-3 is then told apart."""

SAFETY = 4.0
"""How many times its own error estimate a slope may be off."""

SLACK = 1e-5
"""Relative difference that never counts."""

VOTES = 4
"""How many credible steps decide: fewer agree by accident."""

TAIL = 8
"""How many of the finest steps show what happens at the point itself: a jump, a vertical tangent, an undefined side."""

QUANTUM = 1 / 128
"""A function that stops changing below some step has run out of digits (float16 has steps of 1/1024), unless its last
change is more than this share of its largest value: then it is truly flat."""

RESOLVED = 1e-2
"""The finest steps must change a function by less than this share of what the coarsest do, or it is noise to them."""

EXTREMUM = 1e-7
"""A two-sided slope this far below the one-sided ones is that of an extremum: zero, as far as float64 can show."""

DECAY = 0.8, 12
"""A slope vanishes if its quotients shrink at least by this factor (the step by 0.5) over this many steps in a row."""

STEEP, JUMPS, STEADY = 1.05, 1.95, 0.05
"""By what one-sided quotients grow at each halving of the step: 1 at a slope, 2 at a jump, steadily between them at a
vertical tangent."""


class Verdict(Enum):
    """What the ladder makes of a claim."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Ladder:
    """What the ladder found at one point: the verdict on the claim, and the best two-sided slope with its error."""

    verdict: Verdict
    estimate: float | None
    error: float | None
    step: float | None
    left: float | None  # one-sided slopes, where they were needed
    right: float | None
    reason: str  # "" for a pass, otherwise one short sentence
    calls: int


def ladder(
    f: Callable[[float], float], x: float, claimed: float, *, noise: Callable[[float], float] | None = None
) -> Ladder:
    """Judge the claim that f has this slope at x, from values of f alone.

    `f` may raise ArithmeticError or ValueError, or return nan, infinities or complex numbers: it is undefined there.
    `noise` tells how far the float64 program is from its formula at a point, if that is known. At a kink every number
    between the two one-sided slopes passes, at a vertical tangent only the infinity, where f is undefined only nan.

    >>> import math
    >>> ladder(math.sin, 1.0, math.cos(1.0)).verdict
    <Verdict.PASS: 'pass'>
    >>> ladder(abs, 0.0, 2.0).reason
    'kink: slopes -1 on the left, 1 on the right'
    """
    x, program = float(x), _Program(f)
    with np.errstate(all="ignore"):
        samples = _sample(program, x, noise)
        quotients = _two_sided(samples)
        finding = _judge(samples, quotients, claimed)
    best = min(quotients, key=lambda q: q.error / (abs(q.slope) or 1.0), default=None)
    slope, error, step = (best.slope, best.error, best.step) if best else (None, None, None)
    reason = "" if finding.verdict is Verdict.PASS else finding.reason
    return Ladder(finding.verdict, slope, error, step, finding.left, finding.right, reason, program.calls)


MOST_EXTRA = 24
"""How many steps from 1/2 down a small point gets, besides those of its own scale: most functions live near 1."""

RUNS_AT_ZERO = ((-1, 56), (-150, 8), (-300, 8), (-600, 8), (-990, 8))
"""First exponent and length of the runs of steps at x = 0, which has no scale of its own."""

ORACLE_STEPS = 5
"""At how many steps, on both sides, the noise oracle is asked."""


@dataclass(frozen=True, slots=True)
class _Samples:
    """Values on both sides of the point, from the coarsest step to the finest; nan where undefined."""

    centre: float
    steps: Floats  # runs of successive halves, with a nan between two runs: no stencil reaches across it
    up: Floats
    down: Floats
    oracle: Floats

    def size(self) -> Floats:
        return np.fmax(np.fmax(abs(self.up), abs(self.down)), abs(self.centre))

    def change(self) -> Floats:
        return np.fmax(abs(self.up - self.centre), abs(self.down - self.centre))


class _Program:
    """The user's function, counted, with one value for undefined: nan."""

    def __init__(self, f: Callable[[float], float]) -> None:
        self.f, self.calls = f, 0

    def __call__(self, x: float) -> float:
        if not math.isfinite(x):
            return math.nan
        self.calls += 1
        try:
            value = self.f(x)
            result = math.nan if isinstance(value, complex) else float(value)
        except (ArithmeticError, ValueError):
            return math.nan
        return result if math.isfinite(result) else math.nan


def _sample(program: _Program, x: float, noise: Callable[[float], float] | None) -> _Samples:
    steps = _steps(x)
    up, down = (np.array([program(x + way * h) for h in steps]) for way in (1, -1))
    oracle = np.zeros(len(steps))
    if noise is not None:
        distance = _Program(noise)
        for i in np.linspace(0, len(steps) - 1, ORACLE_STEPS + 1).astype(int)[1:]:
            oracle[i] = np.fmax.reduce([distance(x - steps[i]), distance(x + steps[i]), distance(x), 0.0])
    return _Samples(program(x), np.array(steps), up, down, oracle)


def _steps(x: float) -> list[float]:
    """Powers of two, so that x + h is exact wherever it can be; a nan between runs."""
    if x == 0:
        runs = [range(first, first - length, -1) for first, length in RUNS_AT_ZERO]
    else:
        top = math.frexp(x)[1] - 2  # from half the point
        own = range(top, math.frexp(math.ulp(x))[1] - 2, -1)  # to its last bit
        extra = range(-1, max(top, -1 - MOST_EXTRA), -1)
        if len(extra) < MOST_EXTRA:
            runs = [range(max(top, -1), own.stop, -1)]
        else:
            runs = [extra, own] if len(own) >= TAIL else [extra]
    return [h for run in runs for h in (math.nan, *(math.ldexp(1.0, e) for e in run))][1:]


# Stencils over the values at h, h/2, h/4 ... Those for noise cancel the powers of h that are named; they are divided by
# the deviation that unit noise in every evaluation of f, the one at the point included, would give to their sums.
NOISE_ODD = np.array([1.0, -10.0, 16.0]) / 13.4  # of (f(x + h) - f(x - h)) / 2: h, h**3
NOISE_EVEN = np.array([1.0, -20.0, 64.0]) / 65.0  # of (f(x + h) + f(x - h)) / 2 - f(x): h**2, h**4
NOISE_ONE_SIDED = np.array([1.0, -14.0, 56.0, -64.0]) / 88.7  # of f(x + h) - f(x): h, h**2, h**3
RICHARDSON = np.array([-1.0, 4.0])  # three times the slope from two-sided quotients: cancels their error of h**2
RICHARDSON_ONE_SIDED = np.array([1.0, -6.0, 8.0])  # the same from one-sided quotients: cancels h, h**2
GAIN, GAIN_ONE_SIDED = 3.0, 20.0
"""What noise in f does to an extrapolated slope, times h: 1.9 and 13.4 by the weights, the rest is margin."""


@dataclass(frozen=True, slots=True)
class _Quotient:
    step: float
    slope: float
    error: float

    def credible(self, claimed: float = 0.0) -> bool:
        """Whether the error is small beside the slope, or beside a claim that is larger."""
        return self.error <= CREDIBLE * max(abs(self.slope), abs(claimed) if math.isfinite(claimed) else 0.0)

    def agrees(self, claimed: float, bounds: float = 1.0) -> bool:
        return abs(claimed - self.slope) <= bounds * (SAFETY * self.error + SLACK * abs(self.slope))

    def contradicts(self, claimed: float) -> bool:
        return not self.agrees(claimed, 2.0)


def _two_sided(s: _Samples) -> list[_Quotient]:
    odd = (s.up - s.down) / 2
    even = (s.up - s.centre) / 2 + (s.down - s.centre) / 2
    residual = np.fmax(abs(_applied(NOISE_ODD, odd)), abs(_applied(NOISE_EVEN, even)))
    return _levels(s, _applied(RICHARDSON, odd / s.steps) / 3, residual, s.size(), s.change(), GAIN)


def _one_sided(s: _Samples, way: int) -> list[_Quotient]:
    values = s.up if way > 0 else s.down
    rise = values - s.centre
    size = np.maximum(abs(values), abs(s.centre))
    slopes = _applied(RICHARDSON_ONE_SIDED, way * rise / s.steps) / 3
    return _levels(s, slopes, abs(_applied(NOISE_ONE_SIDED, rise)), size, abs(rise), GAIN_ONE_SIDED)


def _applied(stencil: Floats, values: Floats) -> Floats:
    """The stencil at every step; nan where it would reach beyond the end of a run."""
    padded = np.append(values, np.full(len(stencil) - 1, math.nan))
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, len(stencil)) @ stencil)


def _levels(s: _Samples, slopes: Floats, noise: Floats, size: Floats, change: Floats, gain: float) -> list[_Quotient]:
    """Slopes with their errors: how far the next step moves them, and the noise at this and all finer steps."""
    noise = np.fmax.accumulate(np.fmax(noise, s.oracle)[::-1])[::-1]
    noise[-TAIL:] = noise[-TAIL:].max()  # one residual alone may be zero by accident
    noise = np.fmax(noise, np.spacing(size))
    errors = abs(np.append(slopes[1:], math.nan) - slopes) + gain * noise / s.steps
    errors[_digits_end(change, size) :] = math.nan
    found = zip(s.steps.tolist(), slopes.tolist(), errors.tolist(), strict=True)
    return [_Quotient(*quotient) for quotient in found if math.isfinite(quotient[2])]


def _digits_end(change: Floats, size: Floats) -> int:
    """The index from which on the values stop changing for want of digits: their number if they never do."""
    changing = np.flatnonzero(change > 0)
    if not len(changing) or change[changing[-1]] > QUANTUM * np.nanmax(size):
        return len(change)
    return int(changing[-1]) + 1


@dataclass(frozen=True, slots=True)
class _Finding:
    verdict: Verdict
    reason: str = ""
    left: float | None = None
    right: float | None = None


def _judge(s: _Samples, central: list[_Quotient], claimed: float) -> _Finding:
    if math.isnan(s.centre):
        return _Finding(Verdict.PASS if math.isnan(claimed) else Verdict.INCONCLUSIVE, "the function is undefined here")
    if decided := _vote(central, claimed, s.change()):
        return decided
    left, right = _one_sided(s, -1), _one_sided(s, 1)
    return (
        _kink(left, right, claimed)
        or _steep(s, claimed)
        or _edge(s, left, right, claimed)
        or (_zero(claimed) if _vanishes(s, central) else None)
        or _Finding(Verdict.INCONCLUSIVE, "the function is noisy here: no step shows its slope to four digits")
    )


def _vote(quotients: list[_Quotient], claimed: float, change: Floats) -> _Finding | None:
    """The vote of the credible steps; None if there are too few of them."""
    credible = [q for q in quotients if q.credible(claimed)]
    if len(credible) < VOTES:
        return None
    finest, coarser = credible[-VOTES:], [q for q in credible[:-VOTES] if q.credible()]
    finer = [q for q in quotients if q.step < finest[-1].step]
    best = min(finest, key=lambda q: q.error)
    if all(q.agrees(claimed) for q in finest):
        if not _in_a_row(lambda q: q.contradicts(claimed), coarser, finer):
            return _Finding(Verdict.PASS)
    elif all(q.contradicts(claimed) for q in finest):
        smooth = not any(q.contradicts(best.slope) for q in (*finest, *finer))
        resolved = _resolved(change, abs(claimed) * quotients[-1].step)
        if smooth and resolved and not _in_a_row(lambda q: q.agrees(claimed), coarser):
            return _Finding(Verdict.FAIL, Sentence("the slope is {slope}", slope=f"{best.slope:.6g}"))
    return _Finding(Verdict.INCONCLUSIVE, "small and large steps show different slopes")


def _resolved(change: Floats, claimed_change: float) -> bool:
    """Whether floats are dense enough here to show the function: else it is noise, or turns between two of them.

    It must change less at the finest steps than at the coarsest. A claimed slope that changes it more within the finest
    step than it changes anywhere cannot be refuted, unless the function is constant.
    """
    change = change[np.isfinite(change)]
    largest = change.max()
    smoother = change[-TAIL:].max() <= RESOLVED * largest and not largest < claimed_change < math.inf
    return bool(largest == 0 or smoother)


def _in_a_row(holds: Callable[[_Quotient], bool], *runs: list[_Quotient]) -> bool:
    return any("x" * VOTES in "".join("x" if holds(q) else " " for q in run) for run in runs)


def _kink(left: list[_Quotient], right: list[_Quotient], claimed: float) -> _Finding | None:
    """Two smooth sides with different slopes, at the finest steps that can tell them apart and at all beneath."""
    lefts = {q.step: q for q in left}
    pairs = [(lefts[q.step], q) for q in right if q.step in lefts]
    pairs = [(a, b) for a, b in pairs if a.error + b.error <= CREDIBLE * max(abs(a.slope), abs(b.slope))][-VOTES:]
    if len(pairs) < VOTES:
        return None
    a, b = min(pairs, key=lambda pair: pair[0].error + pair[1].error)
    beneath = pairs[0][0].step
    steady = not any(
        q.contradicts(slope) for side, slope in ((left, a.slope), (right, b.slope)) for q in side if q.step <= beneath
    )
    low, high = sorted((a.slope, b.slope))
    slack = SAFETY * (a.error + b.error) + SLACK * max(abs(low), abs(high))
    if not steady or high - low <= 2 * slack:
        return None
    reason = Sentence("kink: slopes {left:.6g} on the left, {right:.6g} on the right", left=a.slope, right=b.slope)
    if low - slack <= claimed <= high + slack:
        return _Finding(Verdict.PASS, reason, a.slope, b.slope)
    outside = not low - 2 * slack <= claimed <= high + 2 * slack
    return _Finding(Verdict.FAIL if outside else Verdict.INCONCLUSIVE, reason, a.slope, b.slope)


def _steep(s: _Samples, claimed: float) -> _Finding | None:
    """Quotients that grow down to the finest steps: a vertical tangent, or a jump if they grow as fast as 1/h."""
    growths = [_growth(s, s.down, -1), _growth(s, s.up, 1)]
    if any(abs(growth) >= JUMPS for growth in growths):
        return _Finding(Verdict.INCONCLUSIVE, "the function jumps here")
    left, right = (math.copysign(math.inf, growth) if growth else None for growth in growths)
    if left is None and right is None:
        return None
    if claimed in (left, right):
        return _Finding(Verdict.PASS, "", left, right)
    only_one = (left is None) != (right is None) and not np.isnan((s.up + s.down)[-TAIL:]).any()
    steeper = s.change()[-1] / s.steps[-1] < abs(claimed) < math.inf  # than anything seen
    verdict = Verdict.INCONCLUSIVE if only_one or steeper else Verdict.FAIL
    return _Finding(verdict, "vertical tangent", left, right)


def _growth(s: _Samples, values: Floats, way: int) -> float:
    """How much steeper each of the finest quotients is than the one before, with the sign of the slope; 0 if not so."""
    slopes = (way * (values - s.centre) / s.steps)[-TAIL:]
    if not (slopes * slopes[-1] > 0).all():
        return 0.0
    ratios = slopes[1:] / slopes[:-1]
    steady = np.ptp(ratios) <= STEADY and ratios.min() >= STEEP
    return math.copysign(ratios.mean(), slopes[-1]) if steady else 0.0


def _edge(s: _Samples, left: list[_Quotient], right: list[_Quotient], claimed: float) -> _Finding | None:
    """The slope of the only side on which the function is defined."""
    no_left, no_right = (bool(np.isnan(values[-TAIL:]).all()) for values in (s.down, s.up))
    if no_left == no_right:
        return None
    side, values = (right, s.up) if no_left else (left, s.down)
    rise = abs(values - s.centre)
    found = _vote(side, claimed, rise)
    if found is None and _decays(rise / s.steps, s.steps, side):
        found = _zero(claimed)
    reason = Sentence("domain edge: {slope}", slope=Sentence(found.reason)) if found and found.reason else ""
    return found and _Finding(found.verdict, reason)


def _zero(claimed: float) -> _Finding | None:
    """What to make of a claim where the slope is zero; nothing of small numbers, which the steps cannot refute."""
    if claimed == 0:
        return _Finding(Verdict.PASS)
    return None if math.isfinite(claimed) else _Finding(Verdict.FAIL, "the slope is 0")


def _vanishes(s: _Samples, central: list[_Quotient]) -> bool:
    """Whether a slope that no step can show is zero: the function is flat here, or even around the point, or its
    two-sided slopes are nothing beside its one-sided ones, or they fade away with the step."""
    change, size, odd = s.change(), s.size(), abs(s.up - s.down) / 2
    flat = change[-1] == 0 and _digits_end(change, size) == len(change) and s.oracle.max() <= RESOLVED * np.nanmax(size)
    known = np.isfinite(odd)
    even = known.sum() >= TAIL and (odd[known] == 0).all() and (change[known] > 0).any()
    steepness = dict(zip(s.steps.tolist(), (change / s.steps).tolist(), strict=True))
    extremum = sum(abs(q.slope) + q.error <= EXTREMUM * steepness[q.step] for q in central) >= VOTES
    return bool(flat or even or extremum or _decays(odd / s.steps, s.steps, central))


def _decays(slopes: Floats, steps: Floats, quotients: list[_Quotient]) -> bool:
    """Whether quotients shrink with the step, for long, and no extrapolated slope beneath is more than its error."""
    factor, length = DECAY
    streak, top = 0, 0.0
    for larger, smaller, step in zip(slopes, slopes[1:], steps, strict=False):
        streak = streak + 1 if larger > 0 and smaller <= factor * larger else 0
        if streak == length:
            top = step * 2.0 ** (length - 1)
    return top > 0 and all(abs(q.slope) <= SAFETY * q.error for q in quotients if q.step <= top)
