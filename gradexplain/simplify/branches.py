"""Formulas with branches: pulled out to the front, simplified one by one, and merged where they are equal.

Conditions of one variable against numbers cut the line into intervals; on each of them every branch is decided, so that
what can't happen drops out. In other cases SymPy folds the branches.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from gradexplain.simplify.numeric import imaginary_parts, of_real_numbers

MOST_BRANCHES = 12
MOST_FOLDED = 8


def opened(expr: Any, simplify: Callable[[Any], Any]) -> Any:
    """The formula as one Piecewise of simple pieces, None if it has too many branches.

    >>> x = sp.Symbol("x", real=True)
    >>> opened(2 * sp.Piecewise((x, x > 1), (0, True)) + sp.Piecewise((1, x > 0), (0, True)), lambda e: e)
    Piecewise((0, x <= 0), (1, x <= 1), (2*x + 1, True))
    """
    pieces = _by_intervals(expr) or _folded(expr)
    if pieces is None or len(pieces) > MOST_BRANCHES:
        return None
    pieces = _without_points([(value, _plain(condition)) for value, condition in pieces])
    assumed = [
        (of_real_numbers(_assuming(value, _within(pieces, i))), condition)
        for i, (value, condition) in enumerate(pieces)
    ]
    return _merged([(simplify(value), condition) for value, condition in assumed])


def _by_intervals(expr: Any) -> list[tuple[Any, Any]] | None:
    """One piece an interval, where all conditions compare one variable with numbers."""
    relations = expr.atoms(Relational)
    thresholds = [_threshold(r) for r in relations]
    symbols = {t[0] for t in thresholds if t is not None}
    if not relations or None in thresholds or len(symbols) != 1:
        return None
    (x,) = symbols
    points = sorted({t[1] for t in thresholds if t is not None})
    if any(isinstance(r, (sp.Eq, sp.Ne)) for r in relations) or len(points) > MOST_BRANCHES:
        return None
    inner = [(a + b) / 2 for a, b in pairwise(points)]
    values = [_decided(expr, relations, x, middle) for middle in (points[0] - 1, *inner, points[-1] + 1)]
    ends = [
        x <= end if _belongs_below(_decided(expr, relations, x, end), below, above, {x: end}) else x < end
        for end, (below, above) in zip(points, pairwise(values), strict=True)
    ]
    return list(zip(values, [*ends, sp.true], strict=True))


def _decided(expr: Any, relations: Any, x: Any, at: Any) -> Any:
    """The formula with every condition answered as at a value of the variable."""
    return expr.xreplace({r: sp.true if r.subs(x, at) == sp.true else sp.false for r in relations})


def _belongs_below(value: Any, below: Any, above: Any, end: Any) -> bool:
    """Whether the program has the value of the left side at the end between two intervals; if of neither, it is a point
    of its own, which has no slope to show.
    """
    if value in (below, above):
        return bool(value == below)
    return bool(value.xreplace(end) == below.xreplace(end))


def _threshold(r: Any) -> tuple[Any, Any] | None:
    if r.lhs.is_Symbol and r.rhs.is_Rational:
        return r.lhs, r.rhs
    if r.rhs.is_Symbol and r.lhs.is_Rational:
        return r.rhs, r.lhs
    return None


def _folded(expr: Any) -> list[tuple[Any, Any]] | None:
    if len(expr.atoms(sp.Piecewise)) > MOST_FOLDED:
        return None
    folded = sp.piecewise_fold(expr)
    return list(folded.args) if isinstance(folded, sp.Piecewise) else [(folded, sp.true)]


def _without_points(pieces: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Where a < b and a > b have pieces of their own, the rest is a point: a piece there has no slope to show."""
    conditions = [c for _, c in pieces]
    if conditions[-1] != sp.true:
        return pieces
    for c in conditions[:-1]:
        if isinstance(c, (sp.StrictLessThan, sp.StrictGreaterThan)) and any(
            _is_opposite(c, d) for d in conditions[:-1]
        ):
            kept = pieces[:-1]
            return [*kept[:-1], (kept[-1][0], sp.true)]
    return pieces


def _is_opposite(c: Any, d: Any) -> bool:
    return isinstance(d, (sp.StrictLessThan, sp.StrictGreaterThan)) and c.gts == d.lts and c.lts == d.gts


def _plain(condition: Any) -> Any:
    """a - b < 0 is a < b: terms with a minus go to the other side."""

    def moved(r: Any) -> Any:
        if r.rhs != 0 or not r.lhs.is_Add:
            return r
        minus = [t for t in r.lhs.args if t.could_extract_minus_sign()]
        plus = [t for t in r.lhs.args if not t.could_extract_minus_sign()]
        return r.func(sp.Add(*plus), -sp.Add(*minus)) if minus and plus else r

    relations = condition.atoms(Relational)
    return condition.xreplace({r: moved(r) for r in relations})


def _within(pieces: list[tuple[Any, Any]], index: int) -> list[Any]:
    """The relations that hold within a piece: its own condition, and that none of the earlier ones did."""
    own = pieces[index][1]
    found = list(own.args) if isinstance(own, sp.And) else [own]
    return found + [sp.Not(c) for _, c in pieces[:index] if isinstance(c, Relational)]


def _assuming(value: Any, relations: list[Any]) -> Any:
    """A piece where a relation gives a variable's sign: Abs(x) and sign(x) are decided."""
    for relation in relations:
        if not isinstance(relation, Relational) or not hasattr(relation, "gts"):
            continue
        if relation.gts.is_Symbol and relation.lts.is_nonnegative:
            x, sign = relation.gts, 1
        elif relation.lts.is_Symbol and relation.gts.is_nonpositive:
            x, sign = relation.lts, -1
        else:
            continue
        positive = sp.Dummy(x.name, positive=True)
        decided = value.xreplace({x: sign * positive})
        if not imaginary_parts(decided):  # else the program has no value there
            value = decided.xreplace({positive: sign * x})
    return value


def _merged(pieces: list[tuple[Any, Any]]) -> Any:
    """Neighbours with the same formula become one piece."""
    out: list[tuple[Any, Any]] = []
    for value, condition in pieces:
        if out and out[-1][0] == value:
            out[-1] = (
                value,
                condition if condition == sp.true or _is_later(condition) else sp.Or(out[-1][1], condition),
            )
        else:
            out.append((value, condition))
    if len(out) == 1 and out[0][1] == sp.true:
        return out[0][0]
    return _as_sign(out) or sp.Piecewise(*out)


def _as_sign(pieces: list[tuple[Any, Any]]) -> Any:
    """-v below, 0 at and v above a point is v*sign."""
    if len(pieces) != 3 or pieces[1][0] != 0 or pieces[0][0] != -pieces[2][0]:
        return None
    below, at = pieces[0][1], pieces[1][1]
    if isinstance(at, sp.Eq) and isinstance(below, sp.StrictLessThan) and {below.lts, below.gts} == set(at.args):
        return pieces[2][0] * sp.sign(below.lts - below.gts)
    return None


def _is_later(condition: Any) -> bool:
    """x <= 5 after x <= 3 covers both."""
    return (
        isinstance(condition, (sp.LessThan, sp.StrictLessThan))
        and condition.rhs.is_Rational
        and condition.lhs.is_Symbol
    )
