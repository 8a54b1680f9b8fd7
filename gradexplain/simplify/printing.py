"""SymPy expressions as plain text, as LaTeX and as NumPy source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.numpy import SciPyPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from gradexplain.escape import identifier_latex

_UNDEFINED = sp.Symbol("undefined")


class Conditions(StrPrinter):
    """Conditions as Python has them: `x > 0 and y != 1`; decimal numbers with the digits that a float has."""

    def _print_Float(self, expr: Any) -> str:  # noqa: N802 (SymPy's dispatch)
        return repr(float(expr))

    def _print_Relational(self, expr: Any) -> str:  # noqa: N802
        sign = {"Eq": "==", "Ne": "!="}.get(type(expr).__name__) or expr.rel_op
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"

    _print_Equality = _print_Unequality = _print_Relational  # noqa: N815

    def _print_And(self, expr: Any) -> str:  # noqa: N802
        return self._joined("and", expr)

    def _print_Or(self, expr: Any) -> str:  # noqa: N802
        return self._joined("or", expr)

    def _joined(self, word: str, expr: Any) -> str:
        parts = [(a, self._print(a)) for a in sorted(expr.args, key=sp.default_sort_key)]
        return f" {word} ".join(f"({shown})" if isinstance(a, (sp.And, sp.Or)) else shown for a, shown in parts)

    def _print_Not(self, expr: Any) -> str:  # noqa: N802
        shown = self._print(expr.args[0])
        return f"not {shown}" if shown.startswith("(") and isinstance(expr.args[0], sp.ITE) else f"not ({shown})"

    def _print_ITE(self, expr: Any) -> str:  # noqa: N802
        condition, if_true, if_false = map(self._print, expr.args)
        return f"({if_true} if {condition} else {if_false})"


class _TextPrinter(Conditions):
    """Plain text as people write it: `2*x if x > 0 else -1`, decimals as they were typed."""

    def _print_Infinity(self, expr: Any) -> str:  # noqa: N802
        return "inf"

    def _print_NegativeInfinity(self, expr: Any) -> str:  # noqa: N802
        return "-inf"

    def _print_ComplexInfinity(self, expr: Any) -> str:  # noqa: N802
        return "nan"

    def _print_Piecewise(self, expr: Any) -> str:  # noqa: N802
        pieces = [(self._print(e), c) for e, c in expr.args]
        text = ""
        for shown, condition in pieces:
            text += shown if condition == sp.true else f"{shown} if {self._print(condition)} else "
        if pieces[-1][1] != sp.true:
            text += "nan"
        return f"({text})" if len(pieces) > 1 or pieces[-1][1] != sp.true else text

    def _print_Mod(self, expr: Any) -> str:  # noqa: N802
        return " % ".join(self.parenthesize(a, PRECEDENCE["Mul"], strict=False) for a in expr.args)

    def _print_ceiling(self, expr: Any) -> str:
        return f"ceil({self._print(expr.args[0])})"

    def _print_polygamma(self, expr: Any) -> str:
        order, x = expr.args
        return f"digamma({self._print(x)})" if order == 0 else f"polygamma({self._print(order)}, {self._print(x)})"

    def _print_Abs(self, expr: Any) -> str:  # noqa: N802
        return f"abs({self._print(expr.args[0])})"

    def _print_Max(self, expr: Any) -> str:  # noqa: N802
        return f"max({', '.join(map(self._print, expr.args))})"

    def _print_Min(self, expr: Any) -> str:  # noqa: N802
        return f"min({', '.join(map(self._print, expr.args))})"


class _NumpyPrinter(SciPyPrinter):
    """NumPy source as people write it: `np.where(x > 0, 2*x, -1)`; special functions through SciPy, which a program
    that uses them has.
    """

    def _print_Pi(self, expr: Any) -> str:  # noqa: N802
        return "np.pi"  # SciPy's printer would take SciPy's

    def _print_ComplexInfinity(self, expr: Any) -> str:  # noqa: N802
        return "np.nan"

    def _print_Pow(self, expr: Any, **options: Any) -> str:  # noqa: N802
        if expr.exp == -1:
            return f"1/{self.parenthesize(expr.base, PRECEDENCE['Pow'], strict=False)}"
        return str(super()._print_Pow(expr, **options))

    def _print_erfinv(self, expr: Any) -> str:
        return f"scipy.special.erfinv({self._print(expr.args[0])})"

    def _print_sign(self, expr: Any) -> str:
        return f"np.sign({self._print(expr.args[0])})"

    def _print_Piecewise(self, expr: Any) -> str:  # noqa: N802
        *pieces, last = expr.args
        text = self._print(last[0])
        if last[1] != sp.true:
            text = f"np.where({self._print(last[1])}, {text}, np.nan)"
        for value, condition in reversed(pieces):
            text = f"np.where({self._print(condition)}, {self._print(value)}, {text})"
        return str(text)

    def _print_ITE(self, expr: Any) -> str:  # noqa: N802
        return f"np.where({', '.join(map(self._print, expr.args))})"

    _print_Float = Conditions._print_Float  # noqa: N815
    _print_Relational = _print_Equality = _print_Unequality = Conditions._print_Relational  # noqa: N815

    def _print_And(self, expr: Any) -> str:  # noqa: N802
        return self._folded("logical_and", expr.args)

    def _print_Or(self, expr: Any) -> str:  # noqa: N802
        return self._folded("logical_or", expr.args)

    def _print_Max(self, expr: Any) -> str:  # noqa: N802
        return self._folded("maximum", expr.args)

    def _print_Min(self, expr: Any) -> str:  # noqa: N802
        return self._folded("minimum", expr.args)

    def _folded(self, function: str, args: Sequence[Any]) -> str:
        """maximum(a, maximum(b, c)): NumPy's take two."""
        *first, text = map(self._print, args)
        for shown in reversed(first):
            text = f"np.{function}({shown}, {text})"
        return str(text)


class FormulaLatex(LatexPrinter):
    """LaTeX, for what SymPy has no LaTeX of."""

    def _print_Piecewise(self, expr: Any, exp: str | None = None) -> str:  # noqa: N802
        shown = str(super()._print_Piecewise(expr))
        return shown if exp is None else rf"\left({shown}\right)^{{{exp}}}"

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        return str(super()._print_Float(sp.Float(float(expr))))

    def _print_ITE(self, expr: Any) -> str:  # noqa: N802
        condition, if_true, if_false = expr.args
        return str(self._print(sp.Or(sp.And(condition, if_true), sp.And(sp.Not(condition), if_false))))

    def _print_polygamma(self, expr: Any, exp: str | None = None) -> str:
        order, x = expr.args
        mark = "" if order == 0 else rf"^{{\left({self._print(order)}\right)}}"
        shown = rf"\psi{mark}{{\left({self._print(x)} \right)}}"
        return shown if exp is None else rf"\left({shown}\right)^{{{exp}}}"


def text(expr: Any) -> str:
    """Plain text.

    >>> x = sp.Symbol("x", real=True)
    >>> text(sp.Piecewise((2 * x, x > 0), (-1, True)))
    '2*x if x > 0 else -1'
    """
    shown = _TextPrinter().doprint(expr)
    if isinstance(expr, sp.Piecewise) and shown.startswith("("):
        shown = shown[1:-1]
    return str(shown)


def latex(expr: Any) -> str:
    """LaTeX with names escaped."""
    names = {s: identifier_latex(s.name) for s in expr.free_symbols}
    if expr.has(sp.zoo, sp.nan):
        expr = expr.xreplace(dict.fromkeys((sp.zoo, sp.nan), _UNDEFINED))
        names[_UNDEFINED] = r"\text{undefined}"
    return str(FormulaLatex({"symbol_names": names}).doprint(expr))


def numpy_source(expr: Any, names: Mapping[str, str] | None = None) -> str:
    """NumPy source over the names of the symbols, or over what `names` has for them.

    >>> numpy_source(sp.sin(sp.Symbol("x")) + sp.Rational(1, 3))
    'np.sin(x) + 1/3'
    """
    printer = _NumpyPrinter({"fully_qualified_modules": True, "strict": False})
    if names:
        expr = expr.xreplace({s: sp.Symbol(names[s.name]) for s in expr.free_symbols if s.name in names})
    return str(printer.doprint(expr)).replace("numpy.", "np.")
