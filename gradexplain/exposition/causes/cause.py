"""What a row of the catalogue is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gradexplain.exposition.model import FindingKind

Origin = Literal["function", "tape", "both"]


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause: the sentence that states it, what to do, and what it means; where it can occur.

    What is `quiet` is told to those who ask why, but not beside every explanation.
    """

    code: str
    kind: FindingKind
    sentence: str
    fix: str
    meaning: str
    origin: Origin = "function"
    quiet: bool = False
