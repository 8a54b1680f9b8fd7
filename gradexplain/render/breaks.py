"""How wide a text is, and where one that is too long for a line is broken: a formula, or Chinese."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence

LEGIBLE = 18  # columns of a cell that can be read where its text wraps
CONTINUATION = 4  # further indent of a formula that did not fit on its line
_OPENING, _CLOSING = "（“", "，。：；、）”"


def broken(formula: str, width: int) -> list[str]:
    """Break a formula into lines, each (but the first, less the indent) within ``width`` if operators allow.

    Among the places that fit, one outside of parentheses is preferred, then one between terms, then the last one.
    """
    lines, start, room = [], 0, width
    points, first = _break_points(formula), 0
    while len(formula) - start > room and first < len(points):
        last = bisect_left(points, (start + room + 1,), lo=first + 1)
        late = [point for point in points[first:last] if point[0] - start > room // 2] or points[first:last]
        best = min(rank for _, rank in late)
        end = max(position for position, rank in late if rank == best)
        lines.append(formula[start:end].strip())
        first = bisect_left(points, (end + 1,), lo=first)
        start, room = end, width - CONTINUATION
    return [*lines, formula[start:].strip()]


def _break_points(formula: str) -> list[tuple[int, int]]:
    """Return (position, rank) of the places where a line may end: at spaces, and after ``*``, ``/`` and ``@``.

    The rank grows with the nesting, and is odd after a factor.
    """
    points, depth = [], 0
    for match in re.finditer(r"[(\[{]|[)\]}]|(?<![-+=<>]) (?=\S)|(?:\*\*?|[/@·])(?=[^*])", formula):
        if match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            depth -= 1
        elif match[0] != "**":
            points.append((match.end(), 2 * depth + (match[0] != " ")))
    return points


def shared_out(room: int, natural: Sequence[int]) -> list[int]:
    """The widths of a table's columns within a room: the widest wrap, as far as what is in them can still be read.

    Without any where there is too little room.

    >>> shared_out(60, [6, 60, 40]), shared_out(40, [6, 60, 40])
    ([6, 27, 27], [])
    """
    widths = list(natural)
    while sum(widths) > room:
        widest = widths.index(max(widths))
        if widths[widest] <= LEGIBLE:
            return []
        widths[widest] -= 1
    return widths


def may_break(before: str, after: str) -> bool:
    """Whether a line may end between two characters: beside a wide one, but not before a comma or after a bracket.

    >>> may_break("导", "数"), may_break("数", "。"), may_break("d", "y")
    (True, False, False)
    """
    is_wide = columns(before) == 2 or columns(after) == 2
    return is_wide and before not in _OPENING and after not in _CLOSING


def columns(text: str) -> int:
    """Return how many columns a terminal needs: two for a wide character, none for an accent."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)
