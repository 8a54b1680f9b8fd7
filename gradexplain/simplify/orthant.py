"""Formulas for positive arguments: sqrt(a**3/b)/a is sqrt(a/b) where a > 0, which is what a textbook has in mind.

Tried only where the point at which the explanation was asked for has these arguments positive; printed with the
conditions that it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from gradexplain.graph import Node
from gradexplain.simplify.rewrite import Rewrite
from gradexplain.simplify.roots import merged_roots
from gradexplain.simplify.sampling import Samples, sample_positive
from gradexplain.simplify.scalar import Vocabulary, cost, simplified
from gradexplain.trace.run import Program

_WORTH = 0.9  # operations that a condition must save
ASSUMING = "roots of positive numbers"
_MOST = 4  # conditions
_FEW = 3  # points


def for_positive(
    expr: Any, where: Mapping[str, Any], wrt: Sequence[str], gradient: Node, program: Program, known: Vocabulary
) -> tuple[Any, tuple[Rewrite, ...], tuple[str, ...]] | None:
    """A shorter formula that holds for positive arguments, the rewrites and those arguments; None if there is none."""
    if where or expr.has(sp.Piecewise, sp.Abs, sp.sign, sp.Max, sp.Min):
        return None
    names = [n for n in _under_roots(expr, program.point) if n not in wrt or _is_one_sided(n, gradient, program)]
    if not 0 < len(names) <= _MOST:
        return None
    samples = _samples(gradient, program, names)
    table = {sp.Symbol(n, real=True): sp.Symbol(n, positive=True) for n in names}
    back = {p: s for s, p in table.items()}
    start = expr.xreplace(table)
    if len(samples.points) < _FEW or not samples.agrees(start.xreplace(back), 0):
        return None
    found, _, _ = simplified(start, samples, 0, known, {})
    found = merged_roots(found.xreplace(back))
    needed = list(names)
    for name in names:
        fewer = [n for n in needed if n != name]
        looser = _samples(gradient, program, fewer)
        is_tried = len(looser.points) >= _FEW and any(point[name] < 0 for point in looser.points)
        if is_tried and looser.agrees(found, 0):
            needed = fewer
    if cost(found, known) + _WORTH * len(needed) > cost(expr, known):
        return None
    evidence = f"checked at {len(samples.points)} points with {', '.join(needed)} > 0 to 20 digits"
    return found, (Rewrite(ASSUMING, expr, found, evidence),), tuple(f"{n} > 0" for n in needed)


def _under_roots(expr: Any, point: Mapping[str, Any]) -> list[str]:
    """Arguments that stand under roots, together with others, if the point has them positive."""
    roots = [p for p in expr.atoms(sp.Pow) if p.exp.is_Rational and not p.exp.is_Integer and p.base.args]
    found = {s.name for part in roots for s in part.free_symbols}
    return sorted(n for n in found if n in point and not hasattr(point[n], "shape") and point[n] > 0)


def _is_one_sided(name: str, gradient: Node, program: Program) -> bool:
    """Whether the program has values for positive values of an argument alone, the others being positive: of the
    variable itself no side is left out.
    """
    others = [n for n in program.inputs if n != name]
    return all(point[name] > 0 for point in _samples(gradient, program, others).points)


def _samples(gradient: Node, program: Program, positive: Sequence[str]) -> Samples:
    return sample_positive([gradient, program.output], program.inputs, positive)
