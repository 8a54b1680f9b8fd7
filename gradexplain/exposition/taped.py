"""Records of what a tape recorded, and of what it did not and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from gradexplain.errors import Place

Status = Literal["recorded", "flat", "cut", "constant", "paused", "state"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One operation in the block of a tape: whether it was recorded, and if not, why."""

    number: int
    name: str  # what the user calls the result, "" without a name
    operation: str
    status: Status
    reason: str
    shape: tuple[int, ...]
    value: Any  # of numbers; None for arrays
    place: Place | None


@dataclass(frozen=True, slots=True)
class Recording:
    """A tape: what it watched, and the operations that happened while it listened."""

    watched: tuple[str, ...]
    rows: tuple[Recorded, ...]
