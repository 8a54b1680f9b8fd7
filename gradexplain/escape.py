r"""One function for each language that foreign text is put into: what comes out is text there and nothing else.

Names, docstrings, source lines and file names come from the user's files, so they may hold anything. Every format
passes them through here, and through nothing of its own:

=======================  ====================================================================================
`terminal`               a terminal or a log: no control sequences, no invisible or reordering characters
`code_lines`             the same for the lines of a program
`encodable`              a stream of limited encoding: ``∂`` becomes ``d`` where it can't be written
`html`, `attribute`      HTML elements and attributes, also where MathJax reads the page; `image` for a whole picture
`svg`, `dot`, `mermaid`  pictures: SVG, and the sources of Graphviz and Mermaid
`markdown`               CommonMark with pipe tables and dollar mathematics; `markdown_start` for whole lines
`latex`, `math_text`     LaTeX outside and inside formulas
`identifier_latex`       a variable's name as a formula: ``alpha`` is ``\alpha``, ``x1`` is ``x_{1}``
`formula_latex`          the LaTeX of a formula, if it is harmless and portable, else its text
=======================  ====================================================================================

Another language is another function here and another column in ``tests/render/test_escape.py``.
"""

import base64
import html as entities
import re
import unicodedata
from collections.abc import Mapping
from itertools import groupby

from gradexplain.portable import GREEK_LATEX, is_well_formed

# --------------------------------------------------------------------------------------- terminals and streams


def terminal(text: str) -> str:
    r"""Return text in which control, formatting, and unassigned characters are visible escapes.

    The line feed and the tab stay. What Python's `repr` escapes is escaped: C0 and C1 controls, ESC, bidi controls,
    zero-width characters, lone surrogates.

    >>> print(terminal("\x1b[31mred\u202e"))
    \x1b[31mred\u202e
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _visible(c) for c in text)


def one_line(text: str) -> str:
    r"""Return `terminal` text with every run of blanks as one space.

    >>> one_line("two\n\n lines")
    'two lines'
    """
    return re.sub(r"[ \n\t]+", " ", terminal(text))


def code_lines(text: str) -> list[str]:
    r"""Return the lines of a program as `terminal` text, tabs as spaces, without empty lines at the end.

    >>> code_lines("if x:\n\tpass\n")
    ['if x:', '    pass']
    """
    return [row.expandtabs(4) for row in terminal(text).rstrip("\n").split("\n")]


def _mapped(text: str, table: Mapping[str, str]) -> str:
    return "".join(table.get(c, c) for c in text)


def _visible(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


# The transliteration table. Greek letters follow from their Unicode names, accents fall away.
_ASCII = {
    "∂": "d", "∇": "grad ", "∑": "sum", "∏": "prod", "∫": "int ", "√": "sqrt", "∞": "inf",
    "·": "*", "⋅": "*", "×": "x", "⊙": "*", "⊗": "(x)", "∘": "o", "÷": "/", "−": "-", "±": "+-",
    "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~=", "≡": "==", "→": "->", "←": "<-", "⇒": "=>", "↦": "|->",
    "∈": "in", "∉": "not in", "∪": "or", "∩": "and", "∅": "{}", "ℝ": "R", "ᵀ": ".T", "′": "'",
    "⁰": "^0", "¹": "^1", "²": "^2", "³": "^3", "⁴": "^4", "⁵": "^5", "⁶": "^6", "⁷": "^7", "⁸": "^8", "⁹": "^9",
    "–": "-", "—": "-", "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "•": "-", "✓": "ok", "✔": "ok", "✗": "x",
    "\u0304": "_bar", "\u0307": "_dot",
}  # fmt: skip


def encodable(text: str, encoding: str = "ascii") -> str:
    r"""Return the text with what ``encoding`` can't express written in ASCII.

    >>> encodable("∂y/∂α = ȳ·x² ≤ é"), encodable("∂y = ȳ·x² ≤ é", "cp1252"), encodable("字")
    ('dy/dalpha = y_bar*x^2 <= e', 'dy = y_bar·x² <= é', '\\u5b57')
    """
    if text.isascii() or _fits(text, encoding):
        return text
    return "".join(c if _fits(c, encoding) else _in_ascii(c) for c in text)


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeError, LookupError):
        return text.isascii()
    return True


def _in_ascii(character: str) -> str:
    if character in _ASCII:
        return _ASCII[character]
    if letter := _greek(character):
        return letter
    parts = unicodedata.normalize("NFKD", character)
    if parts == character:
        return "" if unicodedata.combining(character) else _visible(character)
    return "".join(c if c.isascii() else _in_ascii(c) for c in parts)


def _greek(character: str) -> str:
    """Return ``alpha`` for α, ``Omega`` for Ω, an empty string for all that is no Greek letter."""
    match unicodedata.name(character, "").split(" "):
        case ["GREEK", "SMALL", "LETTER", letter]:
            return letter.lower().replace("lamda", "lambda")
        case ["GREEK", "CAPITAL", "LETTER", letter]:
            return letter.capitalize().replace("Lamda", "Lambda")
        case _:
            return ""


# ------------------------------------------------------------------------------------------------------- HTML


def attribute(text: str) -> str:
    """Return text for an HTML attribute or title.

    >>> attribute('<img onerror="x">')
    '&lt;img onerror=&quot;x&quot;&gt;'
    """
    # Who looks for formulas in the source of a page (Markdown in JupyterLab) looks into attributes as well.
    return _mapped(_element(text), {"$": "&#36;", "\\": "&#92;"})


def _element(text: str) -> str:
    return entities.escape(one_line(text))


def image(svg: str, alt: str) -> str:
    """Return an HTML image that holds an SVG of ours: what notebooks keep that nobody has trusted, and Markdown takes.

    >>> image("<svg/>", "x feeds y")
    '<img alt="x feeds y" src="data:image/svg+xml;base64,PHN2Zy8+"/>'
    """
    data = base64.b64encode(svg.encode("utf-8", "replace")).decode("ascii")
    return f'<img alt="{attribute(alt)}" src="data:image/svg+xml;base64,{data}"/>'


# A dollar or a backslash could open a formula. Its entity is invisible to those who look for formulas in the source of
# a page (Markdown), the element around it to those who look in the page (MathJax, which never looks across elements).
_NO_FORMULA = {"$": "<span>&#36;</span>", "\\": "<span>&#92;</span>"}


def html(text: str) -> str:
    r"""Return text for an HTML element, also of a page that MathJax reads.

    >>> print(html("1 < 2 costs $5"))
    1 &lt; 2 costs <span>&#36;</span>5
    """
    return _mapped(_element(text), _NO_FORMULA)


# ---------------------------------------------------------------------------------------------------- pictures


def svg(text: str) -> str:
    """Return text for an element or an attribute of SVG.

    >>> svg("a < $b")
    'a &lt; &#36;b'
    """
    return attribute(text)


def dot(text: str) -> str:
    r"""Return text as a quoted string of Graphviz.

    >>> print(dot(r'a "b" \n'))
    "a \"b\" \\n"
    """
    return '"' + re.sub(r'(["\\])', r"\\\1", one_line(text)) + '"'


def mermaid(text: str) -> str:
    """Return text as a quoted string of Mermaid, where signs of Markdown and HTML are entities.

    >>> mermaid('x**2 < "a"')
    '"x#42;#42;2 #60; #34;a#34;"'
    """
    return '"' + re.sub(r"[^\w .,()+=/:'-]|_", _entity, one_line(text), flags=re.ASCII) + '"'


def _entity(character: re.Match[str]) -> str:
    return f"#{ord(character[0])};" if character[0].isascii() else character[0]


# --------------------------------------------------------------------------------------------------- Markdown

_MARKDOWN = {"<": "&lt;", ">": "&gt;", "&": "&amp;", **_NO_FORMULA, **{c: "\\" + c for c in "`*_{}[]#|~^!"}}


def markdown(text: str) -> str:
    r"""Return text for a line of Markdown: it is neither Markdown, HTML nor mathematics.

    >>> print(markdown("a_b [x](y) <b>"))
    a\_b \[x\](y) &lt;b&gt;
    """
    return _mapped(one_line(text), _MARKDOWN)


def markdown_start(written: str) -> str:
    r"""Return a finished line of Markdown so that its first characters start no list, heading or rule.

    >>> print(markdown_start("- a"), markdown_start("1. b"))
    \- a 1\. b
    """
    return re.sub(r"^( *[0-9]*)(?=[.)](?: |$)|[-+](?: |$)|--|==|:::)", r"\1\\", written)


# ------------------------------------------------------------------------------------------------------ LaTeX

_LATEX = {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\(<\)", ">": r"\(>\)",
    "|": r"\(|\)", '"': "''", "-": "-{}", "`": "`{}", "'": "'{}", **{c: "\\" + c for c in "{}$&#_%"},
}  # fmt: skip


def latex(text: str, *, wide: bool = False) -> str:
    r"""Return text for the running text of a LaTeX document, fit for pdfLaTeX with no package; `wide` for ctex.

    >>> print(latex(r"100% of x_1, \input{a}"))
    100\% of x\_1, \textbackslash{}input\{a\}
    """
    escaped = _mapped(one_line(text), _LATEX)
    # The empty groups are there to keep -- and `` and '' from becoming one character; most are not needed.
    return latex_characters(re.sub(r"([-`'])\{\}(?![-`'])", r"\1", escaped), wide=wide)


_LATEX_SYMBOLS = {
    "∂": r"\partial", "∇": r"\nabla", "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "√": r"\surd", "∞": r"\infty",
    "·": r"\cdot", "⋅": r"\cdot", "×": r"\times", "⊙": r"\odot", "⊗": r"\otimes", "±": r"\pm", "≤": r"\le",
    "≥": r"\ge", "≠": r"\ne", "≈": r"\approx", "→": r"\to", "←": r"\gets", "⇒": r"\Rightarrow", "↦": r"\mapsto",
    "∈": r"\in", "…": r"\ldots", "²": "^2", "³": "^3", "′": "'", "−": "-",
}  # fmt: skip
# What the oldest font encoding of LaTeX composes.
_LATEX_LETTERS = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ"
_LATEX_LETTERS += "ĀāĂăĆćĈĉĊċČčĎďĒēĔĕĖėĚěĜĝĞğĠġĤĥĨĩĪīĬĭİıĴĵĹĺŃńŇňŌōŎŏŐőŒœŔŕŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŴŵŶŷŸŹźŻżŽž"


def latex_characters(source: str, *, in_formula: bool = False, wide: bool = False) -> str:
    r"""Return LaTeX source in which each character is one that pdfLaTeX knows, or with `wide` one that ctex knows.

    >>> print(latex_characters("θ ≤ é, 字"), latex_characters("x_{é}", in_formula=True))
    \ensuremath{\theta} \ensuremath{\le} é, [U+5B57] x_{\text{é}}
    """
    if source.isascii():
        return source
    letter = r"\text{%s}" if in_formula else "%s"  # formulas have no accented letters but in text
    kept = (c in _LATEX_LETTERS or (wide and (c in "“”" or unicodedata.east_asian_width(c) in "WF")) for c in source)
    return "".join(letter % c if keep else _latex_character(c) for c, keep in zip(source, kept, strict=True))


def _latex_character(character: str) -> str:
    if character.isascii():
        return character
    if symbol := _LATEX_SYMBOLS.get(character) or GREEK_LATEX.get(_greek(character)):
        return rf"\ensuremath{{{symbol}}}"
    return f"[U+{ord(character):04X}]"


# ------------------------------------------------------------------------------------------- LaTeX in formulas


_MATH = {
    "\\": r"\backslash ", "^": r"\wedge ", "~": r"\sim ", "|": r"\vert ", "`": r"\prime ", "<": "<", ">": ">",
    "[": r"\lbrack ", "]": r"\rbrack ", **{c: "\\" + c for c in "{}$&#_%"},
    **{symbol: command + " " for symbol, command in _LATEX_SYMBOLS.items() if command[1:].isalpha()},
}  # fmt: skip


def math_text(text: str, command: str = "text") -> str:
    r"""Return text to stand inside a formula, the same in LaTeX, KaTeX and MathJax.

    MathJax prints ``\_`` in ``\text{…}`` as it stands, so special characters stand between the pieces of text.

    >>> print(math_text("50% of x"))
    \text{50}\%\text{ of x}
    """
    pieces = groupby(one_line(text), key=_stands_alone)
    return "".join(
        "".join(_MATH.get(c, c) for c in characters) if alone else f"\\{command}{{{''.join(characters)}}}"
        for alone, characters in pieces
    )


def _stands_alone(character: str) -> bool:
    # Letter-like symbols, arrows, operators, brackets: KaTeX takes many of them in formulas but not in text.
    return character in _MATH or "\u2100" <= character <= "\u2bff"


def identifier_latex(name: str) -> str:
    r"""Return the LaTeX of a variable: Greek letters and indices as a mathematician writes them.

    >>> [identifier_latex(name) for name in ("x", "alpha", "θ", "x1", "w_1", "W_out")]
    ['x', '\\alpha', '\\theta', 'x_{1}', 'w_{1}', 'W_{\\mathrm{out}}']
    >>> print(identifier_latex("learning_rate"), identifier_latex("a$b"))
    \mathrm{learning\_rate} \text{a}\$\text{b}
    """
    if letter := _letter(name):
        return letter
    if match := re.fullmatch(r"([^\W\d_]+)(?:_?([0-9]+)|_([A-Za-z]+))", name):
        base, digits, word = match.groups()
        index = digits or (word if len(word) == 1 else _upright(word))
        if letter := _letter(base):
            return f"{letter}_{{{index}}}"
        if base.isascii() and digits:
            return f"{_upright(base)}_{{{index}}}"
    return _upright(name) if re.fullmatch(r"[A-Za-z0-9_]+", name) else math_text(name)


def _letter(name: str) -> str:
    """Return the LaTeX of a name that is one letter, Latin or Greek, else an empty string."""
    if len(name) == 1:
        return name if name.isascii() and name.isalpha() else GREEK_LATEX.get(_greek(name), "")
    return GREEK_LATEX.get(name, "")


def _upright(word: str) -> str:
    return rf"\mathrm{{{word}}}".replace("_", r"\_")


def formula_latex(latex: str, text: str) -> str:
    r"""Return the LaTeX of a formula on one line, or its text as LaTeX if the former is not plain mathematics.

    Plain mathematics is what `portable.PORTABLE_COMMANDS` can say, well nested. So no formula, whatever went into it,
    loads a page, defines a macro, leaves mathematics, or spoils the table or list that it stands in.

    >>> formula_latex(r"\frac{dy}{dx} = 2 x", "dy/dx = 2*x")
    '\\frac{dy}{dx} = 2 x'
    >>> formula_latex(r"\href{javascript:alert(1)}{x}", "x")
    '\\text{x}'
    """
    return one_line(latex).strip() if is_portable(latex) else math_text(text or latex)


def is_portable(latex: str) -> bool:
    r"""Tell whether `formula_latex` would print this LaTeX as it is.

    >>> is_portable(r"\left(x^{2}\right)"), is_portable("x^{2"), is_portable("50%"), is_portable(r"\input{a}")
    (True, False, False, False)
    """
    return bool(latex.strip()) and terminal(latex) == latex and is_well_formed(latex)
