"""What a tape recorded, and what it did not and why, as a record that renders."""

from __future__ import annotations

from typing import Any

from gradexplain.exposition.taped import Recorded, Recording, Status
from gradexplain.language import Sentence
from gradexplain.tape.program import as_meant, names_in_frame, own_name
from gradexplain.tape.recording import Operation
from gradexplain.trace.source import name_of, place_of, user_frame

_CUT = {
    "stop_gradient": "by stop_gradient",
    "numpy_function": "it left for NumPy",
}


def recording(tape: Any) -> Recording:
    """The record of a tape."""
    names = names_in_frame(user_frame())
    recorded, paused = {id(op) for op in tape.operations}, {id(op) for op in tape.paused}
    everything = sorted([*tape.operations, *tape.skipped, *tape.paused], key=lambda op: op.outputs[0].serial)
    shown = [op for op in everything if not _is_silent(op)]
    rows = []
    for number, op in enumerate(shown, 1):
        status, reason = _status(op, recorded=id(op) in recorded, paused=id(op) in paused)
        result = op.outputs[0]
        is_last = number == len(shown) or shown[number].site != op.site
        name = names.get(result.serial) or (name_of(op.site) or "" if is_last else "")
        value = as_meant(result) if not result.shape and result.array.dtype.kind in "fiub" else None
        rows.append(Recorded(number, name, op.name, status, reason, tuple(result.shape), value, place_of(op.site)))
    watched = [own_name(v) or names.get(v.current.serial, v.name) for v in tape.watched_variables()]
    watched += [names.get(serial, t.name) for serial, t in tape.watched.items()]
    return Recording(tuple(watched), tuple(rows))


def _is_silent(op: Operation) -> bool:
    """Numbers that are spread over arrays, seeds, and the steps of assignments are no operations of the user's."""
    return op.name in ("broadcast_to", "ones") and op.call != "BroadcastTo"


def _status(op: Operation, *, recorded: bool, paused: bool) -> tuple[Status, str]:
    if paused:
        return "paused", Sentence("in stop_recording")
    if op.name in _CUT:
        return "cut", Sentence(_CUT[op.name])
    if op.name == "assign":
        return "state", Sentence("an assignment is a state")
    if not recorded:
        return "constant", Sentence("no operand is watched")
    if op.ends:
        return "flat", Sentence("but it has no derivative")
    return "recorded", ""
