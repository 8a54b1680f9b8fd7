"""What a tape keeps, and how it shows it: records, graph, explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradexplain.tape.recording import Operation
from gradexplain.tape.tensor import Tensor


class Explained:
    """The record of a tape."""

    def __init__(self) -> None:
        self.forget()
        self.spans: list[list[int]] = []  # the serial numbers between which it recorded

    def forget(self) -> None:
        """Empties the record."""
        self.operations: list[Operation] = []
        self.skipped: list[Operation] = []  # what happened in the block, but not to anything watched
        self.tracked: set[int] = set()
        self.watched: dict[int, Tensor] = {}
        self.variables: dict[int, tuple[Any, list[Tensor]]] = {}

    def _entered(self) -> None:
        self.spans.append([Tensor(0.0, literal=True).serial, 0])

    def _left(self) -> None:
        self.spans[-1][1] = Tensor(0.0, literal=True).serial

    def _remember(self, results: Sequence[Any], target: Any, sources: Sequence[Any]) -> None:
        for result, source in zip(results, sources, strict=True):
            if isinstance(result, Tensor):
                result.origin = (self, target, source)
