"""LaTeX: no foreign text is a command, everything nests, and pdfLaTeX (where there is one) compiles it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gradexplain import portable
from gradexplain.render import latex
from gradexplain.render.blocks import (
    Chain,
    CodeBlock,
    Document,
    Formula,
    Link,
    Paragraph,
    StepItem,
    Steps,
    Table,
    line,
)

from .sample import HOSTILE, LONG, SAMPLE, formulas, hostile_document

KNOWN = {
    "section", "subsection", "subsubsection", "paragraph", "textbf", "texttt", "textbackslash", "textasciicircum",
    "textasciitilde", "textbullet", "ensuremath", "item", "par", "hspace", "mbox", "ttfamily", "raggedright",
    "multicolumn", "begin", "end", "surd", "displaystyle", "parbox", "linewidth",
}  # fmt: skip
ENVIRONMENTS = {"description", "tabular", "quote"}

LONG_LISTS = Document(
    "Long",
    (
        Table(("n", "f"), tuple((line(f"[{n}]"), line(LONG)) for n in range(300))),
        Steps((StepItem(line("s"), LONG, children=(StepItem(line("t")),) * 3),) * 300),
    ),
)


def displays(document: Document) -> list[str]:
    return latex.display(document).removeprefix("$$\n").removesuffix("\n$$").split("\n$$\n\n$$\n")


@pytest.mark.parametrize("document", [SAMPLE, LONG_LISTS, *map(hostile_document, HOSTILE)])
def test_fragments_have_only_commands_of_ours(document: Document) -> None:
    written = latex.fragment(document)
    assert set(re.findall(r"\\([A-Za-z]+)", written.replace(r"\\", ""))) <= KNOWN | portable.PORTABLE_COMMANDS
    assert set(re.findall(r"\\begin\{(\w+)\}", written)) <= ENVIRONMENTS | portable.PORTABLE_ENVIRONMENTS
    assert "\x1b" not in written
    assert "%" not in re.sub(r"\\%", "", written)


@pytest.mark.parametrize("document", [SAMPLE, LONG_LISTS, *map(hostile_document, HOSTILE)])
def test_displays_are_plain_mathematics(document: Document) -> None:
    known = portable.PORTABLE_COMMANDS | {"textbf", "texttt", "begin", "end"}
    for formula in displays(document):
        assert set(re.findall(r"\\([A-Za-z]+)", formula.replace(r"\\", ""))) <= known
        assert "$" not in formula.replace(r"\$", "")
        assert formula.count(r"\\") <= latex.DISPLAY_HEIGHT


def test_no_formula_is_lost() -> None:
    for written in (latex.fragment(SAMPLE), latex.display(SAMPLE)):
        for formula in formulas(SAMPLE):
            assert formula.latex in written


def test_steps_nest_no_lists() -> None:
    item = StepItem(line("s"))
    for _ in range(20):
        item = StepItem(line("s"), children=(item,))
    assert latex.fragment(Document("", (Steps((item,)),))).count(r"\begin{description}") == 1


def test_a_bracket_after_a_line_break_is_text() -> None:
    table = Table(("a",), ((line("1"),), (line("[2]"),)))
    assert "\n{}[2]" in latex.fragment(Document("", (table,)))


def test_code_keeps_its_blanks_and_ends_nothing() -> None:
    written = latex.fragment(Document("", (CodeBlock("x\n  \\end{quote}"),)))
    assert r"\mbox{~~\textbackslash{}end\{quote\}}" in written


def test_formulas_that_are_not_plain_are_printed_as_text() -> None:
    document = Document("", (Paragraph(line(Formula("x", r"\input{x}"), Formula("", ""))),))
    assert latex.fragment(document) == "$\\text{x}$${}$\n"


def test_long_tables_are_split_into_pages() -> None:
    assert latex.fragment(LONG_LISTS).count(r"\begin{tabular}") == 2


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex")
def test_pdflatex_compiles_everything(tmp_path: Path) -> None:
    # One document of all of them: starting LaTeX takes longer than the rest.
    bodies = map(latex.fragment, [SAMPLE, LONG_LISTS, Document(""), *map(hostile_document, HOSTILE)])
    empty = latex.standalone(Document(""))
    source = empty.replace(r"\mbox{}", "\\mbox{}\n" + "\n\\clearpage\n".join(bodies))
    (tmp_path / "all.tex").write_text(source, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_a_long_remark_stands_below_its_formula():
    """Beside it, it would run off the page."""
    y, long, short = Formula("y", "y"), line("so many words " * 8), line("few words")
    chain = Chain(y, (Link(Formula("x + 1", "x + 1"), short), Link(Formula("1 + x", "1 + x"), long)))
    source = latex.fragment(Document("f", (chain,)))
    assert r"x + 1 && \text{few words}" in source
    assert r"&\qquad \parbox[t]{0.75\linewidth}{\raggedright so many words" in source
