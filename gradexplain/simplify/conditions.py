"""Where a formula holds: the domains that the rows of the table state, in terms of the arguments."""

from __future__ import annotations

import re
from typing import Any

from gradexplain.graph import Node, ancestors
from gradexplain.ops.arithmetic import power
from gradexplain.simplify.counting import operations
from gradexplain.simplify.printing import text
from gradexplain.symbolic import expressions, tree_size
from gradexplain.trace.run import Program

MOST_CONDITIONS = 4
_LONGEST = 8  # operations of a condition that is worth printing


def conditions(program: Program) -> tuple[str, ...]:
    """Conditions on the arguments, those that always hold left out; none for programs with branches.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: 1 / x + (x**2 + 1) ** 0.5
    >>> conditions(trace(f, bind(f, (), {}, symbolic=True)))
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
                shown = _stated(condition, expressions([x])[0])
                if shown:
                    found[shown] = None
    stronger = {c.removesuffix(" > 0") + " != 0" for c in found if c.endswith(" > 0")}
    return tuple(c for c in found if c not in stronger)[:MOST_CONDITIONS]


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
    return domains[min(operand, len(domains) - 1)].condition if domains else ""


def _stated(condition: str, operand: Any) -> str:
    """The condition on an expression, "" if it holds everywhere."""
    if (condition == "x > 0" and operand.is_positive) or (condition == "x != 0" and operand.is_nonzero):
        return ""
    if operations(operand) and condition.startswith("-1 < x"):
        return f"abs({text(operand)}) < 1"
    return re.sub(r"\bx\b", text(operand).replace("\\", ""), condition)
