"""`Picture`: what users get when they ask for something to look at, and how it is shown and saved."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Mapping
from typing import Any

from gradexplain import escape
from gradexplain.render.blocks import (
    Block,
    Gap,
    Image,
    Line,
    Note,
    Section,
    Table,
    announced,
    headers_shown,
    rows_shown,
)
from gradexplain.render.display import Display
from gradexplain.settings import current

LOGGER = logging.getLogger(__name__)


class Picture(Display):
    """A picture: SVG, the same in words (`alt`), and files of both. Notebooks show it, trusted or not."""

    @property
    def alt(self) -> str:
        """The picture in words, for those who can't see it."""
        return self._image.alt

    def to_svg(self) -> str:
        """One SVG element that needs nothing else: light or dark by the reader's setting."""
        return self._image.svg

    @property
    def _image(self) -> Image:
        return next(block for block in self.document.blocks if isinstance(block, Image))

    @property
    def writers(self) -> Mapping[str, Callable[[], str | bytes]]:
        """What files with this ending hold."""
        return {".svg": self.to_svg, **super().writers, ".txt": lambda: self.to_text(unicode=True)}

    def __repr__(self) -> str:
        return f"<Picture: {self.document.title}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(include, exclude)
        shown = {"text/plain": bundle["text/plain"]}
        try:
            shown["text/plain"] = self.to_text()
            shown["text/html"] = "\n".join(map(_portable, self.document.blocks))
            shown["image/svg+xml"] = self.to_svg()
        except Exception:
            LOGGER.exception("could not draw a picture")
        return shown


def _portable(block: Block) -> str:
    """A block as HTML that notebooks keep whoever wrote it: images, words, tables, what folds; no style, no script."""
    match block:
        case Image(svg, alt):
            return escape.image(svg, alt)
        case Note():
            return f"<p>{_words(announced(block))}</p>"
        case Table():
            head = "".join(f"<th>{escape.html(header)}</th>" for header in headers_shown(block))
            return f"<table><tr>{head}</tr>\n" + "\n".join(map(_row, rows_shown(block))) + "\n</table>"
        case Section(title, blocks):
            inner = "\n".join(map(_portable, blocks))
            return f"<details><summary>{_words(title)}</summary>\n{inner}\n</details>"
    return ""


def _row(row: tuple[Line, ...] | Gap) -> str:
    cells = [escape.html(row.text)] if isinstance(row, Gap) else map(_words, row)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _words(line: Line) -> str:
    return "".join(escape.html(inline.text) for inline in line)


class GraphPicture(Picture):
    """The computation graph of a function, with its values, local derivatives and adjoints."""

    def to_text(self, width: int | None = None, *, unicode: bool | None = None) -> str:
        """A drawing in characters, or a list where it does not fit; of the width and characters of `options`."""
        from gradexplain.render.pictures import graph_text

        now = current()
        return graph_text.render(
            self.data, now.width if width is None else width, unicode=now.unicode if unicode is None else unicode
        )

    def __rich__(self) -> Any:
        from gradexplain.render import terminal

        return terminal.TerminalDrawing(lambda width, unicode: self.to_text(width, unicode=unicode))

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        from gradexplain.render.pictures import sources

        return sources.dot(self.data)

    def to_mermaid(self) -> str:
        """The graph in the language of Mermaid, which GitHub and notebooks draw within Markdown."""
        from gradexplain.render.pictures import sources

        return sources.mermaid(self.data)

    @property
    def writers(self) -> Mapping[str, Callable[[], str | bytes]]:
        return {**super().writers, ".dot": self.to_dot, ".gv": self.to_dot, ".mmd": self.to_mermaid}


class Plot(Picture):
    """A plot: SVG of our own, or a figure of matplotlib."""

    def figure(self) -> Any:
        """The same as `matplotlib.figure.Figure`; raises `ArgumentError` where matplotlib is not installed."""
        from gradexplain.render.pictures import figures

        return figures.figure(self.data)

    @property
    def writers(self) -> Mapping[str, Callable[[], str | bytes]]:
        return {**super().writers, ".png": lambda: self._drawn("png"), ".pdf": lambda: self._drawn("pdf")}

    def _drawn(self, kind: str) -> bytes:
        stream = io.BytesIO()
        self.figure().savefig(stream, format=kind, dpi=150)
        return stream.getvalue()


class Descent(Plot):
    """A descent: where it went, and the plot of it."""

    @property
    def points(self) -> tuple[tuple[float, ...], ...]:
        """The points from the start to the end."""
        return self.data.points  # type: ignore[no-any-return]

    @property
    def values(self) -> tuple[float, ...]:
        """The function's values at them."""
        return self.data.values  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<Descent: {len(self.points) - 1} steps, from {self.values[0]:.6g} to {self.values[-1]:.6g}>"
