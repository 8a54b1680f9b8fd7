"""SymPy classes that SymPy lacks: operations on arrays as expressions that print as NumPy or as LaTeX, finite sums, and
functions of real numbers that SymPy has for complex ones only.

Arrays are real symbols; entrywise arithmetic on them is SymPy's own. Every other operation is an `ArrayOperation`,
opaque to SymPy's algebra, so that it can't be rewritten into something of another shape.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import accumulate
from typing import Any

import sympy as sp
from sympy.core.symbol import Str
from sympy.logic.boolalg import Boolean
from sympy.printing.precedence import PRECEDENCE, PRECEDENCE_TRADITIONAL, precedence

from gradexplain.escape import math_text
from gradexplain.graph import TABLE, Fixed
from gradexplain.primitive import ATOM, POSTFIX, POWER, PRODUCT, SUM, Code, call

_MOST_PARAMS = 4096
_MARKS = ("transpose", "inv", "det", "outer")  # apply to an operand as a whole
_params: OrderedDict[str, dict[str, Any]] = OrderedDict()
_LATEX = {
    "matmul": r"{0} {1}",
    "transpose": r"{0}^{{\top}}",
    "inv": r"{0}^{{-1}}",
    "det": r"\det {0}",
    "outer": r"{0} {1}^{{\top}}",
}


class ArrayOperation(sp.Expr):
    """An operation of the table on array expressions: `ArrayOperation(name, params, *operands)`."""

    is_commutative = True
    is_extended_real = True
    is_real = True
    precedence = 200  # printed text brings its own parentheses

    def __new__(cls, name: Any, params: Any, *operands: Any) -> ArrayOperation:
        if not isinstance(params, Str):
            key = Str(repr(params))
            _params[str(key)] = params
            if len(_params) > _MOST_PARAMS:
                _params.popitem(last=False)
            params = key
        made: ArrayOperation = super().__new__(cls, name if isinstance(name, Str) else Str(name), params, *operands)
        return made

    @property
    def operands(self) -> tuple[sp.Expr, ...]:
        """The array expressions that it is applied to."""
        return self.args[2:]  # type: ignore[no-any-return]

    @property
    def is_call(self) -> bool:
        """Whether it is written as the call of a function, which nothing can tear apart."""
        return str(self.args[0]) not in _LATEX

    def _sympystr(self, printer: Any) -> str:
        row = TABLE[str(self.args[0])]
        codes = [Code(printer._print(a), _strength(a)) for a in self.operands]
        text = row.numpy(*codes, **_params.get(str(self.args[1]), {})) if row.numpy else row.name
        return f"({text})".replace("np.", "") if getattr(text, "strength", ATOM) < POWER else text.replace("np.", "")

    def _latex(self, printer: Any) -> str:
        template = _LATEX.get(str(self.args[0]))
        if template is not None:
            return template.format(*(_wrapped_latex(printer, a, str(self.args[0])) for a in self.operands))
        row, params = TABLE[str(self.args[0])], _params.get(str(self.args[1]), {})
        if row.name == "getitem" and row.numpy:
            key = str(row.numpy(Code("", POSTFIX), **params))[1:-1]
            return rf"{_wrapped_latex(printer, self.operands[0], row.name)}_{{{math_text(key, 'texttt')}}}"
        name = str(self.args[0]).replace("_", r"\_")
        shown = [printer._print(a) for a in self.operands]
        shown += [math_text(f"{k}={v}") for k, v in params.items()]
        return rf"\operatorname{{{name}}}\left({', '.join(shown)}\right)"


class ArrayCondition(ArrayOperation, Boolean):
    """An operation on conditions, such as one of their entries: a condition itself, which branches may ask for.

    >>> x = sp.Symbol("x", real=True)
    >>> condition = ArrayCondition("transpose", {"axes": (1, 0)}, x > 0)
    >>> sp.Piecewise((1, condition), (2, True)).args[0].cond == condition
    True
    """

    is_real = is_extended_real = False  # it has no value to add up


class Call(ArrayOperation):
    """An operation written as the call of a function: `Call("mean", {"axis": 1}, X)` is mean(X, axis=1)."""

    is_call = True

    def _sympystr(self, printer: Any) -> str:
        return str(call(str(self.args[0]))(*map(printer._print, self.operands), **self._keywords))

    def _latex(self, printer: Any) -> str:
        shown = ", ".join(rf"\text{{{k} {v}}}" for k, v in self._keywords.items() if k != "keepdims")
        below = f"_{{{shown}}}" if shown else ""
        operands = ", ".join(printer._print(a) for a in self.operands)
        name = str(self.args[0]).replace("_", r"\_")
        return rf"\operatorname{{{name}}}{below}\left({operands}\right)"

    @property
    def _keywords(self) -> dict[str, Any]:
        return _params.get(str(self.args[1]), {})


class ConditionCall(Call, ArrayCondition):
    """The call of a function that gives conditions, such as any(x > 0)."""


def alone(a: Any, text: str) -> str:
    """The text of an operand that stands between commas: what is computed of arrays brings parentheses with it."""
    if not isinstance(a, ArrayOperation) or not text.startswith("("):
        return text
    depths = list(accumulate((c == "(") - (c == ")") for c in text))
    return text[1:-1] if 0 not in depths[:-1] else text


def _wrapped_latex(printer: Any, a: Any, operation: str) -> str:
    """An operand; a mark such as a transpose is one of the whole of it, and is its only one."""
    text: str = printer._print(a)
    if isinstance(a, ArrayOperation) and a.is_call:
        return text
    is_whole = "^" not in text and a.is_Symbol if operation in _MARKS else a.is_Symbol or isinstance(a, ArrayOperation)
    return text if is_whole else rf"\left({text}\right)"


def _strength(a: Any) -> int:
    if isinstance(a, ArrayOperation) or a.is_Symbol or isinstance(a, sp.Function):
        return POSTFIX
    level = precedence(a)
    return SUM if level < 45 else PRODUCT if level < 60 else POWER if level < 80 else ATOM


class FiniteSum(sp.Sum):
    """A sum between two numbers, evaluated term by term.

    SymPy ends its sums at the first term that is near zero, though the largest may come later.

    >>> x, k = sp.Symbol("x"), sp.Symbol("k", integer=True)
    >>> sp.N(FiniteSum(x**k, (k, 0, 3)).subs(x, 2))
    15.0000000000000
    """

    @property
    def index(self) -> Any:
        """The symbol that counts the terms."""
        return self.limits[0][0]

    @property
    def passes(self) -> range:
        """The values of the index."""
        _, first, last = self.limits[0]
        return range(int(first), int(last) + 1)

    def _eval_evalf(self, prec: int) -> Any:
        return sp.Add(*[self.function.subs(self.index, i) for i in self.passes])._eval_evalf(prec)


PRECEDENCE_TRADITIONAL["FiniteSum"] = PRECEDENCE["Mul"]  # SymPy's LaTeX looks classes up by name


class ConstantArray(sp.Symbol):
    """A constant array, printed by its entries where it is small."""

    __slots__ = ()

    @classmethod
    def of(cls, array: Fixed) -> sp.Symbol:
        """The symbol of an array of numbers."""
        entries = array.array
        text = str(entries.tolist()) if entries.size <= 12 else f"array{list(entries.shape)}"
        return cls(text, real=True)


class loggamma(sp.loggamma):  # noqa: N801 (as SymPy calls its own)
    """log|Γ(x)|, as `math.lgamma` and `scipy.special.gammaln` have it: SymPy's is complex below 0."""

    is_extended_real = True

    def _eval_evalf(self, prec: int) -> Any:
        return sp.re(sp.loggamma(self.args[0]))._eval_evalf(prec)

    def _mpmathcode(self, printer: Any) -> str:
        return f"{printer._module_format('mpmath.re')}({printer._print(sp.loggamma(self.args[0]))})"


OWN: dict[str, Any] = {"loggamma": loggamma}  # rows ask for these by SymPy's name
