"""Derivations end as a book ends them: the raw line, how it is simplified, the closed form, the check."""

import json

import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.render import text
from gradexplain.render.blocks import Chain, Document, Formula, Link, line
from gradexplain.render.rewriting import remark
from gradexplain.simplify import matching, steps
from gradexplain.simplify.rewrite import NAMES, Rewrite

x, s = sp.symbols("x s", real=True)
QUOTIENT = "(x**2 - 1)/(x**2 + 1)"


def ending(function, detail, **point):
    shown = str(gx.explain(function, **point).derivation(detail=detail))
    return shown[shown.index("substitute" if detail == "full" else "  dy/dx =") :]


def test_brief():
    assert (
        ending(QUOTIENT, "brief", x=0.5)
        == """\
  dy/dx = (2*x*(x**2 + 1) - 2*x*(x**2 - 1))/(x**2 + 1)**2    (raw)
        = 4*x/(x**2 + 1)**2    2*x**3 cancels

check x = 0.5: dy/dx = 1.28, difference quotient 1.280000 ok"""
    )


def test_full():
    assert (
        ending(QUOTIENT, "full", x=0.5)
        == """\
substitute
             dy/dx = (2*x*(x**2 + 1) - (x**2 - 1)*2*x)/(x**2 + 1)**2
                 = (2*x*(x**2 + 1) - 2*x*(x**2 - 1))/(x**2 + 1)**2
  2      simplify
  2.1      multiply out 2*x*(x**2 + 1) and -2*x*(x**2 - 1)
             dy/dx = (2*x**3 + 2*x - 2*x**3 + 2*x)/(x**2 + 1)**2
                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  2.2      2*x**3 cancels              dy/dx = 4*x/(x**2 + 1)**2

  dy/dx = 4*x/(x**2 + 1)**2

check x = 0.5: dy/dx = 1.28, difference quotient 1.280000 ok"""
    )


@pytest.mark.parametrize("detail", ["brief", "full"])
def test_what_needs_no_steps_has_none(detail):
    shown = str(gx.explain("x**x", x=1.4).derivation(detail=detail))
    assert "(raw)" not in shown
    assert "simplify" not in shown
    assert shown.endswith("check x = 1.4: dy/dx = 2.14062, difference quotient 2.140618 ok")


def test_without_a_point_there_is_no_check():
    assert "check" not in str(gx.explain("x**x").derivation())


def test_the_check_is_that_of_the_derivative_that_was_derived():
    e = gx.explain("x**2*y", x=3.0, y=2.0)
    assert str(e.derivation("y")).endswith("check x = 3, y = 2: df/dy = 9, difference quotient 9.000000 ok")
    assert [row.name for row in e.derivation("y").data.check.rows] == ["y"]


def test_an_overview_shows_the_raw_line_once():
    shown = str(gx.explain(QUOTIENT, x=0.5))
    assert shown.count("(raw)") == shown.count("2*x**3 cancels") == 1
    assert shown.count("4*x/(x**2 + 1)**2") == 1


@pytest.mark.parametrize("format", ["to_text", "to_latex", "to_markdown", "to_html"])
@pytest.mark.parametrize(("detail", "words"), [("brief", "(raw)"), ("full", "multiply out")])
def test_every_format_tells_the_steps(format, detail, words):
    assert words in getattr(gx.explain(QUOTIENT, x=0.5).derivation(detail=detail), format)()


def test_json_has_the_steps_as_data():
    e = gx.explain(QUOTIENT, x=0.5)
    record = json.loads(e.derivation().to_json())
    assert [(r["rule"], r["evidence"]) for r in record["rewrites"]] == [
        ("multiply out", "proved"),
        ("cancel", "proved"),
    ]
    assert record["rewrites"][1]["terms"][0]["text"] == "2*x**3"
    assert record["rewrites"][-1]["after"]["text"] == record["result"]["text"]
    assert json.loads(e.to_json())["forms"][0][1]["rewrites"] == record["rewrites"]


@pytest.mark.parametrize(
    ("rule", "terms", "words"),
    [
        (matching.CANCEL, (x, s), "x and s cancel"),
        (matching.CANCEL, (), "cancel"),
        (matching.COMMON_FACTOR, (x,), "factor x"),
        (matching.REDUCE, (x, s, x * s), "cancel x, s and s*x"),
        (matching.DISTRIBUTE, (x, s), "distribute x over s"),
        (matching.EXTEND, (x,), "multiply numerator and denominator by x"),
        (matching.SPLIT, (x,), "divide each term by x"),
        (steps.SUBSTITUTE, (s, x**2), "put in s"),
        (NAMES, (s, x**2), "in terms of s = x**2"),
        (steps.EQUAL, (s, x**2), "equal terms cancel: s = x**2"),
        ("double angle", (s, x**2, x, s), "double angle: s = x**2, x = s"),
        ("some rule", (), "some rule"),
    ],
)
def test_remarks(rule, terms, words):
    assert "".join(inline.text for inline in remark([Rewrite(rule, x, s, "", terms)])) == words


def test_a_remark_leaves_out_what_goes_without_saying():
    told = [Rewrite(matching.MULTIPLY_OUT, x, s), Rewrite(matching.CANCEL, x, s, "", (x,)), Rewrite("factor", x, s)]
    assert "".join(inline.text for inline in remark(told)) == "x cancels; factor"


def test_a_chain_keeps_its_equal_signs_below_each_other():
    long = Formula(" + ".join(["a*b"] * 8), "")
    chain = Chain(Formula("dy/dx", ""), (Link(long, line("(raw)")), Link(Formula("8*a*b", ""), line("like terms"))))
    assert text.render(Document("", (chain,)), width=34).splitlines() == [
        "  dy/dx = a*b + a*b + a*b + a*b",
        "              + a*b + a*b + a*b",
        "              + a*b    (raw)",
        "        = 8*a*b    like terms",
    ]
