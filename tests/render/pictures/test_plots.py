"""Plots as SVG, in words, and as figures of matplotlib."""

import builtins
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError
from gradexplain.render.pictures.axes import HEIGHT, WIDTH, Scale, axes
from gradexplain.render.pictures.contours import contours
from gradexplain.render.pictures.svg import Canvas
from tests.render.pictures.programs import rosenbrock, sketch

SVG = "{http://www.w3.org/2000/svg}"
PLOTS = {
    "tangent": gx.explain(sketch, x=3.0).plot(),
    "secants": gx.explain(sketch, x=3.0).plot(secants=(2.0, 1.0)),
    "error": gx.explain(sketch, x=3.0).error_plot(),
    "kink": gx.explain(lambda x: abs(x), x=0.0).error_plot(),
    "pole": gx.explain(lambda x: 1 / x, x=0.5).plot(),
    "constant": gx.explain(lambda x: 0 * x + 1.0, x=0.5).plot(),
    "field": gx.descent(rosenbrock, (-1.0, 1.0), rate=0.002, steps=20),
    "standing": gx.descent(lambda x, y: x**2 + y**2, (0.0, 0.0), steps=3),
    "many": gx.descent(lambda w: np.sum(w**2), np.ones(4)),
}
plots = pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)


@plots
def test_svg_is_xml_with_words_and_without_addresses(plot):
    written = plot.to_svg()
    root = ET.fromstring(written)
    assert root.find(f"{SVG}title").text == plot.document.title
    assert root.find(f"{SVG}desc").text == plot.alt
    assert not [element for element in root.iter() if element.get("id")]
    assert not re.search(r"https?:|nan|inf\b", written.replace("http://www.w3.org/2000/svg", ""))
    assert len(written) < 60_000


@plots
def test_lines_stay_in_the_picture(plot):
    root = ET.fromstring(plot.to_svg())
    for path in root.iter(f"{SVG}path"):
        if path.get("class") in ("a", "b", "c"):
            for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d")):
                assert 0 <= float(x) <= WIDTH
                assert 0 <= float(y) <= float(root.get("height"))


@plots
def test_all_formats(plot):
    assert "picture: " in plot.to_text()
    assert plot.to_text().isascii()
    assert "<svg" in plot.to_html()
    assert "<img alt=" in plot.to_markdown()
    assert plot.to_latex()
    assert plot.to_json().startswith('{"schema"')
    assert set(plot._repr_mimebundle_()) == {"text/plain", "text/html", "image/svg+xml"}


def test_a_notebook_shows_the_numbers_and_the_notes():
    root = ET.fromstring(f"<div>{gx.explain(abs, x=0.0).plot()._repr_mimebundle_()['text/html']}</div>")
    assert [child.tag for child in root] == ["img", "p", "details"]
    assert root.find("p").text.startswith("warning: ")
    assert "slopes -1 and 1, 0 is taken" in root.find("p").text
    rows = root.findall("details/table/tr")
    assert [cell.text for cell in rows[0]] == ["x", "y", "tangent"]
    assert ["0", "0", "0"] in [[cell.text for cell in row] for row in rows]


def test_the_words_of_a_tangent():
    assert PLOTS["tangent"].alt == (
        "sketch and its tangent at x = 3. The curve passes through (3, 1.27) with slope -8.063: it falls there."
    )


@plots
def test_figures(plot, tmp_path):
    pytest.importorskip("matplotlib")
    figure = plot.figure()
    assert figure.axes[0].get_title() == plot.document.title
    plot.save(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    plot.save(tmp_path / "plot.pdf")
    assert (tmp_path / "plot.pdf").read_bytes().startswith(b"%PDF")


def test_without_matplotlib_the_message_says_what_to_do(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ArgumentError, match=r"pip install gradexplain\[plot\]"):
        PLOTS["tangent"].figure()
    assert PLOTS["tangent"].to_svg()


def test_ticks_are_round_and_inside():
    assert Scale(-0.3, 2.2, 0, 100).ticks == pytest.approx([0, 0.5, 1, 1.5, 2])
    assert Scale(1e-3, 1e2, 0, 100, True).ticks == pytest.approx([1e-3, 1e-2, 1e-1, 1, 10, 100])
    for low, high in [(0.0, 1e-9), (-5e6, 3e7), (2.0, 2.0001)]:
        ticks = Scale(low, high, 0, 1).ticks
        assert 3 <= len(ticks) <= 8
        assert all(low - 1e-9 * abs(low) <= t <= high + 1e-9 * abs(high) for t in ticks)


def drawn(frame, xs, ys):
    canvas = Canvas()
    frame.line(canvas, xs, ys, "a")
    return canvas.elements


def test_lines_are_cut_at_the_frame_and_broken_at_poles():
    frame = axes((0.0, 10.0), (0.0, 10.0))
    (cut,) = drawn(frame, [0.0, 10.0], [-10.0, 20.0])
    ys = [float(y) for y in re.findall(r"[ML]\S+ ([\d.]+)", cut)]
    assert (max(ys), min(ys)) == (frame.y(0.0), frame.y(10.0))
    assert len(drawn(frame, [0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 2.0, float("nan"), 2.0, 1.0])) == 2
    assert drawn(frame, [5.0, 5.1], [-10.0, 20.0]) == []
    assert drawn(frame, [1.0, 2.0], [11.0, 12.0]) == []
    assert HEIGHT > frame.y.start > frame.y.end


def test_contours_lie_on_their_level():
    x = y = np.linspace(-1.0, 1.0, 21)
    for lines in contours(x, y, [[a + 2 * b for a in x] for b in y], 5):
        heights = [p + 2 * q for a, b, c, d in lines for p, q in ((a, b), (c, d))]
        assert np.ptp(heights) < 1e-9


def test_level_ground_has_no_contours():
    assert contours([0.0, 1.0], [0.0, 1.0], [[1.0, 1.0], [1.0, 1.0]], 5) == []
