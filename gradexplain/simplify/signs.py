"""Signs gathered: u*sign(u) is Abs(u), -x*(y - p) is x*(p - y)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from gradexplain.simplify.counting import operations
from gradexplain.simplify.powers import has_high_powers


def signs(expr: Any) -> Any:
    """sign(u)**2 is 1, u*sign(u) is Abs(u), u/Abs(u) is sign(u): with s for the sign, s*s = 1 and Abs(u) = s*u.

    >>> x = sp.Symbol("x", real=True)
    >>> signs(x / sp.Abs(x)), signs(x**2 * sp.sign(x))
    (sign(x), x*Abs(x))
    """
    expr = expr.replace(lambda e: e.is_Pow and isinstance(e.base, sp.sign) and e.exp.is_Integer,
                        lambda e: e.base ** (e.exp % 2))  # fmt: skip
    for u in sorted({f.args[0] for f in expr.atoms(sp.Abs, sp.sign)}, key=sp.default_sort_key):
        s = sp.Dummy("s", real=True)
        flat = sp.cancel(sp.together(expr.xreplace({sp.Abs(u): s * u, sp.sign(u): s})))
        top, bottom = (_odd_and_even(part, s) for part in sp.fraction(flat))
        if top is None or bottom is None or (bottom[0] != 0 and bottom[1] != 0):
            continue
        if bottom[0] == 0:  # s in the denominator is s in the numerator
            top, bottom = (top[1], top[0]), (bottom[1], bottom[0])
        even, odd = (sp.factor_terms(sp.cancel(part / bottom[0])) for part in top)
        divided = sp.cancel(odd / u)
        better = sp.Abs(u) * divided if operations(divided) < operations(odd) else sp.sign(u) * odd
        expr = even + better
    return expr


def magnitudes(expr: Any) -> Any:
    """x is sign(x)*Abs(x): with both as unknowns, what has no sign left is shown by Abs(x) alone.

    >>> x = sp.Symbol("x", real=True)
    >>> magnitudes((1 - x * sp.sign(x) / (1 + sp.Abs(x))) / (1 + sp.Abs(x)))
    (Abs(x) + 1)**(-2)
    """
    for x in sorted({f.args[0] for f in expr.atoms(sp.Abs, sp.sign) if f.args[0].is_Symbol}, key=sp.default_sort_key):
        s, a = sp.Dummy("s", real=True), sp.Dummy("a", positive=True)
        flat = sp.together(expr.xreplace({sp.Abs(x): a, sp.sign(x): s}).xreplace({x: s * a}))
        top, bottom = (_odd_and_even(sp.expand(part), s) for part in sp.fraction(flat))
        if top is None or bottom is None or 0 not in top or 0 not in bottom:
            continue
        odd = (top[0] == 0) != (bottom[0] == 0)
        quotient = sp.factor((top[0] + top[1]) / (bottom[0] + bottom[1]))
        expr = (sp.sign(x) if odd else 1) * quotient.xreplace({a: sp.Abs(x)})
    return expr


def _odd_and_even(part: Any, s: Any) -> tuple[Any, Any] | None:
    """The coefficients of 1 and s in a polynomial in s, with s*s = 1."""
    if not part.is_polynomial(s):
        return None
    even, odd = sp.S.Zero, sp.S.Zero
    for (power,), coefficient in sp.Poly(part, s).terms():
        if power % 2:
            odd += coefficient
        else:
            even += coefficient
    return even, odd


def absorbed_signs(expr: Any) -> Any:
    """-x*(y - p) is x*(p - y).

    >>> x, y, p = sp.symbols("x y p", real=True)
    >>> absorbed_signs(-x * (y - p))
    x*(p - y)
    """

    def absorbed(product: Any) -> Any:
        for factor in product.args:
            if factor.is_Add and any(t.could_extract_minus_sign() for t in factor.args):
                return sp.Mul(-1, *(f for f in product.args if f is not factor), -factor)
        return product

    return expr.replace(lambda e: e.is_Mul and e.as_coeff_Mul()[0].is_negative, absorbed)


def has_no_signs(expr: Any) -> bool:
    """Whether there are no signs to gather, or powers too high for it."""
    return not expr.has(sp.Abs, sp.sign) or has_high_powers(expr)
