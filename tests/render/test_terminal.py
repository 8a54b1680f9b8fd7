"""A rich console: poor encodings, narrow widths, and no markup in foreign text."""

import io
import re

import pytest
from rich.console import Console

from gradexplain.render import terminal
from gradexplain.render.blocks import Document, Paragraph, line

from .sample import HOSTILE, SAMPLE, formulas, hostile_document


def printed(document: Document, encoding: str = "utf-8", width: int = 80, colour: bool = False) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    console = Console(
        file=stream,
        width=width,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        legacy_windows=False,
    )
    console.print(terminal.render(document))
    stream.flush()
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "cp437", "utf-8", "utf-16"])
@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_stream_raises(hostile: str, encoding: str) -> None:
    assert "\x1b" not in printed(hostile_document(hostile), encoding)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_formula_is_lost(encoding: str, width: int) -> None:
    written = re.sub(r"\s+", "", printed(SAMPLE, encoding, width))
    for formula in formulas(SAMPLE):
        plain = re.sub(r"\s+", "", formula.text)
        assert plain in written.replace("·", "*").replace("²", "**2")


def test_words_wider_than_the_console_are_folded_and_not_cropped() -> None:
    assert printed(Document("", (Paragraph(line("n" * 50)),)), width=20).replace("\n", "") == "n" * 50


def test_markup_and_emoji_codes_are_text() -> None:
    assert printed(Document("", (Paragraph(line("[red]x[/red] :smile: [link=a]b[/link]")),)), colour=True) == (
        "[red]x[/red] :smile: [link=a]b[/link]\n"
    )


def test_colour_adds_nothing_but_colour() -> None:
    coloured = printed(SAMPLE, colour=True)
    assert "\x1b[36m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == printed(SAMPLE)


def test_ascii_streams_get_transliterations() -> None:
    assert printed(SAMPLE, "ascii").startswith("y = x^2 * sin(x)\n")
    assert printed(SAMPLE, "cp1252").startswith("y = x² · sin(x)\n")
