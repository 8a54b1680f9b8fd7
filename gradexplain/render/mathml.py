r"""MathML from the LaTeX of formulas: what browsers typeset and screen readers read, with nothing to load.

The LaTeX is that of `escape.formula_latex`: a small language, well nested, without macros. Every construct of it that
formulas here use is known; of anything else `mathml` makes None, and the page shows the formula's text instead.

A symbol is an entry of `_SYMBOLS`, a construct with arguments one more case in `_Reader._command`.
"""

from __future__ import annotations

import re
from html import escape as entities

from gradexplain.portable import GREEK_LATEX

_TOKEN = re.compile(r"\\begin\{\w+\}(?:\{[lcr]*\})?|\\end\{\w+\}|\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|\S")
_DEEPEST = 60  # groups within groups

_SYMBOLS = {
    r"\cdot": "⋅", r"\times": "×", r"\div": "÷", r"\pm": "±", r"\mp": "∓", r"\ast": "∗", r"\circ": "∘", r"\bullet": "∙",
    r"\odot": "⊙", r"\otimes": "⊗", r"\oplus": "⊕", r"\wedge": "∧", r"\vee": "∨", r"\neg": "¬", r"\land": "∧",
    r"\lor": "∨", r"\cap": "∩", r"\cup": "∪", r"\setminus": "∖", r"\le": "≤", r"\leq": "≤", r"\ge": "≥", r"\geq": "≥",
    r"\ne": "≠", r"\neq": "≠", r"\equiv": "≡", r"\approx": "≈", r"\sim": "∼", r"\propto": "∝", r"\in": "∈",
    r"\notin": "∉", r"\subset": "⊂", r"\mid": "∣", r"\ll": "≪", r"\gg": "≫", r"\forall": "∀", r"\exists": "∃",
    r"\to": "→", r"\gets": "←", r"\rightarrow": "→", r"\leftarrow": "←", r"\Rightarrow": "⇒", r"\mapsto": "↦",
    r"\iff": "⟺", r"\implies": "⟹", r"\ldots": "…", r"\dots": "…", r"\cdots": "⋯", r"\vdots": "⋮", r"\ddots": "⋱",
    r"\prime": "′", r"\top": "⊤", r"\bot": "⊥", r"\backslash": "\\", r"\vert": "|", r"\Vert": "‖", r"\lvert": "|",
    r"\rvert": "|", r"\lVert": "‖", r"\rVert": "‖", r"\langle": "⟨", r"\rangle": "⟩", r"\lfloor": "⌊", r"\rfloor": "⌋",
    r"\lceil": "⌈", r"\rceil": "⌉", r"\lbrace": "{", r"\rbrace": "}", r"\lbrack": "[", r"\rbrack": "]", r"\{": "{",
    r"\}": "}", r"\%": "%", r"\&": "&", r"\#": "#", r"\$": "$", r"\_": "_", r"\|": "‖", "-": "−", "*": "∗",
    r"\lt": "<", r"\gt": ">",
}  # fmt: skip
_LETTERS = {
    r"\partial": "∂", r"\nabla": "∇", r"\ell": "ℓ", r"\infty": "∞", r"\hbar": "ℏ", r"\emptyset": "∅",
    r"\varepsilon": "ε", r"\vartheta": "ϑ", r"\varphi": "φ", r"\varrho": "ϱ", r"\varpi": "ϖ", r"\varsigma": "ς",
    **dict(zip(GREEK_LATEX.values(), "αβγδϵζηθικλμνξπρστυϕχψωΓΔΘΛΞΠΣΥΦΨΩ", strict=True)),
}  # fmt: skip
_NAMES = "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan exp log ln lg arg det dim ker deg"
_FUNCTIONS = frozenset("\\" + name for name in _NAMES.split())
_LIMITS = frozenset("\\" + name for name in ("lim", "max", "min", "sup", "inf", "gcd"))
_LARGE = {r"\sum": "∑", r"\prod": "∏", r"\bigcup": "⋃", r"\bigcap": "⋂", r"\int": "∫"}
_SPACES = {r"\,": ".17em", r"\:": ".22em", r"\;": ".28em", r"\ ": ".33em", r"\!": "-.17em", r"\quad": "1em"}
_SPACES[r"\qquad"] = "2em"
THIN = '<mspace width=".17em"/>'
_UPRIGHT = 'mathvariant="normal"'
_CLOSE = 'lspace="0" rspace="0"'
_ACCENTS = {r"\bar": "¯", r"\overline": "¯", r"\hat": "^", r"\widehat": "^", r"\tilde": "~", r"\widetilde": "~"}
_ACCENTS |= {r"\dot": "˙", r"\ddot": "¨", r"\vec": "→", r"\overbrace": "⏞"}
_BELOW = {r"\underline": "_", r"\underbrace": "⏟"}
_VARIANTS = {r"\mathbf": "bold", r"\mathit": "italic", r"\mathtt": "monospace", r"\texttt": "monospace"}
_FENCES = {"pmatrix": "()", "bmatrix": "[]", "Bmatrix": "{}", "vmatrix": "||", "Vmatrix": "‖‖", "cases": "{."}
_SIZES = re.compile(r"\\([bB]igg?[lr]?|(display|text|script)style|hline|n?olimits|limits)$")


class _UnknownError(Exception):
    """A construct that is not known here."""


def mathml(latex: str, *, display: bool = False) -> str | None:
    r"""Return a formula as MathML, None if there is something in it that is not known; ``display`` gives room.

    >>> mathml("x^2")
    '<math><msup><mi>x</mi><mn>2</mn></msup></math>'
    >>> mathml(r"\frac{1}{x} \unknown") is None
    True
    """
    try:
        reader = _Reader(latex)
        content = reader.row(until=("",))
    except _UnknownError:
        return None
    return _element("math", content, attributes='displaystyle="true"' if display else "")


def _element(tag: str, *content: str, attributes: str = "") -> str:
    return f"<{tag}{' ' + attributes if attributes else ''}>{''.join(content)}</{tag}>"


def _operator(character: str, attributes: str = "") -> str:
    return _element("mo", entities(character), attributes=attributes)


class _Reader:
    """Reads one formula from left to right."""

    def __init__(self, latex: str) -> None:
        # The content of \text{…} keeps its blanks, so it is read from the source, by position.
        self.latex = latex
        self.tokens = [(found[0], found.end()) for found in _TOKEN.finditer(latex)]
        self.next = 0
        self.depth = 0

    def peek(self) -> str:
        return self.tokens[self.next][0] if self.next < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        if not token:
            raise _UnknownError
        self.next += 1
        return token

    def row(self, until: tuple[str, ...]) -> str:
        """Return what stands before one of some tokens as one element. The token itself is not taken."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _UnknownError
        parts: list[str] = []
        while self.peek() not in until:
            parts += self._item(after=parts[-1] if parts else "<mo>")
        self.depth -= 1
        return parts[0] if len(parts) == 1 else _element("mrow", *parts)

    def group(self) -> str:
        """Return an argument: a group in braces, or one token."""
        if self.peek() == "{":
            self.take()
            inner = self.row(until=("}",))
            self.take()
            return inner
        token = self.take()
        if token[0].isdigit() and len(token) > 1:  # of several digits, the first is the argument
            self.next -= 1
            self.tokens[self.next] = (token[1:], self.tokens[self.next][1])
        return self._atom(token[0] if token[0].isdigit() else token)

    def raw(self) -> str:
        """Return the text of an argument in braces as it stands."""
        if self.take() != "{":
            raise _UnknownError
        start = self.tokens[self.next - 1][1]
        end = self.latex.find("}", start)
        if end < 0:
            raise _UnknownError
        while self.tokens[self.next][1] <= end:
            self.next += 1
        self.take()
        return self.latex[start:end]

    def _item(self, after: str) -> list[str]:
        token = self.take()
        if _SIZES.match(token):
            return []
        if token == "-" and _is_operator(after):
            return [_operator("−", 'form="prefix"')]
        shown = self._scripts(self._atom(token), stacked=token in _LIMITS or (token in _LARGE and token != r"\int"))
        if token not in _FUNCTIONS and token not in _LIMITS and token != r"\operatorname":
            is_apart = token == r"\mathrm" or _UPRIGHT in after  # two words side by side, or a word and a letter
            return [THIN, shown] if is_apart and not _is_operator(after) and not _is_operator(shown) else [shown]
        # Read out as "sine of x"; MathML has no space around the name by itself.
        follows = [following for following, _ in self.tokens[self.next : self.next + 2]]
        fenced = follows[:1] in (["("], [r"\left"]) or follows == ["{", r"\left"]
        return [*[THIN] * (not _is_operator(after)), shown, _operator("\u2061"), *[THIN] * (not fenced)]

    def _scripts(self, base: str, *, stacked: bool) -> str:
        above = below = primes = ""
        while (mark := self.peek()) and mark in "^_'":
            self.take()
            if mark == "_":
                below = self.group()
            elif mark == "^":
                above = self.group()
            else:
                primes += _operator("′", _CLOSE)
        if primes and (above or _is_tall(base)):
            above, primes = _element("mrow", primes, above), ""
        shown = self._scripted(base, below, above, stacked=stacked)
        return _element("mrow", shown, primes) if primes else shown

    def _scripted(self, base: str, below: str, above: str, *, stacked: bool) -> str:
        tags = ("munder", "mover", "munderover") if stacked else ("msub", "msup", "msubsup")
        if above and below:
            return _element(tags[2], base, below, above)
        return _element(tags[1], base, above) if above else _element(tags[0], base, below) if below else base

    def _atom(self, token: str) -> str:
        if token[0].isdigit():
            return _element("mn", token)
        if token == "{":
            self.next -= 1
            return self.group()
        if token in _LETTERS or token.isalpha():
            return _element("mi", _LETTERS.get(token, token))
        if token in _FUNCTIONS or token in _LIMITS:
            return _element("mi", token[1:])
        if token in _LARGE:
            return _operator(_LARGE[token], 'largeop="true"')
        if token in _SPACES:
            return f'<mspace width="{_SPACES[token]}"/>'
        if token in _SYMBOLS or not (token.startswith("\\") or token in "{}^_&"):
            return _operator(_SYMBOLS.get(token, token), 'stretchy="false"' if token in "()[]|" else "")
        return self._command(token)

    def _command(self, token: str) -> str:
        if token in (r"\frac", r"\dfrac", r"\tfrac"):
            return _element("mfrac", self.group(), self.group())
        if token == r"\binom":
            fraction = _element("mfrac", self.group(), self.group(), attributes='linethickness="0"')
            return _element("mrow", _operator("("), fraction, _operator(")"))
        if token == r"\sqrt":
            return self._root()
        if token == r"\left":
            return self._fenced()
        if token.startswith(r"\begin"):
            return self._environment(token)
        if token in _ACCENTS:
            return _element("mover", self.group(), _operator(_ACCENTS[token]))
        if token in _BELOW:
            return _element("munder", self.group(), _operator(_BELOW[token]))
        if token in (r"\overset", r"\stackrel", r"\underset"):
            script, base = self.group(), self.group()
            return _element("munder" if token == r"\underset" else "mover", base, script)
        return self._words(token)

    def _words(self, token: str) -> str:
        if token in (r"\text", r"\textbf"):
            return _element("mtext", entities(self.raw()).replace(" ", "\u00a0"))
        if token in (r"\mathrm", r"\operatorname"):
            return _element("mi", entities(self.raw().replace(r"\_", "_")), attributes=_UPRIGHT)
        if token in _VARIANTS:
            return _element("mtext", entities(self.raw()), attributes=f'class="{_VARIANTS[token]}"')
        raise _UnknownError

    def _root(self) -> str:
        if self.peek() != "[":
            return _element("msqrt", self.group())
        self.take()
        degree = self.row(until=("]",))
        self.take()
        return _element("mroot", self.group(), degree)

    def _fenced(self) -> str:
        opening = self.take()
        inner = self.row(until=(r"\right", r"\middle"))
        while self.take() == r"\middle":
            inner += _operator(_fence(self.take())) + self.row(until=(r"\right", r"\middle"))
        return _between(opening, inner, self.take())

    def _environment(self, token: str) -> str:
        name = token.split("{")[1].rstrip("}")
        rows: list[list[str]] = [[]]
        end = rf"\end{{{name}}}"
        while True:
            cell = self.row(until=("&", r"\\", end))
            rows[-1].append(_element("mtd", cell))
            ended = self.take()
            if ended == end:
                break
            if ended == r"\\":
                rows.append([])
        aligned = 'class="aligned"' if name in ("aligned", "cases", "array") else ""
        table = _element("mtable", *(_element("mtr", *cells) for cells in rows), attributes=aligned)
        fences = _FENCES.get(name, "..")
        return _between(fences[0], table, fences[1])


def _fence(token: str) -> str:
    return "" if token == "." else _SYMBOLS.get(token, token)


def _between(opening: str, inner: str, closing: str) -> str:
    # Fences that could stretch have wide bearings in some browsers, so only those do that must.
    stretches = "true" if _is_tall(inner) or "." in (opening, closing) else "false"
    attributes = f'fence="true" stretchy="{stretches}" {_CLOSE}'
    first, last = (_operator(_fence(fence), attributes) if fence != "." else "" for fence in (opening, closing))
    return _element("mrow", first, inner, last)


def _is_operator(written: str) -> bool:
    return written.startswith(("<mo>", "<mo "))


def _is_tall(written: str) -> bool:
    return any(tag in written for tag in ("<mfrac", "<mtable", "<msqrt", "<mroot", "<munder", "<mover"))
