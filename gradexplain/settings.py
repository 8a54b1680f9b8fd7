"""The settings of what is printed: `options(...)`, and what holds now, `current()`.

A setting comes from the last `options(...)`, else from a variable of the environment such as GRADEXPLAIN_PRECISION,
else it is as in `Options`. The wording reads `notation`, `precision` and `language`; where a rendering is asked for
(`Display`, the command line) the others are read and handed to the format, so that formats depend on nothing but what
they are given. A new setting is a new field of `Options` and a row of `_READERS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from types import TracebackType
from typing import Any, Literal, cast, get_args

from gradexplain.errors import ArgumentError

Theme = Literal["auto", "light", "dark"]
Language = Literal["en", "zh"]
Notation = Literal["leibniz", "lagrange", "python", "mathematics"]

_KINDS: tuple[frozenset[Notation], ...] = (frozenset({"leibniz", "lagrange"}), frozenset({"python", "mathematics"}))
_NARROWEST, _WIDEST = 20, 1000
_VARIABLE = "GRADEXPLAIN_LANGUAGE"
_MOST_DIGITS = 17  # a float has no more
_TRUTHS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class Options:
    """How explanations are written.

    `notation` has a word for derivatives (``leibniz``: dy/dx, ``lagrange``: y') and one for arrays in text of Unicode
    characters (``python``: X.T @ r, ``mathematics``: Xᵀ r, with ⊙ for the entrywise product).
    """

    notation: tuple[Notation, ...] = ("leibniz", "python")
    precision: int = 6  # significant digits of numbers
    width: int = 80  # columns of text
    unicode: bool = False  # x² and · in text; else ASCII
    theme: Theme = "auto"  # of pages: as the reader's system has it
    language: Language = "en"  # of the sentences: English, Chinese

    @property
    def primes(self) -> bool:
        """Whether derivatives are y' rather than dy/dx."""
        return "lagrange" in self.notation

    @property
    def transposes(self) -> bool:
        """Whether array formulas have the signs of mathematics."""
        return "mathematics" in self.notation


def _notation(value: Any) -> tuple[Notation, ...]:
    """One word of each kind; a kind that is not mentioned stays with its first word."""
    words = value.replace(",", " ").split() if isinstance(value, str) else list(value)
    known = get_args(Notation)
    if not words or any(word not in known for word in words):
        raise ValueError(f"use {', '.join(known)}, or two of them")
    for kind in _KINDS:
        if len(kind.intersection(words)) > 1:
            raise ValueError(f"use either {' or '.join(sorted(kind))}")
    derivatives, arrays = (next((w for w in words if w in kind), None) for kind in _KINDS)
    return derivatives or "leibniz", arrays or "python"


def _between(lowest: int, highest: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) and value.strip().isdecimal() else value
        if isinstance(number, bool) or not isinstance(number, int) or not lowest <= number <= highest:
            raise ValueError(f"use a whole number from {lowest} to {highest}")
        return number

    return read


def _truth(value: Any) -> bool:
    truth = _TRUTHS.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(truth, bool):
        raise ValueError("use True or False")
    return truth


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(f"use {' or '.join(words)}")
        return cast(str, value)

    return read


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "notation": _notation,
    "precision": _between(1, _MOST_DIGITS),
    "width": _between(_NARROWEST, _WIDEST),
    "unicode": _truth,
    "theme": _one_of(*get_args(Theme)),
    "language": _one_of(*get_args(Language)),
}


def _read(name: str, value: Any, origin: str) -> Any:
    try:
        return _READERS[name](value)
    except (ValueError, TypeError, AttributeError) as error:
        fix = str(error) if isinstance(error, ValueError) else f"see the values of {name} in Options"
        raise ArgumentError(f"{origin}={value!r} is no setting", fix=fix) from None


def from_environment(environment: Mapping[str, str]) -> Options:
    """The options that the variables GRADEXPLAIN_NOTATION, GRADEXPLAIN_WIDTH, … of an environment ask for.

    >>> from_environment({"GRADEXPLAIN_PRECISION": "3"}).precision
    3
    """
    variables = {field.name: f"GRADEXPLAIN_{field.name.upper()}" for field in fields(Options)}
    return Options(**{n: _read(n, environment[v], v) for n, v in variables.items() if environment.get(v)})


_set: dict[str, Any] = {}  # by `options`; one for all threads


def current() -> Options:
    """The options that hold now."""
    return replace(from_environment(os.environ), **_set)


def language() -> Language:
    """The language of the sentences: of `current()` this alone, since every sentence asks for it."""
    spoken = _set.get("language") or _read("language", os.environ.get(_VARIABLE) or "en", _VARIABLE)
    return cast(Language, spoken)


class Change:
    """What `options` gives: the options as they are now; at the end of a `with` block they are as before."""

    def __init__(self, before: dict[str, Any]) -> None:
        self._before = before

    def __enter__(self) -> Options:
        return current()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _set.clear()
        _set.update(self._before)

    def __repr__(self) -> str:
        return repr(current())


def options(
    *,
    notation: str | tuple[str, ...] | None = None,
    precision: int | None = None,
    width: int | None = None,
    unicode: bool | None = None,
    theme: str | None = None,
    language: str | None = None,
) -> Change:
    """Sets how explanations are written, from here on or within a `with` block; see `Options`.

    What is None stays as it is; without arguments nothing changes, and the options are shown. The settings hold for all
    threads. Raises `ArgumentError` for a value that is none of a setting's.

    >>> import gradexplain as gx
    >>> e = gx.explain("x**2 / 3", x=1)
    >>> with gx.options(precision=3, notation="lagrange"):
    ...     print(*(row for row in e.to_text().splitlines() if row.startswith("at")))
    at x = 1: y = 0.333, y' = 0.667
    """
    asked = {
        "notation": notation,
        "precision": precision,
        "width": width,
        "unicode": unicode,
        "theme": theme,
        "language": language,
    }
    before = dict(_set)
    _set.update({name: _read(name, value, name) for name, value in asked.items() if value is not None})
    return Change(before)
