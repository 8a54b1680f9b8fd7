"""What the questions that users ask give back: the verdict of a check, the findings on why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradexplain.render.display import Display


class CheckDisplay(Display):
    """A check's report: true if the derivative passed."""

    @property
    def ok(self) -> bool:
        """Whether nothing failed and something passed."""
        return bool(self.data.ok)

    @property
    def rows(self) -> Any:
        """A row for each entry or direction."""
        return self.data.rows

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return f"<check {'passed' if self.ok else 'not passed'}: {len(self.data.rows)} rows>"


class _ListDisplay(Display):
    """A record that is a list of others, to show, to go through, or to pick from; true if there are any."""

    @property
    def _listed(self) -> Sequence[Any]:
        found: Sequence[Any] = self.data
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def __getitem__(self, at: Any) -> Any:
        return self._listed[at]


class FindingsDisplay(_ListDisplay):
    """Findings with their causes, to show or to go through; true if there are any.

    >>> import gradexplain as gx
    >>> found = gx.why("abs(x) + y", x=0, y=1)
    >>> found
    <findings: kink>
    >>> [one.fix for one in found], len(found), "kink" in found.codes
    (['nothing is wrong if that slope will do; else choose a point beside it, or a smooth function'], 1, True)
    """

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings, in their order."""
        return tuple(found.code for found in self.data)

    def __repr__(self) -> str:
        return f"<findings: {', '.join(filter(None, self.codes)) or 'none'}>"


class RecordsDisplay(_ListDisplay):
    """What a tape recorded, and what not and why: an entry for each operation that happened in its block.

    >>> from gradexplain import tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     u = x * x
    ...     y = tf.stop_gradient(u) + u
    >>> len(tape.records), [row.operation for row in tape.records]
    (3, ['mul', 'stop_gradient', 'add'])
    >>> tape.records[1].status
    'cut'
    """

    @property
    def _listed(self) -> Sequence[Any]:
        found: Sequence[Any] = self.data.rows
        return found

    def __repr__(self) -> str:
        return f"<records of a tape: {len(self)} operations>"
