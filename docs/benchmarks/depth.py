"""How the time grows with the size of a program: `python docs/benchmarks/depth.py`, run by hand.

Each stage is linear in the number of operations: ten times the operations, about ten times the seconds. The columns
`x` are the factors from one size to the next. The first call of `grad` traces the function and runs the graph; the
second compiles a program from it, which later calls run.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from time import perf_counter

import gradexplain as gx
from gradexplain.autodiff import vjp
from gradexplain.collector import paused
from gradexplain.trace.run import trace
from gradexplain.trace.signature import bind

Program = Callable[..., float]


def chain(steps: int) -> tuple[Program, tuple[float, ...]]:
    """A program of `steps` operations, each of which needs the one before: sin and * in turn."""

    def f(x: float) -> float:
        y = x
        for _ in range(steps // 2):
            y = math.sin(y) * x
        return y

    return f, (0.7,)


def product(factors: int) -> tuple[Program, tuple[float, ...]]:
    """A product of many arguments: written out, its gradient has factors**2 operations."""

    def f(*xs: float) -> float:
        y = xs[0]
        for x in xs[1:]:
            y = y * x
        return y

    return f, tuple(1 + i / factors**2 for i in range(factors))


def stages(program: Program, point: Sequence[float]) -> list[float]:
    """Seconds for: the plain function; its trace; the gradient graph; the first, second and third call of `grad`."""
    gradient = gx.grad(program, argnums=range(len(point)))
    with paused():  # as `grad` does
        seconds = [perf_counter()]
        program(*point)
        seconds.append(perf_counter())
        traced = trace(program, bind(program, point, {}, symbolic=False))
        seconds.append(perf_counter())
        vjp(traced.output, list(traced.inputs.values()))
        seconds.append(perf_counter())
    for _ in range(3):
        gradient(*point)
        seconds.append(perf_counter())
    return [b - a for a, b in pairwise(seconds)]


def main() -> None:
    """Prints a line for each size."""
    out = sys.stdout
    columns = ("function", "trace", "gradient", "1st call", "2nd call", "3rd call")
    out.write(f"{'program':<22}" + "".join(f"{name:>12}     x" for name in columns) + "\n")
    before: list[float] = []
    for steps in (10**3, 10**4, 10**5):
        now = stages(*chain(steps))
        out.write(_row(f"chain of {steps}", now, before))
        before = now
    out.write(_row("product of 2000", stages(*product(2000)), []))


def _row(title: str, now: Sequence[float], before: Sequence[float]) -> str:
    ratios = [f"{a / b:6.1f}" for a, b in zip(now, before, strict=True)] if before else ["      "] * len(now)
    return f"{title:<22}" + "".join(f"{s:>12.5f}{r}" for s, r in zip(now, ratios, strict=True)) + "\n"


if __name__ == "__main__":
    main()
