"""The errors that users see: one class a mistake, each built from fields and printed in one form.

A message names what went wrong, where it was read (`file:line` or a caret), why, and what to do about it.
Wrong arguments are also `TypeError`, and unreadable values also `ValueError`, so that ordinary handlers catch them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the user's source: file, line, enclosing function and the text of the line."""

    file: str
    line: int
    function: str
    text: str = ""

    def __str__(self) -> str:
        head = f"{self.file}:{self.line} in {self.function}"
        return f"{head}        {self.text}" if self.text else head


class GradexplainError(Exception):
    """The base of all errors of this package.

    >>> raise NoRuleError("np.foo has no derivative rule", why="it is not in the table", fix="write it with np.where")
    Traceback (most recent call last):
    gradexplain.errors.NoRuleError: np.foo has no derivative rule
      why    it is not in the table
      do     write it with np.where
    """

    def __init__(self, what: str, *, where: Place | None = None, why: str = "", fix: str = "") -> None:
        self.what, self.where, self.why, self.fix = what, where, why, fix
        super().__init__(what)

    def __str__(self) -> str:
        rows = [("where", str(self.where) if self.where else ""), ("why", self.why), ("do", self.fix)]
        return _visible("\n".join([self.what, *(f"  {label:<6} {text}" for label, text in rows if text)]))


def _visible(text: str) -> str:
    """Characters that a terminal would obey, as escapes: messages quote names, files and other people's messages."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


class ParseError(GradexplainError, ValueError):
    """Typed text that can't be read as mathematics; prints a caret under the column (0-based)."""

    def __init__(self, what: str, *, text: str, column: int, why: str = "", fix: str = "") -> None:
        self.text, self.column = text, column
        super().__init__(what, why=why, fix=fix)

    def __str__(self) -> str:
        start = max(0, self.column - 60)
        window = self.text[start : start + 76]
        shown = "".join(c if c.isprintable() else "?" for c in window)
        rows = [self.what, f"  {shown}", "  " + " " * (self.column - start) + "^"]
        rows += [f"  {label:<6} {text}" for label, text in (("why", self.why), ("do", self.fix)) if text]
        return "\n".join(rows)


class ArgumentError(GradexplainError, TypeError):
    """An argument of a public function is missing, of the wrong kind, or does not fit the others."""


class NoRuleError(GradexplainError):
    """A function without a row in the table of derivatives was called on a traced value."""


class NotTraceableError(GradexplainError, TypeError):
    """The function leaves the trace (`float(x)`, a NumPy buffer, …): what follows could not be differentiated."""


class ShapeError(GradexplainError, ValueError):
    """Shapes that do not go together."""


class ReturnError(GradexplainError, TypeError):
    """The function returned something that has no derivative: None, text, a tuple, a generator, …"""


class FunctionError(GradexplainError, ValueError):
    """The user's own function raised an exception at the given point."""


class RecursionDepthError(FunctionError, RecursionError):
    """The function calls itself without end, or deeper than Python goes."""


class DeterminismError(GradexplainError, ValueError):
    """The function does not give the same value twice, or another value than its trace."""


class BranchLimitError(GradexplainError):
    """The function has more paths through its branches than are explored."""


class LeakedTracerError(GradexplainError):
    """A traced value was used after its trace had ended."""


class DomainError(GradexplainError, ValueError):
    """There is no derivative at the point."""


class TraceWarning(UserWarning):
    """A visible note: a part of the program was taken as a constant, and why that is so.

    >>> import warnings
    >>> import gradexplain as gx
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     gx.grad(lambda x: x * int(x))(2.5)
    2.0
    >>> seen[0].category.__name__
    'TraceWarning'
    """
