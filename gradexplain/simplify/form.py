"""What users get: the closed form of a derivative, and the closed forms of an explanation by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import sympy as sp

from gradexplain.errors import ArgumentError
from gradexplain.escape import math_text
from gradexplain.simplify.arrangement import TEXTBOOK, Arrangement
from gradexplain.simplify.counting import operations
from gradexplain.simplify.numeric import of_real_numbers, rounded, substituted
from gradexplain.simplify.parts import GAP, Parts, extent, on_a_page
from gradexplain.simplify.printing import latex, numpy_source, text
from gradexplain.simplify.rewrite import Rewrite
from gradexplain.simplify.unevaluated import packed, unpacked
from gradexplain.userfunctions import UserFunction, written_out

_LONGEST = 20_000  # operations of a formula in which all names are written out
_DEEPEST = 80  # functions within functions: SymPy recurses on them
_LONGEST_DEFINITION = 12  # operations of a function of the user's that is shown with the formula


@dataclass(frozen=True, slots=True)
class Written:
    """A formula as texts, where these are not made from a SymPy expression: arrays, entries, programs."""

    numpy: str
    text: str
    latex: str
    parts: tuple[tuple[str, str, str, str], ...] = ()  # the names in it: name, NumPy, text, LaTeX
    level: str = ""  # how close it is to matrix notation
    sizes: tuple[tuple[str, str], ...] = ()  # what the letters for sizes stand for
    adjoints: tuple[tuple[str, str], ...] = ()  # parts that are adjoints, and of which of the program's values


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """A derivative as a formula: `expr` over the arguments and the names in `where`.

    Of arrays, `where` has the names in `text`, as symbols that are called like the texts of what they stand for: these
    are to be read; `numpy` and `where_numpy` run.
    """

    key: str
    expr: Any
    where: Mapping[str, Any]
    raw: Any
    rewrites: Sequence[Rewrite] = ()
    conditions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    texts: Written | None = None  # where they are not made from `expr`
    arrangement: Arrangement = field(default=TEXTBOOK, repr=False)  # how sums and products are written

    @property
    def numpy(self) -> str:
        """The formula as NumPy source over the arguments, `np` and the names in `where_numpy`."""
        if self.texts:
            return self.texts.numpy
        return numpy_source(written_out(self.expr), arrangement=self.arrangement)

    @property
    def where_numpy(self) -> Mapping[str, str]:
        """The named parts as NumPy source; a name may use earlier ones."""
        if self.texts:
            return {name: numpy for name, numpy, _, _ in self.texts.parts}
        return {n: numpy_source(written_out(e), arrangement=self.arrangement) for n, e in self.where.items()}

    @property
    def text(self) -> str:
        """The formula as plain text, without the left-hand side."""
        return self.texts.text if self.texts else text(self.expr, self.arrangement)

    @property
    def level(self) -> str:
        """Which rung of the ladder it stands on: "matrix notation", …; "" for a formula of numbers."""
        return self.texts.level if self.texts else ""

    @property
    def shown_parts(self) -> tuple[tuple[str, str, str], ...]:
        """The named parts that fit on a page: name, text, LaTeX (empty where there is none)."""
        if self.texts:
            sizes = {letter: (of, math_text(of, "texttt")) for letter, of in self.texts.sizes}
            named = on_a_page(sizes | {name: (shown, tex) for name, _, shown, tex in self.texts.parts})
            return tuple((n, *((t, "") if n == GAP else t)) for n, t in named)
        found = on_a_page(self.where)
        return tuple((n, *((e, "") if n == GAP else self.written(e))) for n, e in found)

    def written(self, expr: Any) -> tuple[str, str]:
        """Text and LaTeX of an expression, in the order of the formula."""
        return text(expr, self.arrangement), latex(expr, self.arrangement)

    @property
    def functions(self) -> tuple[tuple[Any, Any], ...]:
        """The user's functions that the formula calls, with what they compute if that is short."""
        return functions_in((self.expr, *self._parts()))

    def _parts(self) -> tuple[Any, ...]:
        return () if isinstance(self.where, Parts) else tuple(self.where.values())

    @property
    def latex(self) -> str:
        """The formula in LaTeX, without the left-hand side."""
        return self.texts.latex if self.texts else latex(self.expr, self.arrangement)

    @property
    def full(self) -> Any:
        """The formula in the arguments alone; raises `ArgumentError` where that is too long for SymPy."""
        deep, long = extent(self.expr, self.where)
        if self.where and (deep > _DEEPEST or long > _LONGEST):
            raise ArgumentError(
                "the derivative is too long for one SymPy expression",
                why=f"its {len(self.where)} named parts lie one within the other",
                fix="use .expr and .where (or .numpy and .where_numpy), or python() of the explanation",
            )
        table: dict[Any, Any] = {}
        for name, definition in self.where.items():
            table[sp.Symbol(name, real=True)] = substituted(written_out(definition), table)
        return of_real_numbers(rounded(substituted(written_out(self.expr), table)))

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpickled, ({f.name: getattr(self, f.name) for f in fields(self)} | {"raw": packed(self.raw)},)


def functions_in(exprs: Iterable[Any]) -> tuple[tuple[Any, Any], ...]:
    """The user's functions that formulas call, with what they compute if that is short."""
    calls = {f for e in exprs for f in e.atoms(UserFunction)}
    found = {f.func(*f.parameters): sp.factor_terms(rounded(f.body)) for f in calls}
    short = [f for f, body in found.items() if operations(body) <= _LONGEST_DEFINITION]
    return tuple((f, found[f]) for f in sorted(short, key=str))


def _unpickled(state: dict[str, Any]) -> ClosedForm:
    return ClosedForm(**(state | {"raw": unpacked(state["raw"])}))


@dataclass(frozen=True, slots=True)
class Gradients:
    """The closed forms by key, in the order of `wrt`; a mixed derivative may be asked for in any order."""

    forms: Mapping[str, ClosedForm]

    def __getitem__(self, key: str) -> ClosedForm:
        if key in self.forms:
            return self.forms[key]
        if f"{key},{key}" in self.forms:  # the Hessian of one variable goes by its name alone, too
            return self.forms[f"{key},{key}"]
        parts = sorted(part.strip() for part in str(key).split(","))
        for known, form in self.forms.items():
            if sorted(known.split(",")) == parts:
                return form
        raise ArgumentError(
            f"there is no derivative {key!r}", why=f"there are {', '.join(self.forms)}", fix="use one of these keys"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.forms)

    def __len__(self) -> int:
        return len(self.forms)

    def __contains__(self, key: object) -> bool:
        return key in self.forms

    @property
    def together(self) -> Any:
        """The only closed form as a SymPy expression in the arguments; of several, a SymPy tuple of them."""
        forms = list(self.forms.values())
        return forms[0].full if len(forms) == 1 else sp.Tuple(*(f.full for f in forms))

    def keys(self) -> Sequence[str]:
        """The keys in order."""
        return tuple(self.forms)

    def values(self) -> Sequence[ClosedForm]:
        """The closed forms in order."""
        return tuple(self.forms.values())

    def items(self) -> Sequence[tuple[str, ClosedForm]]:
        """Keys and closed forms in order."""
        return tuple(self.forms.items())
