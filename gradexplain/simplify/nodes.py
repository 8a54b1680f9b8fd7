"""Closed forms as nodes: the way back from a formula to a graph, with sums and products in the order of the page.

The next order of a derivative is taken of the line that the reader has before them, which is the simplified one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath as mp
import sympy as sp

from gradexplain.graph import Node, Primitive, constant
from gradexplain.notation import OWN
from gradexplain.numbers import exact_number
from gradexplain.ops import TABLE, ordering
from gradexplain.ops.arithmetic import add, div, mul, neg, power, sub
from gradexplain.ops.elementary import sqrt
from gradexplain.simplify.arrangement import Arrangement
from gradexplain.simplify.form import ClosedForm
from gradexplain.simplify.sampling import sample
from gradexplain.simplify.steps import is_small
from gradexplain.simplify.watchdog import FAILURES
from gradexplain.trace.run import Program
from gradexplain.userfunctions import written_out

_ENOUGH = 3  # points
_RELATIONS = {
    sp.StrictLessThan: ordering.less,
    sp.LessThan: ordering.less_equal,
    sp.StrictGreaterThan: ordering.greater,
    sp.GreaterThan: ordering.greater_equal,
    sp.Equality: ordering.equal,
    sp.Unequality: ordering.not_equal,
    sp.And: ordering.logical_and,
    sp.Or: ordering.logical_or,
}


class UnknownExpressionError(Exception):
    """A formula has something that no operation of the table stands for."""


def node_of(form: ClosedForm, slope: Node, program: Program) -> tuple[Node, dict[Node, str]] | None:
    """A closed form as a node over the program's inputs, and the nodes that it has names for.

    None where it can't be read back, or where it could not be compared with `slope`, the derivative that it stands for.
    """
    if form.texts is not None or not all(is_small(e) for e in (form.expr, *form.where.values())):
        return None
    known: dict[str, Node] = dict(program.inputs)
    try:
        for name, definition in form.where.items():
            known[name] = _Reader(known, form.arrangement).node(definition)
        found = _Reader(known, form.arrangement).node(written_out(form.expr))
    except (UnknownExpressionError, *FAILURES):  # SymPy does not sort what is undefined
        return None
    samples = sample([slope, found], program.inputs, program.point)
    if len(samples.points) < _ENOUGH or not all(mp.almosteq(a, b, 1e-15, 1e-15) for a, b in samples.values):
        return None
    return found, {known[name]: name for name in form.where}


class _Reader:
    """Reads expressions as nodes, over the nodes that names stand for."""

    def __init__(self, known: Mapping[str, Node], arrangement: Arrangement) -> None:
        self.known, self.arrangement = known, arrangement

    def node(self, expr: Any) -> Node:
        """The node of an expression. Raises `UnknownExpressionError`."""
        if expr.is_Symbol and expr.name in self.known:
            return self.known[expr.name]
        if expr in (sp.true, sp.false):
            return constant(bool(expr))
        if expr.is_Number or expr.is_NumberSymbol:
            return _number(expr)
        if expr.is_Add and not self.arrangement.is_product(expr):
            return self._sum(self.arrangement.terms(expr))
        if expr.is_Add or expr.is_Mul or expr.is_Pow:
            return self._fraction(expr)
        if isinstance(expr, sp.Piecewise):
            return self._branches(expr)
        if isinstance(expr, sp.Not):
            return ordering.logical_not.record(self.node(expr.args[0]))
        op = _RELATIONS.get(type(expr)) or _functions().get(type(expr))
        if op is None or len(expr.args) < 1:
            raise UnknownExpressionError(expr)
        first, *others = map(self.node, expr.args)
        if op in (ordering.logical_and, ordering.logical_or, ordering.maximum, ordering.minimum):
            for other in others:
                first = op.record(first, other)
            return first
        return op.record(first, *others)

    def _sum(self, terms: list[Any]) -> Node:
        result = self.node(terms[0])
        for term in terms[1:]:
            negative = term.is_Number and term.is_negative
            negative = negative or (not term.is_Number and self.arrangement.fraction(term).sign < 0)
            result = sub.record(result, self.node(-term)) if negative else add.record(result, self.node(term))
        return result

    def _fraction(self, expr: Any) -> Node:
        fraction = self.arrangement.fraction(expr)
        result = self._product(fraction.above)
        if fraction.below:
            result = div.record(result, self._product(fraction.below))
        return neg.record(result) if fraction.sign < 0 else result

    def _product(self, factors: list[tuple[Any, Any]]) -> Node:
        if not factors:
            return constant(1)
        first, *others = (self._power(base, exponent) for base, exponent in factors)
        for other in others:
            first = mul.record(first, other)
        return first

    def _power(self, base: Any, exponent: Any) -> Node:
        if exponent == 1:
            return self.node(base)
        if (base.is_Number or base.is_NumberSymbol) and exponent.is_Rational:
            return _number(base**exponent)
        if exponent == sp.S.Half:
            return sqrt.record(self.node(base))
        return power.record(self.node(base), self.node(exponent))

    def _branches(self, expr: Any) -> Node:
        *pieces, (last, condition) = expr.args
        if condition != sp.true:
            raise UnknownExpressionError(expr)
        result = self.node(last)
        for value, condition in reversed(pieces):
            result = ordering.where.record(self.node(condition), self.node(value), result)
        return result


def _number(expr: Any) -> Node:
    if expr.is_Rational:
        return constant(int(expr) if expr.is_Integer else Fraction(expr.p, expr.q))
    number = float(expr)
    if not math.isfinite(number) or (not expr.is_Float and exact_number(number).sympy() != expr):
        raise UnknownExpressionError(expr)
    return constant(number)


@cache
def _functions() -> dict[Any, Primitive]:
    """The operations of the table by the SymPy class that is written for them."""
    found: dict[Any, Primitive] = {sp.Max: ordering.maximum, sp.Min: ordering.minimum}
    for op in TABLE.values():
        if op.family == "elementwise" and isinstance(op.symbol, str):
            form = OWN.get(op.symbol) or getattr(sp, op.symbol)
            if isinstance(form, type):
                found.setdefault(form, op)
    return found
