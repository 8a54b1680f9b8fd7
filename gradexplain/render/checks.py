"""Checks in words: the point, and the verdict in one line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gradexplain.exposition.model import CheckReport, CheckRow
from gradexplain.language import say
from gradexplain.render.blocks import Note, line
from gradexplain.render.formula import derivative_of
from gradexplain.render.listings import number
from gradexplain.settings import current


def point_text(point: Sequence[tuple[str, Any]]) -> str:
    """The point in a sentence; arrays by their shapes."""
    return say(", ").join(
        f"{name} = {number(value)}"
        if np.ndim(value) == 0
        else say("{name} of shape {shape}", name=name, shape=np.shape(value))
        for name, value in point
    )


def check_line(report: CheckReport, output: str) -> Note:
    """The check in one line: its one row, its first bad row, or the count of what passed."""
    at = point_text(report.point)
    lead = say("check  {point}: ", point=at) if at else say("check  ")
    bad = [row for row in report.rows if row.verdict != "pass"]
    if not bad and report.entries > len(report.rows):
        one = "{count} entries agree with difference quotients along a random direction"
        several = "{count} entries agree with difference quotients along {directions} random directions"
        counted = say(one if len(report.rows) == 1 else several, count=report.entries, directions=len(report.rows))
        return Note(line(say("{lead}{found}  ok", lead=lead, found=counted)), "ok")
    if not bad and len(report.rows) > 1:
        values = "{count} values agree with difference quotients"
        counted = say("{count} entries agree with difference quotients" if at else values, count=len(report.rows))
        return Note(line(say("{lead}{found}  ok", lead=lead, found=counted)), "ok")
    row = (bad or report.rows)[0]
    claimed = f"{_entry(output, row, partial=len(report.point) > 1)} = {number(row.claimed)}"
    verdict = say("ok" if row.verdict == "pass" else row.verdict)
    if row.reason and not bad:  # a kink, a vertical tangent, an edge: one quotient would say too little
        return Note(line(say("{lead}{found}  ok: {remark}", lead=lead, found=claimed, remark=say(row.reason))), "ok")
    kind: Literal["ok", "error", "warning"] = "ok" if not bad else "error" if row.verdict == "fail" else "warning"
    judged = say(
        "{lead}{claimed}, {quotient}  {verdict}", lead=lead, claimed=claimed, quotient=_quotient(row), verdict=verdict
    )
    if row.reason:
        judged = say("{sentence}: {remark}", sentence=judged, remark=say(row.reason))
    return Note(line(judged), kind)


def _entry(output: str, row: CheckRow, *, partial: bool) -> str:
    """The name of an entry; a row's name may say where it was looked at."""
    key, at, place = row.name.partition(" at ")
    if key.startswith("direction "):
        return say("slope along {direction}", direction=say(row.name))
    name = derivative_of(output, tuple(re.split(r",(?![^\[]*\])", key)), partial=partial).text
    return say("{name} at {point}", name=name, point=place) if at else name


def _quotient(row: CheckRow) -> str:
    if row.quotient is None:
        return say("no difference quotient")
    return say("difference quotient {value}", value=f"{row.quotient:#.{current().precision + 1}g}")
