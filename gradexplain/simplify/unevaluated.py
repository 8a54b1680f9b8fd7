"""Formulas rebuilt as they were written: SymPy evaluates whatever it is given, also what comes out of a pickle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.logic.boolalg import BooleanFunction

OPEN = (sp.Add, sp.Mul, sp.Pow, sp.Function)  # what has formulas inside
_LOGICAL = (ExprCondPair, sp.Max, sp.Min, sp.Rel, BooleanFunction)  # what has formulas in conditions


def rebuilt(kind: Any, args: Sequence[Any]) -> Any:
    """A formula of the same kind with other parts."""
    return ExprCondPair(*args) if kind is ExprCondPair else kind(*args, evaluate=False)


def replaced(expr: Any, by: Callable[[Any], Any]) -> Any:
    """The formula with parts replaced, innermost first, where `by` gives something for them; nothing is evaluated.

    >>> x, y = sp.symbols("x y")
    >>> replaced(x * sp.sin(x), {x: y + y - y}.get)
    y*sin(y)
    """
    args = [replaced(a, by) for a in expr.args] if isinstance(expr, OPEN + _LOGICAL) else expr.args
    if any(a is not b for a, b in zip(args, expr.args, strict=True)):
        expr = rebuilt(type(expr), args)
    found = by(expr)
    return expr if found is None else found


class Packed(tuple[Any, ...]):
    """A formula taken apart for a pickle: its kind, then its parts."""

    __slots__ = ()


def packed(expr: Any) -> Any:
    """A formula as plain data, from which `unpacked` makes it again as it was written.

    >>> x = sp.Symbol("x")
    >>> unpacked(packed(sp.Mul(x, x, evaluate=False)))
    x*x
    """
    if not isinstance(expr, OPEN + _LOGICAL) or not expr.args:
        return expr
    return Packed((type(expr), *map(packed, expr.args)))


def unpacked(data: Any) -> Any:
    """The formula that was packed."""
    return rebuilt(data[0], [unpacked(part) for part in data[1:]]) if isinstance(data, Packed) else data
