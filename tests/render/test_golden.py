"""One document, every format, compared character by character with ``tests/golden``.

After a wanted change of looks:  GRADEXPLAIN_UPDATE_GOLDEN=1 pytest tests/render/test_golden.py
writes the files anew; read their diff before you commit it.
"""

import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from gradexplain.render import html, json_, latex, markdown, terminal, text
from gradexplain.render.blocks import Document

from .sample import SAMPLE

GOLDEN = Path(__file__).parents[1] / "golden"


def _printed(document: Document) -> str:
    console = Console(file=io.StringIO(), width=80, color_system=None, legacy_windows=False)
    console.print(terminal.render(document))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


FORMATS = {
    "sample.txt": lambda document: text.render(document) + "\n",
    "sample.40.txt": lambda document: text.render(document, width=40) + "\n",
    "sample.unicode.txt": lambda document: text.render(document, unicode=True) + "\n",
    "sample.terminal.txt": _printed,
    "sample.md": markdown.render,
    "sample.tex": latex.standalone,
    "sample.display.tex": lambda document: latex.display(document) + "\n",
    "sample.html": html.page,
    "sample.json": lambda document: json_.dumps(document) + "\n",
}


@pytest.mark.parametrize("name", FORMATS)
def test_output_is_as_recorded(name: str) -> None:
    written = FORMATS[name](SAMPLE)
    if os.environ.get("GRADEXPLAIN_UPDATE_GOLDEN"):
        (GOLDEN / name).write_text(written, encoding="utf-8", newline="\n")
    assert written == (GOLDEN / name).read_text(encoding="utf-8")


def test_terminal_without_colour_shows_what_unicode_text_shows() -> None:
    assert _printed(SAMPLE).rstrip() == text.render(SAMPLE, unicode=True)
