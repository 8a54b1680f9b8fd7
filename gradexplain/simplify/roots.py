"""Roots: of squares, of fractions, of one degree."""

from __future__ import annotations

from typing import Any

import sympy as sp

from gradexplain.simplify.signs import signs


def radicands(expr: Any) -> Any:
    """Factors under roots, so that sqrt(x**2 - 10*x + 25) becomes Abs(x - 5)."""
    return expr.replace(lambda e: e.is_Pow and e.exp.is_Rational and not e.exp.is_Integer and e.base.is_Add,
                        lambda e: sp.factor(e.base) ** e.exp)  # fmt: skip


def _is_root(e: Any) -> bool:
    return bool(e.is_Pow and e.exp.is_Rational and not e.exp.is_Integer)


def merged_roots(expr: Any) -> Any:
    """Fractions under roots made one, roots of one degree put together, where signs allow.

    >>> a, b = sp.symbols("a b", real=True)
    >>> merged_roots(sp.sqrt(a) / sp.sqrt(b)), merged_roots(sp.sqrt(1 / a - 1 / b))
    (sqrt(a/b), sqrt((-a + b)/(a*b)))
    """
    expr = expr.replace(_is_root, lambda e: sp.together(e.base) ** e.exp)
    return expr.replace(lambda e: e.is_Mul, _one_root)


def _one_root(product: Any) -> Any:
    """sqrt(a)/sqrt(b) is sqrt(a/b)."""
    roots = [f for f in product.args if _is_root(f) and f.free_symbols]
    for degree in sorted({abs(f.exp) for f in roots}):
        alike = [f for f in roots if abs(f.exp) == degree]
        if len(alike) > 1:
            inside = sp.Mul(*(f.base if f.exp > 0 else 1 / f.base for f in alike))
            sign = -1 if all(f.exp < 0 for f in alike) else 1
            product = sp.Mul(*(f for f in product.args if f not in alike)) * (inside**sign) ** (sign * degree)
    return product


def has_no_roots(expr: Any) -> bool:
    """Whether there are no two roots, nor a root of more than a symbol or a number."""
    roots = [p for p in expr.atoms(sp.Pow) if _is_root(p) and p.free_symbols]
    return len(roots) < 2 and not any(p.base.args for p in roots)


def circular_roots(expr: Any) -> Any:
    """sqrt(1 - sin(u)**2) is Abs(cos(u)).

    >>> x = sp.Symbol("x", real=True)
    >>> circular_roots(sp.cos(x) / sp.sqrt(1 - sp.sin(x) ** 2))
    sign(cos(x))
    """
    for u in sorted({f.args[0] for f in expr.atoms(sp.sin, sp.cos)}, key=sp.default_sort_key):
        squares = {1 - sp.sin(u) ** 2: sp.cos(u) ** 2, 1 - sp.cos(u) ** 2: sp.sin(u) ** 2}
        expr = expr.replace(_is_root, lambda e, table=squares: table.get(e.base, e.base) ** e.exp)
    return signs(expr)
