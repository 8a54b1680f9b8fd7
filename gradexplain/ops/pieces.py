"""Formulas with branches in SymPy, which tries to solve the conditions that it is given, and may fail at that."""

from __future__ import annotations

from typing import Any


def piecewise(sp: Any, *pieces: tuple[Any, Any]) -> Any:
    """A formula with branches, from pairs of a value and a condition; conditions may compare such formulas.

    An `else` that has branches itself is an `elif`.

    >>> import sympy as sp
    >>> x, y = sp.symbols("x y", real=True)
    >>> inner = piecewise(sp, (x, x > y), (y, True))
    >>> piecewise(sp, (1, inner > 0), (2, True))
    Piecewise((1, ITE(x > y, x > 0, y > 0)), (2, True))
    """
    *first, (last, condition) = pieces
    inner = last.args if isinstance(last, sp.Piecewise) and condition is True else ((last, condition),)
    return sp.Piecewise(*((value, opened(sp, condition)) for value, condition in (*first, *inner)))


def compared(sp: Any, relation: str, a: Any, b: Any) -> Any:
    """A comparison (`Lt`, `Ge`, …); as with nan, none holds of what is undefined."""
    try:
        return getattr(sp, relation)(a, b)
    except TypeError:
        return sp.false


def larger_of(sp: Any, a: Any, b: Any) -> Any:
    """The larger of two, where one may be undefined on a branch, too."""
    try:
        return sp.Max(a, b)
    except ValueError:
        return piecewise(sp, (a, compared(sp, "Ge", a, b)), (b, True))


def smaller_of(sp: Any, a: Any, b: Any) -> Any:
    """The smaller of two, where one may be undefined on a branch, too."""
    try:
        return sp.Min(a, b)
    except ValueError:
        return piecewise(sp, (a, compared(sp, "Le", a, b)), (b, True))


def opened(sp: Any, condition: Any) -> Any:
    """A condition in which no formula with branches is compared: their values are, one by one."""
    if not hasattr(condition, "atoms"):
        return condition
    table = {r: _opened_relation(sp, r) for r in condition.atoms(sp.Rel) if r.has(sp.Piecewise)}
    return condition.xreplace(table) if table else condition


def _opened_relation(sp: Any, relation: Any) -> Any:
    branches = min(relation.atoms(sp.Piecewise), key=lambda p: (len(p.atoms(sp.Piecewise)), sp.default_sort_key(p)))
    result = sp.false
    for value, condition in reversed(branches.args):
        holds = _on_branch(sp, relation, branches, value)
        result = sp.And(condition, holds) if result == sp.false else sp.ITE(condition, holds, result)
    return result


def _on_branch(sp: Any, relation: Any, branches: Any, value: Any) -> Any:
    """The comparison on one branch; none holds of what is undefined there."""
    try:
        found = relation.xreplace({branches: value})
        return sp.false if found.has(sp.nan) else opened(sp, found)
    except TypeError:
        return sp.false
