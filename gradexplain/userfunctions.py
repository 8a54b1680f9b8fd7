r"""The user's own functions in formulas: `Phi(d1)`, a SymPy function that carries its definition.

It is as good as its definition: it has numbers (`evalf`), derivatives and code (`lambdify`), counts as one operation,
compares, and comes back out of a pickle. Its definition takes its place with `doit`, or with `written_out`.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import FunctionClass

from gradexplain.escape import identifier_latex


class UserFunctionClass(FunctionClass):
    """The class of the functions' classes: two of one name and one definition are equal."""

    parameters: tuple[Any, ...]
    body: Any

    def _content(self) -> tuple[Any, ...]:
        return self.__name__, self.parameters, self.body

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UserFunctionClass) and self._content() == other._content()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.__name__, self.parameters))


class UserFunction(sp.Function, metaclass=UserFunctionClass):
    """A call of a user's function: `user_function(name, parameters, body)(*arguments)`."""

    is_commutative = True
    is_extended_real = True
    is_real = True
    parameters: tuple[Any, ...] = ()
    body: Any = sp.S.NaN

    @property
    def definition(self) -> Any:
        """What the function does with these arguments."""
        return self.body.xreplace(dict(zip(self.parameters, self.args, strict=True)))

    def doit(self, **hints: Any) -> Any:
        """The definition in place of the call, and so within its arguments."""
        return written_out(self)

    def fdiff(self, argindex: int = 1) -> Any:
        """The derivative with respect to an argument."""
        slope = self.body.diff(self.parameters[argindex - 1])
        return slope.xreplace(dict(zip(self.parameters, self.args, strict=True)))

    def _eval_evalf(self, prec: int) -> Any:
        if not self.is_number:
            return self.func(*[a._evalf(prec) for a in self.args])
        return written_out(self)._eval_evalf(prec)

    def _eval_expand_func(self, **hints: Any) -> Any:
        return written_out(self)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _call, (self.func, self.args)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    # Printers ask for these before they look for a method of their own that has the function's name.
    def _sympystr(self, printer: Any) -> str:
        return f"{self.func.__name__}({', '.join(printer._print(a) for a in self.args)})"

    _sympyrepr = _sympystr

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        power = "" if exp is None else f"^{{{exp}}}"
        arguments = ", ".join(printer._print(a) for a in self.args)
        return rf"{identifier_latex(self.func.__name__)}{power}\left({arguments}\right)"

    def _code(self, printer: Any, **_: Any) -> str:
        return f"({printer._print(written_out(self))})"

    _numpycode = _pythoncode = _mpmathcode = _lambdacode = _sympycode = _ccode = _code


def _call(function: Any, arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)


def user_function(name: str, parameters: Sequence[Any], body: Any) -> Any:
    """The function of a name: what it takes (a symbol, or the number that an argument always is) and what it computes.

    >>> x = sp.Symbol("x", real=True)
    >>> sigmoid = user_function("sigmoid", [x], 1 / (1 + sp.exp(-x)))
    >>> sigmoid(2 * x), sigmoid(0).doit(), sigmoid(x).diff(x)
    (sigmoid(2*x), 1/2, exp(-x)/(1 + exp(-x))**2)
    """
    members = {"parameters": tuple(parameters), "body": body, "nargs": len(parameters), "__module__": __name__}
    return UserFunctionClass(name, (UserFunction,), members)


copyreg.pickle(UserFunctionClass, lambda cls: (user_function, cls._content()))


def written_out(expr: Any) -> Any:
    """The expression with the definitions of the user's functions in place of their calls.

    >>> x = sp.Symbol("x", real=True)
    >>> square = user_function("square", [x], x**2)
    >>> written_out(1 + square(square(x + 1)))
    (x + 1)**4 + 1
    """
    while calls := expr.atoms(UserFunction):
        inner = {c: c.definition for c in calls if not any(a.has(UserFunction) for a in c.args)}
        expr = expr.xreplace(inner)
    return expr
