"""Whether a program has a value anywhere: formulas such as sqrt(-1 - x**2) have none, and so no derivative."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError, DomainError
from gradexplain.evaluate import evaluate
from gradexplain.graph import Node, ancestors
from gradexplain.lambdify import expression
from gradexplain.simplify.sampling import sample, sample_widely
from gradexplain.trace.run import Program


def require_domain(program: Program) -> None:
    """Raises `DomainError` if a program of numbers has no value at any of the points that are tried."""
    if any(n.shape for n in ancestors([program.output])) or sample([program.output], program.inputs, {}).points:
        return
    if sample_widely([program.output], program.inputs, {}).points:
        return
    raise DomainError(
        f"{program.name} has no value at any of the points that were tried",
        where=program.place,
        why=_culprit(program),
        fix="check the formula, or give a point at which it has a value",
    )


def require_all_paths(program: Program, whole: Program) -> None:
    """Raises `ArgumentError` if there are branches of which no point says which are taken, and too many to join."""
    if program.conditions and not whole.explored:
        raise ArgumentError(
            f"{program.name} can't be explained for every value",
            why="; ".join(whole.limits),
            fix="give a point, as in x=3.0",
        )


def _culprit(program: Program) -> str:
    """The first operation that has no value, at a point where its operands have theirs."""
    point = {x: 0.7312 + 0.31 * i for i, x in enumerate(program.inputs.values())}
    values: dict[Node, Any] = dict(point)
    evaluate([program.output], values)
    for node in ancestors([program.output]):
        if not np.isfinite(values[node]) and all(np.isfinite(values[n]) for n in node.inputs):
            names = {x: n for n, x in program.inputs.items()}
            return f"{expression(node, names).replace('np.', '')} is {values[node]} at {_point_text(program, point)}"
    return ""


def _point_text(program: Program, point: Mapping[Node, float]) -> str:
    return ", ".join(f"{n} = {point[x]:.4g}" for n, x in program.inputs.items())
