"""Where a formula holds: the domains that the rows of the table state, in terms of the arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import mpmath as mp
import sympy as sp

from gradexplain.evaluate import evaluate_exact
from gradexplain.graph import Node, ancestors
from gradexplain.ops.arithmetic import div, power
from gradexplain.simplify.counting import operations
from gradexplain.simplify.printing import text
from gradexplain.simplify.sampling import DIGITS, Samples
from gradexplain.symbolic import expressions, tree_size
from gradexplain.trace.run import Program

MOST_CONDITIONS = 4
_LONGEST = 8  # operations of a condition that is worth printing


def conditions(program: Program, samples: Samples) -> tuple[str, ...]:
    """Conditions on the arguments, those that always hold left out; none for programs with branches.

    What a row states is where it is tested; a condition that one of the sample points does without is none.

    >>> from gradexplain.simplify.sampling import sample
    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: 1 / x + (x**2 + 1) ** 0.5
    >>> program = trace(f, bind(f, (), {}, symbolic=True))
    >>> conditions(program, sample([program.output], program.inputs, {}))
    ('x != 0',)
    """
    order = ancestors([program.output])
    if any(n.kind == "bool" for n in order):
        return ()
    found: dict[str, None] = {}
    for node in order:
        for i, x in enumerate(node.inputs):
            condition = _condition(node, i)
            if condition and not x.is_constant and x.shape == () and tree_size(x) <= _LONGEST:
                if not _is_needed(condition, x, program, samples):
                    continue
                shown = _stated(condition, expressions([x])[0])
                if shown:
                    found[shown] = None
    stronger = {c.removesuffix(" > 0") + " != 0" for c in found if c.endswith(" > 0")}
    return tuple(c for c in found if c not in stronger)[:MOST_CONDITIONS]


def _is_needed(condition: str, x: Node, program: Program, samples: Samples) -> bool:
    """Whether every point at which the program has a value satisfies an inequality."""
    if "!=" in condition:
        return True
    with mp.workdps(DIGITS):
        for point in samples.points:
            (value,) = evaluate_exact([x], {program.inputs[n]: v for n, v in point.items()})
            if not _HOLDS.get(condition, lambda _: True)(value):
                return False
    return True


_HOLDS: dict[str, Callable[[Any], bool]] = {
    "x > 0": lambda v: v > 0,
    "x > 1": lambda v: v > 1,
    "x > -1": lambda v: v > -1,
    "-1 < x < 1": lambda v: -1 < v < 1,
}


def _condition(node: Node, operand: int) -> str:
    """The row's condition on an operand, over the name x; of a power, what its exponent asks for."""
    if node.op is power:
        exponent = node.inputs[1]
        if operand == 1:
            return ""
        if exponent.kind == "int":
            return ""
        if exponent.is_constant and isinstance(exponent.data, int):
            return "x != 0" if exponent.data < 0 else ""
        return "x > 0"
    domains = node.op.domains
    found = domains[min(operand, len(domains) - 1)].condition if domains else ""
    return found if "!=" not in found or node.op is div or found.startswith("cos") else ""


def _stated(condition: str, operand: Any) -> str:
    """The condition on an expression, "" if it holds everywhere."""
    if (condition == "x > 0" and operand.is_positive) or (condition == "x != 0" and operand.is_nonzero):
        return ""
    if operations(operand) and condition.startswith("-1 < x"):
        return f"abs({text(operand)}) < 1"
    return re.sub(r"\bx\b", text(operand).replace("\\", ""), condition)


def nonzero(node: Node) -> tuple[str, ...]:
    """The condition that a node is not 0; none where it never is."""
    if tree_size(node) > _LONGEST * 2:
        return ()
    (expr,) = expressions([node])
    shown = _stated("x != 0", sp.factor_terms(expr).as_coeff_Mul()[1])
    return (shown,) if shown and not expr.is_number else ()
