"""Formulas as they were written: sums and products in the order of the expression, nothing pulled together.

SymPy's printers order the terms of a sum and pull numbers together, and they write an unevaluated quotient with a few
parentheses too many. Here a product is read as a sign, the factors above and those below one bar.
"""

# ruff: noqa: N802 (SymPy calls the methods of its printers by the names of its classes)
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from gradexplain.notation import ArrayOperation
from gradexplain.primitive import SIGN
from gradexplain.simplify.arrangement import Arrangement, Factor, Fraction, as_decimal
from gradexplain.simplify.printed import printed
from gradexplain.simplify.printing import TextPrinter


def text(expr: Any) -> str:
    """The expression as plain text, in the order in which it was written.

    >>> x = sp.Symbol("x")
    >>> with sp.evaluate(False):
    ...     e = (1 + x) * (x * 2) / (x**2 * (-x))
    >>> text(e)
    '-(1 + x)*x*2/(x**2*x)'
    """
    shown = printed(_TextPrinter(AS_WRITTEN), expr)
    return _bare(shown) if isinstance(expr, (ArrayOperation, sp.Piecewise)) else shown


class _AsWritten(Arrangement):
    """Sums and products as they stand: those within others are opened, quotients only where they come first."""

    def terms(self, total: Any) -> list[Any]:
        found, waiting = [], list(reversed(total.args))
        while waiting:
            term = waiting.pop()
            if isinstance(term, sp.Add):
                waiting.extend(reversed(term.args))
            else:
                found.append(term)
        return found

    def is_product(self, total: Any) -> bool:
        return False

    def fraction(self, product: Any) -> Fraction:
        found = Fraction(1, [], [])
        waiting = [product]
        while waiting:
            factor = waiting.pop()
            if isinstance(factor, sp.Mul) and factor.is_number and all(_is_root(f) for f in factor.args):
                found.above.append((sp.Mul(*(f.base for f in factor.args)), sp.S.Half))  # SymPy split sqrt(2*pi)
            elif isinstance(factor, sp.Mul) and (not (found.above or found.below) or not self.fraction(factor).below):
                waiting.extend(reversed(factor.args))
            elif factor is sp.S.One and waiting and not _is_reciprocal(waiting[-1]):
                found.above.append((factor, 1))  # somebody wrote 1*x
            else:
                self._take(factor, found)
        return found

    def _take(self, factor: Any, found: Fraction) -> None:
        if factor.is_Number and factor.is_negative:
            found.sign, factor = -found.sign, -factor
        decimal = as_decimal(factor) if factor.is_Rational else None
        if decimal is not None:
            found.above.append((decimal, 1))
        elif factor.is_Rational:
            found.above += [(sp.Integer(factor.p), 1)] if factor.p != 1 else []
            found.below += [(sp.Integer(factor.q), 1)] if factor.q != 1 else []
        elif not isinstance(factor, sp.Pow):
            found.above.append((factor, 1))
        elif not (factor.exp.is_Rational and factor.exp.is_negative):
            found.above.append((factor.base, factor.exp))
        else:
            inner = self.fraction(factor.base) if factor.exp == -1 and isinstance(factor.base, sp.Mul) else None
            if inner is None or inner.below:
                found.below.append((factor.base, -factor.exp))
            else:
                found.sign *= inner.sign
                found.below += inner.above


def _is_root(factor: Any) -> bool:
    return isinstance(factor, sp.Pow) and bool(factor.exp == sp.S.Half)


def _is_reciprocal(factor: Any) -> bool:
    return isinstance(factor, sp.Pow) and bool(factor.exp.is_Rational and factor.exp.is_negative)


AS_WRITTEN = _AsWritten()


class _TextPrinter(TextPrinter):
    def _term(self, expr: Any) -> str:
        return _bare(str(self._print(expr))) if isinstance(expr, ArrayOperation) else super()._term(expr)

    def _product(self, factors: Sequence[Factor]) -> str:
        if not any(_is_matrix_product(base) for base, _ in factors):
            return super()._product(factors)
        first, *others = (self._factor(*f).at(SIGN) for f in factors)
        return " * ".join([_bare(first) if _is_matrix_product(factors[0][0]) else first, *others])

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        is_fraction = expr.exp == -1 or not (expr.exp.is_Rational and expr.exp.is_negative)
        return super()._print_Pow(expr) if is_fraction else self._factor(expr.base, expr.exp)  # x**(-2) as it stands

    def _print_Piecewise(self, expr: Any) -> str:
        pieces = [
            f"{self._print(e)} if {self._print(c)}" if c != sp.true else str(self._print(e)) for e, c in expr.args
        ]
        return f"({' else '.join(pieces)})"


def _bare(text: str) -> str:
    """The text without parentheses around the whole of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for character in text[:-1]:
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text
    return text[1:-1]


def _is_matrix_product(expr: Any) -> bool:
    return isinstance(expr, ArrayOperation) and str(expr.args[0]) == "matmul"
