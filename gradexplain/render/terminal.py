"""A rich console: the layout of plain text, in colour, at the width of the console.

The only module that imports rich. Foreign text enters as `rich.text.Text`, so rich reads no markup in it, and control
characters in it are visible escapes. Whatever the console's encoding can't express is transliterated. Colour repeats
what words already say. Another colour is another entry of `STYLES`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from gradexplain.language import is_encodable
from gradexplain.render import text
from gradexplain.render.blocks import Document
from gradexplain.settings import language
from gradexplain.settings import options as settings

STYLES: dict[text.Role, str] = {
    "text": "",
    "strong": "bold",
    "formula": "cyan",
    "code": "magenta",
    "title": "bold",
    "muted": "dim",
    "ok": "green",
    "warning": "yellow",
    "error": "bold red",
    "info": "",
}


def render(
    document: Document, *, mathematics: bool = False, in_english: Callable[[], Document] | None = None
) -> RenderableType:
    """Return the document as something that a rich console prints; in English if it can't show the language.

    >>> from rich.console import Console
    >>> Console(width=80).print(render(Document("y = x**2")))
    y = x**2
    ========
    """
    return TerminalDocument(document, mathematics, in_english)


@dataclass(frozen=True, slots=True)
class TerminalDocument:
    """A document that waits for the width and the encoding of the console that prints it."""

    document: Document
    mathematics: bool = False
    in_english: Callable[[], Document] | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield one `rich.text.Text` a line, folded rather than cropped where a word is wider than the console."""
        page = text.Page(options.max_width, options.encoding, self.mathematics)
        if self.in_english is None or is_encodable(language(), options.encoding):
            lines = list(text.laid_out(self.document, page))
        else:
            with settings(language="en"):
                lines = list(text.laid_out(self.in_english(), page))
        blank = False
        for laid in lines:
            # An empty line goes out once more follows, so that none stands at the end.
            if blank:
                yield Text("")
            blank = not laid
            if laid:
                yield _coloured(laid)


@dataclass(frozen=True, slots=True)
class TerminalDrawing:
    """A drawing in characters that waits for the width of the console and for whether it shows more than ASCII."""

    write: Callable[[int, bool], str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, which are not wrapped."""
        for row in self.write(options.max_width, options.encoding.startswith("utf")).split("\n"):
            yield Text(row, no_wrap=True, overflow="ignore")


def _coloured(laid: text.Laid) -> Text:
    coloured = Text(overflow="fold")
    for role, pieces in groupby(laid, key=lambda piece: piece.role):
        coloured.append("".join(piece.text for piece in pieces), STYLES[role])
    coloured.rstrip()
    return coloured
