"""Equations as people type them: `x**2 + y**2 = 25` is the function that is 0 where the two sides are equal.

An equation has one `=` outside of all brackets; each side is a formula as `readers.text` reads it. Refusals keep the
columns of the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from fractions import Fraction

from gradexplain.errors import ParseError
from gradexplain.readers.functions import ARITIES, TextFunction
from gradexplain.readers.reading import Reading
from gradexplain.readers.text import read
from gradexplain.readers.tokens import Binary, Number, printable

_LETTER = re.compile(r"(?<![\w.])[A-Za-z](?![\w(])")  # a variable of one letter
_EQUALS = re.compile(r"(?<![=<>!:])=(?!=)")
_DEFINITION = re.compile(r"\s*([A-Za-z]\w*)\s*\(\s*[A-Za-z]\w*(?:\s*,\s*[A-Za-z]\w*)*\s*\)\s*=(?!=)")
_FIX = "write one equation, such as x**2 + y**2 = 25"


class EquationFunction(TextFunction):
    """The left side minus the right side; where 0 is on the right, the left side.

    >>> f = EquationFunction.read("x^2 + y^2 = 25")
    >>> f(3.0, 4.0), f.echo
    (0.0, 'x**2 + y**2 = 25')
    """

    __name__ = "F"

    def __init__(self, reading: Reading, *, subtracts: bool) -> None:
        super().__init__(reading)
        self.subtracts = subtracts  # whether the last operation is the difference of the sides

    @classmethod
    def read(cls, text: str, known: Collection[str] = ()) -> EquationFunction:
        """Reads an equation, or a formula whose zeros are meant. Raises `ParseError`."""
        printable(text)
        signs = _equals_signs(text)
        if not signs:
            return cls(read(text, functions=ARITIES, variables=known), subtracts=False)
        if len(signs) > 1:
            what = "an equation has one =, and this is the second"
            raise ParseError(what, text=text, column=signs[1], fix=_FIX)
        left, right = (_side(text, span, known) for span in ((0, signs[0]), (signs[0] + 1, len(text))))
        names = tuple(dict.fromkeys((*left.variables, *right.variables)))
        if not names:
            what = "an equation of numbers alone has no derivative"
            raise ParseError(what, text=text, column=signs[0], fix=_FIX)
        subtracts = right.tree != Number(Fraction(0))
        tree = Binary("-", left.tree, right.tree, signs[0]) if subtracts else left.tree
        notes = tuple(dict.fromkeys((*left.notes, *right.notes)))
        return cls(Reading(text, f"{left.echo} = {right.echo}", names, tree, notes), subtracts=subtracts)


def defined_formula(text: str) -> str:
    """The formula in a definition such as "f(x) = x**2", with blanks before it; any other text as it is.

    >>> defined_formula("f(x) = x**2").strip(), defined_formula("x*y = 1"), defined_formula("sin(x) = y")
    ('x**2', 'x*y = 1', 'sin(x) = y')
    """
    found = _DEFINITION.match(text)
    if found is None or found[1] in ARITIES or len(_equals_signs(text)) != 1:
        return text
    return " " * found.end() + text[found.end() :]


def is_equation(text: str) -> bool:
    """Whether a text has an `=` outside of all brackets: neither a comparison nor a named argument.

    >>> is_equation("x*y = 1"), is_equation("1 if x == y else 2"), is_equation("log(x, base=2)")
    (True, False, False)
    """
    return bool(_equals_signs(text))


def _equals_signs(text: str) -> list[int]:
    """The columns of the equals signs outside of brackets."""
    return [m.start() for m in _EQUALS.finditer(text) if text.count("(", 0, m.start()) == text.count(")", 0, m.start())]


def _side(text: str, span: tuple[int, int], known: Collection[str]) -> Reading:
    """One side, with blanks in place of the other, so that columns are those of the whole text."""
    start, end = span
    if not text[start:end].strip():
        what = f"the {'right' if start else 'left'} side of the equation is empty"
        raise ParseError(what, text=text, column=max(0, start - 1), fix=_FIX)
    try:
        letters = _LETTER.findall(text)
        return read(" " * start + text[start:end], functions=ARITIES, variables=known, letters=letters)
    except ParseError as error:
        raise ParseError(error.what, text=text, column=error.column, why=error.why, fix=error.fix) from None
