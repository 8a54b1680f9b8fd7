"""Points at which a formula divides by 0: a form of a derivative must have a value where the derivative has one.

y + 3*y/x is shorter than x**2*(x + 3)*exp(x) if the program has y = x**3*exp(x), but it has no value at 0. Samples in
no special relation never meet such a point, so the divisors of the formula are asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import mpmath as mp
import sympy as sp

from gradexplain.simplify.numeric import UnknownFunctionError, substituted, value

_MOST_POLES = 12


def has_new_pole(expr: Any, where: Sequence[tuple[str, Any]], derivative: Any, point: Mapping[str, Any]) -> bool:
    """Whether a formula in names has no value at a point beside the given one at which the derivative has one.

    >>> x, y = sp.symbols("x y", real=True)
    >>> has_new_pole(y + 3 * y / x, (("y", x**3),), x**3 + 3 * x**2, {"x": mp.mpf(2)})
    True
    >>> has_new_pole(y + 3 * y / x, (("y", 1 / x),), 4 / x, {"x": mp.mpf(2)})
    False
    """
    try:
        at_poles = islice(_poles(expr, where, derivative, point), _MOST_POLES)
        return any(mp.isfinite(value(derivative, p)) and not mp.isfinite(_in_names(expr, where, p)) for p in at_poles)
    except (UnknownFunctionError, KeyError):
        return False


def _in_names(expr: Any, where: Sequence[tuple[str, Any]], point: Mapping[str, Any]) -> Any:
    table = dict(point)
    for name, definition in where:
        table[name] = value(definition, table)
    return value(expr, table)


def _poles(
    expr: Any, where: Sequence[tuple[str, Any]], derivative: Any, point: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Where a divisor that the derivative does not have is 0: each linear one, along each of its variables."""
    table: dict[Any, Any] = {}
    for name, definition in where:
        table[sp.Symbol(name, real=True)] = substituted(definition, table)
    known = set(_divisors(derivative))
    bases = dict.fromkeys(substituted(b, table) for e in (expr, *(d for _, d in where)) for b in _divisors(e))
    for base in bases:
        for x in sorted(base.free_symbols, key=lambda s: s.name) if base not in known else ():
            slope = sp.diff(base, x)
            if slope == 0 or slope.has(x):
                continue
            at = {**point, x.name: mp.mpf(0)}
            steepness = value(slope, at)
            if steepness:
                at[x.name] = -value(base, at) / steepness
                if value(base, at) == 0:
                    yield at


def _divisors(expr: Any) -> Iterator[Any]:
    for power in expr.atoms(sp.Pow):
        if power.exp.could_extract_minus_sign():
            yield power.base
