"""What the questions that users ask give back: the verdict of a check, the findings on why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradexplain.exposition.model import Finding
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


class FindingsDisplay(Display):
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

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<findings: {', '.join(filter(None, self.codes)) or 'none'}>"
