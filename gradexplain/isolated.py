"""Isolated points: where a branch asks `x == c`, the derivative at c is the limit of the derivative around it.

A constant that a program returns at one point alone (sin(x)/x at 0) has no slope of its own. The gradient graph is
evaluated in high precision on both sides of the point; where the two sides agree, that is the derivative there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mpmath

from gradexplain.evaluate import evaluate_exact
from gradexplain.graph import Node, ancestors, depends_on
from gradexplain.ops.ordering import equal, not_equal, where
from gradexplain.trace.run import Program

_DIGITS = 90
_STEP = -30  # a power of ten: far below what a double can tell, far above what the precision loses
_AGREE = 1e-12


def isolated_points(program: Program, wrt: Sequence[Node]) -> tuple[Node, ...]:
    """Conditions of the form `a == b` that a branch or a `where` of real numbers hangs on."""
    order = ancestors([program.output, *(c.node for c in program.conditions)])
    hot = depends_on(order, wrt)
    asked = [n.inputs[0] for n in order if n.op is where] + [
        c.node for c in program.conditions if c.truth is (c.node.op is equal)
    ]
    found: dict[Node, None] = {}
    for c in asked:
        if c.op in (equal, not_equal) and c.shape == () and any(n in hot for n in c.inputs):
            found[equal(*c.inputs)] = None
    return tuple(found)


def at_isolated_point(
    outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any]
) -> list[float] | None:
    """The limits of the outputs from both sides, None unless all inputs are numbers and the sides agree."""
    if any(x.shape for x in inputs.values()):
        return None
    with mpmath.workdps(_DIGITS):
        sides = [_beside(outputs, inputs, point, sign) for sign in (1, -1)]
    out = []
    for left, right in zip(*sides, strict=True):
        if not (mpmath.isfinite(left) and abs(left - right) <= _AGREE * max(1, abs(left))):
            return None
        out.append(float((left + right) / 2))  # what is of first order in the step cancels
    return out


def _beside(outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any], sign: int) -> list[Any]:
    """Exact values a tiny step away, in a direction that lies along no axis."""
    values = {}
    for i, (name, node) in enumerate(inputs.items()):
        step = sign * mpmath.mpf(10) ** _STEP * (1 + mpmath.mpf(i) / 3) if node.kind == "float" else 0
        values[node] = mpmath.mpf(point[name]) + step
    return evaluate_exact(outputs, values)
