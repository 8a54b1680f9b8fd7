"""Formulas with branches: pulled out to the front, simplified one by one, and merged where they are equal.

Conditions of one variable against numbers cut the line into intervals; on each of them every branch is decided, so that
what can't happen drops out. In other cases SymPy folds the branches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from gradexplain.simplify.counting import operations
from gradexplain.simplify.numeric import imaginary_parts, of_real_numbers, substituted

MOST_BRANCHES = 12
MOST_FOLDED = 8
MOST_ANSWERED = 5  # conditions, of which every combination is looked at


def opened(expr: Any, simplify: Callable[[Any], Any]) -> Any:
    """The formula as one Piecewise of simple pieces, None if it has too many branches.

    >>> x = sp.Symbol("x", real=True)
    >>> opened(2 * sp.Piecewise((x, x > 1), (0, True)) + sp.Piecewise((1, x > 0), (0, True)), lambda e: e)
    Piecewise((0, x <= 0), (1, x <= 1), (2*x + 1, True))
    """
    expr = expr.xreplace({r: _without_extremes(r) for r in expr.atoms(Relational) if r.has(sp.Max, sp.Min)})
    expr = expr.xreplace({r: solved(r) for r in expr.atoms(Relational)})
    expr = expr.replace(sp.Piecewise, _without_equal_points)
    if not expr.has(sp.Piecewise):
        return simplify(expr)
    pieces = _by_intervals(expr) or _folded(expr)
    if pieces is None or len(pieces) > MOST_BRANCHES:
        return None
    pieces = _without_points([(value, _plain(condition)) for value, condition in pieces])
    assumed = [
        (of_real_numbers(_assuming(value, _within(pieces, i))), condition)
        for i, (value, condition) in enumerate(pieces)
    ]
    return _merged([(simplify(value), condition) for value, condition in assumed])


def solved(relation: Any) -> Any:
    """A linear condition on one variable as a comparison with a number: x < 2*x - 3 is x > 3.

    >>> x = sp.Symbol("x", real=True)
    >>> solved(x < 2 * x - 3), solved(x**2 < 1)
    (x > 3, x**2 < 1)
    """
    if len(relation.free_symbols) != 1 or isinstance(relation, (sp.Eq, sp.Ne)):
        return relation
    (x,) = relation.free_symbols
    slope, rest = _linear(sp.expand(relation.lhs - relation.rhs), x)
    if slope is None or not (slope.is_Rational and rest.is_Rational):
        return relation
    return (relation.func if slope > 0 else relation.reversed.func)(x, -rest / slope)


def _linear(expr: Any, x: Any) -> tuple[Any, Any]:
    slope = expr.coeff(x, 1)
    rest = expr - slope * x
    return (None, None) if slope == 0 or rest.has(x) else (slope, rest)


def _without_equal_points(*pieces: Any) -> Any:
    """1/x if n == 0 else x**(n - 1): a piece at a point that the next one covers is none of its own."""
    kept: list[tuple[Any, Any]] = []
    for (value, condition), following in zip(pieces, [*pieces[1:], None], strict=True):
        if following is not None and isinstance(condition, sp.Eq):
            variable, number = (condition.lhs, condition.rhs) if condition.lhs.is_Symbol else condition.args[::-1]
            if variable.is_Symbol and number.is_Number and following[0].subs(variable, number) == value:
                continue
        kept.append((value, condition))
    return sp.Piecewise(*kept)


def _without_extremes(relation: Any) -> Any:
    """max(a, b) < c as a < c and b < c, min(a, b) < c as a < c or b < c."""
    if isinstance(relation, (sp.Eq, sp.Ne)):
        return relation
    for part, other, compared in (
        (relation.lhs, relation.rhs, relation.func),
        (relation.rhs, relation.lhs, relation.reversed.func),
    ):
        if isinstance(part, (sp.Max, sp.Min)):
            is_below = compared in (sp.StrictLessThan, sp.LessThan)
            joined = sp.And if is_below == isinstance(part, sp.Max) else sp.Or
            return joined(*(_opened_relation(compared(a, other)) for a in part.args))
    return relation


def _opened_relation(relation: Any) -> Any:
    return _without_extremes(relation) if isinstance(relation, Relational) else relation


def smooth(expr: Any, agree: Callable[[Any, Any], bool]) -> Any:
    """The one formula that all branches give, whatever their conditions say, None if they differ: where the largest of
    some numbers is taken out of exponentials, branches only choose between spellings.
    """
    relations = sorted((r for r in expr.atoms(Relational) if not r.has(sp.Piecewise)), key=sp.default_sort_key)
    if not 0 < len(relations) <= MOST_ANSWERED:
        return None
    formulas = {
        substituted(expr, dict(zip(relations, answers, strict=True))): None
        for answers in product((sp.true, sp.false), repeat=len(relations))
    }
    first, *others = sorted(formulas, key=operations)
    if first.has(sp.Piecewise) or not all(agree(first, other) for other in others):
        return None
    return first


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
    values = []
    for low, high in pairwise((-sp.oo, *points, sp.oo)):
        middle = high - 1 if low == -sp.oo else low + 1 if high == sp.oo else (low + high) / 2
        values.append(_with_extremes(_decided(expr, relations, x, middle), x, low, high))
    ends = [
        x <= end if _belongs_below(_decided(expr, relations, x, end), below, above, {x: end}) else x < end
        for end, (below, above) in zip(points, pairwise(values), strict=True)
    ]
    return list(zip(values, [*ends, sp.true], strict=True))


def _decided(expr: Any, relations: Any, x: Any, at: Any) -> Any:
    """The formula with every condition answered as at a value of the variable."""
    return expr.xreplace({r: sp.true if r.subs(x, at) == sp.true else sp.false for r in relations})


def _with_extremes(value: Any, x: Any, low: Any, high: Any) -> Any:
    """max(x, 1) between 1 and 2 is x: what an interval decides.

    >>> x = sp.Symbol("x", real=True)
    >>> _with_extremes(sp.Max(x, 1) + sp.Min(x, 5), x, sp.Integer(1), sp.oo)
    x + Min(5, x)
    """

    def decided(extreme: Any) -> Any:
        numbers = [a for a in extreme.args if a.is_Rational]
        if len(extreme.args) != 2 or x not in extreme.args or not numbers:
            return extreme
        (number,) = numbers
        if number <= low:
            return x if isinstance(extreme, sp.Max) else number
        if number >= high:
            return number if isinstance(extreme, sp.Max) else x
        return extreme

    return value.xreplace({e: decided(e) for e in value.atoms(sp.Max, sp.Min)})


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


@lru_cache(maxsize=64)  # each formula comes twice: as it is, and with its pieces simplified
def _folded(expr: Any) -> tuple[tuple[Any, Any], ...] | None:
    if len(expr.atoms(sp.Piecewise)) > MOST_FOLDED:
        return None
    folded = sp.piecewise_fold(expr)
    return tuple(folded.args) if isinstance(folded, sp.Piecewise) else ((folded, sp.true),)


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


def _without_implied(condition: Any) -> Any:
    """x > 0 and y > 0 and x <= y is x > 0 and x <= y: comparisons that follow from two others say nothing."""
    if not isinstance(condition, sp.And):
        return condition
    kept = sorted(condition.args, key=sp.default_sort_key)
    for r in list(kept):
        if _has_order(r) and _follows(r, [o for o in kept if o is not r and _has_order(o)]):
            kept.remove(r)
    return sp.And(*kept)


def _has_order(relation: Any) -> bool:
    return isinstance(relation, Relational) and not isinstance(relation, (sp.Eq, sp.Ne))


def _follows(relation: Any, others: list[Any]) -> bool:
    """Whether there is a chain from the larger to the smaller side, strict if the relation is."""
    is_strict = isinstance(relation, (sp.StrictLessThan, sp.StrictGreaterThan))
    return any(
        a.gts == relation.gts and a.lts == b.gts and b.lts == relation.lts
        and (not is_strict or any(isinstance(o, (sp.StrictLessThan, sp.StrictGreaterThan)) for o in (a, b)))
        for a in others for b in others
    )  # fmt: skip


def _folds(pieces: list[tuple[Any, Any]]) -> bool:
    """Whether conditions are joined ones: intervals of one variable are shortest as they are."""
    return any(isinstance(c, sp.And) for _, c in pieces)


def _around(pieces: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """0 if a else (1 if b else 0) is 1 if b and not a, else 0."""
    if len(pieces) == 3 and pieces[0][0] == pieces[2][0] and pieces[2][1] == sp.true:
        first, second = (set(c.args) if isinstance(c, sp.And) else {c} for _, c in pieces[:2])
        other = sp.And(*(first - second)) if second <= first else pieces[0][1]
        return [(pieces[1][0], _without_implied(sp.And(sp.Not(other), pieces[1][1]))), pieces[2]]
    return [(v, _without_implied(c)) for v, c in pieces]


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
    return _as_sign(out) or _as_magnitude(out) or sp.Piecewise(*(_around(out) if _folds(out) else out))


def _as_magnitude(pieces: list[tuple[Any, Any]]) -> Any:
    """u(-x) below and u(x) above 0 is u(Abs(x)), -u(-x) below is sign(x)*u(Abs(x))."""
    if len(pieces) != 2 or not isinstance(pieces[0][1], (sp.StrictLessThan, sp.LessThan)) or pieces[0][1].rhs != 0:
        return None
    x, (below, above) = pieces[0][1].lhs, (pieces[0][0], pieces[1][0])
    if not x.is_Symbol or not above.has(x):
        return None
    mirrored, magnitude = above.xreplace({x: -x}), above.xreplace({x: sp.Abs(x)})
    if below == mirrored:
        return magnitude
    return sp.sign(x) * magnitude if below == -mirrored else None


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
