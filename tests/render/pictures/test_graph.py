"""Pictures of graphs in all formats: everything is there, nothing is in the way, no raw text gets through."""

import io
import os
import re
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from rich.console import Console

import gradexplain as gx
from gradexplain.errors import ArgumentError
from gradexplain.exposition.picture import ComputationGraph, Edge, Vertex
from gradexplain.render.breaks import columns
from gradexplain.render.pictures import graph_svg, graph_text, sources
from gradexplain.render.pictures.picture import GraphPicture
from tests.render.pictures.programs import explained, thousand
from tests.render.sample import HOSTILE

ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {"svg", "title", "desc", "style", "rect", "g", "path", "text"}
PICTURES = {name: e.picture() for name, e in explained().items()}
pictures = pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)


def hostile_graph(text):
    place = gx.errors.Place(text, 3, text, text)
    x, y = Vertex(text, role="input", adjoint=text), Vertex(text, value=3.0, role="output", place=place)
    return ComputationGraph(text, (x, y), (Edge(0, 1, returns=True),), point=((text, 2.0),))


def boxes(picture):
    """The rectangles of the vertices."""
    return [
        tuple(float(r.get(name)) for name in ("x", "y", "width", "height"))
        for r in ET.fromstring(picture.to_svg()).iter(f"{SVG}rect")
        if "node" in r.get("class")
    ]


@pictures
def test_svg_is_xml_without_ids_addresses_or_scripts(picture):
    written = picture.to_svg()
    root = ET.fromstring(written)
    assert not [element for element in root.iter() if element.get("id")]
    assert not re.search(r"https?:|url\(|<script|@import|on\w+=", written.replace("http://www.w3.org/2000/svg", ""))
    assert root.find(f"{SVG}title").text == picture.document.title
    assert root.find(f"{SVG}desc").text == picture.alt
    assert "prefers-color-scheme:dark" in written
    assert "currentColor" in written


@pictures
def test_every_vertex_and_every_edge_is_drawn(picture):
    root, graph = ET.fromstring(picture.to_svg()), picture.data
    shown = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    for vertex in graph.vertices:
        assert any(text == vertex.name or text.startswith(f"{vertex.name} = ") for text in shown), vertex.name
    drawn = [path.get("class") for path in root.iter(f"{SVG}path")]
    assert drawn.count("at") == len(graph.edges)
    assert drawn.count("bt") == sum(edge.returns for edge in graph.edges)
    assert len(boxes(picture)) == len(graph.vertices)


@pictures
def test_boxes_do_not_overlap(picture):
    for (xa, ya, wa, ha), (xb, yb, wb, hb) in combinations(boxes(picture), 2):
        assert xa + wa <= xb or xb + wb <= xa or ya + ha <= yb or yb + hb <= ya


@pictures
def test_all_that_is_drawn_is_on_the_paper(picture):
    root = ET.fromstring(picture.to_svg())
    width, height = (float(root.get(name)) for name in ("width", "height"))
    for x, y, w, h in boxes(picture):
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height


@pictures
def test_the_words_name_every_vertex(picture):
    for vertex in picture.data.vertices:
        assert re.search(rf"(?<!\w){re.escape(vertex.name)}(?!\w)", picture.alt), vertex.name


def test_the_words_say_what_feeds_what():
    assert PICTURES["sketch"].alt == (
        "Computation graph of sketch at x = 3. x feeds u and v; both feed y. x = 3; u = x² = 9; v = sin(x) = 0.1411; "
        "y = u·v = 1.27. Adjoints, backwards: y 1, v 9, u 0.1411, x -8.063."
    )


def test_the_drawing_in_characters():
    assert PICTURES["sketch"].to_text(unicode=True).splitlines()[2:] == [
        "       ┌─[2·x = 6]────────▶ u = x² = 9 ───────────[v = 0.1411]─┐",
        "x = 3 ─┤                                                       ├▶ y = u·v = 1.27",
        "       └─[cos(x) = -0.99]─▶ v = sin(x) = 0.1411 ──[u = 9]──────┘",
        "",
        "x̄ = -8.063 ◀┈┈ ū = 0.1411, v̄ = 9 ◀┈┈ ȳ = 1",
    ]


@pictures
@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("unicode", [False, True])
def test_text_fits_and_loses_no_formula(picture, width, unicode):
    written = picture.to_text(width, unicode=unicode)
    assert unicode or written.isascii()
    assert "\x1b" not in written
    assert max(map(columns, written.splitlines())) <= width
    wording = graph_text.SIGNS if unicode and "▶" in written else graph_text.ASCII
    bare = re.sub(r"[\s·]|\*", "", written).replace("²", "2")
    for vertex in picture.data.vertices:
        for row in (*wording.lines_of(vertex), wording.adjoint_of(vertex)):
            assert re.sub(r"[\s·]|\*", "", row).replace("²", "2") in bare, row
    for edge in picture.data.edges:
        forward = wording.label_of(edge).forward
        assert re.sub(r"[\s·]|\*", "", forward).replace("²", "2") in bare, forward


@pictures
def test_dot_and_mermaid_have_every_vertex_and_edge(picture):
    graph = picture.data
    back = sum(edge.returns for edge in graph.edges)
    dot, mermaid = picture.to_dot(), picture.to_mermaid()
    assert len(re.findall(r"^  n\d+ \[label=", dot, re.MULTILINE)) == len(graph.vertices)
    assert len(re.findall(r"^  n\d+ -> n\d+", dot, re.MULTILINE)) == len(graph.edges) + back
    assert len(re.findall(r'^  n\d+(\[|\(\[)".*"(\]|\]\))$', mermaid, re.MULTILINE)) == len(graph.vertices)
    assert len(re.findall(r"^  n\d+ (-->|-\.->)(\|\".*\"\|)? n\d+$", mermaid, re.MULTILINE)) == len(graph.edges) + back
    assert len(mermaid.splitlines()) == 1 + len(graph.vertices) + len(graph.edges) + back


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_text_everywhere(text):
    graph = hostile_graph(text)
    picture = GraphPicture(graph)
    root = ET.fromstring(graph_svg.render(graph))
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= KNOWN
    assert graph_text.render(graph).isascii()
    string = r'"(?:[^"\\]|\\["\\n])*"'
    for row in sources.dot(graph).splitlines()[6:-3]:
        assert re.fullmatch(rf"  n\d \[label={string}(, \w+=\w+)?\];", row), row
    for row in sources.mermaid(graph).splitlines()[1:3]:
        assert re.fullmatch(r'  n\d(\(\[|\[)"[^"<>\\`*_]*(<br/>[^"<>\\`*_]*)?"(\]\)|\])', row), row
    bundle = picture._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert not re.search(r"<(?!/?(img|details|summary|span)\b)", bundle["text/html"])


def test_a_notebook_shows_it_untrusted():
    html = PICTURES["sketch"]._repr_mimebundle_()["text/html"]
    image = ET.fromstring(html)
    assert image.tag == "img"
    assert set(image.attrib) == {"alt", "src"}
    assert image.get("alt") == PICTURES["sketch"].alt
    assert image.get("src").startswith("data:image/svg+xml;base64,")


def test_documents_of_explanations_hold_the_graph_where_it_can_be_seen():
    e = explained()["sketch"]
    assert "<svg" in e.to_html()
    assert f'<img alt="{e.picture().alt[:30]}' in e.to_markdown()
    assert "<details><summary>Computation graph</summary>" in e.to_markdown()
    for written in (e.to_text(), e.to_latex(), str(e)):
        assert "feeds" not in written


def test_two_pictures_share_a_page():
    document = gx.render.blocks.Document("", (*PICTURES["sketch"].document.blocks, *PICTURES["newton"].document.blocks))
    page = gx.render.html.page(document)
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    assert page.count("<svg") == 2


def test_a_thousand_operations_are_folded_fast_and_small():
    e = gx.explain(thousand, x=1.0)
    assert len(e.graph) > 950
    start = time.perf_counter()
    picture = e.picture()
    page = picture.to_html()
    elapsed = time.perf_counter() - start
    assert elapsed < 0.5 * 4, "four times the figure, for a busy machine"
    assert len(page) < 150_000
    assert len(picture._repr_mimebundle_()["text/html"]) < 150_000
    assert [(v.name, v.count) for v in picture.data.vertices] == [("x", 1), ("swing()", 660), ("line 62", 330)]
    assert page.count("<details") == 2
    assert "the first 12 of 660 operations" in page
    assert "next pass" in picture.to_svg()
    assert e.data.graph is None


@pytest.mark.parametrize(("encoding", "start"), [("utf-8", "x = 3 ─┤"), ("ascii", "x = 3 -+")])
def test_a_rich_console_shows_the_drawing(encoding, start):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=stream, width=90, legacy_windows=False).print(PICTURES["sketch"])
    stream.flush()
    assert start in stream.buffer.getvalue().decode(encoding)


@pytest.mark.parametrize("ending", [".svg", ".txt", ".md", ".html", ".tex", ".json", ".dot", ".gv", ".mmd"])
def test_files(tmp_path, ending):
    PICTURES["sketch"].save(tmp_path / f"graph{ending}")
    assert "sin" in (tmp_path / f"graph{ending}").read_text(encoding="utf-8")


def test_files_that_can_not_be_written(tmp_path):
    with pytest.raises(ArgumentError, match=r"graph\.bmp' does not tell a format"):
        PICTURES["sketch"].save(tmp_path / "graph.bmp")
    with pytest.raises(ArgumentError, match="can't write"):
        PICTURES["sketch"].save(tmp_path / "nowhere" / "graph.svg")


def test_same_bytes_in_every_process():
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.render.pictures.programs import explained\n"
        "import hashlib\n"
        "for e in explained().values():\n"
        "    p = e.picture()\n"
        "    parts = [p.to_svg(), p.to_text(), p.to_dot(), p.to_mermaid()]\n"
        "    print(hashlib.sha256(''.join(parts).encode()).hexdigest())\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True, text=True, cwd=ROOT, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert runs[0] == runs[1]
    assert len(runs[0].splitlines()) == len(PICTURES)


def test_a_long_label_keeps_its_number():
    picture = gx.explain(lambda x: np.arctan2(np.sin(x) + 3.0, np.exp(x)), x=1.0).picture()
    labels = [graph_svg.SIGNS.label_of(e).forward for e in picture.data.edges]
    long = [label for label in labels if len(label) > graph_svg.LONGEST_LABEL]
    assert long
    for label in long:
        assert re.search(rf"\u2026 = {re.escape(label.rpartition(' = ')[2])}<", picture.to_svg())


def test_the_largest_graph_within_an_explanation_is_small():
    def wide(x):
        total = x
        for n in range(18):
            total = total + np.sin(x) ** n
        return total

    e = gx.explain(wide, x=0.5)
    assert e.data.graph is None or len(e.to_markdown()) < 300_000
    assert len(e.picture().data.vertices) <= 40
