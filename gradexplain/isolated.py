"""Isolated points: where a branch asks `x == c`, the derivative at c is the limit of the derivative around it.

A constant that a program returns at one point alone (sin(x)/x at 0) has no slope of its own. The gradient graph is
evaluated in high precision beside the point, at several distances in several directions; where all agree, that is the
derivative there. Where they do not settle, or depend on the direction, there is no limit: the derivative is nan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath
import numpy as np

from gradexplain.errors import DomainError
from gradexplain.evaluate import evaluate_exact
from gradexplain.graph import Node, ancestors, depends_on
from gradexplain.numbers import exact_number
from gradexplain.ops.ordering import equal, not_equal, where
from gradexplain.trace.run import Program, explore

_DIGITS = 300
_STEPS = ("1e-30", "2.7182818284590452e-37", "1.4142135623730951e-45")  # far below what a double can tell
_DIRECTIONS = ((1.0, 1.3), (1.0, -2.7), (3.1, 0.4))  # along no axis; for one variable only the sign counts
_AGREE = 1e-12
_REST = 1e-9  # a limit that is so small beside the spread of its values is what is left of it
_SAME = mpmath.mpf("1e-200")


def where_undefined(gradients: Sequence[Any]) -> list[Any]:
    """Gradients at a point where the function is nan: nan too, unless the slope is seen to have no bound there.

    x*log(x) at 0 is 0*inf, but its slope log(x) + 1 is -inf, which says more than nan does.

    >>> where_undefined([1.0]), where_undefined([np.array([-np.inf, 0.0])])
    ([nan], [array([-inf,   0.])])
    """
    if any(np.any(np.isinf(g)) for g in gradients):
        return list(gradients)
    return [np.full(np.shape(g), np.nan) if np.ndim(g) else float("nan") for g in gradients]


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


def limits_around(
    program: Program, wrt: Sequence[Node], derive: Callable[[Node], Sequence[Node]], *, stack_results: bool
) -> list[Any] | None:
    """What `derive` makes of the program's output, at an isolated point; None where the graph's own values stay."""
    asked = [c for c in isolated_points(program, wrt) if program.trace.value(c)]
    if not asked or _hold_beside(asked, program):
        return None
    whole = explore(program, stack_results=stack_results)
    found = None
    if whole.explored:
        found = at_isolated_point(list(derive(whole.output)), program.inputs, program.point, or_nan=True)
    if found is None and program.trace.nested:
        raise DomainError(
            f"the derivative of {program.name} can't be computed at this point",
            where=program.place,
            why="a branch singles the point out, and a derivative inside the function is a limit there",
            fix="choose a point beside it",
        )
    return found


def at_isolated_point(
    outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any], *, or_nan: bool = False
) -> list[Any] | None:
    """The limits of the outputs around the point; where there is none, None (or nan in its place, if `or_nan`).

    None also where the convention stays: inputs that are arrays, and kinks, whose two slopes have 0 between them.
    """
    if any(x.shape for x in inputs.values()):
        return None
    moving = [n for n, x in inputs.items() if x.kind == "float"]
    directions = _DIRECTIONS if len(moving) > 1 else ((1.0,),)
    try:
        with mpmath.workdps(_DIGITS):
            sides = [_side(outputs, inputs, point, d, sign) for d in directions for sign in (1, -1)]
    except (TypeError, AttributeError, KeyError):  # a function that has no exact form
        return None
    out = []
    for node, *each in zip(outputs, *sides, strict=True):
        limit = _joint(each)
        if limit is None or not (or_nan or np.all(np.isfinite(limit))):
            return None
        out.append(np.reshape(limit, node.shape) if node.shape else limit)
    return out


def _hold_beside(asked: Sequence[Node], program: Program) -> bool:
    """Whether an equality is none of the point alone: sin(x)**2 + cos(x)**2 == 1."""
    if any(x.shape for x in program.inputs.values()):
        return False
    with mpmath.workdps(_DIGITS):
        pairs = [n for c in asked for n in c.inputs]
        values = _beside(pairs, program.inputs, program.point, _DIRECTIONS[0], mpmath.mpf(_STEPS[0]))
        return any(abs(a[()] - b[()]) < _SAME for a, b in zip(values[::2], values[1::2], strict=True))


def _side(
    outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any], direction: Sequence[float], sign: int
) -> list[list[Any]]:
    """The outputs at every distance in one direction, as flat arrays: one list of distances for each output."""
    found = [_beside(outputs, inputs, point, direction, sign * mpmath.mpf(step)) for step in _STEPS]
    return [[np.ravel(np.asarray(v, dtype=object)) for v in values] for values in zip(*found, strict=True)]


def _beside(
    outputs: Sequence[Node], inputs: Mapping[str, Node], point: Mapping[str, Any], direction: Sequence[float], step: Any
) -> list[Any]:
    values, k = {}, 0
    for name, node in inputs.items():
        values[node] = exact_number(point[name]).mpf() if node.kind == "float" else mpmath.mpf(int(point[name]))
        if node.kind == "float":
            values[node] += step * direction[k % len(direction)] * (1 + mpmath.mpf(k) / 3)
            k += 1
    return [np.broadcast_to(v, n.shape) for n, v in zip(outputs, evaluate_exact(outputs, values), strict=True)]


def _joint(sides: Sequence[Sequence[Any]]) -> Any:
    """One output's limit from its values on all sides, entry by entry; None for a kink."""
    entries = [_limit([[values[i] for values in side] for side in sides]) for i in range(len(sides[0][0]))]
    return None if any(e is None for e in entries) else entries[0] if len(entries) == 1 else np.array(entries)


def _limit(sides: list[list[Any]]) -> float | None:
    inside = [side for side in sides if not all(mpmath.isnan(v) for v in side)]  # beyond the domain there is nothing
    values = [v for side in inside for v in side]
    if not values or not all(mpmath.isfinite(v) for v in values):
        return float("nan")
    if _agree(values):
        nearest = [side[0] for side in inside]
        limit = sum(nearest) / len(nearest)  # what is of first order in the step cancels
        spread = max(abs(v - values[0]) for v in values)
        return 0.0 if abs(limit) < _REST * spread else float(limit)
    if len(inside) == 2 and all(map(_agree, inside)) and inside[0][0] * inside[1][0] <= 0:
        return None
    return float("nan")


def _agree(values: Sequence[Any]) -> bool:
    return bool(all(abs(v - values[0]) <= _AGREE * max(1, abs(values[0])) for v in values))
