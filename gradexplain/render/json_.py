r"""JSON: records as data for other programs, nothing left out.

`dumps` writes any record; the same value gives the same characters in every process. On the top level stands
``"schema"``, raised whenever a reader of the old form would misread the new one.

===============================  =======================================================================
value                            JSON
===============================  =======================================================================
dataclass                        ``{"type": its class, field: value, …}``, fields that are not in its repr apart
mapping, sequence, array         object (in its order), array, nested arrays
set                              array, sorted
nan, infinities                  ``"nan"``, ``"inf"``, ``"-inf"``
complex, `Fraction`              ``{"complex": [re, im]}``, ``{"fraction": [p, q]}``
mpmath number                    ``{"mpf": "all digits"}``
SymPy object                     ``{"text": …, "latex": …}``
enum                             its value if that is text, else its name
function, class, module          ``{"type": "function", "name": …}``
anything else                    ``{"type": its class, "text": …}``
===============================  =======================================================================

To give another class a form of its own: ``@plain.register``, a function from its objects to something in the left
column. Nesting may be of any depth; an object inside itself is written ``{"cycle": its class}``.
"""

import dataclasses
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from fractions import Fraction
from functools import singledispatch
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from gradexplain.simplify import printing
from gradexplain.simplify.arrangement import Arrangement
from gradexplain.simplify.rewrite import Rewrite

SCHEMA = 2
# Python refuses to write longer integers in decimal, so that nobody can stop a server with one.
DECIMAL_BITS = 10_000
_ARRANGED = {"expr", "where", "raw", "rewrites", "result"}  # closed forms, in records that say how they are written


def dumps(value: object, **beside: object) -> str:
    """Return a record as one line of JSON; what else is given by name stands after its fields.

    >>> from gradexplain.render.blocks import Formula
    >>> dumps(Formula("2*x", "2 x"))
    '{"schema": 2, "type": "Formula", "text": "2*x", "latex": "2 x"}'
    >>> dumps([Fraction(1, 3), float("nan")], n=1)
    '{"schema": 2, "value": [{"fraction": [1, 3]}, "nan"], "n": 1}'
    """
    shape = plain(value)
    content = shape if isinstance(shape, dict) else {"value": value}
    return "".join(_tokens({"schema": SCHEMA, **content, **beside}))


class _Open(NamedTuple):
    """An object or array that is being written: what is left to write, how it ends, what it stands for."""

    members: Iterator[tuple[str, object]]
    end: str
    value: object  # kept, so that its id stays its own


def _tokens(value: object) -> Iterator[str]:
    """Yield the JSON of a value piece by piece, without recursion."""
    opened = [_Open(iter([("", value)]), "", None)]
    inside: set[int] = set()
    while opened:
        member = next(opened[-1].members, None)
        if member is None:
            closed = opened.pop()
            inside.discard(id(closed.value))
            yield closed.end
            continue
        lead, value = member
        yield lead
        if id(value) in inside:
            yield json.dumps({"cycle": type(value).__name__})
            continue
        if _is_plain_array(value):
            yield json.dumps(np.asarray(value).tolist())
            continue
        shape = plain(value)
        if isinstance(shape, dict):
            yield "{"
            opened.append(_Open(_members(shape), "}", value))
        elif isinstance(shape, list):
            yield "["
            opened.append(_Open(((", " if n else "", item) for n, item in enumerate(shape)), "]", value))
        else:
            yield json.dumps(shape)
            continue
        inside.add(id(value))


def _is_plain_array(value: object) -> bool:
    """Whether an array holds nothing but numbers that JSON has: a million of them are not looked at one by one."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu" or value.dtype.itemsize > 8:
        return False
    return bool(value.ndim and np.all(np.isfinite(value)))


def _members(shape: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for n, (key, value) in enumerate(shape.items()):
        yield f"{', ' if n else ''}{json.dumps(key)}: ", value


Shape = dict[str, Any] | list[Any] | str | int | float | None


@singledispatch
def plain(value: object) -> Shape:
    """Return a value as JSON has it, one level deep: what is inside is not yet plain.

    >>> plain(np.array([[1.0, 2.0]])), plain(np.float32(0.5)), plain(Fraction)
    ([array([1., 2.])], 0.5, {'type': 'type', 'name': 'Fraction'})
    """
    if isinstance(value, Rewrite):
        members = {"before": value.before, "after": value.after, "terms": value.terms}
        return {"type": "Rewrite", "rule": value.rule, **members, "evidence": value.evidence}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value) if f.repr and not f.name.startswith("_")]
        members = {name: getattr(value, name) for name in names}
        if marks := getattr(value, "marks", ()):  # what a step changed in a formula, where it changed something
            members["marks"] = marks
        arrangement = getattr(value, "arrangement", None)
        if isinstance(arrangement, Arrangement):
            members |= {name: _arranged(members[name], arrangement) for name in _ARRANGED & members.keys()}
        return {"type": type(value).__name__, **members}
    if _is_a(value, "sympy", "Basic") or _is_a(value, "sympy", "MatrixBase"):
        return {"text": _text(value), "latex": _latex(value)}
    if _is_a(value, "mpmath", "mpf"):
        return _mpf(value)
    if _is_a(value, "mpmath", "mpc"):
        return {"complex": [value.real, value.imag]}  # type: ignore[attr-defined]
    if isinstance(value, type | FunctionType | MethodType | BuiltinFunctionType | ModuleType):
        kind = "type" if isinstance(value, type) else type(value).__name__
        return {"type": kind, "name": getattr(value, "__qualname__", value.__name__)}
    return {"type": type(value).__name__, "text": _text(value)}


def _arranged(value: object, arrangement: Arrangement) -> object:
    """Return a record with its formulas written as an arrangement has them."""
    if _is_a(value, "sympy", "Basic"):
        return {"text": printing.text(value, arrangement), "latex": printing.latex(value, arrangement)}
    if isinstance(value, Mapping):
        return {name: _arranged(member, arrangement) for name, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_arranged(member, arrangement) for member in value]
    if isinstance(value, Rewrite):
        members = {name: _arranged(getattr(value, name), arrangement) for name in ("before", "after")}
        terms = [_arranged(term, arrangement) for term in value.terms]
        return {"type": "Rewrite", "rule": value.rule, **members, "terms": terms, "evidence": value.evidence}
    return value


@plain.register(type(None))
@plain.register(bool)
def _(value: bool | None) -> Shape:
    return value


@plain.register
def _(value: str) -> Shape:
    return str(value)


@plain.register
def _(value: bytes) -> Shape:
    return {"type": "bytes", "text": _text(value)}


@plain.register
def _(value: int) -> Shape:
    return int(value) if value.bit_length() < DECIMAL_BITS else {"hex": hex(value)}


@plain.register(float)
@plain.register(np.floating)
def _(value: Any) -> Shape:
    number = float(value)
    return number if math.isfinite(number) else str(number)


@plain.register(complex)
@plain.register(np.complexfloating)
def _(value: Any) -> Shape:
    return {"complex": [float(value.real), float(value.imag)]}


@plain.register(np.integer)
def _(value: Any) -> Shape:
    return int(value)


@plain.register
def _(value: np.bool_) -> Shape:
    return bool(value)


@plain.register(np.ndarray)
def _(value: Any) -> Shape:
    # asarray: iterating over a numpy.matrix gives matrices again, without end.
    return list(np.asarray(value)) if value.ndim else plain(value.item())


@plain.register
def _(value: Fraction) -> Shape:
    return {"fraction": [value.numerator, value.denominator]}


@plain.register
def _(value: Enum) -> Shape:
    return value.value if isinstance(value.value, str) else value.name


@plain.register(Mapping)
def _(value: Mapping[Any, Any]) -> Shape:
    return {key if isinstance(key, str) else _text(key): member for key, member in value.items()}


@plain.register(Sequence)
def _(value: Any) -> Shape:
    return list(value)


@plain.register(AbstractSet)
def _(value: AbstractSet[Any]) -> Shape:
    return sorted(value, key=lambda member: "".join(_tokens(member)))


def _is_a(value: object, module: str, name: str) -> bool:
    """Tell whether the value is of a class of an optional or slow library, which is not loaded to find out."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _text(value: object) -> str:
    """Return the text of a value without its address in memory, which differs from run to run."""
    try:
        return re.sub(r" at 0x[0-9a-fA-F]+", "", str(value))
    except Exception:  # whatever the __str__ of a foreign class does, the record around it is written
        return f"<{type(value).__name__}>"


def _latex(value: object) -> str:
    try:
        return str(sys.modules["sympy"].latex(value))
    except Exception:  # an expression too deep for the printer, or of a class that has none
        return ""


def _mpf(value: Any) -> Shape:
    number = float(value)
    if not math.isfinite(number) and not value._mpf_[1]:
        return str(number)
    bits = value._mpf_[3]
    return {"mpf": sys.modules["mpmath"].nstr(value, max(1, math.ceil(bits * math.log10(2)) + 1))}
