"""Powers, exponentials and logarithms put together."""

from __future__ import annotations

from typing import Any

import sympy as sp

from gradexplain.simplify.counting import operations

_HIGHEST_POWER = 24  # of a sum that may be multiplied out


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
    """exp(u)/(exp(u) + 1) is 1/(1 + exp(-u)): where it is shorter, in the whole formula or in single fractions.

    >>> x = sp.Symbol("x", real=True)
    >>> inverted_exponentials(x + sp.exp(x) / (sp.exp(x) + 1))
    x + 1/(1 + exp(-x))
    """
    for e in sorted(expr.atoms(sp.exp), key=sp.default_sort_key):
        d = sp.Dummy(positive=True)
        inverse = sp.exp(-e.args[0])

        def inverted(part: Any, e: Any = e, d: Any = d, inverse: Any = inverse) -> Any:
            candidate = sp.factor_terms(sp.cancel(part.xreplace({e: 1 / d}))).xreplace({d: inverse})
            return candidate if operations(candidate) <= operations(part) else part

        whole = inverted(expr)
        local = expr.replace(lambda p, e=e: p.is_Mul and e in p.args and sp.fraction(p)[1].has(e), inverted)
        expr = min((local, whole), key=operations)
    return expr


def logarithms(expr: Any) -> Any:
    """log(a) - log(b) is log(a/b); n*(log(a) - log(b)) is n*log(a/b), and not the logarithm of a power.

    >>> a, b, n = sp.symbols("a b n", positive=True)
    >>> logarithms(n * sp.log(a) - n * sp.log(b))
    n*log(a/b)
    """

    def opened(inner: Any) -> Any:
        powers = inner.as_powers_dict()
        exponent = next(iter(powers.values()))
        ratios = [e / exponent for e in powers.values()]
        if inner.is_number or exponent.is_number or not all(r.is_Rational for r in ratios):
            return sp.log(inner)
        return exponent * sp.log(sp.Mul(*(b**r for b, r in zip(powers, ratios, strict=True))))

    return sp.logcombine(expr, force=True).replace(sp.log, opened)


def has_high_powers(expr: Any) -> bool:
    """Whether polynomials would be multiplied out to hundreds of terms: (x + 1)**400, or exp(0.6626*x) - 1, which SymPy
    takes for a power of exp(x/5000).
    """
    if any(p.base.is_Add and p.exp.is_Integer and abs(p.exp) > _HIGHEST_POWER for p in expr.atoms(sp.Pow)):
        return True
    numbers = [t.as_coeff_Mul()[0] for e in expr.atoms(sp.exp) for t in sp.Add.make_args(e.args[0])]
    return any(n.is_Rational and abs(n.p) > _HIGHEST_POWER for n in numbers)


def has_no_powers_to_join(expr: Any) -> bool:
    """Whether there are fewer than two powers with exponents that are no whole numbers, exponentials among them."""
    powers = expr.atoms(sp.Pow, sp.exp)
    return len([p for p in powers if p.is_Function or not p.exp.is_Integer]) < 2
