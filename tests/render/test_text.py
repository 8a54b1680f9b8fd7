"""Plain text: width, alignment, breaking, and what is never lost."""

import re

import pytest

from gradexplain.render import signs, text
from gradexplain.render.blocks import (
    CodeBlock,
    Document,
    Equation,
    Formula,
    Note,
    Paragraph,
    Section,
    StepItem,
    Steps,
    Table,
    line,
)

from .sample import HOSTILE, LONG, SAMPLE, TAPE, formulas, hostile_document


def squeezed(written: str) -> str:
    return re.sub(r"\s+", "", written)


def rendered(*blocks: object, width: int = 80, unicode: bool = False) -> str:
    return text.render(Document("", blocks), width=width, unicode=unicode)  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [1, 20, 40, 80, 200])
@pytest.mark.parametrize("unicode", [False, True])
def test_no_formula_is_lost_at_any_width(width: int, unicode: bool) -> None:
    written = squeezed(text.render(SAMPLE, width=width, unicode=unicode))
    for formula in formulas(SAMPLE):
        assert squeezed(signs.pretty(formula.text) if unicode else formula.text) in written


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_lines_keep_within_the_width(width: int) -> None:
    assert max(map(len, text.render(SAMPLE, width=width).splitlines())) <= width


@pytest.mark.parametrize("hostile", HOSTILE)
def test_output_is_ascii_and_has_no_controls(hostile: str) -> None:
    written = text.render(hostile_document(hostile))
    assert written.isascii()
    assert written.replace("\n", "").isprintable() or written == ""
    text.render(hostile_document(hostile), unicode=True).encode("utf-8")


def test_formulas_break_after_operators_and_outside_of_parentheses() -> None:
    assert rendered(Equation(LONG), width=60) == "\n".join(
        [
            "  d2y/dx2 = 2*sin(x) + 2*x*cos(x)",
            "      + (2*x*cos(x) - x**2*sin(x))",
            "      + exp(-(x - mu)**2/(2*sigma**2))/sqrt(2*pi)",
        ]
    )


def test_a_product_breaks_after_its_sign_and_a_name_never() -> None:
    formula = Formula("*".join(["a_rather_long_name"] * 3), "")
    assert rendered(Equation(formula), width=30).splitlines() == [
        "  a_rather_long_name*",
        "      a_rather_long_name*",
        "      a_rather_long_name",
    ]
    assert rendered(Equation(Formula("n" * 50, "")), width=30) == "  " + "n" * 50


def test_full_stops_stay_with_the_formula_before_them() -> None:
    paragraph = Paragraph(line("The derivative is ", Formula("2*x", "2 x"), "."))
    assert rendered(paragraph, width=20).splitlines() == ["The derivative is", "2*x."]


def test_step_formulas_are_aligned_unless_they_do_not_fit() -> None:
    steps = Steps(
        (StepItem(line("sum")), StepItem(line("product rule"), Formula("a*b", "")), StepItem(line("x"), LONG))
    )
    assert rendered(steps).splitlines() == [
        "  1  sum",
        "  2  product rule   a*b",
        "  3  x",
        "       d2y/dx2 = 2*sin(x) + 2*x*cos(x) + (2*x*cos(x) - x**2*sin(x))",
        "           + exp(-(x - mu)**2/(2*sigma**2))/sqrt(2*pi)",
    ]


def test_wide_tables_become_one_block_a_row() -> None:
    lines = rendered(TAPE, width=40).splitlines()
    assert lines[6:11] == [
        "step                u",
        "  op                square",
        "  value             9.00000",
        "  local derivative  du/dx = 2*x = 6",
        "  adjoint           0.14112",
    ]


def test_long_listings_say_what_is_missing() -> None:
    table = Table(("n",), tuple((line(str(n)),) for n in range(300)))
    assert "... 250 rows not shown" in rendered(table).splitlines()
    assert "     ... 250 steps not shown" in rendered(Steps((StepItem(line("s")),) * 300)).replace("       ", "     ")


def test_where_lists_the_names_in_a_column() -> None:
    equation = Equation(Formula("y = a", ""), where=(Formula("a = b", ""), Formula("b = c", "")))
    assert rendered(equation).splitlines() == ["  y = a", "  where a = b", "        b = c"]


def test_notes_say_what_they_are() -> None:
    assert rendered(Note(line("far"), "warning"), Note(line("bad"), "error"), Note(line("fine"), "ok")) == (
        "warning: far\n\nerror: bad\n\nfine"
    )


def test_unicode_text_uses_the_signs_of_mathematics() -> None:
    assert rendered(Equation(Formula("2*x**2 + x**10 + a**2**b", "")), unicode=True) == "  2·x² + x**10 + a**2**b"


def test_wide_and_combining_characters_count_as_terminals_count_them() -> None:
    table = Table(("字", "b"), ((line("e\u0301"), line("c")),))
    assert rendered(table, unicode=True).splitlines() == ["字  b", "--  -", "e\u0301   c"]


def test_code_keeps_its_indentation() -> None:
    assert rendered(Paragraph(line("so:")), CodeBlock("if x:\n\tpass\n")) == "so:\n\n    if x:\n        pass"


def test_depth_is_no_problem() -> None:
    section = Section(line("end"), (Paragraph(line("text")),))
    item = StepItem(line("s"))
    for _ in range(5_000):
        section = Section(line("s"), (section,))
        item = StepItem(line("s"), children=(item,))
    assert "text" in rendered(section)
    assert "substep not shown" in rendered(Steps((item,)))


def test_formulas_without_text_show_their_latex() -> None:
    assert rendered(Paragraph(line(Formula("", r"\alpha")))) == r"\alpha"
