"""SymPy expressions as formulas: text and LaTeX that keep what was written as it was written.

SymPy's printers order the terms of a sum and pull numbers together, and they write an unevaluated quotient with a few
parentheses too many. Here a product is read as a sign, the factors above and those below one bar.
"""

# ruff: noqa: N802, N815 (SymPy calls the methods of its printers by the names of its classes)
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy.printing.precedence import PRECEDENCE, precedence_traditional

from gradexplain.escape import identifier_latex
from gradexplain.notation import ArrayOperation
from gradexplain.render.blocks import Formula
from gradexplain.simplify.printing import Conditions, FormulaLatex


def text(expr: Any) -> str:
    """The expression as plain text, in the order in which it was written.

    >>> x = sp.Symbol("x")
    >>> with sp.evaluate(False):
    ...     e = (1 + x) * (x * 2) / (x**2 * (-x))
    >>> text(e)
    '-(1 + x)*x*2/(x**2*x)'
    """
    shown = str(_TextPrinter({"order": "none"}).doprint(expr))
    return _bare(shown) if isinstance(expr, (ArrayOperation, sp.Piecewise)) else shown


def latex(expr: Any) -> str:
    r"""The expression as LaTeX, in the order in which it was written.

    >>> latex(sp.Symbol("u_bar") / sp.Symbol("theta"))
    '\\frac{\\bar{u}}{\\theta}'
    """
    names = {s: name_latex(s.name) for s in getattr(expr, "free_symbols", ())}
    return str(_LatexPrinter({"order": "none", "symbol_names": names, "ln_notation": True}).doprint(expr))


def name_latex(name: str) -> str:
    r"""The LaTeX of a name: adjoints wear a bar, tangents a dot, derivatives a prime.

    >>> name_latex("u_bar"), name_latex("w1_dot"), name_latex("u'")
    ('\\bar{u}', '\\dot{w_{1}}', "u'")
    """
    for ending, template in (("'", "{}'"), ("_bar", r"\bar{{{}}}"), ("_dot", r"\dot{{{}}}")):
        if name.endswith(ending) and len(name) > len(ending):
            return template.format(identifier_latex(name.removesuffix(ending)))
    if name == "...":
        return r"\ldots"
    head, _, number = name.rpartition("_bar_")
    if head and number.isdigit():
        return rf"\bar{{{identifier_latex(head)}}}^{{({number})}}"
    return identifier_latex(name)


def formula(expr: Any) -> Formula:
    """An expression as a formula."""
    return Formula(text(expr), latex(expr))


def named(name: str, expr: Any) -> Formula:
    """The formula `name = expression`."""
    return equal(Formula(name, name_latex(name)), formula(expr))


def equal(left: Formula, right: Formula) -> Formula:
    """The formula `left = right`."""
    return Formula(f"{left.text} = {right.text}", f"{left.latex} = {right.latex}")


def gap(text: str) -> Formula:
    """What stands for definitions that are left out."""
    return Formula(f"... {text}", rf"\ldots \text{{ {text}}}")


def prime(expr: Any) -> Formula:
    """The derivative of an expression, marked by a prime."""
    shown = formula(expr)
    if getattr(expr, "is_Symbol", False):
        return Formula(f"{shown.text}'", f"{shown.latex}'")
    return Formula(f"({shown.text})'", rf"\left({shown.latex}\right)'")


_PLAIN = {"Abs": "abs", "Max": "max", "Min": "min"}


@dataclass(slots=True)
class _Factors:
    """A product: its sign, and the factors above and below the bar."""

    sign: int = 1
    above: list[Any] = field(default_factory=list)
    below: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, expr: Any) -> _Factors:
        """The factors of a product; products within it are opened, quotients only where they come first."""
        found = cls()
        waiting = list(reversed(expr.args)) if isinstance(expr, sp.Mul) else [expr]
        while waiting:
            factor = waiting.pop()
            if isinstance(factor, sp.Mul) and (not (found.above or found.below) or not cls.of(factor).below):
                waiting.extend(reversed(factor.args))
            else:
                found._take(factor)
        return found

    def _take(self, factor: Any) -> None:
        if factor.is_Rational and factor.is_negative:
            self.sign, factor = -self.sign, -factor
        if factor.is_Rational:
            self.above += [sp.Integer(factor.p)] if factor.p != 1 else []
            self.below += [sp.Integer(factor.q)] if factor.q != 1 else []
        elif isinstance(factor, sp.Pow) and factor.exp.is_Rational and factor.exp.is_negative:
            self.below += (
                self._parts(factor.base) if factor.exp == -1 else [sp.Pow(factor.base, -factor.exp, evaluate=False)]
            )
        else:
            self.above.append(factor)

    def _parts(self, base: Any) -> list[Any]:
        if not isinstance(base, sp.Mul):
            return [base]
        inner = _Factors.of(base)
        if inner.below:
            return [base]
        self.sign *= inner.sign
        return inner.above


class _TextPrinter(Conditions):
    def _print_Mul(self, expr: Any) -> str:
        factors = _Factors.of(expr)
        above = self._product(factors.above) or "1"
        sign = "-" if factors.sign < 0 else ""
        if not factors.below:
            return sign + above
        below = self._product(factors.below, PRECEDENCE["Pow"] if len(factors.below) == 1 else PRECEDENCE["Mul"])
        return f"{sign}{above}/{below if len(factors.below) == 1 else f'({below})'}"

    def _product(self, factors: Sequence[Any], strength: int = PRECEDENCE["Mul"]) -> str:
        shown = [self._factor(f, strength, first=i == 0) for i, f in enumerate(factors)]
        return (" * " if any(_is_matrix_product(f) for f in factors) else "*").join(shown)

    def _factor(self, factor: Any, strength: int, *, first: bool) -> str:
        if isinstance(factor, sp.Mul):
            return f"({self._print(factor)})"
        if first and strength == PRECEDENCE["Mul"] and _is_matrix_product(factor):
            return _bare(str(self._print(factor)))
        if isinstance(factor, sp.Pow) or not factor.is_Number:
            return str(self.parenthesize(factor, strength if not isinstance(factor, sp.Pow) else 0))
        return str(self.parenthesize(factor, PRECEDENCE["Mul"]))

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        if expr.exp == -1:
            is_power = isinstance(expr.base, sp.Pow)  # 1/x**2 needs no parentheses
            return f"1/{self._print(expr.base) if is_power else self.parenthesize(expr.base, PRECEDENCE['Pow'])}"
        if expr.exp == sp.S.Half:
            return f"sqrt({self._print(expr.base)})"
        base = (
            self._print(expr.base)
            if getattr(expr.base, "exp", None) == sp.S.Half
            else self.parenthesize(expr.base, PRECEDENCE["Pow"])
        )
        return f"{base}**{self.parenthesize(expr.exp, PRECEDENCE['Pow'])}"

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        text = ""
        for term in expr.args:
            shown = _bare(str(self._print(term))) if isinstance(term, ArrayOperation) else str(self._print(term))
            text += f" - {shown[1:]}" if text and shown.startswith("-") else f" + {shown}" if text else shown
        return text

    def _print_Function(self, expr: Any) -> str:
        name = _PLAIN.get(expr.func.__name__, expr.func.__name__)
        return f"{name}({', '.join(str(self._print(a)) for a in expr.args)})"

    _print_Abs = _print_Max = _print_Min = _print_Function

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


class _LatexPrinter(FormulaLatex):
    def _print_Mul(self, expr: Any) -> str:
        factors = _Factors.of(expr)
        sign = "- " if factors.sign < 0 else ""
        if not factors.below:
            return sign + self._product(factors.above)
        return rf"{sign}\frac{{{self._product(factors.above)}}}{{{self._product(factors.below)}}}"

    def _product(self, factors: Sequence[Any]) -> str:
        if len(factors) == 1:
            return str(self._print(factors[0]))
        shown = [self._factor(f) for f in factors] or ["1"]
        joined = shown[0]
        for before, factor, piece in zip(factors, factors[1:], shown[1:], strict=False):
            joined += (r" \cdot " if factor.is_Number or factor == before else " ") + piece
        return joined

    def _factor(self, factor: Any) -> str:
        weak = isinstance(factor, (sp.Mul, sp.Piecewise)) or precedence_traditional(factor) < PRECEDENCE["Mul"]
        return rf"\left({self._print(factor)}\right)" if weak else str(self._print(factor))
