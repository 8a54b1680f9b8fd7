"""The black box: right derivatives pass, wrong ones do not, and what it cannot know it does not claim to know."""

import math
import random
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from gradexplain.exposition.quotients import Ladder, Verdict, ladder

from .difference_cases import CURATED, Case, exact, float64, random_points, wrong_claims

PASS, FAIL, INCONCLUSIVE = Verdict


def oracle(program: Callable[[float], float], formula: Callable[[Any], Any]) -> Callable[[float], float]:
    def noise(x: float) -> float:
        with mp.workdps(60):
            return float(abs(program(x) - formula(mp.mpf(x))))

    return noise


@pytest.mark.parametrize("with_oracle", [False, True], ids=["alone", "with oracle"])
@pytest.mark.parametrize("case", CURATED, ids=lambda case: case.name)
def test_curated_claims(case: Case, with_oracle: bool) -> None:
    noise = oracle(case.program, case.exact) if with_oracle else None
    if with_oracle or case.t3 != "needs oracle":
        allowed = {PASS} if case.t3 == "pass" else {PASS, INCONCLUSIVE}
        assert {ladder(case.program, case.x, claim, noise=noise).verdict for claim in case.right} <= allowed
    assert PASS not in {ladder(case.program, case.x, claim, noise=noise).verdict for claim in case.wrong}


def test_nine_of_ten_wrong_curated_claims_fail_outright() -> None:
    verdicts = Counter(ladder(case.program, case.x, claim).verdict for case in CURATED for claim in case.wrong)
    assert verdicts[FAIL] >= 0.9 * verdicts.total()


@pytest.mark.parametrize("with_oracle", [False, True], ids=["alone", "with oracle"])
def test_error_rates_on_random_trees(with_oracle: bool) -> None:
    """600 trees and 3000 wrong claims, unseen while the scheme was tuned; |x| from 1e-9 to 1e9.

    Measured alone: 1 false alarm, 21 abstentions, no miss; on 4000 more trees 11, 137, 10. With the oracle: 0, 21, 0;
    6, 138, 7. What is left are float64 programs that do have another slope than their formula, by a rounded phase or a
    square that vanishes beside 1, and slopes of about one ulp.
    """
    right, wrong = Counter[Verdict](), Counter[Verdict]()
    for tree, x, truth in random_points(seed=2101, count=600):
        program = cache(partial(float64, tree))
        noise = cache(oracle(program, partial(exact, tree))) if with_oracle else None
        right[ladder(program, x, truth, noise=noise).verdict] += 1
        wrong.update(ladder(program, x, claim, noise=noise).verdict for claim in wrong_claims(truth))
    assert right[FAIL] <= 3, right
    assert right[INCONCLUSIVE] <= 36, right
    assert wrong[PASS] <= 2, wrong
    assert wrong[FAIL] >= 2800, wrong


def _noisy(size: float) -> Callable[[float], float]:
    draw = random.Random(5)
    return lambda x: math.sin(x) + size * draw.random()


def _counting() -> Callable[[float], float]:
    state = {"calls": 0}

    def f(x: float) -> float:
        state["calls"] += 1
        return x + state["calls"]

    return f


@pytest.mark.parametrize("claim", [math.cos(1.0), 0.0, 1.0, -1.0])
@pytest.mark.parametrize(
    "f",
    [_noisy(1e-3), _noisy(1.0), _counting(), lambda x: float(np.float16(math.sin(x))), lambda x: math.sin(1e17 * x)],
    ids=["noise 1e-3", "noise 1", "counts its calls", "float16", "turns between floats"],
)
def test_what_is_not_smooth_to_floats_is_inconclusive(f: Callable[[float], float], claim: float) -> None:
    result = ladder(f, 1.0, claim)
    assert result.verdict is INCONCLUSIVE
    assert result.reason


def test_small_noise_does_not_hide_the_slope() -> None:
    assert ladder(_noisy(1e-9), 1.0, math.cos(1.0)).verdict is PASS
    assert ladder(_noisy(1e-9), 1.0, 1.001 * math.cos(1.0)).verdict is FAIL


def _newton(x: float, steps: int) -> float:
    y = 1.0
    for _ in range(steps):
        y = (y + x / y) / 2
    return y


@pytest.mark.parametrize(
    ("f", "x", "claim", "verdict"),
    [
        (lambda x: x * x + int(x), 2.5, 5.0, PASS),
        (lambda x: x * int(x), 2.5, 2.0, PASS),
        (lambda x: _newton(x, 30), 2.0, 0.5 / math.sqrt(2), PASS),
        (lambda x: x * max([1.0, 3.0, 2.0]), 0.7, 3.0, PASS),
        (lambda x: x**2 if x < 3 else 5 * x, 4.0, 8.0, FAIL),  # the other branch was frozen
        (lambda x: x * math.floor(x), 2.5, 5.0, FAIL),  # floor was traced as the identity
        (lambda x: math.sin(x) * x, 2.0, math.sin(2.0), FAIL),  # a factor was detached
        (lambda x: x**2 + 1e-2 * x, 1.0, 2.0, FAIL),  # a term was dropped
        (lambda x: _newton(x, 2), 2.0, 0.5 / math.sqrt(2), FAIL),  # the loop was cut short
        (lambda x: 7.25, 3.0, 1.0, FAIL),  # a stale cache
    ],
)
def test_programs_and_wrong_traces(f: Callable[[float], float], x: float, claim: float, verdict: Verdict) -> None:
    assert ladder(f, x, claim).verdict is verdict


@pytest.mark.parametrize(
    ("f", "x", "claim", "reason"),
    [
        (abs, 0.0, 2.0, "kink: slopes -1 on the left, 1 on the right"),
        (lambda x: max(x, 0.0), 0.0, -1.0, "kink: slopes 0 on the left, 1 on the right"),
        (math.sqrt, 0.0, 1.0, "vertical tangent"),
        (math.floor, 1.0, 0.0, "the function jumps here"),
        (math.log, 0.0, 1.0, "the function is undefined here"),
        (lambda x: x**1.5 + 2 * x, 0.0, 1.0, "domain edge: the slope is 2"),
        (math.sin, 0.0, 2.0, "the slope is 1"),
        (math.sin, math.nan, 1.0, "the function is undefined here"),
        (_noisy(1.0), 1.0, 1.0, "the function is noisy here: no step shows its slope to four digits"),
        (abs, 0.0, 1.0, ""),
    ],
)
def test_reasons(f: Callable[[float], float], x: float, claim: float, reason: str) -> None:
    assert ladder(f, x, claim).reason == reason


def test_sides_are_reported_where_they_were_needed() -> None:
    kink, smooth, tangent = ladder(abs, 0.0, 0.0), ladder(math.exp, 0.0, 1.0), ladder(math.sqrt, 0.0, math.inf)
    assert (kink.left, kink.right) == (-1.0, 1.0)
    assert (smooth.left, smooth.right) == (None, None)
    assert (tangent.left, tangent.right) == (None, math.inf)


def test_a_rounded_kink_is_not_a_kink() -> None:
    assert ladder(lambda x: math.sqrt(x * x + 1e-30), 0.0, 0.5).verdict is not PASS
    assert ladder(lambda x: math.sqrt(x * x + 1e-30), 0.0, 0.0).verdict is PASS


def test_the_estimate_has_an_honest_error() -> None:
    for x in (1e-5, 0.3, 2.0, 1e4):
        result = ladder(math.sin, x, 0.0)
        assert result.estimate is not None
        assert result.error is not None
        assert abs(result.estimate - math.cos(x)) <= result.error <= 1e-6
    nowhere = ladder(math.log, -1.0, math.nan)
    assert nowhere == Ladder(PASS, None, None, None, None, None, "", nowhere.calls)


@pytest.mark.parametrize("x", [0.0, 1.0, -1e-9, 1e9, 1e-300, 5e-324, 1e308, math.inf])
def test_the_number_of_calls_is_bounded(x: float) -> None:
    points = []
    result = ladder(lambda v: points.append(v) or 0.5 * v, x, 0.5)  # type: ignore[func-returns-value]
    assert result.calls == len(points) <= 180
    assert all(map(math.isfinite, points))
    assert result.verdict is (INCONCLUSIVE if math.isinf(x) else PASS)


@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, OverflowError])
def test_errors_of_the_program_mean_undefined(error: type[Exception]) -> None:
    def half(x: float) -> float:
        if x < 0:
            raise error
        return 3 * x

    assert ladder(half, 0.0, 3.0).verdict is PASS
    assert ladder(half, 0.0, 2.0).verdict is FAIL


def test_other_errors_are_the_callers() -> None:
    def broken(x: float) -> float:
        raise KeyError(x)

    with pytest.raises(KeyError):
        ladder(broken, 1.0, 0.0)


def test_complex_and_numpy_results() -> None:
    assert ladder(lambda x: x**0.5, 0.0, math.inf).verdict is PASS
    assert ladder(lambda x: np.sqrt(x), 0.0, math.inf).verdict is PASS
    assert ladder(lambda x: np.log(np.array(x)), 2.0, 0.5).verdict is PASS


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    slope=st.floats(1e-100, 1e100) | st.floats(-1e100, -1e-100),
    x=st.floats(1e-100, 1e100) | st.floats(-1e100, -1e-100),
)
def test_scale_does_not_matter(slope: float, x: float) -> None:
    assert ladder(lambda v: slope * v, x, slope).verdict is PASS
    assert {ladder(lambda v: slope * v, x, wrong).verdict for wrong in wrong_claims(slope)} == {FAIL}
