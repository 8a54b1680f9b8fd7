"""Identities that lead from one formula to another where the algebra of fractions does not: named rows.

A row replaces a part by what it is made of: sin(2*x) by 2*sin(x)*cos(x), tan(x) by sin(x)/cos(x). Applied to the
formula before it is a step forward, applied to the formula after it is a step back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import sympy as sp

from gradexplain.simplify.algebra import canonical
from gradexplain.simplify.counting import operations
from gradexplain.simplify.unevaluated import replaced

_CIRCULAR = (sp.sin, sp.cos, sp.tan, sp.cot, sp.sec, sp.csc, sp.sinh, sp.cosh, sp.tanh)
_LONGEST_ARGUMENT = 60  # operations of what is expanded within a function or under a root

Angles = Collection[Any]
Opening = Callable[[Any, Angles], Any]  # a part and the angles of the other formula -> what it is made of, or None


class Identity(NamedTuple):
    """A named row: `open` gives what a part is made of, or None; `states` is the identity as it is told."""

    name: str
    open: Opening
    states: Callable[[Any, Any], tuple[Any, Any]] = lambda part, opened: (part, opened)


class Opened(NamedTuple):
    """A formula with some identities applied, and the instances of them: the name and both sides."""

    expr: Any
    uses: tuple[tuple[str, Any, Any], ...]


def opened(expr: Any, identities: Sequence[Identity], angles: Angles) -> Opened:
    """The formula with the identities applied wherever they can be.

    >>> x = sp.Symbol("x")
    >>> [row] = [i for i in IDENTITIES if i.name == "double angle"]
    >>> opened(sp.cos(2 * x) + 1, [row], {x}).expr
    (-sin(x)**2 + cos(x)**2) + 1
    """
    uses: dict[tuple[str, Any, Any], None] = {}

    def open(part: Any) -> Any:
        for row in identities:
            found = row.open(part, angles)
            if found is not None:
                uses[(row.name, *row.states(part, found))] = None
                return found
        return None

    result = replaced(expr, open)
    return Opened(result, tuple(uses))


def angles_of(expr: Any) -> set[Any]:
    """The arguments of circular and hyperbolic functions."""
    return {canonical(f.args[0]) for f in expr.atoms(*_CIRCULAR)}


def _product(*factors: Any) -> Any:
    return sp.Mul(*factors, evaluate=False)


def _sum(*terms: Any) -> Any:
    return sp.Add(*terms, evaluate=False)


def _power(base: Any, exponent: Any) -> Any:
    return base if exponent == 1 else sp.Pow(base, exponent, evaluate=False)


def _double_angle(part: Any, angles: Angles) -> Any:
    if not isinstance(part, (sp.sin, sp.cos, sp.sinh, sp.cosh)):
        return None
    half = canonical(part.args[0]) / 2
    if half not in angles:
        return None
    is_circular = isinstance(part, (sp.sin, sp.cos))
    s, c = (sp.sin(half), sp.cos(half)) if is_circular else (sp.sinh(half), sp.cosh(half))
    if isinstance(part, (sp.sin, sp.sinh)):
        return _product(2, s, c)
    return sp.Add(c**2, -(s**2) if is_circular else s**2, evaluate=False)


def _sum_of_angles(part: Any, angles: Angles) -> Any:
    if not isinstance(part, (sp.sin, sp.cos)):
        return None
    angle = canonical(part.args[0])
    if not angle.is_Add:
        return None
    first, rest = angle.as_two_terms()
    if first not in angles or rest not in angles:
        return None
    if isinstance(part, sp.sin):
        return sp.Add(sp.sin(first) * sp.cos(rest), sp.cos(first) * sp.sin(rest), evaluate=False)
    return sp.Add(sp.cos(first) * sp.cos(rest), -sp.sin(first) * sp.sin(rest), evaluate=False)


def _quotients(part: Any, _: Angles) -> Any:
    """tan, cot, sec, csc, tanh, coth, sech and csch as quotients."""
    pair = _QUOTIENTS.get(type(part))
    if pair is None:
        return None
    (u,) = part.args
    above, below = (1 if f is None else f(u) for f in pair)
    return _product(above, sp.Pow(below, -1, evaluate=False))


_QUOTIENTS: dict[Any, tuple[Any, Any]] = {
    sp.tan: (sp.sin, sp.cos), sp.cot: (sp.cos, sp.sin), sp.sec: (None, sp.cos), sp.csc: (None, sp.sin),
    sp.tanh: (sp.sinh, sp.cosh), sp.coth: (sp.cosh, sp.sinh), sp.sech: (None, sp.cosh), sp.csch: (None, sp.sinh),
}  # fmt: skip


def _squares(of: Any, by: Callable[[Any], Any]) -> Opening:
    """The square of a function by the square of another."""

    def open(part: Any, _: Angles) -> Any:
        if not (isinstance(part, sp.Pow) and isinstance(part.base, of) and part.exp.is_Integer):
            return None
        pairs = abs(part.exp) // 2 * (1 if part.exp > 0 else -1)
        if not pairs:
            return None
        other = _power(by(part.base.args[0]), pairs)
        left = part.exp - 2 * pairs
        return other if left == 0 else _product(other, _power(part.base, left))

    return open


def _circular_sum(part: Any, _: Any) -> tuple[Any, Any]:
    u = part.base.args[0]
    return sp.sin(u) ** 2 + sp.cos(u) ** 2, sp.S.One


def _hyperbolic_difference(part: Any, _: Any) -> tuple[Any, Any]:
    u = part.base.args[0]
    return sp.Add(sp.cosh(u) ** 2, -(sp.sinh(u) ** 2), evaluate=False), sp.S.One


def _by_exponentials(part: Any, _: Angles) -> Any:
    if not isinstance(part, (sp.sinh, sp.cosh, sp.tanh)):
        return None
    (u,) = part.args
    up, down = sp.exp(u), sp.exp(-u)
    difference, total = sp.Add(up, -down, evaluate=False), sp.Add(up, down, evaluate=False)
    if isinstance(part, sp.tanh):
        return _product(difference, sp.Pow(total, -1, evaluate=False))
    return _product(sp.S.Half, difference if isinstance(part, sp.sinh) else total)


def _logarithms(part: Any, _: Angles) -> Any:
    if not isinstance(part, sp.log):
        return None
    terms = []
    for base, exponent in _factors(part.args[0]):
        terms.append(sp.log(base) if exponent == 1 else _product(exponent, sp.log(base)))
    return None if len(terms) == 1 and terms[0] == part else sp.Add(*terms, evaluate=False)


def _factors(expr: Any) -> list[tuple[Any, Any]]:
    if expr.is_Mul:
        return [f for a in expr.args for f in _factors(a)]
    if isinstance(expr, sp.Pow):
        return [(expr.base, expr.exp)]
    if isinstance(expr, sp.exp):
        return [(sp.E, expr.args[0])]
    return [(expr, sp.S.One)]


def _signs(part: Any, _: Angles) -> Any:
    """abs(u) is u*sign(u); even powers of sign(u) are 1."""
    if isinstance(part, sp.Abs):
        return _product(part.args[0], sp.sign(part.args[0]))
    if isinstance(part, sp.Pow) and isinstance(part.base, sp.sign) and part.exp.is_Integer:
        return sp.S.One if part.exp % 2 == 0 else part.base if part.exp != 1 else None
    return None


def _opposite_sign(part: Any, _: Angles) -> Any:
    """sign(-u) is -sign(u)."""
    if not isinstance(part, sp.sign) or not part.args[0].could_extract_minus_sign():
        return None
    return _product(-1, sp.sign(-part.args[0]))


def _absolute(part: Any, _: Angles) -> Any:
    """u*sign(u) is abs(u)."""
    if not part.is_Mul:
        return None
    factors = list(part.args)
    for s in [f for f in factors if isinstance(f, sp.sign)]:
        (u,) = s.args
        if u in factors:
            factors.remove(u)
            factors[factors.index(s)] = sp.Abs(u)
    if len(factors) == len(part.args):
        return None
    return factors[0] if len(factors) == 1 else _product(*factors)


def _roots_of_products(part: Any, _: Angles) -> Any:
    """sqrt(a*b) is sqrt(a)*sqrt(b), with what is under the root multiplied out."""
    if not (isinstance(part, sp.Pow) and part.exp.is_Rational and not part.exp.is_Integer) or part.base.is_Number:
        return None
    base = sp.expand(canonical(part.base)) if operations(part.base) <= _LONGEST_ARGUMENT else part.base
    content, base = base.as_content_primitive()
    if base.is_Add:
        factors = [_power(base, part.exp)]
    else:
        factors = [_power(b, e * part.exp) for b, e in _factors(base) if e.is_Rational]
    factors = [content**part.exp, *factors] if content != 1 else factors
    result = factors[0] if len(factors) == 1 else _product(*factors)
    return None if result == part else result


def _arguments(part: Any, _: Angles) -> Any:
    """What is inside a function, multiplied out."""
    if not isinstance(part, sp.Function) or isinstance(part, sp.Piecewise) or len(part.args) != 1:
        return None
    u = canonical(part.args[0])
    if not u.has(sp.Add) or operations(u) > _LONGEST_ARGUMENT:
        return None
    result = part.func(sp.expand(u))
    return None if result == part else result


def _powers_of_e(part: Any, _: Angles) -> Any:
    """exp(a*log(b)) is b**a."""
    if not isinstance(part, sp.exp):
        return None
    u = canonical(part.args[0])
    found = [f for f in sp.Mul.make_args(u) if isinstance(f, sp.log)]
    return sp.Pow(found[0].args[0], u / found[0], evaluate=False) if len(found) == 1 else None


IDENTITIES: tuple[Identity, ...] = (
    Identity("double angle", _double_angle),
    Identity("trigonometric identity", _squares(sp.cos, lambda u: _sum(1, -(sp.sin(u) ** 2))), _circular_sum),
    Identity("trigonometric identity", _squares(sp.sin, lambda u: _sum(1, -(sp.cos(u) ** 2))), _circular_sum),
    Identity("quotient identity", _quotients),
    Identity("hyperbolic identity", _squares(sp.cosh, lambda u: _sum(1, sp.sinh(u) ** 2)), _hyperbolic_difference),
    Identity("hyperbolic identity", _squares(sp.sinh, lambda u: _sum(sp.cosh(u) ** 2, -1)), _hyperbolic_difference),
    Identity("sum of angles", _sum_of_angles),
    Identity("sign", _absolute),
    Identity("sign", _signs),
    Identity("sign", _opposite_sign),
    Identity("log rules", _logarithms),
    Identity("rules of roots", _roots_of_products),
    Identity("exponential and logarithm", _powers_of_e),
    Identity("rewrite the argument", _arguments),
    Identity("in exponentials", _by_exponentials),
)  # fmt: skip
