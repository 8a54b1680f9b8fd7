"""Programs of one variable for the difference checks, with the derivatives that are right at a point and wrong ones.

Two kinds: curated points of every sort that is known to break difference quotients, and random expression trees whose
true derivative comes from the chain rule in 400 digits, so that no difference quotient is its own judge.
"""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from mpmath import mp

DIGITS = 400
"""Enough for the trees: sin(exp(exp(x))) is drawn too, and its phase must be right."""

Formula = Callable[[Any, Any], Any]
"""f(m, x), with the functions of m: `math`, or mpmath, or floats of another width."""


@dataclass(frozen=True)
class Case:
    """A formula at a point; `right` are the derivatives that must not fail, `wrong` those that must not pass."""

    name: str
    f: Formula
    x: float
    right: tuple[float, ...]
    wrong: tuple[float, ...]
    t3: str = (
        "pass"  # what the black box owes the right ones: "pass", "may abstain", or the latter with the oracle only
    )
    float64: Callable[[float], float] | None = None  # the program where it is not the formula in float64

    def program(self, x: float) -> float:
        return self.float64(x) if self.float64 else self.f(math, x)

    def exact(self, x: Any) -> Any:
        return self.f(mp, x)


def wrong_claims(slope: float) -> tuple[float, ...]:
    """Sign, 0.1 per cent, zero, twice, a term missing."""
    return (-slope, 1.001 * slope, 0.0, 2 * slope, 0.7 * slope)


def _smooth(name: str, f: Formula, derivative: Formula, *points: float, t3: str = "pass") -> list[Case]:
    cases = []
    for x in points:
        with mp.workdps(DIGITS):
            slope = float(derivative(mp, mp.mpf(x)))
        wrong = wrong_claims(slope) if slope else (1.0, -1e-3, math.inf, math.nan)
        cases.append(Case(f"{name} at {x:g}", f, x, (slope,), wrong, t3))
    return cases


def _where(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    return then() if condition else otherwise()


def _float32(f: Formula) -> Callable[[float], float]:
    narrow = SimpleNamespace(sin=np.sin, exp=np.exp, sqrt=np.sqrt)
    return lambda x: float(np.float32(f(narrow, np.float32(x))))


def _inside_float32(x: float) -> float:
    return 1e-3 * x + x**2 * float(np.float32(math.sin(x)))


SMOOTH = [
    *_smooth("x**2", lambda m, x: x**2, lambda m, x: 2 * x, 3.0, 1e10, -1e-5),
    *_smooth("sin", lambda m, x: m.sin(x), lambda m, x: m.cos(x), 0.0, 1.0, 1e-300, 1e10),
    *_smooth("exp", lambda m, x: m.exp(x), lambda m, x: m.exp(x), 0.0, 1.5, -30.0, 300.0),
    *_smooth("log", lambda m, x: m.log(x), lambda m, x: 1 / x, 2.0, 1e-300, 1e-50, 1e100),
    *_smooth("x**3", lambda m, x: x**3, lambda m, x: 3 * x**2, 1e100, -2.0),
    *_smooth("1/x", lambda m, x: 1 / x, lambda m, x: -1 / x**2, 1e-10, 1e10, 3.0),
    *_smooth("sqrt", lambda m, x: m.sqrt(x), lambda m, x: 1 / (2 * m.sqrt(x)), 1e-12, 2.0, 1e12),
    *_smooth("exp(-x**2)", lambda m, x: m.exp(-(x**2)), lambda m, x: -2 * x * m.exp(-(x**2)), 1.0, 5.0),
    *_smooth("sigmoid", lambda m, x: 1 / (1 + m.exp(-x)), lambda m, x: m.exp(-x) / (1 + m.exp(-x)) ** 2, -40.0, 0.5),
    *_smooth("tanh", lambda m, x: m.tanh(x), lambda m, x: 1 / m.cosh(x) ** 2, 0.3),
    *_smooth("tanh", lambda m, x: m.tanh(x), lambda m, x: 1 / m.cosh(x) ** 2, 15.0, t3="may abstain"),
    *_smooth("x * exp(-x) * sin(3 x)", lambda m, x: x * m.exp(-x) * m.sin(3 * x),
             lambda m, x: m.exp(-x) * ((1 - x) * m.sin(3 * x) + 3 * x * m.cos(3 * x)), 0.7),
    *_smooth("1e-20 * sin", lambda m, x: m.sin(x) / 10**20, lambda m, x: m.cos(x) / 10**20, 0.3),
    *_smooth("1 + 1e-6 x", lambda m, x: 1 + x / 10**6, lambda m, x: m.mpf(10) ** -6, 1.0),
]  # fmt: skip
OSCILLATING = [
    *_smooth("sin(1e6 x)", lambda m, x: m.sin(10**6 * x), lambda m, x: 10**6 * m.cos(10**6 * x), 1.0),
    *_smooth("sin(1/x)", lambda m, x: m.sin(1 / x), lambda m, x: -m.cos(1 / x) / x**2, 0.01, 1.1e-6),
    *_smooth("x + 1e-3 sin(1e5 x)", lambda m, x: x + m.sin(10**5 * x) / 1000, lambda m, x: 1 + 100 * m.cos(10**5 * x),
             0.5),
    *_smooth("cos(x**2)", lambda m, x: m.cos(x**2), lambda m, x: -2 * x * m.sin(x**2), 300.0),
]  # fmt: skip
VANISHING = [
    *_smooth("cos", lambda m, x: m.cos(x), lambda m, x: -m.sin(x), 0.0),
    *_smooth("x**2", lambda m, x: x**2, lambda m, x: 2 * x, 0.0),
    *_smooth("x**3", lambda m, x: x**3, lambda m, x: 3 * x**2, 0.0),
    *_smooth("x**3 - 3 x", lambda m, x: x**3 - 3 * x, lambda m, x: 3 * x**2 - 3, 1.0),
    *_smooth("x log(x) - x", lambda m, x: x * m.log(x) - x, lambda m, x: m.log(x), 1.0),
    *_smooth("x |x|", lambda m, x: x * abs(x), lambda m, x: 2 * abs(x), 0.0),
    *_smooth("7.25", lambda m, x: 7.25 + 0 * x, lambda m, x: 0 * x, 3.0, 0.0, -1e10),
    *_smooth("max(x, 0)", lambda m, x: max(x, 0 * x), lambda m, x: 0 * x, -2.0),
    *_smooth("floor", lambda m, x: m.floor(x), lambda m, x: 0 * x, 2.5),
]
CANCELLING = [
    *_smooth("(1 - cos x)/x**2", lambda m, x: (1 - m.cos(x)) / x**2, lambda m, x: m.sin(x) / x**2
             - 2 * (1 - m.cos(x)) / x**3, 1e-4, 1e-7, t3="needs oracle"),
    *_smooth("(exp x - 1)/x", lambda m, x: (m.exp(x) - 1) / x, lambda m, x: (x * m.exp(x) - m.exp(x) + 1) / x**2,
             1e-9, t3="needs oracle"),
    *_smooth("(exp x - 1)/x", lambda m, x: (m.exp(x) - 1) / x, lambda m, x: (x * m.exp(x) - m.exp(x) + 1) / x**2, 1e-2),
    *_smooth("sqrt(x + 1) - sqrt(x)", lambda m, x: m.sqrt(x + 1) - m.sqrt(x), lambda m, x: (1 / m.sqrt(x + 1)
             - 1 / m.sqrt(x)) / 2, 1e8),
    *_smooth("log(1 + x)", lambda m, x: m.log(1 + x), lambda m, x: 1 / (1 + x), 1e-10),
    *_smooth("(x - 1)**6 expanded", lambda m, x: x**6 - 6 * x**5 + 15 * x**4 - 20 * x**3 + 15 * x**2 - 6 * x + 1,
             lambda m, x: 6 * (x - 1) ** 5, 1.001, t3="may abstain"),
    *_smooth("x - sin x", lambda m, x: x - m.sin(x), lambda m, x: 1 - m.cos(x), 1e-3),
]  # fmt: skip
KINKED = [
    Case("|x| at 0", lambda m, x: abs(x), 0.0, (0.0, 1.0, -1.0, 0.5), (1.1, -2.0, math.inf, math.nan)),
    Case("|x - 1| at 1", lambda m, x: abs(x - 1), 1.0, (0.0, 1.0, -1.0), (1.001, -2.0)),
    Case("max(x, 0) at 0", lambda m, x: max(x, 0 * x), 0.0, (0.0, 0.5, 1.0), (-0.1, 1.001, 2.0)),
    Case("3 x + |x| at 0", lambda m, x: 3 * x + abs(x), 0.0, (2.0, 3.0, 4.0), (0.0, 1.99, 4.01, 6.0, -3.0)),
    Case("max(x**2, x) at 1", lambda m, x: max(x**2, x), 1.0, (1.0, 1.5, 2.0), (0.0, 3.0, -1.5)),
    Case("sqrt(x**2) at 0", lambda m, x: m.sqrt(x * x), 0.0, (0.0, 1.0), (2.0, -1.1)),
    Case("clip at its edge", lambda m, x: min(max(x, -1), 1), 1.0, (0.0, 0.5, 1.0), (-0.5, 2.0)),
    Case("exp|x - 2| at 2", lambda m, x: m.exp(abs(x - 2)), 2.0, (0.0, 1.0, -1.0), (1.01, -1.01)),
]
NEAR_KINKS = [
    *_smooth("|x|", lambda m, x: abs(x), lambda m, x: m.sign(x), 1e-300, -1e-9),
    *_smooth("|x - 1|", lambda m, x: abs(x - 1), lambda m, x: m.sign(x - 1), 1 + 2**-40, 1 - 2**-20),
    *_smooth("max(x, 1)", lambda m, x: max(x, 1 + 0 * x), lambda m, x: m.mpf(x > 1), 1 + 2**-10),
    *_smooth("sqrt(x**2 + 1e-12)", lambda m, x: m.sqrt(x**2 + m.mpf(10) ** -12 if m is mp else x**2 + 1e-12),
             lambda m, x: x / m.sqrt(x**2 + m.mpf(10) ** -12), 1e-7),
]  # fmt: skip
EDGES = [
    Case("sqrt at 0", lambda m, x: m.sqrt(x), 0.0, (math.inf,), (0.0, 1.0, -math.inf, 1e10, math.nan)),
    Case("acos at 1", lambda m, x: m.acos(x), 1.0, (-math.inf,), (0.0, -1.0, math.inf)),
    Case("x sqrt(x) at 0", lambda m, x: x * m.sqrt(x), 0.0, (0.0,), (1.0, -1e-3, math.inf)),
    Case("x + x sqrt(x) at 0", lambda m, x: x + x * m.sqrt(x), 0.0, (1.0,), (-1.0, 1.001, 0.0, 2.0)),
    Case("exp(sqrt(1 - x)**3) at 1", lambda m, x: m.exp(m.sqrt(1 - x) ** 3), 1.0, (0.0,), (1.0, -1.0)),
    Case("cbrt at 0", lambda m, x: _where(x < 0, lambda: -((-x) ** (m.mpf(1) / 3 if m is mp else 1 / 3)),
         lambda: x ** (m.mpf(1) / 3 if m is mp else 1 / 3)), 0.0, (math.inf,), (0.0, 1.0, -math.inf)),
    Case("where(x > 0, sqrt x, 0) at 0", lambda m, x: _where(x > 0, lambda: m.sqrt(x), lambda: 0 * x), 0.0,
         (0.0, math.inf), (-1.0, -math.inf), "may abstain"),
    Case("log at 0", lambda m, x: m.log(x), 0.0, (math.nan,), (0.0, 1.0, -math.inf)),
    Case("sin(x)/x at 0", lambda m, x: m.sin(x) / x, 0.0, (math.nan,), (0.0, 1.0)),
    Case("floor at 1", lambda m, x: m.floor(x), 1.0, (0.0,), (1.0, math.inf), "may abstain"),
    Case("sign jump, slopes 2 and 1", lambda m, x: _where(x > 0, lambda: x + 1, lambda: 2 * x), 0.0,
         (math.nan,), (0.0, 1.0, 2.0, math.inf), "may abstain"),
    Case("isolated point", lambda m, x: _where(x == 0, lambda: 1 + x, lambda: 3 * x), 0.0,
         (3.0,), (0.0, -3.0, math.inf), "may abstain"),
]  # fmt: skip
NARROW = [
    Case("float32 sin", lambda m, x: m.sin(x), 1.0, (math.cos(1.0),), wrong_claims(math.cos(1.0)),
         float64=_float32(lambda m, x: m.sin(x))),
    Case("float32 x**2", lambda m, x: x * x, 3.0, (6.0,), wrong_claims(6.0),
         float64=_float32(lambda m, x: x * x)),
    Case("float32 inside", lambda m, x: x / 1000 + x**2 * m.sin(x), 0.8,
         (1e-3 + 1.6 * math.sin(0.8) + 0.64 * math.cos(0.8),),
         wrong_claims(1e-3 + 1.6 * math.sin(0.8) + 0.64 * math.cos(0.8)), "may abstain", _inside_float32),
]  # fmt: skip
CURATED = [*SMOOTH, *OSCILLATING, *VANISHING, *CANCELLING, *KINKED, *NEAR_KINKS, *EDGES, *NARROW]

Tree = tuple[Any, ...]
"""("x",), ("constant", number), or the name of a function and its arguments."""


@dataclass(frozen=True)
class Function:
    """A function in float64 and in mpmath, with its partial derivatives from its value and arguments."""

    float64: Callable[..., float]
    exact: Callable[..., Any]
    partials: Callable[..., tuple[Any, ...]]


def _same(f: Callable[..., Any], partials: Callable[..., tuple[Any, ...]]) -> Function:
    return Function(f, f, partials)


UNARY = {
    "sin": Function(math.sin, mp.sin, lambda y, a: (mp.cos(a),)),
    "cos": Function(math.cos, mp.cos, lambda y, a: (-mp.sin(a),)),
    "exp": Function(math.exp, mp.exp, lambda y, a: (y,)),
    "log": Function(math.log, mp.log, lambda y, a: (1 / a,)),
    "sqrt": Function(math.sqrt, mp.sqrt, lambda y, a: (1 / (2 * y),)),
    "tanh": Function(math.tanh, mp.tanh, lambda y, a: (mp.sech(a) ** 2,)),
    "atan": Function(math.atan, mp.atan, lambda y, a: (1 / (1 + a * a),)),
    "sigmoid": Function(lambda a: 1 / (1 + math.exp(-a)), lambda a: 1 / (1 + mp.exp(-a)),
                        lambda y, a: (y / (1 + mp.exp(a)),)),
    "square": _same(lambda a: a * a, lambda y, a: (2 * a,)),
    "cube": _same(lambda a: a * a * a, lambda y, a: (3 * a * a,)),
    "abs": _same(abs, lambda y, a: (mp.sign(a),)),
    "relu": _same(lambda a: max(a, 0 * a), lambda y, a: (mp.mpf(a > 0),)),
}  # fmt: skip
BINARY = {
    "add": _same(lambda a, b: a + b, lambda y, a, b: (1, 1)),
    "sub": _same(lambda a, b: a - b, lambda y, a, b: (1, -1)),
    "mul": _same(lambda a, b: a * b, lambda y, a, b: (b, a)),
    "div": _same(lambda a, b: a / b, lambda y, a, b: (1 / b, -y / b)),
    "max": _same(max, lambda y, a, b: (mp.mpf(a > b), mp.mpf(b > a))),
}
FUNCTIONS = UNARY | BINARY
CONSTANTS = [0.5, 2.0, 3.0, -1.5, 0.1, 7.25, 1e-3, 100.0]


def float64(tree: Tree, x: float) -> float:
    if tree[0] == "x":
        return x
    if tree[0] == "constant":
        return float(tree[1])
    return FUNCTIONS[tree[0]].float64(*(float64(part, x) for part in tree[1:]))


def exact(tree: Tree, x: Any) -> Any:
    if tree[0] == "x":
        return x
    if tree[0] == "constant":
        return mp.mpf(tree[1])
    values = [exact(part, x) for part in tree[1:]]
    if any(isinstance(value, mp.mpc) for value in values):
        raise ValueError("complex")
    return FUNCTIONS[tree[0]].exact(*values)


def value_and_slope(tree: Tree, x: Any) -> tuple[Any, Any]:
    """By the chain rule. Raises ValueError on a kink."""
    if tree[0] == "x":
        return x, mp.one
    if tree[0] == "constant":
        return mp.mpf(tree[1]), mp.zero
    parts = [value_and_slope(part, x) for part in tree[1:]]
    values = [value for value, _ in parts]
    if (tree[0] in ("abs", "relu") and values[0] == 0) or (tree[0] == "max" and values[0] == values[1]):
        raise ValueError("on a kink")
    result = FUNCTIONS[tree[0]].exact(*values)
    partials = FUNCTIONS[tree[0]].partials(result, *values)
    return result, sum(p * slope for p, (_, slope) in zip(partials, parts, strict=True))


def random_tree(draw: random.Random, depth: int) -> Tree:
    if depth == 0 or draw.random() < 0.1:
        return ("x",) if draw.random() < 0.7 else ("constant", draw.choice(CONSTANTS))
    if draw.random() < 0.5:
        return (draw.choice(list(UNARY)), random_tree(draw, depth - 1))
    return (draw.choice(list(BINARY)), random_tree(draw, depth - 1), random_tree(draw, depth - 1))


def random_points(seed: int, count: int) -> Iterator[tuple[Tree, float, float]]:
    """Trees, points with |x| from 1e-9 to 1e9, slopes. Skipped: kinks, and slopes below one ulp of f over |x|."""
    draw = random.Random(seed)
    while count:
        tree = random_tree(draw, draw.choice([2, 3, 4, 5]))
        x = draw.choice([-1, 1]) * 10 ** draw.uniform(-9, 9)
        try:
            y = float64(tree, x)
            with mp.workdps(DIGITS):
                slope = float(value_and_slope(tree, mp.mpf(x))[1])
        except (ArithmeticError, ValueError, TypeError):
            continue
        if len(tree) > 1 and math.isfinite(y) and 1e-300 < abs(slope) < 1e300 and abs(slope * x) >= math.ulp(y):
            count -= 1
            yield tree, x, slope
