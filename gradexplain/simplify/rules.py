"""The rewrites that a scalar formula is tried with: named rows, from cheap to dear. Each takes and gives an expression.

A row may be right only where its conditions hold (powers of positive bases, signs away from 0): every result is
compared with the program at many points before it is used, so a rule is free to be bold. To add one, add a row and a
line to its test table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import sympy as sp

from gradexplain.simplify.counting import operations

_LONG_DENOMINATOR = 1000
_HIGHEST_POWER = 24  # of a sum that may be multiplied out
_MOST_ANGLES = 6  # a product of n of them is a sum of 2**n
_LONGEST_ANGLE = 4  # operations
_CIRCULAR = (sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh)


class Rule(NamedTuple):
    """A named rewrite; `most` is the number of operations up to which it is tried, `unless` what it can't cope with."""

    name: str
    apply: Callable[[Any], Any]
    most: int
    unless: Callable[[Any], bool] = lambda _: False

    def is_tried(self, expr: Any, size: int) -> bool:
        """Whether the rule can be expected to end soon on an expression of this size."""
        return size <= self.most and not self.unless(expr)


def common_factor(expr: Any) -> Any:
    """Numbers and symbols that all terms share, pulled out in front."""
    return sp.factor_terms(expr)


def signs(expr: Any) -> Any:
    """sign(u)**2 is 1, u*sign(u) is Abs(u), u/Abs(u) is sign(u): with s for the sign, s*s = 1 and Abs(u) = s*u.

    >>> x = sp.Symbol("x", real=True)
    >>> signs(x / sp.Abs(x)), signs(x**2 * sp.sign(x))
    (sign(x), x*Abs(x))
    """
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


def radicands(expr: Any) -> Any:
    """Factors under roots, so that sqrt(x**2 - 10*x + 25) becomes Abs(x - 5)."""
    return expr.replace(lambda e: e.is_Pow and e.exp.is_Rational and not e.exp.is_Integer and e.base.is_Add,
                        lambda e: sp.factor(e.base) ** e.exp)  # fmt: skip


def shared_powers(expr: Any) -> Any:
    """x**(n - 1) is x**n/x: the power that all terms share is pulled out.

    >>> x, a = sp.symbols("x a", real=True)
    >>> shared_powers(x**(a - 1) * a + x**a)
    x**a*(a/x + 1)
    """
    table: dict[Any, Any] = {}
    for power in sorted(expr.atoms(sp.Pow), key=sp.default_sort_key):
        number, rest = power.exp.as_coeff_Add()
        if rest != 0 and rest.free_symbols and not (power.base.is_Number or power.base == sp.E):
            core = power.base**rest
            table[power] = (core, number)
    dummies = {core: sp.Dummy(real=True) for core, _ in table.values()}
    opened = expr.xreplace({p: dummies[core] * p.base**number for p, (core, number) in table.items()})
    if not dummies:
        return expr
    collected = sp.factor_terms(sp.collect(sp.expand_mul(opened), list(dummies.values())))
    return collected.xreplace({d: core for core, d in dummies.items()})


def joined_powers(expr: Any) -> Any:
    """K**(a - 1)*L**(1 - a) is (L/K)**(1 - a).

    >>> K, L, a = sp.symbols("K L a", positive=True)
    >>> joined_powers(K**(a - 1) * L**(1 - a))
    (L/K)**(1 - a)
    """

    def join(product: Any) -> Any:
        powers = [f for f in product.args if f.is_Pow and f.exp.free_symbols]
        for i, p in enumerate(powers):
            for q in powers[i + 1 :]:
                if sp.expand(p.exp + q.exp) == 0:
                    base, exponent = (q.base / p.base, q.exp) if _is_plainer(q.exp, p.exp) else (p.base / q.base, p.exp)
                    rest = [f for f in product.args if f is not p and f is not q]
                    return sp.Mul(*rest, sp.Pow(base, exponent, evaluate=False))
        return product

    return expr.replace(lambda e: e.is_Mul, join)


def _is_plainer(a: Any, b: Any) -> bool:
    return str(a).count("-") <= str(b).count("-") and not str(a).startswith("-")


def inverted_exponentials(expr: Any) -> Any:
    """exp(u)/(exp(u) + 1) is 1/(1 + exp(-u)): tried for every exponential.

    >>> x = sp.Symbol("x", real=True)
    >>> inverted_exponentials(sp.exp(x) / (sp.exp(x) + 1))
    1/(1 + exp(-x))
    """
    for e in sorted(expr.atoms(sp.exp), key=sp.default_sort_key):
        d = sp.Dummy(positive=True)
        inverted = sp.cancel(expr.xreplace({e: 1 / d}))
        candidate = sp.factor_terms(inverted).xreplace({d: sp.exp(-e.exp if hasattr(e, "exp") else -e.args[0])})
        if operations(candidate) <= operations(expr):
            expr = candidate
    return expr


def common_denominator(expr: Any) -> Any:
    """One fraction, numerator and denominator factored."""
    return sp.factor(sp.together(expr))


def identities(expr: Any) -> Any:
    """SymPy's `simplify`, for formulas with several circular or hyperbolic functions; elsewhere it is little use."""
    return sp.simplify(expr) if len(expr.atoms(*_CIRCULAR)) >= 3 or expr.has(sp.sinh, sp.cosh) else expr


def decimals(expr: Any) -> Any:
    """Fractions that were typed as long decimals, as decimals: 10507/10000 is 1.0507.

    >>> decimals(sp.Rational(10507, 10000) * sp.Symbol("x"))
    1.0507*x
    """
    numbers = [r for r in expr.atoms(sp.Rational) if not r.is_Integer]
    if not any(r.q >= _LONG_DENOMINATOR for r in numbers):
        return expr
    found = {r: _decimal(r) for r in numbers}
    return expr.xreplace({r: d for r, d in found.items() if d is not None})


def _decimal(r: Any) -> Any:
    text = repr(float(r))
    return sp.Float(text) if sp.Rational(text) == r and len(text) <= 12 else None


def has_high_powers(expr: Any) -> bool:
    """Whether polynomials would be multiplied out to hundreds of terms: (x + 1)**400."""
    return any(p.base.is_Add and p.exp.is_Integer and abs(p.exp) > _HIGHEST_POWER for p in expr.atoms(sp.Pow))


def has_intricate_angles(expr: Any) -> bool:
    """Whether circular functions are taken of more than a few operations, of each other, or of many angles."""
    angles = {f.args[0] for f in expr.atoms(*_CIRCULAR)}
    return len(angles) > _MOST_ANGLES or any(
        a.has(*_CIRCULAR) or operations(a) > _LONGEST_ANGLE or any(p.base.is_Add for p in a.atoms(sp.Pow))
        for a in angles
    )


RULES: tuple[Rule, ...] = (
    Rule("common factor", common_factor, 400),
    Rule("common power", shared_powers, 120),
    Rule("powers of one exponent", joined_powers, 120),
    Rule("signs", signs, 80, has_high_powers),
    Rule("factors under the root", lambda e: signs(radicands(e)), 80, has_high_powers),
    Rule("common power, trigonometric identity", lambda e: sp.trigsimp(shared_powers(e)), 30, has_intricate_angles),
    Rule("common denominator", sp.together, 160, has_high_powers),
    Rule("factor", sp.factor, 120, has_high_powers),
    Rule("cancel", sp.cancel, 120, has_high_powers),
    Rule("common denominator, factor", common_denominator, 120, has_high_powers),
    Rule("expand", sp.expand, 60, has_high_powers),
    Rule("power rules", sp.powsimp, 120),
    Rule("exponentials", inverted_exponentials, 80, has_high_powers),
    Rule("trigonometric identity", sp.trigsimp, 40, has_intricate_angles),
    Rule("identities", identities, 40, has_intricate_angles),
)
