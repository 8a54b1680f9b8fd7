"""Typed mathematics as a Python function: what the names in the text stand for, on numbers and on traced values."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from gradexplain.errors import ParseError
from gradexplain.graph import constant
from gradexplain.ops.arithmetic import absolute
from gradexplain.ops.mathematics import MATH
from gradexplain.ops.ordering import sign
from gradexplain.readers.reading import Reading
from gradexplain.readers.text import read
from gradexplain.trace.numpy_protocol import wrapped
from gradexplain.trace.tracer import Tracer, nodes_in, stack

# name -> (fewest, most) arguments; what each computes is the function of that name in Python's math.
_ONE, _TWO = (1, 1), (2, 2)
_OF_ONE = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp sqrt cbrt log2 log10 log1p expm1 erf erfc "
    "gamma lgamma floor ceil radians degrees"
)
ARITIES: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(_OF_ONE.split(), _ONE),
    **dict.fromkeys(("sec", "csc", "cot", "sigmoid", "abs"), _ONE),
    "sign": _ONE,
    "log": (1, 2),
    "atan2": _TWO,
    "pow": _TWO,
    "hypot": (2, None),
    "max": (2, None),
    "min": (2, None),
    "clip": (3, 3),
}


class _FormulaParameter(inspect.Parameter):
    """A parameter that may be called what no Python parameter may: lambda is a fine name for a wavelength."""

    __slots__ = ("_symbol",)

    def __init__(self, name: str) -> None:
        super().__init__("x", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self._symbol = name

    @property
    def name(self) -> str:
        return self._symbol


class TextFunction:
    """A formula as a function of its variables; behaves as one that a user wrote.

    >>> f = TextFunction.read("x^2 + y")
    >>> f(3.0, 1.0), f.echo
    (10.0, 'x**2 + y')
    """

    __name__ = "f"

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.__signature__ = inspect.Signature([_FormulaParameter(n) for n in _parameter_names(reading)])

    @classmethod
    def read(cls, text: str, known: Collection[str] = ()) -> TextFunction:
        """Reads a formula; names in `known` are variables whatever else they could mean. Raises `ParseError`."""
        return cls(read(text, functions=ARITIES, variables=known))

    @property
    def echo(self) -> str:
        """The formula as it was read."""
        return self.reading.echo

    @property
    def notes(self) -> tuple[str, ...]:
        """Readings that could surprise."""
        return self.reading.notes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = dict(zip(_parameter_names(self.reading), args, strict=False)) | kwargs
        result = self.reading.evaluate(_FUNCTIONS, values)
        return result if type(result) is Tracer else float(result)


def constant_value(text: str) -> float:
    """The value of a formula without variables.

    >>> constant_value("pi/2")
    1.5707963267948966
    """
    reading = read(text, functions=ARITIES)
    if reading.variables:
        raise ParseError("this is no number", text=text, column=0, fix="write a number, as in x=3")
    return float(reading.evaluate(_FUNCTIONS, {}))


class _Euler(float):
    """The number e, whose powers are the exponential function."""

    def __pow__(self, exponent: Any, modulo: Any = None) -> Any:
        return _FUNCTIONS["exp"](exponent)


def _parameter_names(reading: Reading) -> list[str]:
    """The variables; a formula without any is a constant function of x."""
    return list(reading.variables) or ["x"]


def _applied(name: str, plain: Callable[..., Any], on_nodes: Callable[..., Any]) -> Callable[..., Any]:
    """A function on traced values; of numbers alone it stays a formula while a trace runs (sin(1) is not 0.841)."""

    def function(*args: Any) -> Any:
        if not stack():
            return plain(*[float(a) for a in args])
        operands = [a.node if type(a) is Tracer else constant(a) for a in args]
        return wrapped(stack()[-1], on_nodes(*nodes_in(operands)))

    function.__name__ = name
    return function


def _largest(*xs: Any) -> Any:
    return _folded(np.maximum, xs)


def _smallest(*xs: Any) -> Any:
    return _folded(np.minimum, xs)


def _clipped(x: Any, low: Any, high: Any) -> Any:
    plain = [v if type(v) is Tracer else float(v) for v in (x, low, high)]
    return np.clip(plain[0], plain[1], plain[2])


def _folded(function: Callable[..., Any], xs: tuple[Any, ...]) -> Any:
    result = xs[0]
    for x in xs[1:]:
        result = function(result, x if type(x) is Tracer else float(x))
    return result


def _choice(condition: Any, if_true: Any, if_false: Any) -> Any:
    if any(type(v) is Tracer for v in (condition, if_true, if_false)):
        return np.where(condition, *[v if type(v) is Tracer else float(v) for v in (if_true, if_false)])
    return if_true if condition else if_false


def _plain_sign(x: float) -> float:
    return float((x > 0) - (x < 0))


_PLAIN: dict[str, Callable[..., Any]] = {"abs": abs, "sign": _plain_sign}


def _plain_math(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = _PLAIN.get(name) or getattr(math, name)
    return found


_ON_NODES: dict[str, Callable[..., Any]] = {**MATH, "abs": absolute, "sign": sign}
_FUNCTIONS: Mapping[str, Any] = {
    **{n: _applied(n, _plain_math(n), _ON_NODES[n]) for n in ARITIES if n in _ON_NODES},
    "sec": lambda x: 1 / _FUNCTIONS["cos"](x),
    "csc": lambda x: 1 / _FUNCTIONS["sin"](x),
    "cot": lambda x: 1 / _FUNCTIONS["tan"](x),
    "sigmoid": lambda x: 1 / (1 + _FUNCTIONS["exp"](-x)),
    "max": _largest,
    "min": _smallest,
    "clip": _clipped,
    "where": _choice,
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
    "pi": math.pi,
    "e": _Euler(math.e),
}
