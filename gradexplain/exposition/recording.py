"""Why a tape has no derivative for a source: from what the tape knows to the cause, the fix and the path.

The tape fills in a `Missing` and does not decide anything; the rows of `_ROWS` do, from the first that fits. What is no
missing derivative (a sparse one, one that TensorFlow has otherwise, a tape that was used up) is a `causes.finding`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from gradexplain.errors import Place
from gradexplain.exposition.causes import finding
from gradexplain.exposition.model import Finding, Waypoint
from gradexplain.language import Sentence

Break = Literal["numpy", "stopped", "assigned", "integer", "flat", "no-rule"]
_CODES: dict[Break, str] = {
    "numpy": "numpy-detour",
    "stopped": "stopped",
    "assigned": "assigned",
    "integer": "integer-path",
    "flat": "flat-only",
    "no-rule": "no-rule",
}
_UPDATE = "call tape.watch({name}); a Variable stays one with {name}.assign_sub(...), {name} = {name} - ... is a tensor"
BREAKS = tuple(_CODES.values())


@dataclass(frozen=True, slots=True)
class Cut:
    """The operation at which a path ends: how, its text as the program has it, and its line."""

    kind: Break
    operation: str
    place: Place | None = None
    dtype: str = ""  # of its result, where it is an integer or a truth value
    fix: str = ""  # of an operation without a rule


@dataclass(frozen=True, slots=True)
class Missing:
    """What a tape knows of a source and a target between which it has no derivative.

    `path` leads from the source as far as there are records; `place` is where the source was made, `target_place`
    where the target was. A Variable counts as watched when the tape has seen it being read.
    """

    name: str
    target: str = "the target"
    path: tuple[Waypoint, ...] = ()
    place: Place | None = None
    target_place: Place | None = None
    # The source.
    kind: str = "tensor"  # the class of what was given as the source
    dtype: str = "float32"
    value: Any = None
    is_tensor: bool = True
    is_floating: bool = True
    is_variable: bool = False
    is_trainable: bool = True
    is_watched: bool = True
    is_automatic: bool = True  # the tape watches Variables by itself
    is_watched_late: bool = False  # it had been used in the block when watch was called
    is_made_before: bool = False  # computed, but before the tape began
    is_made_after: bool = False  # made when the tape had recorded
    is_updated: bool = False  # the result of a sum or a difference, as x = x - rate*gradient makes it
    computed_by: str = ""  # the operation that made it, if its name stood for another tensor before
    is_read: bool = True  # by a recorded operation
    # The target.
    is_recorded: bool = True
    is_gradient: bool = False  # the target came out of gradient()
    is_literal: bool = False
    unrecorded: str = ""  # the operation that was not recorded, and so made the target a constant
    cut: Cut | None = None


def none(missing: Missing) -> Finding:
    """Why a derivative is None.

    >>> none(Missing("x", is_watched=False)).text
    'x is a constant tensor that this tape does not watch'
    >>> none(Missing("x", cut=Cut("stopped", "tf.stop_gradient(u)"))).code
    'stopped'
    """
    code = next(code for code, fits in _ROWS if fits(missing))
    if code == "cut":
        assert missing.cut is not None
        return _at_cut(missing, missing.cut)
    values: dict[str, Any] = {
        "name": missing.name,
        "target": missing.target,
        "dtype": missing.dtype,
        "kind": missing.kind,
        "operation": missing.computed_by if code == "computed-copy" else missing.unrecorded or missing.target,
        "value": missing.value,
        "literal": _as_float(missing.value),
    }
    place = missing.target_place if code in _ABOUT_THE_TARGET else missing.place
    fix = Sentence(_UPDATE, name=missing.name) if code == "made-before" and missing.is_updated else None
    return finding(code, place, path=missing.path, ruled_out=_ruled_out(missing, code), fix=fix, **values)


def _at_cut(missing: Missing, cut: Cut) -> Finding:
    """The finding where a path ends; its last value is where it does."""
    path = (*missing.path[:-1], replace(missing.path[-1], is_culprit=True)) if missing.path else ()
    values: dict[str, Any] = {"name": missing.name, "target": missing.target, "operation": cut.operation}
    values |= {"formula": cut.operation, "dtype": cut.dtype, "what": cut.operation, "do": cut.fix}
    ruled_out = [Sentence("{name} is watched, and operations read it", name=missing.name)]
    return finding(_CODES[cut.kind], cut.place, path=path, factor="0", ruled_out=ruled_out, **values)


def _ruled_out(missing: Missing, code: str) -> list[Sentence]:
    """What is in order, where the reason is another."""
    found = []
    if code in _ABOUT_THE_TARGET and missing.is_watched:
        found.append(Sentence("{name} is watched, and operations read it", name=missing.name))
    elif code == "unused" and missing.is_watched:
        found.append(Sentence("{name} is watched", name=missing.name))
    if code != "integer-dtype" and missing.is_floating:
        found.append(Sentence("its dtype {dtype} is one that has derivatives", dtype=missing.dtype))
    return found


def _as_float(value: Any) -> str:
    return f"{value}.0" if isinstance(value, int) else str(value)


_ABOUT_THE_TARGET = ("gradient-not-recorded", "not-recording", "literal-target", "unrelated")
_ROWS: Sequence[tuple[str, Callable[[Missing], bool]]] = (
    ("not-a-tensor", lambda m: not m.is_tensor),
    ("integer-dtype", lambda m: not m.is_floating),
    ("not-trainable", lambda m: m.is_variable and not m.is_trainable and not m.is_watched),
    ("made-after", lambda m: m.is_made_after),
    ("not-automatic", lambda m: m.is_variable and not m.is_watched and not m.is_automatic),
    ("watched-too-late", lambda m: m.is_watched_late),
    ("computed-copy", lambda m: not m.is_watched and bool(m.computed_by)),
    ("made-before", lambda m: not m.is_watched and m.is_made_before),
    ("not-watched", lambda m: not m.is_watched and not m.is_variable),
    ("gradient-not-recorded", lambda m: m.is_gradient and not m.is_recorded),
    ("not-recording", lambda m: bool(m.unrecorded)),
    ("cut", lambda m: m.cut is not None),
    ("literal-target", lambda m: m.is_literal),
    ("unused", lambda m: not m.is_read),
    ("unrelated", lambda m: True),
)
