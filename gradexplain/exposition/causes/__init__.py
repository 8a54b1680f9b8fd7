"""The catalogue of causes: why a derivative is None, zero, infinite, NaN, huge, or not what was expected.

One cause is one row; its code is stable. Functions and tapes make their findings with `finding`, the page
`docs/findings.md` is made from the rows, and every row has an example and a near twin without the cause in the tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradexplain.errors import Place
from gradexplain.exposition.causes import functions, tapes
from gradexplain.exposition.causes.cause import Cause
from gradexplain.exposition.model import Finding, Waypoint
from gradexplain.language import Sentence

CAUSES: Mapping[str, Cause] = {row.code: row for row in (*functions.ROWS, *tapes.ROWS)}


def finding(
    code: str,
    place: Place | None = None,
    *,
    text: Sentence | None = None,
    path: Sequence[Waypoint] = (),
    factor: str = "",
    ruled_out: Sequence[str] = (),
    fix: str | None = None,
    **values: Any,
) -> Finding:
    """A finding of the catalogue; `values` are what its sentences speak of. Raises `KeyError` if one is missing.

    >>> found = finding("unused", name="y")
    >>> found.kind, found.text, found.fix
    ('unused', 'y does not appear: its derivative is 0', 'use y in the result, or leave it out')
    """
    row = CAUSES[code]
    said = _filled(row.sentence, values) if text is None else text
    advice = _filled(row.fix, values) if fix is None else fix
    return Finding(row.kind, said, place, code, values.get("name", ""), tuple(path), factor, tuple(ruled_out), advice)


def _filled(template: str, values: Mapping[str, Any]) -> str:
    template.format(**values)  # a value that is missing is an error, also where none is given
    return Sentence(template, **values)


def is_quiet(found: Finding) -> bool:
    """Whether a finding is for those who ask."""
    return found.code in CAUSES and CAUSES[found.code].quiet
