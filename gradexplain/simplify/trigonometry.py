"""Circular and hyperbolic functions: identities, and where it is worth looking for them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import sympy as sp

from gradexplain.simplify.counting import operations

_CIRCULAR = (sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh)
_MOST_ANGLES = 6  # a product of n of them is a sum of 2**n
_LONGEST_ANGLE = 4  # operations


def identities(expr: Any) -> Any:
    """SymPy's `simplify`, for formulas with several circular functions; elsewhere it is little use."""
    return sp.simplify(expr) if len(expr.atoms(*_CIRCULAR)) >= 3 else expr


def pythagoras(expr: Any) -> Any:
    """(1 - cos(u))/sin(u)**2 is 1/(1 + cos(u)): squares of one circular function as those of the other, then cancelled.

    >>> x = sp.Symbol("x", real=True)
    >>> pythagoras((1 - sp.cos(x)) / sp.sin(x) ** 2)
    1/(cos(x) + 1)
    """
    options = [expr]
    for u in sorted({f.args[0] for f in expr.atoms(sp.sin, sp.cos)}, key=sp.default_sort_key):
        for one, other in ((sp.sin(u), sp.cos(u)), (sp.cos(u), sp.sin(u))):
            changed = expr.replace(
                lambda e, f=one: e.is_Pow and e.base == f and e.exp.is_Integer and e.exp % 2 == 0,
                lambda e, f=other: (1 - f**2) ** (e.exp / 2),
            )
            options.append(sp.factor(changed))
    return min(options, key=operations)


def has_no_squared_circles(expr: Any) -> bool:
    """Whether no square of a sine or cosine stands beside another circular function."""
    functions = expr.atoms(sp.sin, sp.cos)
    return len(functions) > _MOST_ANGLES or not any(
        p.base in functions and p.exp.is_Integer and p.exp % 2 == 0 for p in expr.atoms(sp.Pow))  # fmt: skip


def ratios(expr: Any) -> Any:
    """sinh(u)/cosh(u) is tanh(u), sin(u)/cos(u) is tan(u).

    >>> x = sp.Symbol("x", real=True)
    >>> ratios(x + x * sp.sinh(x) / sp.cosh(x))
    x*tanh(x) + x
    """

    def joined(product: Any) -> Any:
        powers = product.as_powers_dict()
        for over, under, ratio in ((sp.sinh, sp.cosh, sp.tanh), (sp.sin, sp.cos, sp.tan)):
            for f in [f for f in powers if isinstance(f, over)]:
                n, m = powers[f], powers.get(under(f.args[0]), 0)
                if n.is_Integer and n == -m:
                    product = product / f**n * under(f.args[0]) ** n * ratio(f.args[0]) ** n
        return product

    return expr.replace(lambda e: e.is_Mul, joined)


def tangents(expr: Any) -> Any:
    """tan(u) + 1/tan(u) is 2/sin(2*u): tangents as quotients."""
    return sp.trigsimp(sp.together(expr.replace(sp.tan, lambda u: sp.sin(u) / sp.cos(u))))


def as_exponentials(expr: Any) -> Any:
    """Hyperbolic functions written out, which shows what cancels.

    >>> x = sp.Symbol("x", real=True)
    >>> as_exponentials(sp.cosh(x) - sp.sinh(x))
    exp(-x)
    """
    return sp.cancel(expr.rewrite(sp.exp))


def hyperbolic(expr: Any) -> Any:
    """sinh(u)/cosh(u) is tanh(u), 2*sinh(u)*cosh(u) is sinh(2*u): with one exponential for each angle, a fraction is
    compared with the short ones.

    >>> x = sp.Symbol("x", real=True)
    >>> hyperbolic(sp.sinh(x) / sp.cosh(x)), hyperbolic((1 - sp.tanh(x / 2) ** 2) / (1 + sp.tanh(x / 2) ** 2))
    (tanh(x), 1/cosh(x))
    """
    flat = sp.cancel(expr.rewrite(sp.exp))
    angles = {f.args[0] for f in expr.atoms(sp.sinh, sp.cosh, sp.tanh)}
    for u in sorted({k * a for a in angles for k in (1, 2)}, key=sp.default_sort_key):
        for form in (sp.tanh(u), 1 / sp.cosh(u), sp.sinh(u), sp.cosh(u), 1 / sp.sinh(u), 1 / sp.cosh(u) ** 2,
                     sp.tanh(u) ** 2, sp.sinh(u) ** 2, sp.cosh(u) ** 2):  # fmt: skip
            rest = sp.cancel(flat / sp.cancel(form.rewrite(sp.exp)))
            if not rest.has(sp.exp):
                return rest * form
    return expr


def has_no_identities(expr: Any) -> bool:
    """Whether there are no two circular functions that could be one, of the same angle or of multiples of it; or there
    are too many, or of long angles.
    """
    functions = expr.atoms(*_CIRCULAR)
    angles = {f.args[0] for f in functions}
    if not 0 < len(angles) <= _MOST_ANGLES or any(
        a.has(*_CIRCULAR) or operations(a) > _LONGEST_ANGLE or any(p.base.is_Add for p in a.atoms(sp.Pow))
        for a in angles
    ):
        return True
    return not any((f.args[0] / g.args[0]).is_Rational for f, g in combinations(functions, 2))


def has_no_tangents(expr: Any) -> bool:
    """Whether there is nothing that tangents could be joined with."""
    return not expr.has(sp.tan) or has_no_identities(_quotients(expr))


def is_not_circular(expr: Any) -> bool:
    """Whether trigonometric identities can't help, or would go through complex numbers, which is slow."""
    return expr.has(sp.sinh, sp.cosh, sp.tanh) or has_no_identities(expr)


def is_not_hyperbolic(expr: Any) -> bool:
    """Whether there are no two hyperbolic functions that could be one; in a power like tanh(x)**x there are none."""
    functions = sp.sinh, sp.cosh, sp.tanh
    if not expr.has(*functions) or any(p.has(*functions) and not p.exp.is_Rational for p in expr.atoms(sp.Pow)):
        return True
    return has_no_identities(_quotients(expr))


def _quotients(expr: Any) -> Any:
    """Tangents written out, unless they are terms or factors alone."""
    if all(p.exp.is_positive for p in expr.atoms(sp.Pow) if p.has(sp.tan, sp.tanh)):
        return expr
    expr = expr.replace(sp.tan, lambda u: sp.sin(u) + sp.cos(u))
    return expr.replace(sp.tanh, lambda u: sp.sinh(u) + sp.cosh(u))
