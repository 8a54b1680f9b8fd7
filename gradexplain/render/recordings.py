"""A tape in words: a table of the operations, with what was recorded and what was not and why."""

from __future__ import annotations

from collections.abc import Iterator

from gradexplain.exposition.taped import Recorded, Recording
from gradexplain.language import say
from gradexplain.render.blocks import Block, Line, Note, Paragraph, Table, line
from gradexplain.render.listings import number

_IS_RECORDED = {"recorded": "yes", "flat": "yes", "cut": "cut", "constant": "no", "paused": "no", "state": "no"}


def recording(record: Recording) -> Iterator[Block]:
    """The blocks of a tape's record."""
    names = say(", ").join(record.watched)
    yield Paragraph(line(say("watched: {names}", names=names) if names else say("nothing is watched")))
    if not record.rows:
        yield Note(line(say("nothing happened while the tape recorded")), "info")
        return
    headers = (say("name"), say("operation"), say("value"), say("line"), say("recorded?"))
    yield Table(headers, tuple(_row(row) for row in record.rows))


def _row(row: Recorded) -> tuple[Line, ...]:
    value = number(row.value) if row.value is not None else say("shape {shape}", shape=str(row.shape))
    status = say(_IS_RECORDED[row.status])
    told = say("{sentence}: {remark}", sentence=status, remark=say(row.reason)) if row.reason else status
    where = str(row.place.line) if row.place is not None else ""
    return tuple(line(text) for text in (row.name, row.operation, value, where, told))
