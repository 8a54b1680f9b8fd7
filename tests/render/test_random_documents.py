"""Random documents, hostile ones among them: no format raises, and each keeps its promises."""

import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from gradexplain.render import html, json_, latex, markdown, terminal, text
from gradexplain.render.blocks import Document

from .sample import documents

thorough = settings(deadline=None, derandomize=True, max_examples=150)


@thorough
@given(documents, st.sampled_from([1, 20, 40, 80, 200]), st.booleans())
def test_plain_text_has_no_controls(document: Document, width: int, unicode: bool) -> None:
    written = text.render(document, width=width, unicode=unicode)
    assert unicode or written.isascii()
    assert all(row.isprintable() for row in written.split("\n"))


@thorough
@given(documents, st.sampled_from(["ascii", "cp1252", "utf-8"]), st.sampled_from([10, 40, 80]))
def test_consoles_print_it(document: Document, encoding: str, width: int) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=stream, width=width, legacy_windows=False).print(terminal.render(document))


@thorough
@given(documents)
def test_html_is_well_formed_twice_over(document: Document) -> None:
    page = html.page(document)
    HTMLParser().feed(page)
    ids = [element.get("id") for element in ET.fromstring(page).iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert not re.search(r"<(script|img|a)\b", page)


@thorough
@given(documents)
def test_latex_opens_and_closes_what_it_opens(document: Document) -> None:
    for written in (latex.standalone(document), latex.display(document)):
        bare = re.sub(r"\\[\\{}]", "", written)
        assert bare.count("{") == bare.count("}")
        assert sorted(re.findall(r"\\begin\{(\w+)\}", bare)) == sorted(re.findall(r"\\end\{(\w+)\}", bare))


@thorough
@given(documents)
def test_what_notebooks_show_is_encodable(document: Document) -> None:
    markdown.render(document).encode("utf-8")
    written = [text.render(document), markdown.render(document), latex.display(document)]
    assert not any("\x1b" in value for value in written)


@thorough
@given(documents)
def test_json_is_json(document: Document) -> None:
    assert json.loads(json_.dumps(document))["title"] == document.title
