"""SVG of our own making: a canvas to draw on, the colours of all pictures, and the frame around them.

Pictures bring their own paper, light or dark by the reader's setting, so that they can be read in a notebook whose
theme differs from the system's. Colour repeats what the style of a line says (the palette is Okabe and Ito's). There
are no ids, so any number of pictures may share a page; all text goes through `escape.svg`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gradexplain import escape
from gradexplain.render.breaks import columns

FONT = 13.0
_ADVANCE = 0.62  # of the widest of the usual monospaced fonts, in units of its size
_NAMESPACE = "{http://www.w3.org/2000/svg}"
Anchor = Literal["start", "middle", "end"]

_DARK = (
    ".gx-picture{color:#e6e6e6;--gx-paper:#16181b;--gx-soft:#23272c;"
    "--gx-faint:#4a5059;--gx-a:#56b4e9;--gx-b:#e69f00;--gx-c:#33c49a}"
)
_COLOURS = (
    ".gx-picture{color:#1b1b1b;--gx-paper:#fff;--gx-soft:#f2f4f6;--gx-faint:#c9ced6;--gx-a:#0072b2;--gx-b:#d55e00;"
    "--gx-c:#009e73;font:13px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}"
    f"@media(prefers-color-scheme:dark){{{_DARK}}}"
    ".gx-picture text{fill:currentColor}.gx-picture .paper{fill:var(--gx-paper)}"
)
# What an element may be; of these, a picture has the ones that it uses. Lines: a solid, b dashed, c dotted, d thin.
_KINDS = {
    "small": "font-size:11px",
    "note": "opacity:.75;font-size:11px",
    "name": "font-weight:bold",
    "halo": "paint-order:stroke;stroke:var(--gx-paper);stroke-width:4px;stroke-linejoin:round",
    "node": "fill:var(--gx-soft);stroke:currentColor",
    "result": "stroke-width:2.5",
    "line": "fill:none;stroke:currentColor",
    "faint": "fill:none;stroke:var(--gx-faint)",
    "thin": "opacity:.35",
    "a": "fill:none;stroke:var(--gx-a);stroke-width:1.6",
    "b": "fill:none;stroke:var(--gx-b);stroke-width:1.6;stroke-dasharray:5 3",
    "c": "fill:none;stroke:var(--gx-c);stroke-width:1.6;stroke-dasharray:1.5 3",
    "d": "fill:none;stroke:var(--gx-c);stroke-width:1.2",
    "at": "fill:var(--gx-a)",
    "bt": "fill:var(--gx-b)",
    "ct": "fill:var(--gx-c)",
}


def themed(svg: str, theme: str) -> str:
    """A picture of ours that is always light or always dark; with any other theme it follows the reader's setting."""
    chosen = {"light": "", "dark": _DARK}.get(theme)
    return svg if chosen is None else svg.replace(f"@media(prefers-color-scheme:dark){{{_DARK}}}", chosen)


_ELEMENTS = {"svg", "title", "desc", "style", "g", "path", "rect", "circle", "text", "tspan"}
_ATTRIBUTES = {
    "class", "role", "viewBox", "width", "height", "x", "y", "dx", "dy", "cx", "cy", "r", "rx", "d", "transform",
    "text-anchor",
}  # fmt: skip


def is_ours(svg: str) -> bool:
    """Whether SVG is of the kind that is drawn here: shapes and words alone, and no style but ours.

    >>> is_ours('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    False
    """
    from xml.etree import ElementTree as ET

    if "<!" in svg or "<?" in svg:
        return False
    try:
        root = ET.fromstring(svg)
    except ET.ParseError:
        return False
    elements = list(root.iter())
    names = {str(element.tag).removeprefix(_NAMESPACE) for element in elements}
    attributes = {name for element in elements for name in element.attrib}
    styles = [element.text or "" for element in elements if element.tag == f"{_NAMESPACE}style"]
    return names <= _ELEMENTS and attributes <= _ATTRIBUTES and all(map(_is_our_style, styles))


def _is_our_style(rules: str) -> bool:
    rest = rules.removeprefix(_COLOURS)
    for kind, rule in _KINDS.items():
        rest = rest.removeprefix(f".gx-picture .{kind}{{{rule}}}")
    return rest != rules and not rest


def text_width(text: str, size: float = FONT) -> float:
    """How wide a text is at most."""
    return columns(text) * size * _ADVANCE


def coordinate(value: float) -> str:
    """A number as short as a tenth of a pixel allows.

    >>> coordinate(12.04), coordinate(-0.04)
    ('12', '0')
    """
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def points(*coordinates: float) -> str:
    """Coordinates of a path."""
    return " ".join(map(coordinate, coordinates))


@dataclass(slots=True)
class Canvas:
    """Elements in the order in which they are painted."""

    elements: list[str] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)

    @property
    def style(self) -> str:
        """The rules for what is on it."""
        used = (kind for kind in _KINDS if kind in self.kinds)
        return _COLOURS + "".join(f".gx-picture .{kind}{{{_KINDS[kind]}}}" for kind in used)

    def path(self, d: str, kind: str) -> None:
        """A line or an area."""
        self.kinds.update(kind.split())
        self.elements.append(f'<path class="{kind}" d="{d}"/>')

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: Anchor = "start") -> None:
        """A line of text; y is its baseline."""
        self.kinds.update(kind.split())
        attributes = f' class="{kind}"' if kind else ""
        attributes += f' text-anchor="{anchor}"' if anchor != "start" else ""
        place = f'x="{coordinate(x)}" y="{coordinate(y)}"'
        self.elements.append(f"<text {place}{attributes}>{escape.svg(text)}</text>")

    def box(self, x: float, y: float, width: float, height: float, kind: str, radius: float = 4.0) -> None:
        """A rectangle, given its upper left corner."""
        place = f'x="{coordinate(x)}" y="{coordinate(y)}" width="{coordinate(width)}" height="{coordinate(height)}"'
        self.kinds.update(kind.split())
        self.elements.append(f'<rect class="{kind}" {place} rx="{coordinate(radius)}"/>')

    def circle(self, x: float, y: float, radius: float, kind: str) -> None:
        """A dot."""
        self.kinds.update(kind.split())
        self.elements.append(
            f'<circle class="{kind}" cx="{coordinate(x)}" cy="{coordinate(y)}" r="{coordinate(radius)}"/>'
        )

    def open(self, title: str) -> None:
        """Begins a group; its title is shown while the pointer rests on it."""
        self.elements.append(f"<g><title>{escape.svg(title)}</title>")

    def close(self) -> None:
        """Ends a group."""
        self.elements.append("</g>")


def polyline(line: Iterable[Sequence[float]]) -> str:
    """A path through points."""
    return "M" + "L".join(points(x, y) for x, y in line)


def framed(canvas: Canvas, width: float, height: float, title: str, alt: str) -> str:
    """The SVG of a canvas, with its name and its description for those who can't see it.

    >>> print(framed(Canvas(), 40, 20, "nothing", "an empty picture")[:91])
    <svg xmlns="http://www.w3.org/2000/svg" class="gx-picture" role="img" viewBox="0 0 40 20" w
    """
    size = f'viewBox="0 0 {points(width, height)}" width="{coordinate(width)}" height="{coordinate(height)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="gx-picture" role="img" {size}>'
    words = f"<title>{escape.svg(title)}</title><desc>{escape.svg(alt)}</desc><style>{canvas.style}</style>"
    paper = '<rect class="paper" width="100%" height="100%" rx="6"/>'
    return f"{head}{words}{paper}{''.join(canvas.elements)}</svg>"
