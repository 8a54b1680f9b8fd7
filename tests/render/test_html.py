"""HTML: well formed, offline, accessible, and complete without styles."""

import re
from xml.etree import ElementTree as ET

import pytest

from gradexplain.render import html
from gradexplain.render.blocks import Document, Paragraph, Section, StepItem, Steps, Table, line

from .sample import HOSTILE, SAMPLE, formulas, hostile_document


def tree(document: Document) -> ET.Element:
    return ET.fromstring(html.page(document))


def text_of(element: ET.Element) -> str:
    return "".join(element.itertext())


@pytest.mark.parametrize("document", [SAMPLE, Document(""), *map(hostile_document, HOSTILE)])
def test_pages_are_well_formed_and_hold_no_tag_of_others(document: Document) -> None:
    page = tree(document)
    expected = (
        "html head meta title style body main article h1 h2 h3 h4 p strong code span div ul ol li table caption thead "
        "tbody tr th td pre details summary figure "
        "math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd"
    )
    ours = {element.tag for element in page.iter() if not element.tag.startswith("{http://www.w3.org/2000/svg}")}
    assert ours <= set(expected.split())
    allowed = {"lang", "charset", "name", "content", "id", "class", "value", "scope", "colspan", "open", "tabindex"}
    allowed |= {
        "displaystyle",
        "mathvariant",
        "stretchy",
        "fence",
        "largeop",
        "accent",
        "accentunder",
        "width",
        "lspace",
        "rspace",
        "form",
    }
    assert {name for element in page.iter() if element.tag in ours for name in element.attrib} <= allowed
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_pages_are_offline_and_know_their_language() -> None:
    page = html.page(SAMPLE).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|<script|url\(|@import", page)
    assert tree(SAMPLE).get("lang") == "en"
    assert "prefers-color-scheme: dark" in page


def test_text_is_read_back_as_it_was() -> None:
    for hostile in HOSTILE:
        if hostile.isprintable():
            paragraph = tree(Document("", (Paragraph(line(hostile)),))).find(".//p")
            assert paragraph is not None
            assert text_of(paragraph) == re.sub(" +", " ", hostile)


def test_sanitised_pages_keep_every_formula() -> None:
    page = re.sub(r"<style>.*?</style>", "", html.page(SAMPLE), flags=re.DOTALL)
    page = re.sub(r' (class|id|scope|tabindex|value)="[^"]*"', "", page)
    page = re.sub(r"</?m\w+[^>]*>", "", page.replace("<main>", "").replace("</main>", ""))
    shown = text_of(ET.fromstring(page))
    for formula in formulas(SAMPLE):
        assert formula.text in shown


def test_tables_name_their_rows_and_columns() -> None:
    page = tree(SAMPLE)
    assert [cell.get("scope") for cell in page.iterfind(".//thead//th")] == ["col"] * 5
    assert all(row[0].get("scope") == "row" for row in page.iterfind(".//tbody/tr"))


def test_steps_are_nested_ordered_lists_with_numbers() -> None:
    page = tree(SAMPLE)
    outer = page.find(".//ol")
    assert outer is not None
    assert [item.get("value") for item in outer] == ["1", "2", "3"]
    assert [text_of(item).split()[0] for item in outer.iterfind("./li/ol/li")] == ["power", "sine"]


def test_numbers_go_on_after_a_gap() -> None:
    items = tree(Document("", (Steps((StepItem(line("s")),) * 100),))).findall(".//li")
    assert [items[n].get("value") for n in (39, 40, 41, 50)] == ["40", None, "91", "100"]
    assert items[40].text == "… 50 steps not shown"


def test_two_outputs_on_a_page_share_no_id() -> None:
    ids = [set(re.findall(r'id="([^"]+)"', html.fragment(SAMPLE, prefix=prefix))) for prefix in ("a", "b")]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert 'id="a-b---1"' in html.fragment(Document("t"), prefix='a b">')


def test_long_tables_say_what_is_missing() -> None:
    table = Table(("n", "m"), ((line("1"), line("2")),) * 300)
    assert '<td colspan="2">… 250 rows not shown</td>' in html.page(Document("", (table,)))


def test_depth_is_no_problem() -> None:
    section = Section(line("end"), (Paragraph(line("text")),))
    for _ in range(5_000):
        section = Section(line("s"), (section,))
    assert "text" in html.page(Document("", (section,)))
