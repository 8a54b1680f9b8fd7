"""Plain text: the format that works everywhere, and the layout that a terminal colours.

`render` promises: no line is wider than ``width`` unless a single word or an operand is; formulas break only after
an operator or a comma, and the rest is indented; no escape sequences; ASCII unless ``unicode=True``. A table that is
too wide becomes one block a row. Documents of any depth and size are fine: `blocks.outline` and `blocks.rows_shown`
say what is shown.

`laid_out` is the layout itself: lines of `Piece`, each of which says what it is (`Role`). `render` joins them,
`terminal.py` colours them. A new block is one more case in `_block`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, zip_longest
from typing import Literal, NamedTuple, assert_never

from gradexplain import escape
from gradexplain.language import is_encodable, say
from gradexplain.render.blocks import (
    Chain,
    Code,
    CodeBlock,
    Document,
    Equation,
    Formula,
    Gap,
    Heading,
    Image,
    Inline,
    Leaf,
    Line,
    Note,
    NumberedStep,
    Paragraph,
    Steps,
    Strong,
    Table,
    Text,
    announced,
    described,
    flattened,
    headers_shown,
    line,
    outline,
    rows_shown,
    without_pictures,
)
from gradexplain.render.breaks import CONTINUATION, broken, columns, may_break, shared_out
from gradexplain.render.changes import spans
from gradexplain.render.signs import mathematical, pretty
from gradexplain.settings import language

Role = Literal["text", "strong", "formula", "code", "title", "muted", "ok", "warning", "error", "info"]


class Piece(NamedTuple):
    """Characters of one role within a line."""

    text: str
    role: Role = "text"


Laid = tuple[Piece, ...]  # a line of the page, or a word: pieces that no line break may part

SPACE = Piece(" ")
MARGIN = 2
COLUMN_GAP = 2
NARROWEST = 16  # what is left for text however deep the indent: below this, lines overflow instead


@dataclass(frozen=True, slots=True)
class Page:
    """Where the text goes: so many columns, such characters, array formulas as in Python or as in mathematics.

    The signs of formulas may be confined to ASCII where the words need more.
    """

    width: int
    encoding: str
    mathematics: bool = False
    signs: str = ""  # the encoding of formulas, "" if it is that of the words

    def text(self, text: str) -> str:
        """Return foreign text as one line that this page can show."""
        return escape.encodable(escape.one_line(text), self.encoding)

    def piece(self, inline: Inline) -> Piece:
        """Return an inline as this page shows it."""
        match inline:
            case Text(text):
                return Piece(self.text(text))
            case Strong(text):
                return Piece(self.text(text), "strong")
            case Code(text):
                return Piece(self.text(f"`{text}`"), "code")
            case Formula(text, latex):
                shown = escape.one_line(self.formula(text or latex))
                return Piece(escape.encodable(shown, self.signs or self.encoding), "formula")
            case _:
                assert_never(inline)

    def formula(self, formula: str) -> str:
        """Return a formula with the signs that this page can show."""
        if self.mathematics and self._has("ᵀ⊙·"):
            formula = mathematical(formula)
        return pretty(formula) if self._has("·²³") else formula

    def _has(self, signs: str) -> bool:
        return escape.encodable(signs, self.signs or self.encoding) == signs

    def room(self, indent: int) -> int:
        """Return the columns that are left to the right of an indent."""
        return max(self.width - indent, NARROWEST)


def render(document: Document, *, width: int = 80, unicode: bool = False, mathematics: bool = False) -> str:
    r"""Return the document as plain text.

    >>> slope = Formula("dy/dx = 2*x", r"\frac{dy}{dx} = 2 x")
    >>> print(render(Document("y = x**2", (Paragraph(line("The slope is ", slope, ".")),))))
    y = x**2
    ========
    <BLANKLINE>
    The slope is dy/dx = 2*x.
    """
    signs = "utf-8" if unicode else "ascii"
    page = Page(width, signs if is_encodable(language(), signs) else "utf-8", mathematics, signs)
    return "\n".join("".join(piece.text for piece in laid).rstrip() for laid in laid_out(document, page)).strip("\n")


def laid_out(document: Document, page: Page) -> Iterator[Laid]:
    """Yield the lines of the document: blocks apart by an empty line, headings close to what they head."""
    if title := page.text(document.title).strip():
        yield from _underlined([(Piece(title, "title"),)], "=")
        yield ()
    for block in flattened(without_pictures(document.blocks), level=2):
        yield from _block(block, page)
        if not isinstance(block, Heading):
            yield ()


def _block(block: Leaf, page: Page) -> Iterable[Laid]:
    match block:
        case Heading():
            return _heading(block, page)
        case Paragraph(line):
            return _filled(_words(line, page), page.width)
        case Equation():
            return _equation(block, page)
        case Chain():
            return _chain(block, page)
        case Steps():
            return _steps(block, page)
        case Table():
            return _table(block, page)
        case CodeBlock(text):
            rows = (escape.encodable(row, page.encoding) for row in escape.code_lines(text))
            return [_indented(CONTINUATION, Piece(row, "code")) for row in rows]
        case Note():
            return _note(block, page)
        case Image():
            return _filled(_words(described(block), page), page.width)
        case _:
            assert_never(block)


def _heading(block: Heading, page: Page) -> list[Laid]:
    lines = _filled([_as(word, "title") for word in _words(block.line, page)], page.width)
    return _underlined(lines, "-") if block.level == 1 else lines


def _underlined(lines: list[Laid], rule: str) -> list[Laid]:
    return [*lines, (Piece(rule * max(map(_columns, lines), default=0), "muted"),)]


def _note(block: Note, page: Page) -> list[Laid]:
    return [_as(laid, block.kind) for laid in _filled(_words(announced(block), page), page.width)]


# --------------------------------------------------------------------------------------------- words and lines


def _words(line: Line, page: Page) -> list[Laid]:
    """Split a line where it may break: at the spaces of text, never inside a formula, nor before its full stop."""
    words: list[list[Piece]] = [[]]
    for piece in map(page.piece, line):
        first, *others = piece.text.split(" ") if piece.role in ("text", "strong") else [piece.text]
        words[-1].append(Piece(first, piece.role))
        words.extend([Piece(other, piece.role)] for other in others)
    return [word for word in (tuple(piece for piece in word if piece.text) for word in words) if word]


def _filled(words: Iterable[Laid], width: int) -> list[Laid]:
    """Set words into lines of ``width`` columns."""
    lines: list[list[Piece]] = [[]]
    used = 0
    for is_first, atom in ((not k, atom) for word in words for k, atom in enumerate(_atoms(word))):
        for n, part in enumerate(_parts(atom, width)):
            gap = [SPACE] if lines[-1] and is_first else []
            if lines[-1] and (n or used + len(gap) + _columns(part) > width):
                lines.append([])
                used, gap = 0, []
            lines[-1] += [*gap, *part]
            used += len(gap) + _columns(part)
    return [tuple(laid) for laid in lines]


def _atoms(word: Laid) -> list[Laid]:
    """Split a word where Chinese may break: between any two characters, but not before a comma or after a bracket."""
    if all(piece.text.isascii() for piece in word):
        return [word]
    atoms: list[list[Piece]] = [[]]
    before = ""
    for piece in word:
        start = 0
        for at, after in enumerate(piece.text):
            splits = piece.role not in ("formula", "code") or at == 0
            if before and splits and may_break(before, after):
                atoms[-1].append(Piece(piece.text[start:at], piece.role))
                atoms.append([])
                start = at
            before = after
        atoms[-1].append(Piece(piece.text[start:], piece.role))
    return [tuple(piece for piece in atom if piece.text) for atom in atoms]


def _parts(word: Laid, width: int) -> list[Laid]:
    """Return a word as it is if it fits on a line, else with its formulas broken."""
    if _columns(word) <= width:
        return [word]
    parts: list[list[Piece]] = [[]]
    for piece in word:
        first, *others = broken(piece.text, width) if piece.role == "formula" else [piece.text]
        parts[-1].append(Piece(first, piece.role))
        parts.extend([_blank(CONTINUATION), Piece(other, piece.role)] for other in others)
    return [tuple(part) for part in parts]


def _joined(words: Iterable[Laid]) -> Laid:
    """Return words on one line."""
    return tuple(piece for n, word in enumerate(words) for piece in ((SPACE, *word) if n else word))


def _as(laid: Laid, role: Role) -> Laid:
    return tuple(Piece(text, role if was == "text" else was) for text, was in laid)


def _blank(columns: int) -> Piece:
    return Piece(" " * columns)


def _indented(columns: int, *pieces: Piece) -> Laid:
    return (_blank(columns), *pieces)


def _columns(laid: Laid) -> int:
    return columns("".join(piece.text for piece in laid))


# ------------------------------------------------------------------------------------------ equations and steps


def _equation(block: Equation, page: Page) -> Iterator[Laid]:
    label = [(Piece(page.text(block.label + say(": ").rstrip()), "muted"),)] if block.label else []
    yield from _led(label, block.formula, page, MARGIN, MARGIN + _columns(_joined(label)) + COLUMN_GAP)
    yield from _where(block.where, page)


def _where(names: Sequence[Formula], page: Page) -> Iterator[Laid]:
    lead = Piece(page.text(say("where")) + " ")
    for formula in names:
        words = _words((formula,), page)
        for n, laid in enumerate(_filled(words, page.room(MARGIN + _columns((lead,))))):
            yield _indented(MARGIN, lead if n == 0 else _blank(_columns((lead,))), *laid)
        lead = _blank(_columns((lead,)))


def _chain(block: Chain, page: Page) -> Iterator[Laid]:
    """Yield the lines, equal signs below each other, and each remark to the right of its line or else below it."""
    left = page.piece(block.left)
    indent = MARGIN + _columns((left,)) + 3
    for n, link in enumerate(block.links):
        lead: Laid = (left, Piece(" = ")) if n == 0 else (_blank(indent - MARGIN - 2), Piece("= "))
        *lines, last = _filled([(page.piece(link.formula),)], page.room(indent))
        remark = _words(link.remark, page)
        if remark and indent + _columns(last) + CONTINUATION + _columns(_joined(remark)) <= page.width:
            last, remark = (*last, _blank(CONTINUATION), *_joined(remark)), []
        for laid in (*lines, last):
            yield _indented(MARGIN, *lead, *laid)
            lead = (_blank(indent - MARGIN),)
        yield from (
            _indented(indent + CONTINUATION, *laid)
            for laid in _filled(remark, page.room(indent + CONTINUATION))
            if laid
        )
    yield from _where(block.where, page)


def _led(words: Sequence[Laid], formula: Formula | None, page: Page, indent: int, column: int) -> Iterator[Laid]:
    """Yield words at ``indent`` and a formula: at ``column`` of the same line if both fit there, else below."""
    piece = page.piece(formula) if formula else Piece("")
    used = indent + _columns(_joined(words))
    if used < column and column + _columns((piece,)) <= page.width:
        yield _indented(indent, *_joined(words), _blank(column - used if words else 0), piece)
        return
    if words:
        yield from (_indented(indent, *laid) for laid in _filled(words, page.room(indent)))
        indent += MARGIN
    if piece.text:
        yield from (_indented(indent, *laid) for laid in _filled([(piece,)], page.room(indent)))


def _steps(block: Steps, page: Page) -> Iterator[Laid]:
    entries = list(outline(block))
    labels = [entry.label if isinstance(entry, NumberedStep) and block.ordered else "-" for entry in entries]
    left = MARGIN + max(map(len, labels), default=0) + COLUMN_GAP
    indents = [min(left + 2 * (entry.depth - 1), page.width // 2) for entry in entries]
    titles = [_words(entry.item.title, page) if isinstance(entry, NumberedStep) else [] for entry in entries]
    ends = [indent + _columns(_joined(title)) for indent, title in zip(indents, titles, strict=True)]
    column = COLUMN_GAP + 1 + max((end for end in ends if end <= page.width // 2), default=left)
    for entry, label, indent, title in zip(entries, labels, indents, titles, strict=True):
        if isinstance(entry, Gap):
            yield _indented(indent, Piece(page.text(entry.text), "muted"))
            continue
        lines = _step(entry, title, page, indent, column)
        marker = _indented(MARGIN, Piece(label, "muted"), _blank(indent - MARGIN - len(label)))
        yield (*marker, *lines[0][1:]) if lines else marker
        yield from lines[1:]


def _step(step: NumberedStep, title: Sequence[Laid], page: Page, indent: int, column: int) -> list[Laid]:
    lines = list(_underlined_changes(_led(title, step.item.formula, page, indent, column), step.item.formula, page))
    for note in step.item.notes:
        lines += [_indented(indent, *laid) for laid in _filled(_words(note, page), page.room(indent))]
    return lines


def _underlined_changes(lines: Iterable[Laid], formula: Formula | None, page: Page) -> Iterator[Laid]:
    """Yield the lines of a step, and below each of them a row of carets under what the step has changed."""
    if formula is None or not formula.marks:
        yield from lines
        return
    cuts = [0, *(cut for mark in formula.marks for cut in mark), len(formula.text)]
    parts = [page.piece(Formula(formula.text[i:j], "")).text for i, j in pairwise(cuts)]
    ends = [0, *accumulate(map(len, parts))]
    marks = [(ends[i], ends[i + 1]) for i in range(1, len(parts), 2)]
    rows = list(lines)
    own = [row[-1].text if row and row[-1].role == "formula" else "" for row in rows]
    for row, inside in zip(rows, spans(own, "".join(parts), marks), strict=True):
        yield row
        if inside:
            carets = "".join("^" if any(i <= at < j for i, j in inside) else " " for at in range(inside[-1][1]))
            yield _indented(_columns(row[:-1]), Piece(carets, "muted"))


# ------------------------------------------------------------------------------------------------------ tables


def _table(block: Table, page: Page) -> Iterator[Laid]:
    headers = [(Piece(page.text(header), "strong"),) for header in headers_shown(block)]
    rows = [row if isinstance(row, Gap) else [_words(cell, page) for cell in row] for row in rows_shown(block)]
    grid = [headers, *([_joined(cell) for cell in row] for row in rows if not isinstance(row, Gap))]
    natural = [max(map(_columns, column)) for column in zip(*grid, strict=True)]
    widths = shared_out(page.width - COLUMN_GAP * (len(natural) - 1), natural)
    if block.caption:
        yield from _filled(_words(line(block.caption), page), page.width)
    if widths:
        yield _aligned(headers, widths)
        yield _aligned([(Piece("-" * width, "muted"),) for width in widths], widths)
    for row in rows:
        if isinstance(row, Gap):
            yield (Piece(page.text(row.text), "muted"),)
        elif widths:
            cells = [_filled(cell, width) for cell, width in zip(row, widths, strict=True)]
            yield from (_aligned(laid, widths) for laid in zip_longest(*cells, fillvalue=()))
        else:
            yield from _record(headers, row, page)


def _aligned(cells: Sequence[Laid], widths: Sequence[int]) -> Laid:
    """Return the cells of a row, each as wide as its column."""
    padded = [(*cell, _blank(width - _columns(cell) + COLUMN_GAP)) for cell, width in zip(cells, widths, strict=True)]
    return tuple(piece for cell in padded for piece in cell)


def _record(headers: Sequence[Laid], row: Sequence[Sequence[Laid]], page: Page) -> Iterator[Laid]:
    """Yield a row as a block: its first cell, and below it the others, each after the header of its column.

    A row without a name goes on with the one above, and empty cells are left out.
    """
    widest = MARGIN + max(map(_columns, headers), default=0) + COLUMN_GAP
    for n, (header, words) in enumerate(zip(headers, row, strict=True)):
        if not words:
            continue
        indent = MARGIN if n else 0
        lines = _filled(words, page.room(widest))
        yield _indented(indent, *header, _blank(widest - indent - _columns(header)), *lines[0])
        yield from (_indented(widest, *laid) for laid in lines[1:])
