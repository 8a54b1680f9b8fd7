"""Markdown: read back by a CommonMark parser, foreign text is text and tables stay tables."""

import re
from html.parser import HTMLParser

import pytest

from gradexplain.render import markdown
from gradexplain.render.blocks import (
    Block,
    Code,
    CodeBlock,
    Document,
    Formula,
    Paragraph,
    Section,
    StepItem,
    Steps,
    Strong,
    Table,
    line,
)

from .sample import HOSTILE, SAMPLE, formulas, hostile_document

# rich brings this parser along.
MarkdownIt = pytest.importorskip("markdown_it").MarkdownIt


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert {name for name, _ in attrs} <= {"open", "start", "class", "alt", "src"}

    def handle_data(self, data: str) -> None:
        self.text += data


def read(*blocks: Block) -> Page:
    return Page(MarkdownIt().enable("table").render(markdown.render(Document("", blocks))))


def written(*blocks: Block) -> str:
    return markdown.render(Document("", blocks))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_makes_no_tags(hostile: str) -> None:
    page = read(*hostile_document(hostile).blocks)
    expected = "h2 h3 h4 p strong code ol ul li table thead tbody tr th td pre details summary span em img"
    assert set(page.tags) <= set(expected.split())
    assert page.tags.count("table") == 1
    assert page.tags.count("details") == 1
    assert page.tags.count("tr") == 4
    assert page.tags.count("img") == 1


@pytest.mark.parametrize("hostile", [text for text in HOSTILE if text.isprintable() and text.strip()])
def test_text_is_read_back_as_it_was(hostile: str) -> None:
    shown = re.sub(r" +", " ", hostile)
    assert read(Paragraph(line(hostile))).text.strip("\n") == shown
    assert read(Paragraph(line("a ", Code(hostile), " b"))).text.strip("\n") == f"a {shown} b"
    assert read(Paragraph(line("a ", Strong(hostile), " b"))).text.strip("\n") == f"a {shown} b"
    assert read(CodeBlock(hostile)).text.strip("\n") == hostile


def test_no_formula_is_lost() -> None:
    shown = markdown.render(SAMPLE)
    for formula in formulas(SAMPLE):
        assert formula.latex.replace("|", r"\vert ").replace("<", r"\lt ") in shown or formula.text == "y < 1"


def test_bars_and_angles_in_formulas_are_commands() -> None:
    formula = Formula("|x| < 1", r"\left\|x\right\| + |x| < 1")
    assert written(Paragraph(line(formula))) == ("$\\left\\Vert x\\right\\Vert  + \\vert x\\vert  \\lt  1$\n")


def test_formulas_keep_apart_from_each_other_and_from_words() -> None:
    x = Formula("x", "x")
    assert written(Paragraph(line("a", x, x, "2, ", x, ", (", x, ")"))) == "a $x$ $x$ 2, $x$, ($x$)\n"


def test_steps_are_nested_lists_that_keep_their_numbers() -> None:
    inner = (StepItem(line("inner"), notes=(line("a note"),)),) * 2
    steps = Steps((*(StepItem(line("s")),) * 99, StepItem(line("outer"), children=inner)))
    page = MarkdownIt().render(written(steps))
    assert '<ol start="91">' in page
    assert page.count("<ol") == 3
    assert "… 50 steps not shown" in page
    assert re.search(r"<li>outer\s*<ol>\s*<li>\s*<p>inner</p>\s*<p>a note</p>", page)


def test_cells_hold_bars() -> None:
    page = read(Table(("a", "b"), ((line("p | q"), line(Code("r | s"))), (line(Formula("|x|", "|x|")),))))
    assert page.tags.count("td") == 4
    assert "p | q" in page.text
    assert "r | s" in page.text


def test_sections_fold() -> None:
    section = Section(line("Title ", Formula("a < b", "a < b")), (Paragraph(line(Strong("inside"))),), open=False)
    assert written(section) == ("<details><summary>Title <code>a &lt; b</code></summary>\n\n**inside**\n\n</details>\n")


def test_code_is_fenced_by_more_backticks_than_it_has() -> None:
    assert written(CodeBlock("````", "python\n# x")) == "`````pythonx\n````\n`````\n"


def test_depth_is_no_problem() -> None:
    section = Section(line("end"), (Paragraph(line("text")),))
    for _ in range(5_000):
        section = Section(line("s"), (section,))
    assert "text" in written(section)
