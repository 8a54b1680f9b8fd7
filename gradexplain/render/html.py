"""HTML: one offline page, or a fragment to put into somebody else's.

No script, no address, no font to load; light and dark by the reader's setting; steps are ordered lists, sections fold
by keyboard, tables tell rows and columns apart for a screen reader. It is well-formed XML as well. Formulas are MathML,
and text beside it: a browser that can't typeset MathML shows the text instead, and so does whoever drops styles.

A new block is one more case in `_block`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count
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
from gradexplain.render.mathml import mathml
from gradexplain.render.pictures.svg import themed

Ids = Iterator[str]

LIGHT = """color-scheme: light; --ink: #1b1b1b; --paper: #fff; --soft: #f2f4f6; --rule: #8a8f98; --warn: #8a5a00;
  --bad: #a3210b; --good: #00664a; --mark: #fff3c4;"""
DARK = """color-scheme: dark; --ink: #e6e6e6; --paper: #16181b; --soft: #23272c; --rule: #7d838c; --warn: #e69f00;
  --bad: #ff8a70; --good: #4fd1a5; --mark: #4a3d10;"""
STYLE = """
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
code, pre { font-family: ui-monospace, monospace; }
.formula > code { background: var(--soft); padding: 0 .25em; overflow-wrap: anywhere; }
.formula > math { display: none; }
@supports (math-style: compact) { .formula > math { display: inline math; } .formula > math + code { display: none; } }
.formula math { font-size: 1.1em; }
.formula mtd { padding: .15em .4em; } .formula .aligned mtd { text-align: left; text-align: -webkit-left; }
.formula .bold { font-weight: bold; } .formula .italic { font-style: italic; } .formula .monospace, kbd {
  font-family: ui-monospace, monospace; }
.equation { margin: 1rem 1.5rem; overflow-x: auto; }
.chain { list-style: none; margin: 0; padding: 0; } .remark { padding-left: 1.5em; font-style: italic; }
@media (min-width: 40rem) { .chain { display: table; border-spacing: 0 .4rem; } .chain > li { display: table-row; }
  .chain > li > span { display: table-cell; } }
.label { color: inherit; font-style: italic; margin-right: .75em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; } caption { text-align: left; font-style: italic; }
th, td { text-align: left; padding: .2rem .75rem .2rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
ol.steps > li::marker { content: counters(list-item, ".") "  "; }
.steps > li > p { margin: .1rem 0; } .steps > li.gap { list-style: none; } .steps > li.gap::marker { content: ""; }
.listing { background: var(--soft); padding: .75rem; overflow-x: auto; }
.picture { margin: 1rem 0; overflow-x: auto; } .picture svg { max-width: 100%; height: auto; }
.note { border-left: .25rem solid var(--rule); padding-left: .75rem; }
.note.ok { border-color: var(--good); } .note.warning { border-color: var(--warn); border-left-style: dashed; }
.note.error { border-color: var(--bad); border-left-style: double; }
summary { cursor: pointer; font-weight: bold; }
"""

# Chinese is not set in italics.
UPRIGHT = "\n.remark, .label, caption { font-style: normal; }\n"


def page(document: Document, *, theme: str = "auto", language: str = "en") -> str:
    """Return a complete HTML page, in the colours of a theme: light, dark, or what the reader's system has.

    >>> print(page(Document("y = x**2")).splitlines()[0])
    <!DOCTYPE html>
    """
    return around(fragment(document, prefix="gradexplain"), document.title, theme=theme, language=language)


def around(content: str, title: str, *, theme: str = "auto", language: str = "en", style: str = "") -> str:
    """Return the page that has a fragment as its content."""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="{language}">',
            '<head><meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<title>{escape.attribute(title)}</title>",
            f"<style>{colours(theme, ':root')}{STYLE}{style}{UPRIGHT if language == 'zh' else ''}</style></head>",
            "<body><main>",
            themed(content, theme),
            "</main></body>",
            "</html>\n",
        ]
    )


def colours(theme: str, scope: str) -> str:
    """Return the rules that set the colours of a theme within a selector.

    >>> colours("dark", "#out1").startswith("#out1 { color-scheme: dark;")
    True
    """
    chosen = f"{scope} {{ {DARK if theme == 'dark' else LIGHT} }}"
    return chosen + (f"\n@media (prefers-color-scheme: dark) {{ {scope} {{ {DARK} }} }}" if theme == "auto" else "")


def fragment(document: Document, *, prefix: str) -> str:
    """Return the document as one HTML element. All its ids start with ``prefix``, one of its own for each output.

    >>> print(fragment(Document("y = x**2", (Paragraph(line("fine")),)), prefix="out1"))
    <article class="gradexplain">
    <h1 id="out1-1">y = x**2</h1>
    <p>fine</p>
    </article>
    """
    stem = re.sub(r"[^A-Za-z0-9_-]", "-", prefix)
    ids = (f"{stem}-{n}" for n in count(1))
    blocks = [_heading(line(document.title), 1, ids), *(_block(block, ids, 1) for block in document.blocks)]
    return "\n".join(['<article class="gradexplain">', *filter(None, blocks), "</article>"])


def _block(block: Block, ids: Ids, depth: int) -> str:
    match block:
        case Heading(line, level):
            return _heading(line, level + 1, ids)
        case Paragraph(line):
            return f"<p>{_inlines(line)}</p>"
        case Equation():
            return _equation(block)
        case Chain():
            return _chain(block)
        case Steps():
            return _steps(block)
        case Table():
            return _table(block)
        case CodeBlock(text):
            rows = "\n".join(map(_code_row, escape.code_lines(text)))
            return f'<pre class="listing" tabindex="0"><code>{rows}</code></pre>'
        case Note(_, kind):
            return f'<p class="note {kind}">{_inlines(announced(block))}</p>'
        case Image(svg):
            return f'<figure class="picture">{svg}</figure>'
        case Section():
            return _section(block, ids, depth)
        case _:
            assert_never(block)


def _inline(inline: Inline) -> str:
    match inline:
        case Text(text):
            return escape.html(text)
        case Strong(text):
            return f"<strong>{escape.html(text)}</strong>"
        case Code(text):
            return f"<code>{escape.html(text)}</code>"
        case Formula():
            return formula(inline)
        case _:
            assert_never(inline)


def formula(formula: Formula, *, display: bool = False) -> str:
    """Return a formula as MathML, and as text for where that is not typeset.

    >>> formula(Formula("2*x", "2 x"))
    '<span class="formula"><math><mrow><mn>2</mn><mi>x</mi></mrow></math><code>2*x</code></span>'
    """
    typeset = mathml(escape.formula_latex(formula.latex, formula.text), display=display) or ""
    return f'<span class="formula">{typeset}<code>{_text(formula)}</code></span>'


def _text(formula: Formula) -> str:
    """The text of a formula, with what a step has changed underlined."""
    written, at = "", 0
    for start, end in formula.marks:
        written += f"{escape.html(formula.text[at:start])}<u>{escape.html(formula.text[start:end])}</u>"
        at = end
    return written + escape.html(formula.text[at:] or ("" if at else formula.latex))


def _inlines(line: Line) -> str:
    return "".join(map(_inline, line))


def _heading(line: Line, level: int, ids: Ids) -> str:
    text = _inlines(line)
    return f'<h{level} id="{next(ids)}">{text}</h{level}>' if text else ""


def _equation(block: Equation) -> str:
    label = f'<span class="label">{escape.html(block.label + say(": ").rstrip())}</span>' if block.label else ""
    return f'<div class="equation">{label}{formula(block.formula, display=True)}{_where(block.where)}</div>'


def _chain(block: Chain) -> str:
    rows = "".join(
        f"<li><span>{formula(block.left, display=True) if n == 0 else ''}</span> "
        f"<span>{formula(_equals(link.formula), display=True)}</span>{_remark(link.remark)}</li>"
        for n, link in enumerate(block.links)
    )
    return f'<div class="equation"><ul class="chain">{rows}</ul>{_where(block.where)}</div>'


def _equals(right: Formula) -> Formula:
    return Formula(f"= {right.text}", f"{{}} = {right.latex.strip() or '{}'}")


def _remark(line: Line) -> str:
    return f' <span class="remark">{_inlines(line)}</span>' if line else ""


def _where(names: Sequence[Formula]) -> str:
    where = "".join(f"<li>{formula(name, display=True)}</li>" for name in names)
    return f'<p>{say("where")}</p>\n<ul class="where">{where}</ul>' if where else ""


def _steps(block: Steps) -> str:
    tag = "ol" if block.ordered else "ul"
    written, depth = "", 0
    for entry in outline(block):
        # Each item stays open until what follows is not inside it.
        written += "</li>\n" if entry.depth == depth else ""
        written += f'\n<{tag} class="steps">\n' * (entry.depth - depth)
        written += f"</li></{tag}>" * (depth - entry.depth) + ("</li>\n" if entry.depth < depth else "")
        written += _step(entry, block.ordered)
        depth = entry.depth
    return (written + f"</li></{tag}>" * depth).strip()


def _step(entry: NumberedStep | Gap, ordered: bool) -> str:
    if isinstance(entry, Gap):
        return f'<li class="gap">{escape.html(entry.text)}'
    item = entry.item
    shown = [formula(item.formula, display=True)] if item.formula else []
    notes = "".join(f"<p>{_inlines(note)}</p>" for note in item.notes)
    # The number is explicit, since it goes on after a gap.
    value = f' value="{entry.number[-1]}"' if ordered else ""
    return f"<li{value}>{' '.join([_inlines(item.title), *shown])}{notes}"


def _table(block: Table) -> str:
    caption = f"<caption>{escape.html(block.caption)}</caption>" if block.caption else ""
    head = "".join(f'<th scope="col">{escape.html(header)}</th>' for header in headers_shown(block))
    rows = "\n".join(_row(row, block.width) for row in rows_shown(block))
    table = f"<table>{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>'


def _row(row: tuple[Line, ...] | Gap, width: int) -> str:
    if isinstance(row, Gap):
        return f'<tr><td colspan="{width}">{escape.html(row.text)}</td></tr>'
    cells = list(map(_inlines, row))
    named = [f'<th scope="row">{cells[0]}</th>'] if cells else []
    return f"<tr>{''.join(named + [f'<td>{cell}</td>' for cell in cells[1:]])}</tr>"


def _code_row(row: str) -> str:
    # Word by word, since escaped text has no two blanks in a row.
    return " ".join(map(escape.html, row.split(" ")))


def _section(block: Section, ids: Ids, depth: int) -> str:
    if depth > SECTION_DEPTH_CAP:
        return "\n".join(_block(leaf, ids, depth) for leaf in flattened([block], level=3))
    own = next(ids)
    inner = "\n".join(_block(inner, ids, depth + 1) for inner in block.blocks)
    start = ' open=""' if block.open else ""
    summary = f"<summary>{_inlines(block.title)}</summary>"
    return f'<details id="{own}"{start}>{summary}\n{inner}\n</details>'
