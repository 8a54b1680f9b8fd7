"""Findings in words: one line beside an explanation, everything for those who ask why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradexplain.exposition.model import Finding, Waypoint
from gradexplain.language import say
from gradexplain.render.blocks import Block, Note, StepItem, Steps, Table, line
from gradexplain.render.derivations import line_of
from gradexplain.render.listings import number

_SHORT = 4  # entries of an array on a path
_NARROW = 20  # characters of it
_QUIET = ("branch", "note", "meaning")


def remark(record: Finding) -> Note:
    """A finding in one line."""
    return Note(line(say(record.text) + line_of(record.place)), "info" if record.kind in _QUIET else "warning")


def finding(record: Finding) -> Iterator[Block]:
    """A finding with its code, the path, the factor, what is not the cause, and what to do."""
    said = remark(record)
    has_more = record.path or record.factor or record.ruled_out or record.fix
    yield Note((*said.line, *line(f" [{record.code}]")), said.kind) if has_more and record.code else said
    if len(record.path) > 1:
        yield _path(record.path)
    told = [
        *([say("factor: {text}", text=say(record.factor))] if record.factor else []),
        *(say("not the cause: {text}", text=say(text)) for text in record.ruled_out),
        *([say("what to do: {text}", text=say(record.fix))] if record.fix else []),
    ]
    items = tuple(StepItem(line(text)) for text in told)
    if items:
        yield Steps(items, ordered=False)


def _path(path: tuple[Waypoint, ...]) -> Table:
    """The way from the argument to the result, without the columns that are empty."""
    headers = (say("on the path"), say("value"), say("factor"), say("line"), "")
    rows = [_row(w) for w in path]
    kept = [k for k in range(len(headers)) if any(row[k] for row in rows)]
    return Table(tuple(headers[k] for k in kept), tuple(tuple(line(row[k]) for k in kept) for row in rows))


def _row(w: Waypoint) -> tuple[str, ...]:
    if w.skipped:
        return (say("… {count} more", count=w.skipped), "", "", "", "")
    place = "" if w.place is None else str(w.place.line)
    return w.text, _value(w.value), _factor(w.factor), place, say("here") if w.is_culprit else ""


def _value(value: Any) -> str:
    """A number, or a short array; of others the shape."""
    written = number(value) if np.size(value) <= _SHORT else ""
    return written if written and len(written) <= _NARROW else str(np.shape(value))


def _factor(factor: Any) -> str:
    if isinstance(factor, tuple):
        return say("{low} .. {high}", low=number(factor[0]), high=number(factor[1]))
    return number(factor)
