"""The ways out of a trace: `float(x)`, `int(x)`, truth values, indices, plain arrays, text, pickles.

Each ends in a value that the trace knows of, or in an error that names the line and says what to write instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gradexplain.errors import NoRuleError, NotTraceableError
from gradexplain.graph import Node
from gradexplain.language import Sentence
from gradexplain.ops import ordering
from gradexplain.shapes import Shape
from gradexplain.trace.running import Origin, Trace
from gradexplain.trace.source import is_formatting, library_function, place

BUFFER = (
    "a plain NumPy array can't hold a traced value",
    "it was made outside the function, or without np.zeros and the like",
    "make it inside the function with np.zeros or np.array, or build it with np.stack",
)  # what, why, and what to do


class Exits:
    """The part of a traced value that Python and NumPy ask for plain values."""

    __slots__ = ()
    if TYPE_CHECKING:
        _trace: Trace

        @property
        def node(self) -> Node: ...

        @property
        def shape(self) -> Shape: ...
        @property
        def value(self) -> Any: ...

    @property
    def is_constant(self) -> bool:
        """Whether no argument of the function has a part in the value."""
        return self._trace.origin(self.node) is Origin.CONSTANT

    def __bool__(self) -> bool:
        if self.node.size != 1:
            leave(
                "the truth value of an array",
                f"an array of shape {self.shape} is neither true nor false",
                "use np.where, or .any() or .all()",
            )
        node = self.node
        return self._trace.decide(node if node.kind == "bool" else ordering.not_equal(node, 0))

    def __index__(self) -> int:
        if self._trace.origin(self.node) is Origin.REAL and self.node.kind == "float":
            leave("an index or a length", "it is made from a real variable", "use an integer argument, or len(x)")
        return self._whole(self._number("an integer that steers the program (an index, a length)"))

    def __int__(self) -> int:
        number = int(self._number("int()"))
        if self._trace.origin(self.node) is not Origin.REAL:
            return number
        if is_formatting():
            self._trace.written()
            return number
        if self.node.kind == "float":
            found = place()
            at = f"{found.file}:{found.line}: " if found else ""
            sentence = "{place}int() was taken as the constant {number}; it is constant in pieces, derivative 0"
            self._trace.note(Sentence(sentence, place=at, number=number))
        return self._whole(number, ordering.trunc(self.node))

    def _whole(self, number: Any, node: Node | None = None) -> int:
        """A whole number that steers the program, which from now on holds for this number only."""
        if int(number) != number:
            raise TypeError("a number with a fraction is no integer")
        if not self.is_constant:
            self._trace.pin(self.node if node is None else node, int(number))
        return int(number)

    def __float__(self) -> float:
        if self.is_constant:
            return float(self.value)
        if is_formatting() and self.value is not None:
            self._trace.written()
            return float(self.value)
        through = library_function()
        if through:
            no_rule(through)
        return leave("float()", "a plain float has no derivative", "use the value itself, without float()")

    def __complex__(self) -> complex:
        return leave("complex()", "arguments are real", "use the value itself, without complex()")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.is_constant:
            return np.array(self.value, dtype=dtype)
        through = library_function()
        if through:
            no_rule(through)
        return plain_buffer()

    def __reduce__(self) -> NoReturn:
        leave("pickle", "a traced value lives only while its function runs", "pickle the result instead")

    def _number(self, what: str) -> Any:
        number = self._trace.value(self.node)
        if number is None:
            leave(what, "there is no number here: the function is traced for every value", "give a point, as in x=3.0")
        return number

    def _shown(self) -> Any:
        """The number, for a text; the trace remembers where it was asked for."""
        if not self.is_constant:
            self._trace.written()
        return self.value

    def __format__(self, spec: str) -> str:
        number = self._shown()
        return repr(self) if number is None else format(number, spec)

    def __str__(self) -> str:
        number = self._shown()
        return repr(self) if number is None else str(number)

    def __repr__(self) -> str:
        number = self._shown()
        return f"<traced {self.node.kind} of shape {self.shape}>" if number is None else repr(number)


def leave(what: str, why: str, fix: str = "keep it inside NumPy's functions") -> NoReturn:
    """Raises the error for a way out, at the user's line."""
    found = place()
    text = f" ({found.text})" if found and found.text else ""
    raise NotTraceableError(f"{what} leaves the trace{text}", where=found, why=why, fix=fix)


def no_rule(name: str) -> NoReturn:
    """Raises the error for a function that has no row, at the user's line."""
    raise NoRuleError(
        f"{name} has no derivative rule",
        where=place(),
        why="it was called on a traced value and is not in the table of derivatives",
        fix="write it with NumPy's functions that are, or give it a row of its own (see docs/table-of-derivatives.md)",
    )


def plain_buffer() -> NoReturn:
    """Raises the error for a traced value that is written into a plain array."""
    raise NotTraceableError(BUFFER[0], where=place(), why=BUFFER[1], fix=BUFFER[2])
