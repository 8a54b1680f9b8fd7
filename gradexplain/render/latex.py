r"""LaTeX: running text to put into a paper, a whole document, and one formula for notebooks.

* `fragment` needs ``amsmath`` and ``amssymb`` and compiles under any LaTeX engine, whatever text is in it: characters
  that pdfLaTeX lacks are named. Steps are one flat list with numbers of its own, since LaTeX stops at nested lists.
* `standalone` is the fragment with a preamble. Chinese words need ``ctex``, and so XeLaTeX or LuaLaTeX.
* `display` is the whole document as one ``aligned`` formula, or several if it is long, in the common subset of KaTeX
  and MathJax. VS Code prefers ``text/latex`` to Markdown and typesets it with KaTeX, which has no lists or sections.

A new block is one more case in `_block` and in `_display_rows`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from gradexplain import escape
from gradexplain.language import say
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
    Link,
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
from gradexplain.render.breaks import columns
from gradexplain.settings import language

TABLE_PAGE = 30  # rows of one tabular: it can't break across pages
DISPLAY_HEIGHT = 50  # rows of one formula: KaTeX stops at 1000 expansions, and no page breaks within
DISPLAY_WIDTH = 90  # characters of text on one row of `display`, where nothing wraps by itself
_BESIDE = 75  # characters of a formula and its remark that fit on a line of the page

_WORD = re.compile(r"[^\s，。；：]+[，。；：]*\s*|[，。；：]+\s*|\s+")  # and the space or the Chinese comma after it
_FONTS = r"""\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
"""
_WIDE_FONTS = "\\usepackage{ctex}\n"  # Chinese: for XeLaTeX or LuaLaTeX
PREAMBLE = rf"""\documentclass{{article}}
{_FONTS}\usepackage{{amsmath,amssymb}}
\setlength{{\parindent}}{{0pt}}
\setlength{{\parskip}}{{1ex}}
\allowdisplaybreaks
\begin{{document}}
"""


def standalone(document: Document) -> str:
    r"""Return a complete LaTeX document.

    >>> print(standalone(Document("y")).splitlines()[0])
    \documentclass{article}
    """
    # An empty box, so that a document without blocks has a page.
    preamble = PREAMBLE.replace(_FONTS, _WIDE_FONTS) if _is_wide() else PREAMBLE
    return f"{preamble}{fragment(document)}\\mbox{{}}\n\\end{{document}}\n"


def fragment(document: Document) -> str:
    r"""Return the document as LaTeX without a preamble.

    >>> slope = Formula("dy/dx = 2*x", r"\frac{dy}{dx} = 2 x")
    >>> print(fragment(Document("50% sure", (Paragraph(line("slope ", slope)),))), end="")
    \section*{50\% sure}
    <BLANKLINE>
    slope $\frac{dy}{dx} = 2 x$
    """
    blocks = [_heading(line(document.title), r"\section*"), *map(_block, flattened(without_pictures(document.blocks)))]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _is_wide() -> bool:
    """Whether the words have characters that pdfLaTeX lacks."""
    return language() == "zh"


def _plain(text: str) -> str:
    return escape.latex(text, wide=_is_wide())


def _block(block: Leaf) -> str:
    match block:
        case Heading(line, level):
            return _heading(line, (r"\subsection*", r"\subsubsection*", r"\paragraph*")[level - 1])
        case Paragraph(line):
            return _inlines(line)
        case Equation():
            return _equation(block)
        case Chain():
            return _chain(block)
        case Steps():
            return _steps(block)
        case Table():
            return _table(block)
        case CodeBlock(text):
            return _code_block(text)
        case Note():
            return _inlines(announced(block))
        case Image():
            return _inlines(described(block))
        case _:
            assert_never(block)


def _inline(inline: Inline) -> str:
    match inline:
        case Text(text):
            return _plain(text)
        case Strong(text):
            return rf"\textbf{{{_plain(text)}}}"
        case Code(text):
            return rf"\texttt{{{_plain(text)}}}"
        case Formula():
            return f"${_formula(inline)}$"
        case _:
            assert_never(inline)


def _inlines(line: Line) -> str:
    return "".join(map(_inline, line)).strip()


def _formula(formula: Formula) -> str:
    # Never empty: two dollars side by side would open a display.
    return (
        escape.latex_characters(escape.formula_latex(formula.latex, formula.text), in_formula=True, wide=_is_wide())
        or "{}"
    )


def _heading(line: Line, command: str) -> str:
    text = _inlines(line)
    return f"{command}{{{text}}}" if text else ""


def _equation(block: Equation) -> str:
    label = _plain(block.label + say(": ").rstrip()) + "\n" if block.label else ""
    shown = rf"{label}\[ {_formula(block.formula)} \]"
    return shown + _where(block.where)


def _chain(block: Chain) -> str:
    rows = [
        f"{_formula(block.left) if n == 0 else ''} &= {_formula(link.formula)}{_remark(link)}"
        for n, link in enumerate(block.links)
    ]
    return f"\\[ {_aligned(rows)} \\]{_where(block.where)}"


def _remark(link: Link) -> str:
    """A remark beside its formula, or in lines of its own below where the two are longer than a page is wide."""
    if not link.remark:
        return ""
    words = _inlines(link.remark)
    length = len(link.formula.text) + sum(len(part.text) for part in link.remark)
    if length <= _BESIDE:
        return rf" && \text{{{words}}}"
    return " \\\\\n" + rf"&\qquad \parbox[t]{{0.75\linewidth}}{{\raggedright {words}}}"


def _where(names: Sequence[Formula]) -> str:
    return f"\n{say('where')}\n\\[ {_aligned([f'& {_formula(formula)}' for formula in names])} \\]" if names else ""


def _aligned(rows: Sequence[str]) -> str:
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def _steps(block: Steps) -> str:
    entries = [_step(entry, block.ordered) for entry in outline(block)]
    return "\n".join([r"\begin{description}", *entries, r"\end{description}"]) if entries else ""


def _step(entry: NumberedStep | Gap, ordered: bool) -> str:
    indent = rf"\hspace*{{{entry.depth - 1}em}}" if entry.depth > 1 else ""
    if isinstance(entry, Gap):
        return rf"\item[] {indent}{_plain(entry.text)}"
    item = entry.item
    title = _inlines(item.title)
    formula = rf"$\displaystyle {_formula(item.formula)}$" if item.formula else ""
    notes = "".join(rf" \par {_inlines(note)}" for note in item.notes)
    label = entry.label if ordered else r"\textbullet"
    return rf"\item[{label}] {indent}{say(': ').join(filter(None, [title, formula]))}{notes}"


def _table(block: Table) -> str:
    if not block.width:
        return _plain(block.caption)
    head = " & ".join(rf"\textbf{{{_plain(header)}}}" for header in headers_shown(block))
    rows = [_row(row, block.width) for row in rows_shown(block)]
    tables = (_tabular(block.width, [head + r" \\", r"\hline", *page]) for page in _pages(rows))
    return "\n\n".join(filter(None, [_plain(block.caption), *tables]))


def _pages(rows: list[str]) -> list[list[str]]:
    return [rows[n : n + TABLE_PAGE] for n in range(0, len(rows), TABLE_PAGE)] or [[]]


def _tabular(width: int, rows: list[str]) -> str:
    return "\n".join([rf"\begin{{tabular}}{{{'l' * width}}}", *rows, r"\end{tabular}"])


def _row(row: tuple[Line, ...] | Gap, width: int) -> str:
    if isinstance(row, Gap):
        return rf"\multicolumn{{{width}}}{{l}}{{{_plain(row.text)}}} \\"
    # The group keeps a cell that starts with a bracket from being read as the argument of the \\ above it.
    return "{}" + " & ".join(map(_inlines, row)) + r" \\"


def _code_block(text: str) -> str:
    # No verbatim: its text could end it, and may hold characters that the fonts lack.
    rows = (rf"\mbox{{{'~'.join(map(escape.latex, row.split(' ')))}}}" for row in escape.code_lines(text))
    return "\\begin{quote}\\ttfamily\\raggedright\n" + "\\\\\n".join(rows) + "\n\\end{quote}"


# ----------------------------------------------------------------------------------------- one formula for all


def display(document: Document) -> str:
    r"""Return the whole document as one displayed formula, or several if it is long.

    >>> slope = Formula("dy/dx = 2*x", r"\frac{dy}{dx} = 2 x")
    >>> print(display(Document("y", (Equation(slope),))))
    $$
    \begin{aligned}
    & \textbf{y} \\
    & \frac{dy}{dx} = 2 x
    \end{aligned}
    $$
    """
    chunks: list[list[str]] = [[]]
    height = 0
    for block in (Heading(line(document.title)), *flattened(without_pictures(document.blocks))):
        for row in filter(None, _display_rows(block)):
            height += 1 + row.count(r"\\")
            if chunks[-1] and height > DISPLAY_HEIGHT:
                chunks.append([])
                height = 1 + row.count(r"\\")
            chunks[-1].append(f"& {row}")
    return "\n\n".join("$$\n\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}\n$$" for rows in chunks)


def _display_rows(block: Leaf) -> Iterator[str]:
    match block:
        case Heading(line):
            yield "".join(_display_inline(inline, "textbf") for inline in line)
        case Paragraph(line):
            yield from _text_rows(line)
        case Equation():
            yield from _equation_rows(block)
        case Chain():
            yield from _chain_rows(block)
        case Steps():
            yield from (_step_row(entry, block.ordered) for entry in outline(block))
        case Table():
            yield from _table_rows(block)
        case CodeBlock(text):
            yield from map(_code_row, escape.code_lines(text))
        case Note():
            yield from _text_rows(announced(block))
        case Image():
            yield from _text_rows(described(block))
        case _:
            assert_never(block)


def _display_inline(inline: Inline, command: str = "text") -> str:
    match inline:
        case Text(text):
            return escape.math_text(text, command)
        case Strong(text):
            return escape.math_text(text, "textbf")
        case Code(text):
            return escape.math_text(text, "texttt")
        case Formula(text, latex):
            return escape.formula_latex(latex, text)
        case _:
            assert_never(inline)


def _display_line(line: Line) -> str:
    return "".join(map(_display_inline, line))


def _text_rows(line: Line) -> Iterator[str]:
    """Yield a line of text as several rows, each of about `DISPLAY_WIDTH` characters, broken between words."""
    row: list[Inline] = []
    used = 0
    for inline in line:
        # Text splits at its words, and each keeps the space after it; all else is one piece.
        words = map(Text, _WORD.findall(inline.text)) if isinstance(inline, Text) else [inline]
        for word in words:
            if row and used + columns(word.text) > DISPLAY_WIDTH:
                yield _display_line(tuple(row))
                row, used = [], 0
            if row and isinstance(word, Text) and isinstance(row[-1], Text):
                word = Text(row.pop().text + word.text)
            row.append(word)
            used = sum(columns(inline.text) for inline in row)
    yield _display_line(tuple(row))


def _equation_rows(block: Equation) -> Iterator[str]:
    yield _labelled(escape.math_text(block.label), _display_inline(block.formula))
    yield from _where_rows(block.where)


def _where_rows(names: Sequence[Formula]) -> Iterator[str]:
    for n, formula in enumerate(names):
        yield (rf"\text{{{say('where')} }} " if n == 0 else r"\qquad ") + _display_inline(formula)


def _chain_rows(block: Chain) -> Iterator[str]:
    for n, link in enumerate(block.links):
        left = _display_inline(block.left) if n == 0 else r"\quad"
        remark = rf"\quad {_display_line(link.remark)}" if link.remark else ""
        yield f"{left} = {_display_inline(link.formula)}{remark}"
    yield from _where_rows(block.where)


def _labelled(label: str, formula: str) -> str:
    return rf"{label}\text{{{say(': ').rstrip()}}}\quad {formula}" if label and formula else label or formula


def _step_row(entry: NumberedStep | Gap, ordered: bool) -> str:
    indent = r"\quad " * (entry.depth - 1)
    if isinstance(entry, Gap):
        return indent + escape.math_text(entry.text)
    item = entry.item
    formula = _display_inline(item.formula) if item.formula else ""
    notes = (rf"\quad\text{{(}}{_display_line(note)}\text{{)}}" for note in item.notes)
    number = rf"\text{{{entry.label}}}" if ordered else r"\bullet"
    return rf"{indent}{number}\quad {_labelled(_display_line(item.title), formula)}{''.join(notes)}"


def _table_rows(block: Table) -> Iterator[str]:
    yield escape.math_text(block.caption)
    if not block.width:
        return
    head = " & ".join(escape.math_text(header, "textbf") for header in headers_shown(block))
    rows = [
        escape.math_text(row.text) if isinstance(row, Gap) else " & ".join(map(_display_line, row))
        for row in rows_shown(block)
    ]
    for page in _pages(rows):
        yield _array(block.width, head, page)


def _array(width: int, head: str, rows: list[str]) -> str:
    # The group keeps a cell that starts with a bracket from being read as the argument of the \\ above it.
    body = r" \\ ".join([head, *(rf"\hline {row}" if n == 0 else "{}" + row for n, row in enumerate(rows))])
    return rf"\begin{{array}}{{{'l' * width}}} {body} \end{{array}}"


def _code_row(row: str) -> str:
    text = row.lstrip(" ")
    return r"\ " * (len(row) - len(text)) + escape.math_text(text, "texttt")
