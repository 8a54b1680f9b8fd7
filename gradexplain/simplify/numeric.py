"""SymPy expressions on mpmath numbers, all values substituted at once and nothing simplified on the way.

`subs` puts values in one by one and can turn 0/0 into 0; `evalf` may chop. This evaluator does neither. It covers the
functions that formulas here are made of; anything else raises `KeyError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import mpmath as mp
import sympy as sp
from sympy.functions.elementary.piecewise import ExprCondPair

from gradexplain.errors import GradexplainError
from gradexplain.evaluate import bounded
from gradexplain.notation import FiniteSum, loggamma
from gradexplain.ops.arithmetic import exact_power
from gradexplain.ops.pieces import compared, larger_of, piecewise, smaller_of
from gradexplain.ops.special import exact_polygamma
from gradexplain.userfunctions import UserFunction

_NESTED = 3
_DOUBLE = 53  # binary digits


class UnknownFunctionError(GradexplainError):
    """A formula holds a function that can't be evaluated numerically."""


def value(expr: Any, table: Mapping[str, Any]) -> Any:
    """The value of an expression at mpmath's current precision; undefined is nan.

    >>> x = sp.Symbol("x")
    >>> value(x**2 + 1, {"x": mp.mpf(3)})
    mpf('10.0')
    """
    known: dict[Any, Any] = {}
    waiting = [expr]
    while waiting:
        node = waiting[-1]
        if isinstance(node, FiniteSum):
            known[waiting.pop()] = mp.fsum(value(node.function, {**table, node.index.name: i}) for i in node.passes)
            continue
        missing = [a for a in node.args if a not in known]
        if missing:
            waiting.extend(missing)
            continue
        waiting.pop()
        if node not in known:
            operands = [known[a] for a in node.args]
            known[node] = _product(node, operands, known) if node.is_Mul else _apply(node, operands, table)
    return known[expr]


def substituted(expr: Any, table: Mapping[Any, Any]) -> Any:
    """The expression with expressions put in for symbols; of any depth, and with conditions that SymPy leaves alone."""
    known: dict[Any, Any] = dict(table)
    waiting = [expr]
    while waiting:
        node = waiting[-1]
        missing = [a for a in node.args if a not in known]
        if missing and node not in known:
            waiting.extend(missing)
            continue
        waiting.pop()
        if node not in known:
            known[node] = _rebuilt(node, [known[a] for a in node.args])
    return known[expr]


def _rebuilt(node: Any, args: list[Any]) -> Any:
    if isinstance(node, ExprCondPair):
        return sp.Tuple(*args)
    if isinstance(node, sp.Piecewise):
        return piecewise(sp, *args)
    if isinstance(node, (sp.Max, sp.Min)):
        return reduce(lambda a, b: (larger_of if isinstance(node, sp.Max) else smaller_of)(sp, a, b), args)
    if isinstance(node, sp.Rel):
        return compared(sp, type(node).__name__, *args)
    return node if all(a is b for a, b in zip(args, node.args, strict=True)) else node.func(*args)


def _real(y: Any) -> Any:
    """The number; what is no real number is undefined, as it is for NumPy and for the program."""
    return y if not isinstance(y, mp.mpc) else y.real if y.imag == 0 else mp.nan


def _product(node: Any, operands: list[Any], known: Mapping[Any, Any]) -> Any:
    """A product; a/b is one division, so that x/x is 1 and has the floor 1."""
    top, bottom = mp.mpf(1), None
    for factor, its_value in zip(node.args, operands, strict=True):
        if factor.is_Pow and factor.exp == -1:
            base = known[factor.base]
            bottom = base if bottom is None else bottom * base
        else:
            top = top * its_value
    if bottom is None:
        return top
    return mp.nan if bottom == 0 else top / bottom


def _apply(node: Any, args: list[Any], table: Mapping[str, Any]) -> Any:
    if node.is_Symbol:
        return table[node.name]
    if node.is_Number:
        return _number(node)
    if isinstance(node, UserFunction):
        named = zip(node.parameters, args, strict=True)
        return value(node.body, {p.name: a for p, a in named if p.is_Symbol})
    function = _FUNCTIONS.get(type(node)) or _FUNCTIONS.get(node.func)
    if function is None:
        if node in _CONSTANTS:
            return _CONSTANTS[node]()
        raise UnknownFunctionError(
            f"{type(node).__name__} has no numerical value here", fix="please report the formula"
        )
    try:
        return bounded(_real(function(*args)))
    except (ValueError, TypeError, AttributeError, ArithmeticError):
        return mp.nan


def _number(node: Any) -> Any:
    if node.is_Rational:
        return mp.mpf(int(node.p)) / int(node.q)
    if node.is_Float:  # a float of the program, or a decimal as it was typed
        return mp.make_mpf(node._mpf_) if node._prec > _DOUBLE else mp.mpf(repr(float(node)))
    return {sp.oo: mp.inf, -sp.oo: -mp.inf}.get(node, mp.nan)


def of_real_numbers(expr: Any) -> Any:
    """A formula without what SymPy writes for complex numbers: re(u) is u. The imaginary unit and roots of negative
    numbers make it undefined.
    """
    for _ in range(_NESTED):  # one may be within another, and SymPy may write it anew
        parts = {
            f: f.args[0] if not isinstance(f, sp.im) else sp.S.Zero for f in _parts(expr, sp.re, sp.conjugate, sp.im)
        }
        if not parts:
            break
        expr = substituted(expr, parts)
    undefined = imaginary_parts(expr)
    return substituted(expr, dict.fromkeys(undefined, sp.nan)) if undefined else expr


def imaginary_parts(expr: Any) -> list[Any]:
    """The imaginary unit and roots of negative numbers, where a formula has them."""
    found = _parts(expr, sp.Pow, type(sp.I))
    return [p for p in found if p is sp.I or (p.base.is_Number and p.base.is_negative and p.exp.is_integer is False)]


def _parts(expr: Any, *kinds: Any) -> list[Any]:
    """The parts of some kinds, each looked at once: written out, a formula with shared parts may be endless."""
    seen = {expr}
    waiting, found = [expr], []
    while waiting:
        node = waiting.pop()
        if isinstance(node, kinds):
            found.append(node)
        new = [a for a in node.args if a not in seen]
        seen.update(new)
        waiting += new
    return found


def rounded(expr: Any) -> Any:
    """The decimal numbers of a formula as floats, which are what is shown.

    >>> rounded(sp.Float(0.1, 60) * sp.Symbol("x"))
    0.1*x
    """
    return expr.xreplace({f: sp.Float(float(f)) for f in expr.atoms(sp.Float) if f._prec > _DOUBLE})


def _piecewise(*pairs: Any) -> Any:
    return next((v for v, condition in pairs if condition), mp.nan)


def _power(a: Any, b: Any) -> Any:
    if b == -1:
        return mp.nan if a == 0 else 1 / a
    return exact_power(mp, a, b)


_CONSTANTS: dict[Any, Callable[[], Any]] = {
    sp.pi: lambda: +mp.pi,
    sp.E: lambda: +mp.e,
    sp.EulerGamma: lambda: +mp.euler,
    sp.Catalan: lambda: +mp.catalan,
    sp.I: lambda: mp.nan,
    sp.true: lambda: True,
    sp.false: lambda: False,
    sp.nan: lambda: mp.nan,
    sp.zoo: lambda: mp.nan,
}
_SAME_NAME = (
    "exp sin cos tan cot sec csc sinh cosh tanh coth sech csch asin acos atan asinh acosh atanh "
    "erf erfc erfi sinc beta zeta"
)
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sp.Add: lambda *xs: reduce(lambda a, b: a + b, xs),
    sp.Pow: _power,
    sp.Piecewise: _piecewise,
    ExprCondPair: lambda v, c: (v, c),
    sp.Abs: mp.fabs,
    sp.re: mp.re,
    sp.im: mp.im,
    sp.sign: mp.sign,
    sp.Max: max,
    sp.Min: min,
    sp.floor: mp.floor,
    sp.Mod: lambda a, b: mp.nan if b == 0 else a - b * mp.floor(a / b),
    sp.ceiling: mp.ceil,
    sp.log: mp.log,
    sp.StrictLessThan: lambda a, b: a < b,
    sp.LessThan: lambda a, b: a <= b,
    sp.StrictGreaterThan: lambda a, b: a > b,
    sp.GreaterThan: lambda a, b: a >= b,
    sp.Equality: lambda a, b: a == b,
    sp.Unequality: lambda a, b: a != b,
    sp.And: lambda *xs: all(xs),
    sp.Or: lambda *xs: any(xs),
    sp.Not: lambda x: not x,
    sp.ITE: lambda condition, a, b: a if condition else b,
    sp.gamma: mp.gamma,
    sp.factorial: mp.factorial,
    sp.loggamma: mp.loggamma,
    loggamma: lambda x: mp.re(mp.loggamma(x)),
    sp.erfinv: lambda y: mp.erfinv(y) if abs(y) < 1 else mp.nan,
    sp.polygamma: lambda n, x: exact_polygamma(mp, int(n), x),
    sp.digamma: lambda x: mp.polygamma(0, x),
    sp.besseli: lambda n, x: mp.besseli(n, x),
    sp.atan2: mp.atan2,
    sp.LambertW: lambda x: mp.lambertw(x),
    **{getattr(sp, name): getattr(mp, name) for name in _SAME_NAME.split()},
}
# What names mean in formulas: a function of the user's that is called so would be taken for another.
_ALSO = (
    "abs max min ceil sqrt pi e E I nan inf oo where digamma undefined cbrt log10 log2 arcsin arccos arctan "
    "arctan2 arcsinh arccosh arctanh sum prod"
)
KNOWN_NAMES = {f.__name__ for f in _FUNCTIONS} | set(_ALSO.split())
