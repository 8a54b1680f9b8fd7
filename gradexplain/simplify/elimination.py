"""Functions eliminated by means of the program's names: with s = 1/(1 + exp(-x)), exp(-x)*s**2 is s*(1 - s).

A name that stands for a fraction (a*E + b)/(c*E + d) of something E, an exponential or another part, is solved for E,
and what the formula says of E is said of the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sympy as sp

MOST_NAMES = 6


def in_terms_of_names(expr: Any, where: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The names, each with the formula in which it takes the place of what it is made of.

    >>> x, s = sp.symbols("x s", real=True)
    >>> dict(in_terms_of_names(sp.exp(-x) * s**2, {"s": 1 / (1 + sp.exp(-x))}))["s"]
    -s*(s - 1)
    """
    last = dict(list(where.items())[-MOST_NAMES:])
    top, bottom = sp.fraction(sp.together(expr))
    present = {n: e for n, e in last.items() if sp.Symbol(n, real=True) in top.free_symbols}
    if present:
        opened = sp.factor_terms(sp.factor(_opened(top, where)))
        yield ", ".join(n for n in last if sp.Symbol(n, real=True) in bottom.free_symbols), opened / bottom
    for name, definition in last.items():
        symbol = sp.Symbol(name, real=True)
        put_in = expr.subs(definition, symbol)
        if put_in != expr and not definition.is_Number:
            yield name, put_in
        for kernel in sorted(definition.atoms(sp.exp, sp.tanh), key=sp.default_sort_key):
            unknown = sp.Dummy(positive=True)
            mentioned = _of_one(expr, kernel, unknown)
            solution = _solved(_of_one(definition, kernel, unknown), symbol, unknown)
            if solution is None or not mentioned.has(unknown):
                continue
            yield name, sp.factor_terms(sp.factor(sp.cancel(mentioned.xreplace({unknown: solution}))))


def _opened(expr: Any, where: Mapping[str, Any]) -> Any:
    """A formula with the names written out: r**2 - x**2 is y**2 where r is the root of x**2 + y**2."""
    for name, definition in reversed(list(where.items())):
        expr = expr.xreplace({sp.Symbol(name, real=True): definition})
    return expr


def _of_one(expr: Any, kernel: Any, unknown: Any) -> Any:
    """The formula with the kernel as an unknown; exp(-u) and exp(2*u) are powers of exp(u)."""
    if not isinstance(kernel, sp.exp):
        return expr.xreplace({kernel: unknown})
    table = {}
    for e in expr.atoms(sp.exp):
        multiple = e.args[0] / kernel.args[0]
        if multiple.is_Integer:
            table[e] = unknown**multiple
    return expr.xreplace(table)


def _solved(definition: Any, symbol: Any, unknown: Any) -> Any:
    """The unknown in terms of the name, None if it is no fraction of the first degree."""
    top, bottom = sp.fraction(sp.together(definition))
    if not (top.is_polynomial(unknown) and bottom.is_polynomial(unknown)):
        return None
    numerator, denominator = sp.Poly(top, unknown), sp.Poly(bottom, unknown)
    if max(numerator.degree(), denominator.degree()) != 1:
        return None
    a, b = (numerator.coeff_monomial(unknown**k) for k in (1, 0))
    c, d = (denominator.coeff_monomial(unknown**k) for k in (1, 0))
    return (d * symbol - b) / (a - c * symbol)
