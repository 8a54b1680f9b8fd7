"""What is shown of a document: numbers, gaps, opened sections."""

import pytest

from gradexplain.render.blocks import (
    STEP_DEPTH_CAP,
    STEP_TOTAL_CAP,
    Gap,
    Heading,
    Image,
    Note,
    NumberedStep,
    Paragraph,
    Section,
    StepItem,
    Steps,
    Strong,
    Table,
    announced,
    flattened,
    headers_shown,
    line,
    outline,
    rows_shown,
    without_pictures,
)


def chain(length: int) -> StepItem:
    """Return a step in a step in a step …"""
    item = StepItem(line("innermost"))
    for _ in range(length - 1):
        item = StepItem(line("chain rule"), children=(item,))
    return item


def shown(steps: Steps) -> list[str]:
    return [entry.label if isinstance(entry, NumberedStep) else entry.text for entry in outline(steps)]


def test_steps_are_numbered_as_in_a_book() -> None:
    leaf = StepItem(line("leaf"))
    twig = StepItem(line("twig"), children=(leaf, leaf))
    assert shown(Steps((twig, StepItem(line("tree"), children=(leaf, twig))))) == (
        ["1", "1.1", "1.2", "2", "2.1", "2.2", "2.2.1", "2.2.2"]
    )


def test_no_steps_have_no_outline() -> None:
    assert shown(Steps(())) == []


@pytest.mark.parametrize(
    ("count", "expected"), [(60, None), (61, "… 11 steps not shown"), (300, "… 250 steps not shown")]
)
def test_many_steps_are_cut_in_the_middle_and_keep_their_numbers(count: int, expected: str | None) -> None:
    labels = shown(Steps((StepItem(line("s")),) * count))
    assert labels[0] == "1"
    assert labels[-1] == str(count)
    assert [label for label in labels if label.startswith("…")] == ([expected] if expected else [])
    assert len(labels) == (count if expected is None else 51)


def test_deep_steps_are_counted_below_the_cap() -> None:
    labels = shown(Steps((chain(100_000),)))
    assert labels[-2] == ".".join("1" * STEP_DEPTH_CAP)
    assert labels[-1] == "… 1 substep not shown"


def test_total_is_capped_level_by_level_even_if_steps_share_their_substeps() -> None:
    item = StepItem(line("leaf"))
    for _ in range(50):
        item = StepItem(line("twice"), children=(item, item, item))
    entries = list(outline(Steps((item,) * 10)))
    numbered = [entry for entry in entries if isinstance(entry, NumberedStep)]
    assert len(numbered) <= STEP_TOTAL_CAP
    assert {entry.number for entry in numbered} >= {(n, m) for n in range(1, 11) for m in (1, 2, 3)}
    assert any(entry == Gap(3, "substep", entry.depth) for entry in entries if isinstance(entry, Gap))


def test_rows_are_as_wide_as_the_table() -> None:
    table = Table(("a",), ((line("1"), line("2")), ()))
    assert headers_shown(table) == ("a", "")
    assert list(rows_shown(table)) == [(line("1"), line("2")), ((), ())]


def test_long_tables_are_cut_in_the_middle() -> None:
    rows = list(rows_shown(Table(("n",), tuple((line(str(n)),) for n in range(300)))))
    assert rows[39:42] == [(line("39"),), Gap(250, "row"), (line("290"),)]
    assert len(rows) == 51


def test_sections_are_opened_without_recursion() -> None:
    section = Section(line("inner"), (Paragraph(line("text")),))
    for _ in range(10_000):
        section = Section(line("outer"), (section,))
    leaves = list(flattened([section, Paragraph(line("after"))]))
    assert leaves[0] == Heading(line("outer"), 1)
    assert leaves[-3:] == [Heading(line("inner"), 3), Paragraph(line("text")), Paragraph(line("after"))]


def test_only_warnings_and_errors_are_announced() -> None:
    assert announced(Note(line("x"), "error"))[0] == Strong("error")
    assert announced(Note(line("x"), "ok")) == line("x")


def test_folded_sections_of_pictures_are_left_out_where_nothing_is_shown() -> None:
    picture, words = Image("<svg/>", "x feeds y"), Paragraph(line("words"))
    kept = (picture, Section(line("open"), (picture,)), Section(line("mixed"), (picture, words), open=False))
    assert without_pictures([Section(line("folded"), (picture,), open=False), *kept]) == kept
