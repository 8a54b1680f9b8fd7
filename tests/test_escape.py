"""Foreign text in every language: a table of hostile names, and what no output may contain."""

import re

import pytest
import sympy as sp

from gradexplain import escape
from tests.render.sample import HOSTILE

# name in the user's program       terminal, HTML, Markdown, LaTeX, within a formula
# fmt: off
NAMES = [
    ("a$b",                        "a$b", "a<span>&#36;</span>b", "a<span>&#36;</span>b",
                                   r"a\$b", r"\text{a}\$\text{b}"),
    (r"\href{x}",                  r"\href{x}", "<span>&#92;</span>href{x}", r"<span>&#92;</span>href\{x\}",
                                   r"\textbackslash{}href\{x\}", r"\backslash \text{href}\{\text{x}\}"),
    ("<img onerror>",              "<img onerror>", "&lt;img onerror&gt;", "&lt;img onerror&gt;",
                                   r"\(<\)img onerror\(>\)", r"<\text{img onerror}>"),
    ("[link=x]",                   "[link=x]", "[link=x]", r"\[link=x\]", "[link=x]", r"\lbrack \text{link=x}\rbrack "),
    ("\x1b[1m",                    r"\x1b[1m", "<span>&#92;</span>x1b[1m", r"<span>&#92;</span>x1b\[1m",
                                   r"\textbackslash{}x1b[1m", r"\backslash \text{x1b}\lbrack \text{1m}"),
    ("\u202ea",                    r"\u202ea", "<span>&#92;</span>u202ea", "<span>&#92;</span>u202ea",
                                   r"\textbackslash{}u202ea", r"\backslash \text{u202ea}"),
    ("a|b `c` *d*",                "a|b `c` *d*", "a|b `c` *d*", r"a\|b \`c\` \*d\*",
                                   r"a\(|\)b `c` *d*", r"\text{a}\vert \text{b }\prime \text{c}\prime \text{ *d*}"),
    ("``a'' -- b",                 "``a'' -- b", "``a&#x27;&#x27; -- b", r"\`\`a'' -- b",
                                   "`{}`a'{}' -{}- b", r"\prime \prime \text{a'' -- b}"),
    ("e\u0301",                    "e\u0301", "e\u0301", "e\u0301", "e[U+0301]", "\\text{e\u0301}"),
]
# fmt: on


@pytest.mark.parametrize(("name", "terminal", "html", "markdown", "latex", "math"), NAMES)
def test_names_are_text_in_every_language(
    name: str, terminal: str, html: str, markdown: str, latex: str, math: str
) -> None:
    assert escape.terminal(name) == terminal
    assert escape.html(name) == html
    assert escape.markdown(name) == markdown
    assert escape.latex(name) == latex
    assert escape.math_text(name) == math


@pytest.mark.parametrize("text", HOSTILE)
def test_no_hostile_text_passes(text: str) -> None:
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", escape.terminal(text))
    escape.terminal(text).encode("utf-8")
    assert not re.search(r"<(?!/?span>)", escape.html(text))
    assert '"' not in escape.attribute(text)
    assert not re.search(r"<(?!/?span>)|(?<!\\)[`*_\[\]|]", escape.markdown(text))
    assert not re.search(r"(?<!\\)[$&#%]", escape.latex(text))
    assert escape.is_portable(escape.math_text(text)) or not text
    assert escape.is_portable(escape.identifier_latex(text)) or not text


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("x", "x"),
        ("alpha", r"\alpha"),
        ("Omega", r"\Omega"),
        ("λ", r"\lambda"),
        ("omicron", r"\mathrm{omicron}"),
        ("x1", "x_{1}"),
        ("w_1", "w_{1}"),
        ("beta_2", r"\beta_{2}"),
        ("θ_10", r"\theta_{10}"),
        ("x_i", "x_{i}"),
        ("x_train", r"x_{\mathrm{train}}"),
        ("loss", r"\mathrm{loss}"),
        ("loss2", r"\mathrm{loss}_{2}"),
        ("learning_rate", r"\mathrm{learning\_rate}"),
        ("w1_2", r"\mathrm{w1\_2}"),
        ("_", r"\mathrm{\_}"),
        ("__init__", r"\mathrm{\_\_init\_\_}"),
        ("größe", r"\text{größe}"),
        ("", ""),
    ],
)
def test_identifiers_look_as_a_mathematician_writes_them(name: str, latex: str) -> None:
    assert escape.identifier_latex(name) == latex


@pytest.mark.parametrize(
    ("text", "encoding", "written"),
    [
        ("x² ≤ ∂y/∂θ", "ascii", "x^2 <= dy/dtheta"),
        ("x² ≤ é", "cp1252", "x² <= é"),
        ("x̄ + ẋ + Λ", "ascii", "x_bar + x_dot + Lambda"),
        ("naïve ﬁt", "ascii", "naive fit"),
        ("字🦀", "latin-1", "\\u5b57\\U0001f980"),
        ("x²", "no such encoding", "x^2"),
        ("plain", "no such encoding", "plain"),
    ],
)
def test_text_is_written_with_what_the_stream_has(text: str, encoding: str, written: str) -> None:
    assert escape.encodable(text, encoding) == written


def test_what_sympy_prints_is_portable() -> None:
    x, n = sp.symbols("x n", positive=True)
    f = sp.Function("f")
    matrix = sp.MatrixSymbol("A", 3, 3)
    expressions = [
        sp.exp(-(x**2) / 2) / sp.sqrt(2 * sp.pi),
        sp.Piecewise((x, x > 1), (sp.log(x), True)),
        sp.Sum(x**n, (n, 0, sp.oo)),
        sp.Integral(f(x), (x, 0, 1)),
        sp.Derivative(f(x), x, 2),
        sp.Subs(sp.Derivative(f(x), x), x, 2),
        sp.Matrix([[x, 1], [0, sp.sin(x) ** 2]]),
        (matrix.T * matrix).inverse() + sp.Identity(3),
        sp.Abs(x - n) + sp.sign(x - n) + sp.Max(x, n) + sp.floor(x) + sp.erf(x) + sp.gamma(x),
        sp.Heaviside(x) + sp.DiracDelta(x),
        sp.Symbol("x'") ** 2,
    ]
    for expression in expressions:
        assert escape.is_portable(sp.latex(expression)), sp.latex(expression)


@pytest.mark.parametrize(
    "latex",
    [
        "", " ", "x^", "x_{", "x}", "x^2^3", "x_1_2", "x^2'", r"\left(x", r"\right)", "a & b", r"a \\ b", "50%", "$x$",
        r"\href{a}{b}", r"\def\x{}", r"\begin{align*}a\end{align*}", r"\begin{matrix}a\end{cases}", r"\end{matrix}",
        r"\begin{array}{l|l}a\end{array}", r"\begin{array}a\end{array}", "^^41", "\\", "#1", "\x1b", "`", r"\\",
    ],
)  # fmt: skip
def test_what_is_not_plain_mathematics_is_replaced(latex: str) -> None:
    assert not escape.is_portable(latex)
    assert escape.formula_latex(latex, "x % y") == r"\text{x }\%\text{ y}"


def test_symbols_stand_outside_of_text_in_formulas() -> None:
    assert escape.math_text("∑ of ℝ, θ") == r"\sum \text{ of }ℝ\text{, θ}"


def test_latex_gets_no_character_that_it_lacks() -> None:
    assert (
        escape.latex("naïve ∂ ≤ Ω 字") == r"naïve \ensuremath{\partial} \ensuremath{\le} \ensuremath{\Omega} [U+5B57]"
    )
    assert escape.latex_characters(r"\text{é} + ï", in_formula=True) == r"\text{\text{é}} + \text{ï}"


def test_a_formula_is_on_one_line() -> None:
    assert escape.formula_latex("\na\n\n+ b ", "") == "a + b"
