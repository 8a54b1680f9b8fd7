"""SymPy expressions as formulas: text and LaTeX that keep what was written as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradexplain.escape import identifier_latex
from gradexplain.language import say
from gradexplain.render.blocks import Formula
from gradexplain.settings import current
from gradexplain.simplify.printed import printed
from gradexplain.simplify.printing import FormulaLatex
from gradexplain.simplify.written import AS_WRITTEN, text

__all__ = ["derivative_of", "equal", "formula", "gap", "latex", "name", "name_latex", "named", "prime", "text"]


def latex(expr: Any) -> str:
    r"""The expression as LaTeX, in the order in which it was written.

    >>> import sympy as sp
    >>> latex(sp.Symbol("u_bar") / sp.Symbol("theta"))
    '\\frac{\\bar{u}}{\\theta}'
    """
    names = {s: name_latex(s.name) for s in getattr(expr, "free_symbols", ())}
    return printed(FormulaLatex(AS_WRITTEN, {"symbol_names": names}), expr)


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


def name(text: str) -> Formula:
    """A name as a formula."""
    return Formula(text, name_latex(text))


def named(name: str, expr: Any) -> Formula:
    """The formula `name = expression`."""
    return equal(Formula(name, name_latex(name)), formula(expr))


def equal(left: Formula, right: Formula) -> Formula:
    """The formula `left = right`."""
    shift = len(left.text) + len(" = ")
    marks = (*left.marks, *((i + shift, j + shift) for i, j in right.marks))
    return Formula(f"{left.text} = {right.text}", f"{left.latex} = {right.latex}", marks)


def gap(text: str) -> Formula:
    """What stands for definitions that are left out."""
    return Formula(f"... {say(text)}", rf"\ldots \text{{ {say(text)}}}")


def derivative_of(output: str, variables: Sequence[str], *, partial: bool = False) -> Formula:
    r"""The name of a derivative: dy/dx, d^2y/dx^2, d^3y/dx^2dz.

    >>> derivative_of("y", ("x", "x"))
    Formula(text='d^2y/dx^2', latex='\\frac{d^{2} y}{d x^{2}}')
    """
    order = len(variables)
    if current().primes and not partial:
        mark = "'" * order if order < 4 else f"^({order})"
        return Formula(output + mark, name_latex(output) + (mark if order < 4 else f"^{{({order})}}"))
    d = r"\partial" if partial else "d"
    counts = {v: variables.count(v) for v in dict.fromkeys(variables)}
    power = f"^{order}" if order > 1 else ""
    below = "".join(f"d{v}{f'^{n}' if n > 1 else ''}" for v, n in counts.items())
    below_latex = r" \, ".join(f"{d} {name_latex(v)}{f'^{{{n}}}' if n > 1 else ''}" for v, n in counts.items())
    text = f"d{power}{output}/{below}"
    above = f"{d}{f'^{{{order}}}' if order > 1 else ''} {name_latex(output)}"
    return Formula(text, rf"\frac{{{above}}}{{{below_latex}}}")


def prime(expr: Any) -> Formula:
    """The derivative of an expression, marked by a prime."""
    shown = formula(expr)
    if getattr(expr, "is_Symbol", False):
        return Formula(f"{shown.text}'", f"{shown.latex}'")
    return Formula(f"({shown.text})'", rf"\left({shown.latex}\right)'")
