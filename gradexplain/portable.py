r"""The LaTeX that KaTeX, MathJax and LaTeX with amsmath all know, and that only draws: its commands and its grammar."""

import re
from dataclasses import dataclass

_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi"
_GREEK += " omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
GREEK_LATEX = {name: "\\" + name for name in _GREEK.split()}

_COMMANDS = """
varepsilon vartheta varpi varrho varsigma varphi partial nabla ell infty hbar Re Im aleph emptyset imath jmath
sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan exp log ln lg min max sup inf lim det dim ker
deg gcd arg Pr operatorname bmod pmod
frac dfrac tfrac sqrt binom sum prod int iint oint bigcup bigcap limits nolimits
left right middle big Big bigg Bigg bigl bigr Bigl Bigr lvert rvert lVert rVert vert Vert langle rangle
lfloor rfloor lceil rceil lbrace rbrace lbrack rbrack
cdot times div pm mp ast star circ bullet odot otimes oplus ominus wedge vee neg lnot land lor cap cup setminus
le leq ge geq ne neq equiv approx sim simeq cong propto in notin ni subset subseteq supset supseteq mid
parallel perp ll gg forall exists nexists
to gets rightarrow leftarrow Rightarrow Leftarrow leftrightarrow Leftrightarrow longrightarrow Longrightarrow
mapsto longmapsto iff implies uparrow downarrow xrightarrow
hat widehat bar overline underline tilde widetilde dot ddot vec overbrace underbrace overset underset stackrel
substack text textbf texttt mathrm mathbf mathit mathsf mathtt mathbb mathcal mathfrak boxed
quad qquad dots ldots cdots vdots ddots prime top bot dagger backslash displaystyle textstyle scriptstyle
hline
"""
_ENVIRONMENTS = "matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix cases aligned gathered array"
# What LaTeX with amsmath and amssymb, KaTeX, and MathJax with base and ams all know, and what only draws.
PORTABLE_COMMANDS = frozenset(GREEK_LATEX) | frozenset(_COMMANDS.split())
PORTABLE_ENVIRONMENTS = frozenset(_ENVIRONMENTS.split())
_PORTABLE_SYMBOLS = frozenset(r"\,:;! {}_%#&$|")
_TOKEN = re.compile(r"\\begin\{(\w*)\}(\{[lcr]*\})?|\\end\{(\w*)\}|\\([A-Za-z]+)|\\(.)|(\^\^)|(\S)", re.DOTALL)


def is_well_formed(latex: str) -> bool:
    r"""Tell whether LaTeX is made of `PORTABLE_COMMANDS` and plain signs, and closes what it opens.

    >>> is_well_formed(r"\left(x^{2}\right)"), is_well_formed("x^{2"), is_well_formed(r"\input{a}")
    (True, False, False)
    """
    opened = [_Group("")]
    return all(_continues(token, opened) for token in _TOKEN.finditer(latex)) and not opened.pop().waits and not opened


@dataclass(slots=True)
class _Group:
    """What is open while a formula is read: a brace, ``\\left``, an environment, or the formula itself."""

    kind: str
    scripts: str = ""  # the marks ^ and _ that the last symbol has already: it may have one of each
    waits: bool = False  # the last mark still wants its argument

    def take_symbol(self) -> bool:
        """Take a symbol or a group: the argument of the mark before it, else something new to put marks on."""
        self.scripts = self.scripts if self.waits else ""
        self.waits = False
        return True

    def take_mark(self, mark: str) -> bool:
        """Take a mark, if it is the first of its kind; a prime counts as a superscript that more can follow."""
        if self.waits or mark.replace("'", "^") in self.scripts:
            return False
        self.scripts += mark if mark != "'" else ""
        self.waits = mark != "'"
        return True


def _continues(token: re.Match[str], opened: list[_Group]) -> bool:
    """Tell whether a formula may go on with this token."""
    begun, columns, ended, command, symbol, caret, character = token.groups()
    if begun is not None:
        known = begun in PORTABLE_ENVIRONMENTS and (begun == "array") == (columns is not None)
        return known and _opens(begun, opened)
    if ended is not None:
        return _closes(ended, opened)
    if command == "left" or character == "{":
        return _opens(command or "{", opened)
    if command == "right" or character == "}":
        return _closes("left" if command else "{", opened)
    if symbol == "\\" or character == "&":
        return opened[-1].kind in PORTABLE_ENVIRONMENTS and not opened[-1].waits and opened[-1].take_symbol()
    if character in ("^", "_", "'"):
        return opened[-1].take_mark(character)
    known = command in PORTABLE_COMMANDS if command else symbol in _PORTABLE_SYMBOLS if symbol else not caret
    return known and character not in ("$", "%", "#", "`", "\\") and opened[-1].take_symbol()


def _opens(kind: str, opened: list[_Group]) -> bool:
    opened[-1].take_symbol()
    opened.append(_Group(kind))
    return True


def _closes(kind: str, opened: list[_Group]) -> bool:
    closed = opened.pop()
    return bool(opened) and closed.kind == kind and not closed.waits
