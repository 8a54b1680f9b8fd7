"""MathML: every construct of the formulas that are shown, well formed, and nothing that is not known."""

from xml.etree import ElementTree as ET

import pytest

import gradexplain as gx
from gradexplain import escape
from gradexplain.render.mathml import THIN, mathml

from .sample import HOSTILE, SAMPLE, formulas

# fmt: off
STRETCHED = 'fence="true" stretchy="true" lspace="0" rspace="0"'
STIFF = STRETCHED.replace('stretchy="true"', 'stretchy="false"')
NAME = 'mathvariant="normal"'
PRIME = '<mo lspace="0" rspace="0">′</mo>'
CONSTRUCTS = [
    (r"2 x",                        "<mn>2</mn><mi>x</mi>"),
    (r"\frac{dy}{x}",               "<mfrac><mrow><mi>d</mi><mi>y</mi></mrow><mi>x</mi></mfrac>"),
    (r"\frac12 + x^34",             "<mfrac><mn>1</mn><mn>2</mn></mfrac><mo>+</mo><msup><mi>x</mi><mn>3</mn></msup>"),
    (r"x^{2}_{i}",                  "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
    (r"u''",                        f"<mrow><mi>u</mi>{PRIME}{PRIME}</mrow>"),
    (r"\left(\frac{u}{v}\right)'",  f"</mrow><mrow>{PRIME}</mrow></msup>"),
    (r"a - 1.5",                    "<mo>−</mo><mn>1.5</mn>"),
    (r"a = -1.5",                   '<mo form="prefix">−</mo><mn>1.5</mn>'),
    (r"\sqrt{x}",                   "<msqrt><mi>x</mi></msqrt>"),
    (r"\sqrt[3]{x}",                "<mroot><mi>x</mi><mn>3</mn></mroot>"),
    (r"2\sin x",                    f"<mn>2</mn>{THIN}<mi>sin</mi><mo>\u2061</mo>{THIN}<mi>x</mi>"),
    (r"\bar{u}\sin x",               f"</mover>{THIN}<mi>sin</mi>"),
    (r"\sin{\left(x\right)}",       f"<mrow><mi>sin</mi><mo>\u2061</mo><mrow><mo {STIFF}>(</mo>"),
    (r"\sin^{2} x",                 "<msup><mi>sin</mi><mn>2</mn></msup><mo>\u2061</mo>"),
    (r"\operatorname{sum} x",       '<mi mathvariant="normal">sum</mi><mo>\u2061</mo>'),
    (r"\sum_{k=0}^{n} k",           '<munderover><mo largeop="true">∑</mo>'),
    (r"\max_{x} f",                 "<munder><mi>max</mi><mi>x</mi></munder>"),
    (r"\left|x\right|",             f"<mo {STIFF}>|</mo><mi>x</mi>"),
    (r"\left(\sqrt{x}\right)",      f"<mo {STRETCHED}>(</mo><msqrt>"),
    (r"\left. x \right|_{0}",       f"<msub><mrow><mi>x</mi><mo {STRETCHED}>|</mo></mrow>"),
    (r"\bar{x}",                    "<mover><mi>x</mi><mo>¯</mo></mover>"),
    (r"x \coloneqq 0",              None),
    (r"\text{if } x \lt 0",         "<mtext>if\u00a0</mtext><mi>x</mi><mo>&lt;</mo>"),
    (r"\text{if } x < 0",           "<mtext>if\u00a0</mtext><mi>x</mi><mo>&lt;</mo>"),
    (r"\mathrm{learning\_rate}",    '<mi mathvariant="normal">learning_rate</mi>'),
    (r"\begin{bmatrix}1 & 2\\3 & 4\end{bmatrix}", "<mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr>"),
    (r"\begin{cases} 1 & x > 0 \\0 & \text{else} \end{cases}", f"<mo {STRETCHED}>{{</mo>"),
    (r"2 \mathrm{ab} \mathrm{cd} x",  f"{THIN}<mi {NAME}>ab</mi>{THIN}<mi {NAME}>cd</mi>{THIN}<mi>x</mi>"),
    (r"\alpha \cdot \nabla",        "<mi>α</mi><mo>⋅</mo><mi>∇</mi>"),
    (r"X^{\top}",                   "<msup><mi>X</mi><mo>⊤</mo></msup>"),
    (r"n!",                         "<mi>n</mi><mo>!</mo>"),
    (r"{} = x",                     "<mrow></mrow><mo>=</mo>"),
]
# fmt: on


@pytest.mark.parametrize(("latex", "expected"), CONSTRUCTS)
def test_constructs(latex: str, expected: str | None) -> None:
    written = mathml(latex)
    if expected is None:
        assert written is None
    else:
        assert written is not None
        assert expected in written
        ET.fromstring(written)


@pytest.mark.parametrize(
    "latex", ["{x", "x}", r"\frac{1}", r"\left(x", r"\begin{cases}x", r"\text{a", "x^", r"\\", "&"]
)
def test_what_is_incomplete_is_not_known(latex: str) -> None:
    assert mathml(latex) is None


def test_deep_formulas_are_left_to_their_text() -> None:
    assert mathml("{" * 500 + "x" + "}" * 500) is None


@pytest.mark.parametrize("hostile", HOSTILE)
def test_foreign_text_stays_text(hostile: str) -> None:
    written = mathml(escape.formula_latex(hostile, hostile)) or "<math/>"
    assert {element.tag for element in ET.fromstring(written).iter()} <= {
        "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msub", "msup", "msubsup",
    }  # fmt: skip


def test_all_formulas_of_the_sample_are_known() -> None:
    assert all(mathml(escape.formula_latex(f.latex, f.text)) for f in formulas(SAMPLE))


@pytest.mark.parametrize(
    "typed",
    [
        "x**2*sin(x)/sqrt(1+x)",
        "log(abs(x)) + atan(x)",
        "exp(-x**2/(2*s**2))",
        "max(x, 2*y)",
        "x**x",
        "x**2 + y**2 = 25",
    ],
)
def test_whole_explanations_are_typeset(typed: str) -> None:
    page = gx.explain(typed).to_html()
    assert '<span class="formula"><code>' not in page
    assert page.count("<math") > 3
