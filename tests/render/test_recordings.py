"""The words of a tape's record."""

from __future__ import annotations

from gradexplain.errors import Place
from gradexplain.exposition.taped import Recorded, Recording
from gradexplain.language import Sentence
from gradexplain.render import document, text

PLACE = Place("f.py", 7, "f", "u = x * x")
ROWS = (
    Recorded(1, "u", "mul", "recorded", "", (), 9.0, PLACE),
    Recorded(2, "", "round", "flat", Sentence("but it has no derivative"), (2,), None, None),
    Recorded(3, "s", "stop_gradient", "cut", Sentence("by stop_gradient"), (), 9.0, PLACE),
)


def test_a_table():
    shown = text.render(document.of(Recording(("x", "w"), ROWS)), width=80)
    assert shown.splitlines() == [
        "What the tape recorded",
        "======================",
        "",
        "watched: x, w",
        "",
        "name  operation      value       line  recorded?",
        "----  -------------  ----------  ----  -----------------------------",
        "u     mul            9           7     yes",
        "      round          shape (2,)        yes: but it has no derivative",
        "s     stop_gradient  9           7     cut: by stop_gradient",
    ]


def test_nothing():
    shown = text.render(document.of(Recording((), ())), width=80)
    assert "nothing is watched" in shown
    assert "nothing happened" in shown
