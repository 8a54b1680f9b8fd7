"""The number of operations in a formula, counted as a person reads it: a quotient is one division, -x one sign.

SymPy's `count_ops` gives much the same, but loads its integrals and units for it, which takes longer than explaining.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.functions.elementary.piecewise import ExprCondPair

_MOST_REMEMBERED = 20_000
_COUNTED: dict[Any, int] = {}  # candidates share most of their parts, and counting them is what choosing costs
_SUM = 5  # a sum over an index: the index and its bounds are read, too


def operations(expr: Any) -> int:
    """The number of operations.

    >>> x = sp.Symbol("x")
    >>> operations(2 * x), operations(-x / 2), operations(sp.sin(x) ** 2 - 1)
    (1, 2, 3)
    """
    if len(_COUNTED) > _MOST_REMEMBERED:
        _COUNTED.clear()
    waiting = [expr]
    while waiting:
        node = waiting[-1]
        if node in _COUNTED:
            waiting.pop()
            continue
        own, parts = _opened(node)
        missing = [p for p in parts if p not in _COUNTED]
        if missing:
            waiting.extend(missing)
        else:
            _COUNTED[waiting.pop()] = own + sum(_COUNTED[p] for p in parts)
    return _COUNTED[expr]


def nested_fractions(expr: Any) -> int:
    """How many sums of fractions stand in a fraction themselves: people bring those over one denominator.

    >>> x = sp.Symbol("x")
    >>> nested_fractions((1 + 1 / x) / x), nested_fractions(1 / x + 1 / x**2)
    (1, 0)
    """
    found = 0
    for node in sp.preorder_traversal(expr):
        if node.is_Mul:
            is_fraction = any(_is_below(f) for f in node.args)
            found += sum(_has_fractions(f) and (is_fraction or _is_below(f)) for f in node.args)
        elif node.is_Add:
            found += sum(_has_fractions(t) and _is_below(t) for t in node.args)
    return found + (_has_fractions(expr) and _is_below(expr))


def shares_a_divisor(expr: Any) -> bool:
    """Whether a sum of fractions has a divisor in all of them: people write one fraction.

    >>> x, y = sp.symbols("x y")
    >>> shares_a_divisor(sp.cos(x) / x - sp.sin(x) / x**2), shares_a_divisor(1 / x + 1 / y)
    (True, False)
    """
    if not expr.is_Add:
        return False
    below = [{f.base for f in sp.Mul.make_args(t) if _is_below(f) and f.exp.is_Integer} for t in expr.args]
    return bool(set.intersection(*below))


def _is_below(factor: Any) -> bool:
    """Whether a factor stands below the bar, and is no number."""
    return bool(factor.is_Pow and factor.exp.could_extract_minus_sign() and factor.free_symbols)


def _has_fractions(factor: Any) -> bool:
    """Whether a factor is a sum, or a power of one, that has a fraction of symbols among its terms."""
    base = factor.base if factor.is_Pow else factor
    return bool(base.is_Add and any(_is_below(f) for t in base.args for f in sp.Mul.make_args(t)))


def _opened(node: Any) -> tuple[int, list[Any]]:
    """The operations of a node itself, and the parts to be counted further."""
    if node.is_Rational:
        return (node.p < 0) + (node.q != 1), []
    if not node.args:
        return int(bool(node.is_Float) and node.is_negative), []
    if isinstance(node, sp.Add):
        parts = [-a if _is_negative(a) else a for a in node.args]
        all_negative = all(_is_negative(a) for a in node.args)
        return len(parts) - 1 + all_negative, parts
    if isinstance(node, sp.Mul):
        return _product(node)
    if isinstance(node, sp.Pow):
        if node.exp == -1 or node.exp == sp.S.Half:
            return 1, [node.base]
        if node.exp.is_Rational and node.exp.is_negative:
            return 2, [node.base, *([] if node.exp == -sp.S.Half else [-node.exp])]
        return 1, [node.base, node.exp]
    if isinstance(node, sp.Sum):
        return _SUM, [node.function]
    if isinstance(node, (sp.And, sp.Or)):
        return len(node.args) - 1, list(node.args)
    return int(not isinstance(node, (sp.Piecewise, ExprCondPair))), list(node.args)


def _is_negative(term: Any) -> bool:
    return bool(term.could_extract_minus_sign()) if term.is_Mul or term.is_Number else False


def _product(node: Any) -> tuple[int, list[Any]]:
    if _is_negative(node):
        return 1, [-node]
    top, bottom = sp.fraction(node)
    if bottom != 1:
        return 1, [top, bottom]
    return len(node.args) - 1, list(node.args)
