"""What an explanation is made of between the records and the output formats.

A `Document` is a tuple of blocks, a block holds lines, a line is a tuple of inlines. All are frozen data: wording is
decided before (``document.py``), looks are decided after (one module a format), and neither knows of the other.

The unions `Inline`, `Leaf` and `Block` are closed. To add a block: write its class, add it to `Leaf`, and let mypy
name every format that does not print it yet (each ``match`` ends in `typing.assert_never`).

What does not fit on a page is left out here, once, so that every format leaves out the same: `rows_shown` and
`outline` put a `Gap` where something is missing. Both walk without recursion, so depth is never a problem.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from gradexplain.language import say

T = TypeVar("T")

# A reader looks at the beginning and at the result of a long listing; the middle is for `to_json`.
LISTING_CAP = 60
LISTING_HEAD = 40
LISTING_TAIL = 10
# Substeps below this level, or beyond this many in all, are counted instead of shown.
STEP_DEPTH_CAP = 8
STEP_TOTAL_CAP = 400
_LEFT_OUT = {
    "row": ("… {count} row not shown", "… {count} rows not shown"),
    "step": ("… {count} step not shown", "… {count} steps not shown"),
    "substep": ("… {count} substep not shown", "… {count} substeps not shown"),
}
# Sections nested deeper are shown as plain headings by the formats that fold sections.
SECTION_DEPTH_CAP = 6


# ---------------------------------------------------------------------------------------------------- inlines


@dataclass(frozen=True, slots=True)
class Text:
    """Ordinary words. Nothing in them is markup, whatever they contain."""

    text: str


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in both of its forms: ``dy/dx = 2*x`` to read and copy as text, LaTeX to typeset.

    ``marks`` are the ranges of the text that a step has changed; in the LaTeX these are underlined.
    """

    text: str
    latex: str
    marks: tuple[tuple[int, int], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Code:
    """A fragment of a program, a name, or a command."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


Inline = Text | Formula | Code | Strong
Line = tuple[Inline, ...]


def line(*parts: str | Inline) -> Line:
    """Return a line; plain strings become `Text`.

    >>> line("slope ", Formula("2*x", "2 x"))
    (Text(text='slope '), Formula(text='2*x', latex='2 x'))
    """
    return tuple(Text(part) if isinstance(part, str) else part for part in parts)


# ----------------------------------------------------------------------------------------------------- blocks


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below the title of the document; level 1 is the largest."""

    line: Line
    level: Literal[1, 2, 3] = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of running text."""

    line: Line


@dataclass(frozen=True, slots=True)
class Equation:
    """A displayed formula; ``where`` defines the names in it, a formula such as ``d1 = a - b`` each."""

    formula: Formula
    label: str = ""
    where: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """One line of a chain of equations: what the left side equals, and a remark on how that comes."""

    formula: Formula
    remark: Line = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """Lines that all equal the same: ``left = a``, ``= b``, …; ``where`` defines the names in the last one."""

    left: Formula
    links: tuple[Link, ...]
    where: tuple[Formula, ...] = ()

    @property
    def rows(self) -> tuple[tuple[Formula, Line], ...]:
        """The lines as formulas of their own, each with its remark: ``left = a``, then ``= b``."""
        left = (f"{self.left.text} ", f"{self.left.latex.strip() or '{}'} ")
        rows = []
        for link in self.links:
            shown = Formula(f"{left[0]}= {link.formula.text}", f"{left[1]}= {link.formula.latex}")
            rows.append((shown, link.remark))
            left = ("", "{} ")  # in Markdown, a line of nothing but = would make a heading
        return tuple(rows)


@dataclass(frozen=True, slots=True)
class StepItem:
    """One step of a derivation: what was done, what it gave, why, and the steps inside it."""

    title: Line
    formula: Formula | None = None
    notes: tuple[Line, ...] = ()
    children: tuple["StepItem", ...] = ()


@dataclass(frozen=True, slots=True)
class Steps:
    """A derivation, numbered 1, 1.1, 1.1.1 unless ``ordered`` is false."""

    items: tuple[StepItem, ...]
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table. The first cell of a row names the row. Short rows are filled up with empty cells."""

    headers: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    caption: str = ""

    @property
    def width(self) -> int:
        """The number of columns, of the headers or of the widest row."""
        return max([len(self.headers), *map(len, self.rows)])


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines of a program, shown as they are."""

    text: str
    language: str = "python"


@dataclass(frozen=True, slots=True)
class Note:
    """A remark. The kind is printed as a word where it matters (`announced`), never as a colour alone."""

    line: Line
    kind: Literal["ok", "warning", "error", "info"]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: SVG to look at, ``alt`` to be read out or printed where no picture can be.

    The SVG is one of ours (`render.pictures`): one element, in which foreign text has been escaped, without ids.
    """

    svg: str
    alt: str


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a title that a reader can fold away (``open`` tells how it starts) where the format can."""

    title: Line
    blocks: tuple["Block", ...]
    open: bool = True


Leaf = Heading | Paragraph | Equation | Chain | Steps | Table | CodeBlock | Note | Image
Block = Leaf | Section


@dataclass(frozen=True, slots=True)
class Document:
    """A titled explanation, ready for any format."""

    title: str
    blocks: tuple[Block, ...] = ()


def announced(note: Note) -> Line:
    """Return the line of a note, led by the word "warning" or "error" if it is one.

    >>> announced(Note(line("h is too small"), "warning"))
    (Strong(text='warning'), Text(text=': '), Text(text='h is too small'))
    """
    if note.kind not in ("warning", "error"):
        return note.line
    colon = say(": ")
    lead = say("warning: " if note.kind == "warning" else "error: ")
    return (Strong(lead.removesuffix(colon)), Text(colon), *note.line)


def described(image: Image) -> Line:
    """Return what is printed in place of a picture.

    >>> described(Image("<svg/>", "x feeds y"))
    (Strong(text='picture'), Text(text=': x feeds y'))
    """
    return (Strong(say("picture")), Text(say(": ") + image.alt))


def without_pictures(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the blocks for formats that only read: a folded section of nothing but pictures is left out.

    >>> without_pictures([Section(line("Graph"), (Image("<svg/>", "x feeds y"),), open=False)])
    ()
    """
    return tuple(block for block in blocks if not _only_shows(block))


def _only_shows(block: Block) -> bool:
    return (
        isinstance(block, Section)
        and not block.open
        and bool(block.blocks)
        and all(isinstance(inner, Image) for inner in block.blocks)
    )


def flattened(blocks: Sequence[Block], level: int = 1) -> Iterator[Leaf]:
    """Yield the blocks with every section opened: its title as a heading, then what it holds.

    >>> list(flattened([Section(line("Check"), (Paragraph(line("fine")),))]))
    [Heading(line=(Text(text='Check'),), level=1), Paragraph(line=(Text(text='fine'),))]
    """
    levels: tuple[Literal[1, 2, 3], ...] = (1, 2, 3)
    pending: list[tuple[Block, int]] = [(block, level) for block in reversed(blocks)]
    while pending:
        block, level = pending.pop()
        if isinstance(block, Section):
            yield Heading(block.title, levels[min(level, 3) - 1])
            pending.extend((inner, level + 1) for inner in reversed(block.blocks))
        else:
            yield block


# ---------------------------------------------------------------------------------------- what fits on a page


@dataclass(frozen=True, slots=True)
class Gap:
    """Stands where rows or steps are left out."""

    count: int
    noun: Literal["row", "step", "substep"]
    depth: int = 1

    @property
    def text(self) -> str:
        """The words that take their place.

        >>> Gap(250, "row").text
        '… 250 rows not shown'
        """
        return say(_LEFT_OUT[self.noun][self.count != 1], count=self.count)


@dataclass(frozen=True, slots=True)
class NumberedStep:
    """A step and its place in the derivation: (2, 1) is the first substep of the second step."""

    number: tuple[int, ...]
    item: StepItem

    @property
    def depth(self) -> int:
        """1 for a step of the derivation, 2 for a substep, and so on."""
        return len(self.number)

    @property
    def label(self) -> str:
        """The number as calculus books print it: ``2.1``."""
        return ".".join(map(str, self.number))


def rows_shown(table: Table) -> Iterator[tuple[Line, ...] | Gap]:
    """Yield the rows of a table, each as long as the table is wide; of a long table the first and last ones.

    >>> table = Table(("n",), tuple((line(str(n)),) for n in range(300)))
    >>> shown = list(rows_shown(table))
    >>> len(shown), shown[40].text
    (51, '… 250 rows not shown')
    """
    width = table.width
    for row in _excerpt(table.rows, Gap(0, "row")):
        yield row if isinstance(row, Gap) else (*row, *[()] * (width - len(row)))


def headers_shown(table: Table) -> tuple[str, ...]:
    """Return the headers, filled up with empty ones to the width of the widest row."""
    return table.headers + ("",) * (table.width - len(table.headers))


def outline(steps: Steps) -> Iterator[NumberedStep | Gap]:
    """Yield the steps with their numbers in reading order; what is left out is counted in a `Gap`.

    >>> inner = StepItem(line("power rule"))
    >>> outer = StepItem(line("product rule"), children=(inner, inner))
    >>> [step.label for step in outline(Steps((outer, inner)))]
    ['1', '1.1', '1.2', '2']
    """
    top = _numbered(steps.items, ())
    unfolded = _unfolded(top)
    pending = top[::-1]
    while pending:
        entry = pending.pop()
        yield entry
        if isinstance(entry, Gap) or not entry.item.children:
            continue
        if entry.number in unfolded:
            pending.extend(reversed(_numbered(entry.item.children, entry.number)))
        else:
            yield Gap(len(entry.item.children), "substep", entry.depth + 1)


def _unfolded(top: Sequence[NumberedStep | Gap]) -> set[tuple[int, ...]]:
    """Choose the steps whose substeps are shown: level by level, so that cuts fall on the finest detail."""
    unfolded: set[tuple[int, ...]] = set()
    left = STEP_TOTAL_CAP - len(top)
    waiting = deque(top)
    while waiting:
        entry = waiting.popleft()
        if isinstance(entry, Gap) or entry.depth >= STEP_DEPTH_CAP:
            continue
        children = _numbered(entry.item.children, entry.number)
        if len(children) <= left:
            left -= len(children)
            unfolded.add(entry.number)
            waiting.extend(children)
    return unfolded


def _numbered(items: Sequence[StepItem], parent: tuple[int, ...]) -> list[NumberedStep | Gap]:
    steps = [NumberedStep((*parent, n), item) for n, item in enumerate(items, 1)]
    return _excerpt(steps, Gap(0, "step", len(parent) + 1))


def _excerpt(items: Sequence[T], gap: Gap) -> list[T | Gap]:
    """Return all items, or the first and last ones around a copy of ``gap`` with the count of the rest."""
    if len(items) <= LISTING_CAP:
        return list(items)
    missing = Gap(len(items) - LISTING_HEAD - LISTING_TAIL, gap.noun, gap.depth)
    return [*items[:LISTING_HEAD], missing, *items[-LISTING_TAIL:]]
