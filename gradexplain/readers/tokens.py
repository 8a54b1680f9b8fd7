"""What formulas are made of: the tokens that text is cut into, and the nodes of the tree that is made of them.

Holds the limits, the alphabet, the nodes, and the walks that need nothing but nodes: `fold`, `echo`, `check_sizes`.
Promises: text that gets through is short, shallow in brackets and safe to print; what is not in the alphabet is refused
by name, with its column; constants have a bounded size; no walk recurses, so sums of any length are fine.
A new spelling of an operator is an entry in `_SPELLINGS` and a character in `_TOKEN`.
"""

import keyword
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Literal, TypeVar

from gradexplain.errors import ParseError

MAX_LENGTH = 2000
MAX_NESTING = 50
MAX_DIGITS = 400  # of a number, and the largest exponent in 1e400
MAX_BITS = 4096  # of a constant, and of its reciprocal

# Binding strengths, Python's order. "implied" is a product that no sign stands for.
CHOICE, OR, AND, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(9)
LEVELS = {
    "if": CHOICE, "or": OR, "and": AND, "+": SUM, "-": SUM,
    "<": COMPARISON, "<=": COMPARISON, ">": COMPARISON, ">=": COMPARISON, "==": COMPARISON, "!=": COMPARISON,
    "*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "//": PRODUCT, "implied": PRODUCT, "**": POWER,
}  # fmt: skip
OPERATORS: dict[str, Callable[..., Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "%": operator.mod, "//": operator.floordiv, "and": operator.and_, "or": operator.or_,
}  # fmt: skip

# π is no letter but a token of its own: πr is a product. Greek capitals that look like Latin ones are left out.
GREEK = "αβγδεζηθικλμνξρςστυφχψωΓΔΘΛΞΠΣΦΨΩ"
_GREEK_FORMS = str.maketrans("µϕϵϑϱϰ", "μφεθρκ")
_LETTER = f"A-Za-z_{GREEK}µϕϵϑϱϰ"
_SPELLINGS = {"^": "**", "·": "*", "×": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "≤": "<=", "≥": ">=", "≠": "!="}
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−–", "0123456789+---")
_TOKEN = re.compile(
    rf"""(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+−–]?[0-9]+)?)
       | (?P<operator>\*\*|//|[<>=!]=|[-+*/%^()<>,|√·×⋅÷−–≤≥≠]|(?:if|else|and|or)\b)
       | (?P<member>(?:math|np|numpy)\.[{_LETTER}][{_LETTER}0-9]*)
       | (?P<name>π|[{_LETTER}][{_LETTER}0-9]*)
       | (?P<superscript>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
       | (?P<blank>\s+)""",
    re.VERBOSE,
)
_KEYWORDS = set(keyword.kwlist) - {"lambda"}  # a Greek letter; expressions with it are refused for their colon

FUNCTION = "write it as a Python function, with names for its parts"
_ALPHABET = "formulas have numbers, names, functions, operators and round brackets"
_ALONE = "write a single expression, or one equation such as x*y = 1; conditions compare with =="
_PLAIN = "write it with operators and functions, such as sqrt(x)/2"
_REFUSED = {  # characters, the constructs that they belong to, and what to do instead
    "=": ("an equation, an assignment, a named argument", _ALONE),
    ":": ("an assignment, a lambda expression, a slice, a dictionary", _ALONE),
    ";#": ("several statements, a comment", _ALONE),
    "'\"`": ("a string, a prime", _PLAIN),
    "\\$": ("LaTeX, an escape", _PLAIN),
    "[]{}": ("a list, an index, a set, a LaTeX group", "use round brackets"),
    "!": ("a factorial", "write the number that it stands for"),
    "@": ("a matrix product, a decorator", "explain a Python function for arrays"),
    "&~": ("a bitwise operator", "join conditions by and, or; turn a comparison round to negate it"),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the text: `text` as the grammar spells it, `source` as it was typed from `column` on."""

    kind: Literal["number", "name", "member", "operator", "end"]
    text: str
    source: str
    column: int
    end: int  # the column after its last character


def printable(text: str) -> str:
    """The text with plain blanks, column for column, once its length, characters and brackets have been checked.

    >>> printable("x +\\t1")
    'x + 1'
    """
    text = text.rstrip("\r\n")
    if len(text) > MAX_LENGTH:
        start, why = _escaped(text[:40]), f"it has {len(text)} characters, and at most {MAX_LENGTH} are read"
        raise ParseError("the text is too long", text=f"{start}...", column=len(start), why=why, fix=FUNCTION)
    for column, char in enumerate(text):
        if char != "\t" and _is_hidden(char):
            what = f"the invisible or combining character U+{ord(char):04X} is not read"
            shown, before = _escaped(text), len(_escaped(text[:column]))
            raise ParseError(what, text=shown, column=before, why=_ALPHABET, fix="delete it")
    text = re.sub(r"\s", " ", text)
    _check_brackets(text)
    return text


def _is_hidden(char: str) -> bool:
    """Whether a character has no place of its own on a line: controls, bidi marks, surrogates, accents, line ends."""
    category = unicodedata.category(char)
    return category[0] in "CM" or category in ("Zl", "Zp")


def _escaped(text: str) -> str:
    return "".join(char.encode("unicode_escape").decode() if _is_hidden(char) else char for char in text)


def _check_brackets(text: str) -> None:
    """Refuses brackets that are nested too deeply or have no partner, before anything recurses on them."""
    opened: list[int] = []
    for column, char in enumerate(text):
        if char == ")" and not opened:
            raise ParseError("a bracket is closed that was not opened", text=text, column=column, fix="delete it")
        if char == ")":
            opened.pop()
        if char == "(":
            opened.append(column)
        if len(opened) > MAX_NESTING:
            why = f"at most {MAX_NESTING} levels are read"
            raise ParseError("brackets are nested too deeply", text=text, column=column, why=why, fix=FUNCTION)
    if opened:
        raise ParseError("a bracket is never closed", text=text, column=opened[-1], fix="add a )")


def cut(text: str) -> list[Token]:
    """Cuts checked text into tokens, the last of which is the end.

    >>> [token.text for token in cut("2x⁻¹ ≤ y^3")]
    ['2', 'x', '**', '-', '1', '<=', 'y', '**', '3', '']
    """
    found: list[Token] = []
    column = 0
    while column < len(text):
        if not (word := _TOKEN.match(text, column)):
            raise _unreadable(text, column)
        found += _tokens(word)
        column = word.end()
    return [*found, Token("end", "", "", len(text), len(text))]


def _tokens(word: re.Match[str]) -> list[Token]:
    """The tokens of a word: one, but for blanks, and for superscripts, which are powers."""
    source, place = word.group(), word.span()
    match word.lastgroup:
        case "blank":
            return []
        case "number" | "superscript" as kind:
            _check_number(word)
            digits = source.translate(_DIGITS)
            signs = ["**", "-"] if digits[0] == "-" else ["**"] if kind == "superscript" else []
            number = Token("number", digits.lstrip("+-"), source, *place)
            return [*(Token("operator", sign, source, *place) for sign in signs), number]
        case "name" | "member" as kind:
            if source in _KEYWORDS or source.startswith("__"):
                why = "it belongs to Python; formulas have if, else, and, or"
                raise ParseError(f"{source!r} is not read", text=word.string, column=place[0], why=why, fix="rename it")
            return [Token(kind, source.rpartition(".")[2].translate(_GREEK_FORMS), source, *place)]
        case _:
            return [Token("operator", _SPELLINGS.get(source, source), source, *place)]


def _check_number(word: re.Match[str]) -> None:
    text, column = word.string, word.start()
    if re.match(r"0[xXbBoO][0-9a-fA-F]|[0-9.]+_", text[column:]):
        why = "0x10 and 1_000 would be products here"
        raise ParseError("numbers in this notation are not read", text=text, column=column, why=why, fix="write digits")
    mantissa, _, exponent = word.group().translate(_DIGITS).lower().partition("e")
    if len(mantissa) > MAX_DIGITS or abs(int(exponent or 0)) > MAX_DIGITS:
        why = f"at most {MAX_DIGITS} digits are read"
        raise ParseError("the number is too long", text=text, column=column, why=why, fix="use a name for it")


def _unreadable(text: str, column: int) -> ParseError:
    """The error for a character that begins no token: its construct by name, or what it looks like."""
    char = text[column]
    plain = unicodedata.normalize("NFKC", char).replace("\N{FRACTION SLASH}", "/")
    what, fix = f"the character {char!r}", "write it in letters a-z, Greek letters and digits, or as an operator"
    if chars := next((chars for chars in _REFUSED if char in chars), None):
        what, fix = f"{char!r} ({_REFUSED[chars][0]})", _REFUSED[chars][1]
    elif char == ".":
        what = f"'{re.split(r'[^.a-zA-Z0-9_]', text[column:])[0][:30]}' (an attribute)"
        fix = "points stand in numbers, and in math.sin, np.sin, numpy.sin"
    elif plain != char and plain.isascii():
        fix = f"it looks like {plain}: write that"
    return ParseError(f"{what} is not read", text=text, column=column, why=_ALPHABET, fix=fix)


@dataclass(frozen=True, slots=True)
class Number:
    """A decimal number as typed: exact, never negative."""

    value: Fraction
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """The number pi or e."""

    name: str
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A real variable."""

    name: str
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function, by its canonical name, of values."""

    function: str
    arguments: "tuple[Expr, ...]"
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Negative:
    """A value with the other sign."""

    operand: "Expr"
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic on two values; `operator` is + - * / ** % or //."""

    operator: str
    left: "Expr"
    right: "Expr"
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition; `operator` is < <= > >= == or != on values, "and" or "or" on conditions."""

    operator: str
    left: "Node"
    right: "Node"
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two values, by a condition."""

    condition: Comparison
    if_true: "Expr"
    if_false: "Expr"
    column: int = field(default=0, compare=False)


Expr = Number | Constant | Variable | Call | Negative | Binary | Choice
Node = Expr | Comparison
Value = TypeVar("Value")


def children(node: Node) -> Sequence[Node]:
    """The nodes that a node is made of, in order: those of its fields that are nodes."""
    parts = node.arguments if isinstance(node, Call) else [getattr(node, name) for name in node.__match_args__]
    return [part for part in parts if isinstance(part, Node)]


def fold(tree: Node, rule: Callable[[Node, list[Value]], Value]) -> Value:
    """The value of a tree, by a rule that makes a node's value of those of its children."""
    done: list[Value] = []
    waiting: list[tuple[Node, bool]] = [(tree, False)]
    while waiting:
        node, ready = waiting.pop()
        parts = children(node)
        if ready:
            start = len(done) - len(parts)
            done[start:] = [rule(node, done[start:])]
        else:
            waiting += [(node, True), *((part, False) for part in reversed(parts))]
    return done[0]


def echo(tree: Node) -> str:
    """The tree in Python's notation, with as few brackets as it takes.

    >>> echo(Binary("*", Binary("+", Variable("x"), Number(Fraction("0.5"))), Variable("y")))
    '(x + 0.5)*y'
    """
    return fold(tree, _written)[0]


def _written(node: Node, parts: list[tuple[str, int]]) -> tuple[str, int]:
    """The text of a node and how tightly it binds."""

    def part(index: int, level: int) -> str:
        text, strength = parts[index]
        return text if strength >= level else f"({text})"

    match node:
        case Number(value):
            return _decimal(value), ATOM
        case Constant(name) | Variable(name):
            return name, ATOM
        case Call(name):
            return f"{name}({', '.join(text for text, _ in parts)})", ATOM
        case Negative():
            return f"-{part(0, SIGN)}", SIGN
        case Binary("**"):
            return f"{part(0, ATOM)}**{part(1, SIGN)}", POWER
        case Binary(sign) | Comparison(sign):
            level = LEVELS[sign]
            gap = "" if level == PRODUCT else " "
            left = SUM if level == COMPARISON else level  # a < b < c is another thing than (a < b) < c
            return f"{part(0, left)}{gap}{sign}{gap}{part(1, level + 1)}", level
        case Choice():
            return f"{part(1, OR)} if {part(0, OR)} else {part(2, CHOICE)}", CHOICE


def _decimal(value: Fraction) -> str:
    """A decimal number in full, or with an exponent where that is much shorter."""
    wide = Context(prec=MAX_DIGITS)
    number = wide.normalize(wide.divide(Decimal(value.numerator), Decimal(value.denominator)))
    plain, short = f"{number:f}", str(number).lower()
    return plain if len(plain) < len(short) + 6 else short


def exact(sign: str, a: Fraction, b: Fraction) -> Fraction | None:
    """Arithmetic on rational numbers, None where the result is a root. OverflowError comes before the memory is full.

    >>> exact("**", Fraction(2), Fraction(-3))
    Fraction(1, 8)
    """
    if sign == "**" and _bits(a) * abs(b) > MAX_BITS:
        raise OverflowError(f"a power of more than {MAX_BITS} bits")
    return None if sign == "**" and b.denominator > 1 else Fraction(OPERATORS[sign](a, b))


def _bits(value: Fraction) -> float:
    return math.log2(max(abs(value.numerator), value.denominator))


def check_sizes(tree: Expr, text: str) -> None:
    """Refuses divisions by zero and constants of more than `MAX_BITS` bits, before anything computes them."""

    def size(node: Node, parts: list[_Size]) -> _Size:
        try:
            return _size(node, parts)
        except ZeroDivisionError:
            what, fix = "this divides by zero", "change the divisor"
        except OverflowError:
            what, fix = f"this constant has more than {MAX_BITS} bits", "use a name for it"
        raise ParseError(what, text=text, column=node.column, fix=fix)

    fold(tree, size)


# log2 of a constant's magnitude (or of its reciprocal's), and its value where that is rational; None: not constant.
_Size = tuple[float, Fraction | None] | None


def _size(node: Node, parts: list[_Size]) -> _Size:
    """A bound on the size of a constant; OverflowError if it is too large."""
    if isinstance(node, Number):
        return _bits(node.value), node.value
    if isinstance(node, Constant):
        return 2.0, None
    if isinstance(node, Binary) and node.operator in ("/", "//", "%") and parts[1] and parts[1][1] == 0:
        raise ZeroDivisionError
    known = [part for part in parts if part]
    if not known or isinstance(node, Comparison) or len(known) < len(parts) - isinstance(node, Choice):
        return None
    bits, value = known[0]
    match node:
        case Negative():
            return bits, None if value is None else -value
        case Binary(sign):
            other_bits, other = known[1]
            value = None if value is None or other is None else exact(sign, value, other)
            if value is not None:
                bits = _bits(value)
            elif sign == "**":
                bits *= 2.0**other_bits if other is None else abs(other)
            else:
                bits += other_bits
        case Call("exp" | "exp2" | "expm1" | "sinh" | "cosh" | "gamma"):
            bits, value = 1.5 * 2.0**bits, None
        case _:
            bits, value = max(bits for bits, _ in known), None
    if bits > MAX_BITS:
        raise OverflowError
    return bits, value
