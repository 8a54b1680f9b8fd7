"""What showing an explanation in a notebook costs: `python docs/benchmarks/notebook.py`, run by hand.

Programs of growing size, of numbers and of arrays. Printed are the number of nodes, the time in which the explanation
is made, the time from there to the MIME bundle, and the size of the bundle. The goal for 1,000 nodes is 1 s and 300 kB.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import gradexplain as gx


def chain(length: int) -> Callable[[Any], Any]:
    """A recurrence of three operations a pass."""

    def f(x: Any) -> Any:
        y = x
        for _ in range(length // 3):
            y = np.sin(y) + x * y
        return y

    return f


def network(length: int) -> Callable[[Any], Any]:
    """A deep network of small layers, of three operations each."""

    def f(w: Any) -> Any:
        h = np.array([0.1, 0.2])
        for _ in range(length // 3):
            h = np.tanh(w @ h + 0.1)
        return np.sum(h**2)

    return f


def sum_of_terms(length: int) -> Callable[[Any], Any]:
    """A loop that adds up terms of its own."""

    def f(x: Any) -> Any:
        s = 0.0
        for n in range(1, length // 4 + 1):
            s = s + np.sin(n * x) / n
        return s

    return f


PROGRAMS = {
    "chain": (chain, 0.3),
    "network": (network, np.array([[0.5, -0.2], [0.1, 0.4]])),
    "sum of terms": (sum_of_terms, 0.3),
}


def main() -> None:
    """Prints a line for each program and size."""
    sys.stdout.write(f"{'program':<14}{'nodes':>7}{'explain':>10}{'bundle':>10}{'size':>10}\n")
    for title, (program, point) in PROGRAMS.items():
        for length in (10, 100, 1_000):
            start = perf_counter()
            e = gx.explain(program(length), point)
            made = perf_counter()
            bundle = e._repr_mimebundle_()
            shown = perf_counter()
            size = sum(len(text.encode()) for text in bundle.values())
            seconds = f"{made - start:>8.2f} s{shown - made:>8.2f} s"
            sys.stdout.write(f"{title:<14}{len(e.graph):>7}{seconds}{size / 1000:>7.0f} kB\n")


if __name__ == "__main__":
    main()
