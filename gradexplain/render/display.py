"""`Display`: a record with the methods by which terminals, notebooks and files show it.

Here the settings (`settings.current`) meet the formats, which know nothing of them. A format is loaded when it is first
asked for: the command line starts faster by as much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradexplain.errors import ArgumentError
from gradexplain.settings import current

if TYPE_CHECKING:
    from gradexplain.render.blocks import Document


class Display:
    """Shows a record (`data`) as text, Markdown, LaTeX, HTML, JSON, in a rich terminal and in notebooks."""

    def __init__(self, data: Any) -> None:
        self._data = data

    @property
    def data(self) -> Any:
        """The record itself: frozen plain data."""
        return self._data

    @property
    def document(self) -> Document:
        """The record in blocks, as all formats print it."""
        from gradexplain.render.document import of

        return of(self.data)

    @property
    def screen(self) -> Document:
        """The blocks as a notebook shows them: the answer first, the rest folded away."""
        from gradexplain.render import screen

        return screen.of(self.data)

    def to_text(self, width: int | None = None, *, unicode: bool | None = None) -> str:
        """Plain text, of the width and the characters given here or in `options`: by default 80 columns of ASCII.

        Where the language is Chinese the words need more than ASCII, and `unicode` is about formulas alone.
        """
        from gradexplain.render import text

        now = current()
        return text.render(
            self.document,
            width=now.width if width is None else width,
            unicode=now.unicode if unicode is None else unicode,
            mathematics=now.transposes,
        )

    def to_markdown(self) -> str:
        """Markdown with LaTeX in the subset that KaTeX and MathJax share."""
        from gradexplain.render import markdown

        return markdown.render(self.document)

    def to_latex(self, *, standalone: bool = False) -> str:
        """A LaTeX fragment, or a whole document that compiles."""
        from gradexplain.render import latex

        return latex.standalone(self.document) if standalone else latex.fragment(self.document)

    def to_html(self) -> str:
        """One HTML page that needs no network and no script; its colours follow the reader's system, or `options`."""
        from gradexplain.render import html

        now = current()
        return html.page(self.document, theme=now.theme, language=now.language)

    def to_json(self) -> str:
        """The record and its blocks as JSON; `from_json` makes something of it that renders alike."""
        from gradexplain.render import json_

        return json_.dumps(self.data, document=self.document, screen=self.screen)

    @property
    def writers(self) -> Mapping[str, Callable[[], str | bytes]]:
        """How to write the formats of files, by the ending of the file's name."""
        return {
            ".txt": self.to_text,
            ".md": self.to_markdown,
            ".tex": lambda: self.to_latex(standalone=True),
            ".html": self.to_html,
            ".json": self.to_json,
        }

    def save(self, path: str | Path) -> None:
        """Writes a file in the format that its name ends with: .html, .tex, .md, .txt, .json, ….

        Raises `ArgumentError` for an ending that stands for no format, or where the file can't be written.
        """
        write = self.writers.get(Path(path).suffix.lower())
        if write is None:
            raise ArgumentError(
                f"the name {str(path)!r} does not tell a format", fix=f"end it with one of {', '.join(self.writers)}"
            )
        written = write()
        try:
            Path(path).write_bytes(written if isinstance(written, bytes) else written.encode())
        except OSError as error:
            raise ArgumentError(f"can't write {path}: {error.strerror}", fix="choose another file") from None

    def __str__(self) -> str:
        return self.to_text()

    def __rich__(self) -> Any:
        from gradexplain.render import terminal

        return terminal.render(self.document, mathematics=current().transposes, in_english=lambda: self.document)

    @property
    def _shown(self) -> Mapping[str, Callable[[], str]]:
        """How to write what notebooks choose from, by MIME type."""
        from gradexplain.render import latex, markdown, text

        return {
            "text/plain": lambda: text.render(self.document, width=current().width),
            "text/markdown": lambda: markdown.render(self.screen),
            "text/latex": lambda: latex.display(self.document),
        }

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from gradexplain.render import bundle

        bundle.is_all(Display)
        return bundle.mimebundle(self._shown)

    def _repr_html_(self) -> str:
        """The page, for front ends that ask for HTML alone; notebooks get the bundle (see `bundle.is_all`)."""
        from gradexplain.render import bundle

        return bundle.written("text/html", self.to_html)

    def _repr_latex_(self) -> str:
        """One formula, for front ends that ask for LaTeX alone."""
        from gradexplain.render import bundle, latex

        return bundle.written("text/latex", lambda: latex.display(self.document))
