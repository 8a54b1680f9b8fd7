"""`Display`: a record with the methods by which terminals, notebooks and files show it."""

from __future__ import annotations

from typing import Any

from gradexplain.render import text
from gradexplain.render.blocks import Document
from gradexplain.render.document import of


class Display:
    """Shows a record (`data`) as text, Markdown, LaTeX, HTML, JSON, in a rich terminal and in notebooks.

    A format is loaded when it is first asked for: the command line starts faster by as much.
    """

    def __init__(self, data: Any) -> None:
        self._data = data

    @property
    def data(self) -> Any:
        """The record itself: frozen plain data."""
        return self._data

    @property
    def document(self) -> Document:
        """The record in blocks, as all formats print it."""
        return of(self.data)

    def to_text(self, width: int = 80, *, unicode: bool = False) -> str:
        """Plain text; ASCII unless `unicode`."""
        return text.render(self.document, width=width, unicode=unicode)

    def to_markdown(self) -> str:
        """Markdown with LaTeX in the subset that KaTeX and MathJax share."""
        from gradexplain.render import markdown

        return markdown.render(self.document)

    def to_latex(self, *, standalone: bool = False) -> str:
        """A LaTeX fragment, or a whole document that compiles."""
        from gradexplain.render import latex

        return latex.standalone(self.document) if standalone else latex.fragment(self.document)

    def to_html(self) -> str:
        """One HTML page that needs no network and no script."""
        from gradexplain.render import html

        return html.page(self.document)

    def to_json(self) -> str:
        """The record as JSON."""
        from gradexplain.render import json_

        return json_.dumps(self.data)

    def __str__(self) -> str:
        return self.to_text()

    def __rich__(self) -> Any:
        from gradexplain.render import terminal

        return terminal.render(self.document)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from gradexplain.render import bundle

        return bundle.mimebundle(self.document)
