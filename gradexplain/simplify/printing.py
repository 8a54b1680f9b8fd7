"""SymPy expressions as plain text, as LaTeX and as NumPy source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.numpy import SciPyPrinter
from sympy.printing.precedence import PRECEDENCE, precedence, precedence_traditional
from sympy.printing.str import StrPrinter

from gradexplain.escape import identifier_latex
from gradexplain.notation import ArrayOperation, alone
from gradexplain.primitive import CHOICE, POSTFIX, POWER, PRODUCT, SIGN, SUM, TERM, Code
from gradexplain.simplify.arrangement import TEXTBOOK, Arrangement, Factor, as_decimal
from gradexplain.simplify.printed import printed

_UNDEFINED = sp.Symbol("undefined")


_ROUNDING = 6  # digits that a float has only since it was computed


class _Divisor(sp.Expr):
    """A power below the bar, which SymPy would write with a negative exponent above it."""

    is_commutative = True

    def _written(self, printer: Any) -> str:
        return str(printer._print(sp.Pow(*self.args)))

    _sympystr = _latex = _numpycode = _written


def _over_one_bar(term: Any) -> Any:
    """The general term of a sum as it is printed: k/(r + 1)**(k + 1), not k*(r + 1)**(-k - 1)."""
    powers = [p for p in term.atoms(sp.Pow) if not p.exp.is_Number and p.base != sp.E]
    below = [p for p in powers if all(t.as_coeff_Mul()[0] < 0 for t in sp.Add.make_args(p.exp))]
    return term.xreplace({p: 1 / _Divisor(p.base, -p.exp) for p in below})


class Conditions(StrPrinter):
    """Conditions as Python has them: `x > 0 and y != 1`; decimals with the digits that a float has; sums and factorials
    as people type them.
    """

    def _print_Float(self, expr: Any) -> str:  # noqa: N802 (SymPy's dispatch)
        text = repr(float(expr))
        rounded = f"{float(expr):.15g}"
        return rounded if len(rounded) + _ROUNDING <= len(text) else text  # 0.9 rather than 0.9000000000000001

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

    def _print_Sum(self, expr: Any) -> str:  # noqa: N802
        function, (index, first, last) = _over_one_bar(expr.function), expr.limits[0]
        return f"sum({self._print(function)}, {self._print(index)} = {self._print(first)} .. {self._print(last)})"

    def _print_factorial(self, expr: Any) -> str:
        return f"{self.parenthesize(expr.args[0], PRECEDENCE['Pow'], strict=False)}!"


class _Arranged(StrPrinter):
    """Sums, products and powers in source text, as an `Arrangement` has them."""

    root = "sqrt"

    def __init__(self, arrangement: Arrangement, settings: dict[str, Any] | None = None) -> None:
        super().__init__(settings)
        self.arrangement = arrangement

    def _print_Add(self, expr: Any, order: Any = None) -> str:  # noqa: N802
        if self.arrangement.is_product(expr):
            return self._print_Mul(expr)
        text = ""
        for term in self.arrangement.terms(expr):
            shown = self._term(term)
            text += f" - {shown[1:]}" if text and shown.startswith("-") else f" + {shown}" if text else shown
        return Code(text, SUM)

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802
        decimal = as_decimal(expr)
        return str(super()._print_Rational(expr) if decimal is None else self._print(decimal))

    def _print_Mul(self, expr: Any) -> str:  # noqa: N802
        fraction = self.arrangement.fraction(expr)
        above, below = fraction.above, fraction.below
        sign = "-" if fraction.sign < 0 else ""
        if not below and not sign and len(above) == 1:
            return self._factor(*above[0])
        text = sign + (self._product(above) or "1")
        if len(below) == 1:
            text += f"/{self._factor(*below[0]).at(POWER)}"
        elif below:
            text += f"/({self._product(below)})"
        return Code(text, PRODUCT)

    def _print_Relational(self, expr: Any) -> str:  # noqa: N802
        return str(super()._print_Relational(self.arrangement.relations.get(expr, expr)))

    def _term(self, expr: Any) -> str:
        return self._code(expr).at(TERM)

    def _product(self, factors: Sequence[Factor]) -> str:
        return "*".join(self._factor(*f).at(SIGN) for f in factors)

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:  # noqa: N802
        return self._print_Mul(expr)

    def _factor(self, base: Any, exponent: Any) -> Code:
        if exponent == 1:
            return self._code(base)
        if exponent == sp.S.Half:
            return Code(f"{self.root}({self._print(base)})")
        return Code(f"{self._code(base).at(POSTFIX)}**{self._code(exponent).at(POSTFIX)}", POWER)

    def _code(self, expr: Any) -> Code:
        shown = self._print(expr)
        if isinstance(shown, Code):
            return shown
        if expr.is_Number and expr.is_negative:
            return Code(shown, TERM)
        return Code(shown, next(own for level, own in _STRENGTHS if precedence(expr) >= level))

    def parenthesize(self, item: Any, level: int, strict: bool = False) -> str:
        """An operand as tightly bound as SymPy's printers ask for."""
        shown = self._code(item)
        binds = next(level for level, own in _STRENGTHS if shown.strength >= own)
        return f"({shown})" if binds < level or (not strict and binds == level) else str(shown)


# SymPy's levels of precedence, and the strengths of source text that they stand for.
_STRENGTHS = (
    (PRECEDENCE["Func"], POSTFIX),
    (PRECEDENCE["Pow"], POWER),
    (PRECEDENCE["Mul"], TERM),
    (PRECEDENCE["Add"], SUM),
    (0, CHOICE),
)


class TextPrinter(_Arranged, Conditions):
    """Plain text as people write it: `2*x if x > 0 else -1`, decimals as they were typed."""

    euler = "e"

    def stringify(self, args: Any, sep: str, level: int = 0) -> str:
        return sep.join(alone(a, self.parenthesize(a, level)) for a in args)

    def _print_Exp1(self, expr: Any) -> str:  # noqa: N802
        return self.euler

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
        return f"abs({self.stringify(expr.args, '')})"

    def _print_Max(self, expr: Any) -> str:  # noqa: N802
        return f"max({self.stringify(expr.args, ', ')})"

    def _print_Min(self, expr: Any) -> str:  # noqa: N802
        return f"min({self.stringify(expr.args, ', ')})"


class _NumpyPrinter(_Arranged, SciPyPrinter):
    """NumPy source as people write it: `np.where(x > 0, 2*x, -1)`; special functions through SciPy, which a program
    that uses them has.
    """

    root = "np.sqrt"
    names: Mapping[str, str]

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802
        return self.names.get(expr.name) or str(super()._print_Symbol(expr))

    def _print_Pi(self, expr: Any) -> str:  # noqa: N802
        return "np.pi"  # SciPy's printer would take SciPy's

    def _print_ComplexInfinity(self, expr: Any) -> str:  # noqa: N802
        return "np.nan"

    def _print_erfinv(self, expr: Any) -> str:
        return f"scipy.special.erfinv({self._print(expr.args[0])})"

    def _print_log(self, expr: Any) -> str:
        inner = expr.args[0]
        if isinstance(inner, sp.Abs) and isinstance(inner.args[0], sp.beta):  # which underflows for large arguments
            return f"scipy.special.betaln({', '.join(map(self._print, inner.args[0].args))})"
        return str(super()._print_log(expr))

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

    def _print_Sum(self, expr: Any) -> str:  # noqa: N802
        index, first, last = expr.limits[0]
        count = f"range({self._print(first)}, {self._print(last + 1)})"
        return f"sum({self._print(_over_one_bar(expr.function))} for {self._print(index)} in {count})"

    def _print_factorial(self, expr: Any) -> str:
        return f"np.prod(np.arange(1.0, {self._print(expr.args[0] + 1)}))"

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
    """LaTeX with sums and products as an `Arrangement` has them, and of what SymPy has no LaTeX of."""

    def __init__(self, arrangement: Arrangement, settings: dict[str, Any]) -> None:
        super().__init__({**settings, "ln_notation": True})
        self.arrangement = arrangement

    def _print_Function(self, expr: Any, exp: str | None = None) -> str:  # noqa: N802
        shown = str(super()._print_Function(expr, exp))
        return shown.replace(r"\operatorname{atan}_{2}", r"\operatorname{atan2}")  # which is no atan with an index

    def _print_Piecewise(self, expr: Any, exp: str | None = None) -> str:  # noqa: N802
        shown = str(super()._print_Piecewise(expr))
        return shown if exp is None else rf"\left({shown}\right)^{{{exp}}}"

    def _print_Relational(self, expr: Any) -> str:  # noqa: N802
        return str(super()._print_Relational(self.arrangement.relations.get(expr, expr)))

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        return str(super()._print_Float(sp.Float(float(expr))))

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802
        decimal = as_decimal(expr)
        return str(super()._print_Rational(expr) if decimal is None else self._print(decimal))

    def _print_Sum(self, expr: Any) -> str:  # noqa: N802
        return str(super()._print_Sum(sp.Sum(_over_one_bar(expr.function), *expr.limits)))

    def _print_ITE(self, expr: Any) -> str:  # noqa: N802
        condition, if_true, if_false = expr.args
        return str(self._print(sp.Or(sp.And(condition, if_true), sp.And(sp.Not(condition), if_false))))

    def _print_polygamma(self, expr: Any, exp: str | None = None) -> str:
        order, x = expr.args
        mark = "" if order == 0 else rf"^{{\left({self._print(order)}\right)}}"
        shown = rf"\psi{mark}{{\left({self._print(x)} \right)}}"
        return shown if exp is None else rf"\left({shown}\right)^{{{exp}}}"

    def _print_Add(self, expr: Any, order: Any = None) -> str:  # noqa: N802
        if self.arrangement.is_product(expr):
            return self._print_Mul(expr)
        text = ""
        for term in self.arrangement.terms(expr):
            shown = rf"\left({self._print(term)}\right)" if term.is_Add or term.is_Piecewise else str(self._print(term))
            text += f" - {shown[1:].lstrip()}" if text and shown.startswith("-") else f" + {shown}" if text else shown
        return text

    def _print_Mul(self, expr: Any) -> str:  # noqa: N802
        fraction = self.arrangement.fraction(expr)
        sign = "- " if fraction.sign < 0 else ""
        if not fraction.below:
            return sign + self._product(fraction.above, alone=False)
        above, below = (self._product(f, alone=True) for f in (fraction.above, fraction.below))
        return rf"{sign}\frac{{{above}}}{{{below}}}"

    def _product(self, factors: Sequence[Factor], *, alone: bool) -> str:
        if len(factors) == 1 and alone:
            return self._power(*factors[0])
        joined, before = "", None
        for base, exponent in factors:
            weak = exponent == 1 and (
                isinstance(base, (sp.Mul, sp.Piecewise, sp.Mod)) or precedence_traditional(base) < PRECEDENCE["Mul"]
            )
            shown = self._power(base, exponent)
            shown = rf"\left({shown}\right)" if weak else shown
            is_dotted = shown[0].isdigit() or base.is_Number or (base, exponent) == before
            joined += (r" \cdot " if is_dotted else " ") + shown if joined else shown
            before = base, exponent
        return joined or "1"

    def _power(self, base: Any, exponent: Any) -> str:
        if exponent == 1:
            return str(self._print(base))
        if isinstance(base, ArrayOperation) and not base.is_call and exponent != sp.S.Half:
            return rf"\left({self._print(base)}\right)^{{{self._print(exponent)}}}"
        return str(super()._print_Pow(sp.Pow(base, exponent, evaluate=False)))

    def _print_Pow(self, expr: Any) -> str:  # noqa: N802
        return self._print_Mul(expr)


def text(expr: Any, arrangement: Arrangement = TEXTBOOK) -> str:
    """Plain text.

    >>> x = sp.Symbol("x", real=True)
    >>> text(sp.Piecewise((2 * x, x > 0), (1 - x**2, True)))
    '2*x if x > 0 else 1 - x**2'
    """
    printer = TextPrinter(arrangement)
    if expr.has(sp.E) and any(s.name == printer.euler for s in expr.free_symbols):
        printer.euler = "exp(1)"
    shown = printed(printer, expr)
    return shown[1:-1] if isinstance(expr, sp.Piecewise) and shown.startswith("(") else shown


def latex(expr: Any, arrangement: Arrangement = TEXTBOOK) -> str:
    """LaTeX with names escaped."""
    names = {s: identifier_latex(s.name) for s in expr.free_symbols}
    if expr.has(sp.zoo, sp.nan):
        expr = expr.xreplace(dict.fromkeys((sp.zoo, sp.nan), _UNDEFINED))
        names[_UNDEFINED] = r"\text{undefined}"
    return printed(FormulaLatex(arrangement, {"symbol_names": names}), expr)


def numpy_source(expr: Any, names: Mapping[str, str] | None = None, arrangement: Arrangement = TEXTBOOK) -> str:
    """NumPy source over the names of the symbols, or over what `names` has for them.

    >>> numpy_source(sp.sin(sp.Symbol("x")) + sp.Rational(1, 3))
    'np.sin(x) + 1/3'
    """
    printer = _NumpyPrinter(arrangement, {"fully_qualified_modules": True, "strict": False})
    printer.names = names or {}
    return str(printer.doprint(expr)).replace("numpy.", "np.")
