"""Programs with parts that are one number everywhere, such as `x - x`.

Autodiff meets an infinite slope times none in `sqrt(x - x)`, and answers nan, though the function has a derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mpmath as mp
import numpy as np

from gradexplain.autodiff import vjp
from gradexplain.graph import Node, ancestors, constant, substitute
from gradexplain.simplify.fingerprints import is_analytic
from gradexplain.simplify.sampling import DIGITS, evaluated_widely, sample
from gradexplain.trace.program import Program

_MOST_NODES = 300
_FEWEST_POINTS = 3
_PRECISE = mp.mpf(10) ** -40


def settled(program: Program, variables: Sequence[str]) -> tuple[Program, Node] | None:
    """The program with whole numbers for the parts that always are one, and its derivative; None without such parts.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: x + (x - x) ** 0.5
    >>> program, gradient = settled(trace(f, bind(f, (), {}, symbolic=True)), ["x"])
    >>> gradient.is_constant, gradient.data
    (True, 1)
    """
    parts = [n for n in ancestors([program.output]) if n.inputs and n.kind == "float" and n.shape == ()]
    if len(parts) > _MOST_NODES:
        return None
    parts = [n for n in parts if is_analytic(ancestors([n]))]
    if not parts:
        return None
    samples = sample([*parts, program.output], program.inputs, program.point)
    if len(samples.points) < _FEWEST_POINTS:
        return None
    table = {}
    with mp.workdps(DIGITS):
        for node, values in zip(parts, zip(*samples.values, strict=True), strict=False):
            nearest = mp.nint(values[0])
            if all(v == nearest or (nearest and mp.almosteq(v, nearest, _PRECISE)) for v in values):
                table[node] = constant(int(nearest))
    if not table:
        return None
    (output,) = substitute([program.output], table)
    gradient = output
    for name in variables:
        (gradient,) = vjp(gradient, [program.inputs[name]])
    return replace(program, output=output), gradient


def has_lost_slopes(program: Program, gradient: Node) -> bool:
    """Whether a program has a value somewhere, and its gradient none."""
    value, slope = evaluated_widely([program.output, gradient], program.inputs, program.point)
    return bool(np.any(np.isfinite(value) & ~np.isfinite(slope)))
