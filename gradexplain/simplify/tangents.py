"""Derivatives of programs that pass through named values one after the other, as Newton's method and recurrences do.

Each named value gets its derivative as a name of its own (dy1 is the derivative of y1), in terms of the value and the
derivative before it: that is how a person differentiates a recurrence. Autodiff's reverse sweep goes the other way,
and its adjoints are nothing that a reader has a name for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import sympy as sp

from gradexplain.graph import Node, ancestors, depends_on
from gradexplain.simplify.counting import operations
from gradexplain.simplify.numeric import of_real_numbers
from gradexplain.simplify.watchdog import within
from gradexplain.symbolic import expressions, tree_size
from gradexplain.trace.run import Program
from gradexplain.trace.source import name_of

_FEWEST, _MOST = 2, 24  # named values that depend on the variable
_LONGEST = 60  # operations of one value in terms of those before
_PATIENCE = 2.0  # seconds


def by_tangents(variable: str, program: Program, names: Mapping[Node, str]) -> tuple[Any, dict[str, Any]] | None:
    """The derivative over the program's named values and their derivatives, and what these stand for."""
    x = program.inputs[variable]
    order = ancestors([program.output])
    if any(n.op.kinks or n.kind == "bool" or n.shape for n in order):
        return None
    varying = depends_on(order, [x])
    own = [n for n in order if n in varying and n.inputs and n in names and name_of(program.trace.sites.get(n))]
    own = [n for n in own if n is not program.output]
    if not _FEWEST <= len(own) <= _MOST or any(f"d{names[n]}" in {*names.values(), *program.inputs} for n in own):
        return None
    given: dict[Node, Any] = {}
    slopes: dict[Any, Any] = {sp.Symbol(variable, real=True): sp.S.One}
    where: dict[str, Any] = {}
    for node in [*own, program.output]:
        if tree_size(node, given) > _LONGEST:
            return None
        value = of_real_numbers(expressions([node], given)[0])
        slope = _slope(value, slopes)
        if slope is None or slope.has(sp.Derivative, sp.Subs):
            return None
        if node is program.output:
            return slope, _needed(slope, where)
        symbol, tangent = sp.Symbol(names[node], real=True), sp.Symbol(f"d{names[node]}", real=True)
        where[symbol.name], where[tangent.name] = value, slope
        given[node], slopes[symbol] = symbol, slope if not slope.free_symbols else tangent
    return None


def _slope(value: Any, slopes: Mapping[Any, Any]) -> Any:
    """The chain rule: each partial derivative times the derivative of what it is taken by, in its shortest form."""
    return sp.Add(*[_shortest(sp.diff(value, s)) * slope for s, slope in slopes.items() if value.has(s)])


def _shortest(expr: Any) -> Any:
    forms = [within(_PATIENCE, partial(rewrite, expr)) for rewrite in (sp.factor_terms, sp.factor)]
    return min([expr, *(f for f in forms if f is not None)], key=operations)


def _needed(expr: Any, where: dict[str, Any]) -> dict[str, Any]:
    wanted = {s.name for s in expr.free_symbols}
    for name in reversed(where):
        if name in wanted:
            wanted |= {s.name for s in where[name].free_symbols}
    return {name: e for name, e in where.items() if name in wanted}
