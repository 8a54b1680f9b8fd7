"""Checks in words: the point, and the verdict in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gradexplain.exposition.model import CheckReport, CheckRow
from gradexplain.render.blocks import Note, line
from gradexplain.render.formula import derivative_of
from gradexplain.render.listings import number
from gradexplain.settings import current


def point_text(point: Sequence[tuple[str, Any]]) -> str:
    """The point in a sentence; arrays by their shapes."""
    return ", ".join(
        f"{name} = {number(value)}" if np.ndim(value) == 0 else f"{name} of shape {np.shape(value)}"
        for name, value in point
    )


def check_line(report: CheckReport, output: str) -> Note:
    """The check in one line: its one row, its first bad row, or the count of what passed."""
    at = point_text(report.point)
    lead = f"check  {at}: " if at else "check  "
    bad = [row for row in report.rows if row.verdict != "pass"]
    if not bad and report.entries > len(report.rows):
        along = "a random direction" if len(report.rows) == 1 else f"{len(report.rows)} random directions"
        counted = f"{report.entries} entries agree with difference quotients along {along}"
        return Note(line(f"{lead}{counted}  ok"), "ok")
    if not bad and len(report.rows) > 1:
        counted = f"{len(report.rows)} {'entries' if at else 'values'} agree with difference quotients"
        return Note(line(f"{lead}{counted}  ok"), "ok")
    row = (bad or report.rows)[0]
    claimed = f"{_entry(output, row, partial=len(report.point) > 1)} = {number(row.claimed)}"
    verdict = "ok" if row.verdict == "pass" else row.verdict
    if row.reason and not bad:  # a kink, a vertical tangent, an edge: one quotient would say too little
        return Note(line(f"{lead}{claimed}  ok: {row.reason}"), "ok")
    reason = f": {row.reason}" if row.reason else ""
    kind: Literal["ok", "error", "warning"] = "ok" if not bad else "error" if row.verdict == "fail" else "warning"
    return Note(line(f"{lead}{claimed}, {_quotient(row)}  {verdict}{reason}"), kind)


def _entry(output: str, row: CheckRow, *, partial: bool) -> str:
    """The name of an entry; a row's name may say where it was looked at."""
    key, at, place = row.name.partition(" at ")
    if key.startswith("direction "):
        return f"slope along {key}"
    return derivative_of(output, tuple(key.split(",")), partial=partial).text + at + place


def _quotient(row: CheckRow) -> str:
    digits = current().precision + 1
    return "no difference quotient" if row.quotient is None else f"difference quotient {row.quotient:#.{digits}g}"
