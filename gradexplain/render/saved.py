"""Explanations that come back from JSON: `from_json` makes of it what renders like the one that was written.

JSON has the record and the blocks made of it (`json_`). The blocks are built anew, each field checked against its
type, so that no file, whoever wrote it, gets anything but blocks into a page. The record is there to be looked up in:
`Record`. Its formulas are text and LaTeX; nothing in a file is run or evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from gradexplain.errors import ArgumentError
from gradexplain.render import json_
from gradexplain.render.blocks import Document, Image
from gradexplain.render.frozen import Kept
from gradexplain.render.pictures.svg import is_ours

_BESIDE = ("schema", "document", "screen")  # members that are not the record's


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a file: its type, and its fields as attributes; sequences are tuples.

    >>> Record("CheckRow", {"name": "x", "claimed": 6.0}).claimed
    6.0
    """

    type: str
    members: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.members:
            raise AttributeError(f"a {self.type} of a file has no {name}; it has {', '.join(self.members)}")
        return self.members[name]

    def __hash__(self) -> int:
        return hash((self.type, tuple(self.members)))


@json_.plain.register
def _(value: Record) -> json_.Shape:
    return {"type": value.type, **value.members} if value.type else dict(value.members)


class Saved(Kept):
    """An explanation, a derivation or a check that was read from JSON, with the renderings that it had."""

    def __getitem__(self, key: str) -> Any:
        """The record of a closed form, by its key."""
        forms = dict(getattr(self.data, "forms", ()))
        if key not in forms:
            raise ArgumentError(f"there is no derivative {key!r}", why=f"there are {', '.join(forms) or 'none'}")
        return forms[key]

    @property
    def value(self) -> Any:
        """The function's value at the point, None without one."""
        return getattr(self.data, "value", None)

    @property
    def gradient_values(self) -> Mapping[str, Any]:
        """The derivatives' values at the point, arrays as nested tuples."""
        return dict(getattr(self.data, "values", ()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Saved) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        return f"<saved: {self.document.title or 'an explanation'}>"


def from_json(text: str) -> Saved:
    """Reads what `to_json` wrote. Raises `ArgumentError` for text that is something else.

    >>> import gradexplain as gx
    >>> e = gx.explain("x**2", x=3)
    >>> saved = from_json(e.to_json())
    >>> str(saved) == str(e), saved["x"].expr.text, saved.gradient_values
    (True, '2*x', {'x': 6.0})
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError, TypeError) as error:
        raise _unreadable(f"it is no JSON: {error}") from None
    if not isinstance(found, dict) or "document" not in found:
        raise _unreadable("it has no document")
    if found.get("schema") != json_.SCHEMA:
        raise _unreadable(f"its schema is {found.get('schema')!r}; {json_.SCHEMA} is read")
    document = _built(Document, found["document"])
    screen = _built(Document, found["screen"]) if "screen" in found else document
    record = {name: member for name, member in found.items() if name not in _BESIDE}
    return Saved(_record(record["value"] if "value" in record and "type" not in record else record), document, screen)


def _unreadable(why: str) -> ArgumentError:
    return ArgumentError("this is no explanation in JSON", why=why, fix="give the text that to_json() returned")


def _record(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_record, value))
    if isinstance(value, dict):
        members = {name: _record(member) for name, member in value.items() if name != "type"}
        kind = value.get("type")
        if isinstance(kind, str):
            return Record(kind, members)
        # Formulas are objects without a type.
        return Record("", members) if set(value) == {"text", "latex"} else members
    return value


# ------------------------------------------------------------------------------------------------ blocks, checked


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _built(hint: Any, value: Any) -> Any:
    """A value of a type from its JSON; raises `ArgumentError` if it is none."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _expected(value in arguments and not isinstance(value, bool), value, hint)
    if origin in (Union, UnionType):
        return _built_one_of(arguments, value)
    if origin is tuple:
        _expected(isinstance(value, list), value, hint)
        if arguments[-1] is not ...:
            _expected(len(value) == len(arguments), value, hint)
            return tuple(_built(argument, member) for argument, member in zip(arguments, value, strict=True))
        return tuple(_built(arguments[0], member) for member in value)
    if is_dataclass(hint) and isinstance(hint, type):
        return _built_record(hint, value)
    return _expected(isinstance(value, hint) and isinstance(value, bool) == (hint is bool), value, hint)


def _built_one_of(hints: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in hints:
        return None
    kinds = {hint.__name__: hint for hint in hints if is_dataclass(hint) and isinstance(hint, type)}
    name = value.get("type") if isinstance(value, dict) else None
    return _built(kinds[_expected(name in kinds, name, " or ".join(kinds))], value)


def _built_record(kind: type, value: Any) -> Any:
    _expected(isinstance(value, dict) and value.get("type") == kind.__name__, value, kind.__name__)
    hints = _hints(kind)
    missing = [
        f.name for f in fields(kind) if f.name not in value and f.repr
    ]  # the others are written if there are any
    _expected(not missing, missing, f"fields of a {kind.__name__}")
    found = kind(**{f.name: _built(hints[f.name], value[f.name]) for f in fields(kind) if f.name in value})
    if isinstance(found, Image) and not is_ours(found.svg):  # pages show it as it is
        raise _unreadable("a picture in it has more than shapes and words")
    return found


def _expected(holds: bool, value: Any, hint: Any) -> Any:
    if not holds:
        shown = repr(value)
        raise _unreadable(f"{shown if len(shown) < 60 else shown[:57] + '...'} stands where {hint} should be")
    return value
