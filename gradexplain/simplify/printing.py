"""SymPy expressions as plain text, as LaTeX and as NumPy source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.printing.numpy import NumPyPrinter, SciPyPrinter
from sympy.printing.str import StrPrinter

from gradexplain.escape import identifier_latex


class _TextPrinter(StrPrinter):
    """Plain text as people write it: `2*x if x > 0 else -1`, decimals as they were typed."""

    def _print_Piecewise(self, expr: Any) -> str:  # noqa: N802 (SymPy's dispatch)
        pieces = [(self._print(e), c) for e, c in expr.args]
        text = ""
        for shown, condition in pieces:
            text += shown if condition == sp.true else f"{shown} if {self._print(condition)} else "
        if pieces[-1][1] != sp.true:
            text += "nan"
        return f"({text})" if len(pieces) > 1 else text

    def _print_Relational(self, expr: Any) -> str:  # noqa: N802
        sign = {"Eq": "==", "Ne": "!="}.get(type(expr).__name__) or expr.rel_op
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"

    _print_Equality = _print_Unequality = _print_Relational  # noqa: N815

    def _print_ITE(self, expr: Any) -> str:  # noqa: N802
        condition, if_true, if_false = map(self._print, expr.args)
        return f"({if_true} if {condition} else {if_false})"

    def _print_Abs(self, expr: Any) -> str:  # noqa: N802
        return f"abs({self._print(expr.args[0])})"

    def _print_Max(self, expr: Any) -> str:  # noqa: N802
        return f"max({', '.join(map(self._print, expr.args))})"

    def _print_Min(self, expr: Any) -> str:  # noqa: N802
        return f"min({', '.join(map(self._print, expr.args))})"

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        return repr(float(expr))


class _NumpyPrinter(SciPyPrinter):
    """NumPy source as people write it: `np.where(x > 0, 2*x, -1)`; special functions through SciPy, which a program
    that uses them has.
    """

    _kc = {**NumPyPrinter._kc, "EulerGamma": "numpy.euler_gamma"}

    def _print_Pi(self, expr: Any) -> str:  # noqa: N802
        return "np.pi"

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

    def _print_Relational(self, expr: Any) -> str:  # noqa: N802
        sign = {"Eq": "==", "Ne": "!="}.get(type(expr).__name__) or expr.rel_op
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"

    _print_Equality = _print_Unequality = _print_Relational  # noqa: N815

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
        return text


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
    return str(sp.latex(expr, symbol_names=names))


def numpy_source(expr: Any, names: Mapping[str, str] | None = None) -> str:
    """NumPy source over the names of the symbols, or over what `names` has for them.

    >>> numpy_source(sp.sin(sp.Symbol("x")) + sp.Rational(1, 3))
    'np.sin(x) + 1/3'
    """
    printer = _NumpyPrinter({"fully_qualified_modules": True, "strict": False})
    if names:
        expr = expr.xreplace({s: sp.Symbol(names[s.name]) for s in expr.free_symbols if s.name in names})
    return str(printer.doprint(expr)).replace("numpy.", "np.")
