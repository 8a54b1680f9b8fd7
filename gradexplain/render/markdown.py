r"""Markdown with ``$…$`` formulas: what notebooks typeset, and what GitHub and VS Code show.

Formulas use the common subset of KaTeX and MathJax (`escape.formula_latex`), and of characters those that neither
Markdown nor HTML claims: ``\vert`` for the bar that would end a table cell, ``\lt`` for the sign that would open a
tag. Foreign text is escaped for all three. Steps are nested numbered lists, sections are ``<details>``.

A new block is one more case in `_block`.
"""

import re
from collections.abc import Sequence
from typing import assert_never

from gradexplain import escape
from gradexplain.language import say
from gradexplain.render.blocks import (
    SECTION_DEPTH_CAP,
    Block,
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
    Line,
    Note,
    NumberedStep,
    Paragraph,
    Section,
    Steps,
    Strong,
    Table,
    Text,
    announced,
    flattened,
    headers_shown,
    line,
    outline,
    rows_shown,
)


def render(document: Document) -> str:
    r"""Return the document as Markdown.

    >>> slope = Formula("dy/dx = 2*x", r"\frac{dy}{dx} = 2 x")
    >>> print(render(Document("y = x**2", (Paragraph(line("slope: ", slope)),))), end="")
    # y = x\*\*2
    <BLANKLINE>
    slope: $\frac{dy}{dx} = 2 x$
    """
    blocks = [_heading(line(document.title), 1), *(_block(block, 1) for block in document.blocks)]
    return _apart(*blocks) + "\n"


def _apart(*blocks: str) -> str:
    return "\n\n".join(filter(None, blocks))


def _block(block: Block, depth: int) -> str:
    match block:
        case Heading(line, level):
            return _heading(line, level + 1)
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
        case CodeBlock():
            return _code_block(block)
        case Note():
            return _inlines(announced(block))
        case Image(svg, alt):
            return escape.image(svg, alt)
        case Section():
            return _section(block, depth)
        case _:
            assert_never(block)


def _inline(inline: Inline) -> str:
    match inline:
        case Text(text):
            return escape.markdown(text)
        case Strong(text):
            return _strong(text)
        case Code(text):
            return _code(text)
        case Formula():
            return f"${_formula(inline)}$"
        case _:
            assert_never(inline)


def _inlines(line: Line) -> str:
    """Return a line. A formula next to a letter, a digit or another formula gets a space: dollars need one there."""
    written = ""
    for inline in line:
        piece = _inline(inline)
        formulas = written.endswith("$"), piece.startswith("$")
        if (formulas[0] and _sticks(piece[:1])) or (formulas[1] and _sticks(written[-1:])):
            written += " "
        written += piece
    # What is harmless within a line may open a list or a heading at its start.
    return escape.markdown_start(written.strip())


def _text(text: str) -> str:
    return _inlines(line(text))


def _sticks(character: str) -> bool:
    return character.isalnum() or character == "$"


def _strong(text: str) -> str:
    # Stars mark only what begins and ends with a letter or digit; the element has no such rule.
    escaped = escape.markdown(text)
    return f"**{escaped}**" if escaped[:1].isalnum() and escaped[-1:].isalnum() else f"<strong>{escaped}</strong>"


def _code(text: str) -> str:
    # A bar in backticks would end a table cell, and a backtick the code; in the element both are ordinary escapes.
    shown = escape.one_line(text)
    return f"<code>{escape.markdown(text)}</code>" if re.search(r"[`|]|^\s|\s$|^$", shown) else f"`{shown}`"


# A bar ends a cell, angles make a tag; where mathematics is not known, brackets before parentheses make a link.
_MARKDOWN_IN_LATEX = ((r"\|", r"\Vert "), ("|", r"\vert "), ("<", r"\lt "), (">", r"\gt "), ("](", "]{}("))


def _formula(formula: Formula) -> str:
    latex = escape.formula_latex(formula.latex, formula.text)
    for signs, command in _MARKDOWN_IN_LATEX:
        latex = latex.replace(signs, command)
    return latex.strip() or "{}"


def _displayed(formula: Formula) -> str:
    return f"$$\n{_formula(formula)}\n$$"


def _heading(line: Line, level: int) -> str:
    text = _inlines(line)
    return f"{'#' * level} {text}" if text else ""


def _equation(block: Equation) -> str:
    label = _text(block.label + say(": ").rstrip()) if block.label else ""
    return _apart(label, _displayed(block.formula), *_where(block.where))


def _chain(block: Chain) -> str:
    rows = [part for formula, remark in block.rows for part in (_displayed(formula), _inlines(remark))]
    return _apart(*rows, *_where(block.where))


def _where(names: Sequence[Formula]) -> list[str]:
    return [say("where"), *map(_displayed, names)] if names else []


def _steps(block: Steps) -> str:
    written = ""
    indents = [0]  # of the text of the items that are open: what belongs to one is indented so far
    for entry in outline(block):
        del indents[entry.depth :]
        marker = f"{entry.number[-1]}." if isinstance(entry, NumberedStep) and block.ordered else "-"
        if isinstance(entry, Gap):
            # A paragraph of the parent: it ends the list, so that the next number counts.
            written += f"\n{' ' * indents[-1]}{_text(entry.text)}\n\n"
            continue
        indent = indents[-1]
        indents.append(indent + len(marker) + 1)
        first, *others = _step(entry)
        written += f"{' ' * indent}{marker} {first}\n"
        written += "".join(f"\n{' ' * indents[-1]}{paragraph}\n\n" for paragraph in others)
    return written.rstrip("\n")


def _step(entry: NumberedStep) -> list[str]:
    """Return the paragraphs of a step: the title with its formula, then the notes."""
    item = entry.item
    title = _inlines(item.title)
    formula = f"${_formula(item.formula)}$" if item.formula else ""
    notes = filter(None, map(_inlines, item.notes))
    return [say(": ").join(filter(None, [title, formula])) or "<span></span>", *notes]


def _table(block: Table) -> str:
    if not block.width:
        return _text(block.caption)
    rows = [
        _row([_text(header) for header in headers_shown(block)]),
        _row(["---"] * block.width),
        *(
            _row([_text(row.text), *[""] * (block.width - 1)])
            if isinstance(row, Gap)
            else _row(list(map(_inlines, row)))
            for row in rows_shown(block)
        ),
    ]
    return _apart(_text(block.caption), "\n".join(rows))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code_block(block: CodeBlock) -> str:
    text = "\n".join(escape.code_lines(block.text))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    language = re.sub(r"[^A-Za-z0-9+-]", "", block.language)
    return f"{fence}{language}\n{text}\n{fence}"


def _section(block: Section, depth: int) -> str:
    if depth > SECTION_DEPTH_CAP:
        return _apart(*(_block(leaf, depth) for leaf in flattened([block], level=3)))
    title = "".join(_summary(inline) for inline in block.title)
    inner = (_block(inner, depth + 1) for inner in block.blocks)
    return _apart(f"<details{' open' * block.open}><summary>{title}</summary>", *inner, "</details>")


def _summary(inline: Inline) -> str:
    """Return an inline as HTML: the line that holds the tags of a section is none of Markdown's."""
    match inline:
        case Text(text):
            return escape.html(text)
        case Strong(text):
            return f"<strong>{escape.html(text)}</strong>"
        case Code(text):
            return f"<code>{escape.html(text)}</code>"
        case Formula(text, latex):
            return f"<code>{escape.html(text or latex)}</code>"
        case _:
            assert_never(inline)
