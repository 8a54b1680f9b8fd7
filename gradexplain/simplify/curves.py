"""Formulas that hold on a curve F = 0 alone: -(x**2 + y**2)/y**3 is -25/y**3 where x**2 + y**2 = 25."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import mpmath as mp
import sympy as sp

from gradexplain.graph import Node
from gradexplain.simplify.counting import operations
from gradexplain.simplify.form import ClosedForm
from gradexplain.simplify.numeric import UnknownFunctionError, value
from gradexplain.simplify.rewrite import Rewrite
from gradexplain.simplify.sampling import DIGITS
from gradexplain.simplify.watchdog import within
from gradexplain.symbolic import expressions, tree_size

_LONGEST = 120  # operations
_SECONDS = 2.0
_FEW = 3
_TOLERANCE = mp.mpf(10) ** -20


def reduced(
    form: ClosedForm, equation: Node, points: Sequence[Mapping[str, Any]], exact: Callable[[Mapping[str, Any]], Any]
) -> ClosedForm:
    """The form with the equation put in, where that is shorter and right at points on the curve."""
    if form.where or tree_size(equation) > _LONGEST or operations(form.expr) > _LONGEST or len(points) < _FEW:
        return form
    (zero,) = expressions([equation])
    found = within(_SECONDS, lambda: _remainders(form.expr, zero)) or []
    better = [e for e in found if operations(e) < operations(form.expr) and _holds(e, points, exact)]
    if not better:
        return form
    best = min(better, key=operations)
    evidence = f"checked at {len(points)} points of the curve to 20 digits"
    return replace(
        form, expr=best, rewrites=(*form.rewrites, Rewrite("put in the equation", form.expr, best, evidence))
    )


def _remainders(expr: Any, zero: Any) -> list[Any]:
    """The numerator modulo the equation, and both it and the denominator; [] where they are no polynomials."""
    try:
        functions = sorted((zero.atoms(sp.Function) | expr.atoms(sp.Function)) - {sp.E}, key=sp.default_sort_key)
        letters = {f: sp.Dummy(f"u{i}") for i, f in enumerate(functions)}
        symbols = [*letters.values(), *sorted(zero.free_symbols, key=lambda s: s.name)[::-1]]
        zero, expr = zero.xreplace(letters), expr.xreplace(letters)
        back = {u: f for f, u in letters.items()}
        top, bottom = sp.fraction(sp.cancel(sp.together(expr)))
        above, below = (sp.reduced(part, [zero], *symbols)[1] if part.free_symbols else part for part in (top, bottom))
        return [
            sp.factor(above / below).xreplace(back) for below in dict.fromkeys((sp.factor(bottom), below)) if below != 0
        ]
    except (sp.PolynomialError, ValueError, TypeError, AttributeError, ZeroDivisionError):
        return []


def _holds(expr: Any, points: Sequence[Mapping[str, Any]], exact: Callable[[Mapping[str, Any]], Any]) -> bool:
    with mp.workdps(DIGITS):
        try:
            return all(
                abs(value(expr, p) - y) <= _TOLERANCE * abs(y) + _TOLERANCE
                for p in points
                if mp.isfinite(y := exact(p))
            )
        except (UnknownFunctionError, KeyError):
            return False
