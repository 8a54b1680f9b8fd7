"""The stepper: every step with what it is about, with and without scripts and styles, alone and beside others."""

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.render import stepper, walk

RULE = re.compile(r"<(style|script)>.*?</\1>", re.DOTALL)


def f(x):
    u = x**2
    v = np.sin(x)
    return u * v


@pytest.fixture(scope="module")
def steps():
    return gx.explain(f, x=3.0).stepper()


def tree(fragment):
    return ET.fromstring(re.sub(r"&(?!amp|lt|gt|quot|#)", "&amp;", RULE.sub("", fragment)))


def fragment(steps):
    return stepper.fragment(steps.data, prefix="out1", typeset=False)


def test_it_goes_forward_and_then_back(steps):
    moves = walk.moves(steps.data)
    assert [move.phase for move in moves] == ["forward"] * 4 + ["backward"] * 6 + ["result"]
    assert [move.rows for move in moves[:4]] == [("x",), ("u",), ("v",), ("y",)]
    assert [move.rows for move in moves[4:]] == [
        ("y",), ("v", "y"), ("u", "y"), ("x", "v"), ("x", "u"), ("x",), ("x",),
    ]  # fmt: skip


def test_each_step_is_about_the_line_that_computed_it(steps):
    first = f.__code__.co_firstlineno
    assert [move.line and move.line - first for move in walk.moves(steps.data)] == [
        None, 1, 2, 3, 3, 3, 3, 2, 1, None, None,
    ]  # fmt: skip
    assert steps.data.lines[1][1] == "    u = x**2"


def test_steps_are_told_with_their_numbers(steps):
    text = steps.to_text()
    assert "2   forward: `u` (line" in text
    assert "u = x**2 = 9" in text
    assert "x_bar_1 = v_bar*cos(x) = -8.90993" in text
    assert text.endswith("dy/dx = x_bar = -8.06321")


def test_rows_lines_and_steps_share_their_marks(steps):
    root = tree(fragment(steps))
    (table,) = root.iter("table")
    marks = {row[0][0].text: row.get("class") for row in table.iterfind("tbody/tr")}
    assert marks == {"x": "m1 m8 m9 m10 m11", "u": "m2 m7 m9", "v": "m3 m6 m8", "y": "m4 m5 m6 m7"}
    lines = [span.get("class") for span in root.iterfind(".//pre/code/span")]
    assert lines == [None, "m2 m9", "m3 m8", "m4 m5 m6 m7"]
    assert [item.get("class") for item in root.iterfind(".//ol/li")] == [f"s{n}" for n in range(1, 12)]


def test_numbers_are_known_from_the_step_that_computes_them(steps):
    (table,) = tree(fragment(steps)).iter("table")
    known = {row[0][0].text: [cell[0].get("data-at") for cell in row[2:]] for row in table.iterfind("tbody/tr")}
    assert known == {"x": ["1", "10"], "u": ["2", "7"], "v": ["3", "6"], "y": ["4", "5"]}


def test_every_step_has_a_button_of_its_own_and_a_way_on(steps):
    root = tree(fragment(steps))
    buttons = list(root.iter("input"))
    assert [button.get("id") for button in buttons] == [f"out1-{n}" for n in range(1, 12)]
    assert {button.get("name") for button in buttons} == {"out1"}
    assert [button.get("checked") is not None for button in buttons] == [True] + [False] * 10
    assert (
        buttons[1].get("aria-label") == f"step 2 of 11: forward: u (line {f.__code__.co_firstlineno + 1}), u = x**2 = 9"
    )
    ways = [[label.get("for") for label in item.iter("label")] for item in root.iterfind(".//ol/li")]
    assert ways[0] == [None, "out1-2"]
    assert ways[4] == ["out1-4", "out1-6"]
    assert ways[10] == ["out1-10", None]


def test_styles_choose_the_step_and_reach_nothing_else(steps):
    style = re.search(r"<style>(.*?)</style>", fragment(steps), re.DOTALL)[1]
    assert "#out1-3:checked ~ .stage .s3" in style
    selectors = re.findall(r"([^{}]+)\{", style)
    assert all(part.strip().startswith("#out1") for selector in selectors for part in selector.split(","))


def test_without_styles_scripts_and_mathml_everything_is_there_as_text(steps):
    page = fragment(steps)
    assert "<math" not in page
    shown = "".join(tree(page).itertext())
    for words in ("u = x² = 9", "x̄₁ = v̄·cos(x) = -8.90993", "y hands on to v by the product rule", "v = np.sin(x)"):
        assert words in shown
    assert "Next" not in shown  # nothing could be pressed


def test_outputs_of_one_notebook_share_no_id(steps):
    ids = [set(re.findall(r' id="([^"]+)"', steps._repr_mimebundle_()["text/html"])) for _ in range(2)]
    assert len(ids[0]) == 12
    assert not ids[0] & ids[1]
    assert list(steps._repr_mimebundle_()) == ["text/plain", "text/html"]


def test_the_page_is_offline_and_the_same_each_time(steps, tmp_path):
    steps.save(tmp_path / "steps.html")
    page = (tmp_path / "steps.html").read_text(encoding="utf-8")
    assert page == steps.to_html()
    assert not re.search(r"https?:|url\(|@import|src=", page)
    assert "<math" in page
    assert '<html lang="en">' in page


@pytest.mark.parametrize("hostile", ["</style><b>", '"><script>alert(1)</script>', "$x$"])
def test_foreign_text_stays_text(steps, hostile):
    changed = stepper.Stepper(stepper.Walk(hostile, (), steps.data.sweep, ((1, hostile),), hostile))
    assert hostile not in changed.to_html() or hostile == "$x$"
    assert "alert(1)" not in RULE.sub("", changed.to_html()).replace("&lt;script&gt;alert(1)", "")


def test_without_a_point_there_are_no_numbers():
    steps = gx.explain(f).stepper()
    root = tree(fragment(steps))
    assert [cell.text for cell in root.iterfind(".//thead//th")] == ["name", "operation"]
    assert steps.to_text().splitlines()[0] == "f, step by step"


def test_formulas_and_equations_have_no_source():
    assert "<pre" not in gx.explain("x**2*sin(x)", x=3).stepper().to_html()
    assert "step by step" in gx.explain("x**2 + y**2 = 25", x=3, y=4).stepper().to_text()


def test_arrays_and_long_programs_are_gone_through_as_well():
    assert "(2, 2)" not in gx.explain(lambda w: np.sum(w**2), w=np.ones(3)).stepper().to_text()

    def long(x):
        for _ in range(100):
            x = np.sin(x) + x
        return x

    steps = gx.explain(long, x=0.5).stepper()
    assert "operations that are not shown" in steps.to_text(width=200)
    assert len(steps.to_html()) < 150_000
