"""The reader of typed mathematics: `read` makes a tree of text such as `2x sin(x)^2`, written as people type it.

Holds the grammar (a Pratt parser, one method a construct); its result is a `Reading`. Promises: nothing is evaluated as
Python, and only what the grammar knows is read; all else is refused with a caret and a fix; a reading that could
surprise leaves a note; constants are exact and bounded, so that no short text makes a huge number.
A new spelling of a function is an entry in `ALIASES`, a new operator one in `tokens.LEVELS`.
"""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise

from gradexplain.errors import ParseError
from gradexplain.language import Sentence
from gradexplain.readers import tokens
from gradexplain.readers.reading import Reading
from gradexplain.readers.tokens import LEVELS, Binary, Call, Choice, Comparison, Expr, Negative, Node, Number, Token

Arities = Mapping[str, tuple[int, int | None]]

MAX_DEPTH = 80  # of brackets, signs, powers and branches together: the parser takes up to six Python frames for each
ALIASES = {
    "ln": "log", "sgn": "sign", "fabs": "abs", "absolute": "abs", "Abs": "abs", "power": "pow", "arctan2": "atan2",
    "maximum": "max", "minimum": "min", "Max": "max", "Min": "min", "ceiling": "ceil", "cosec": "csc", "cotan": "cot",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot", "arcsec": "asec", "arccsc": "acsc",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "arsinh": "asinh", "arcosh": "acosh", "artanh": "atanh",
    "logistic": "sigmoid", "expit": "sigmoid",
}  # fmt: skip
_QUESTION = re.compile(r"\s*d\s*/\s*d\s*[A-Za-z]\b")
_LONGEST_PRODUCT = 3  # letters that are read as factors
_LETTER_NAMES = {"alpha", "beta", "gamma", "delta", "eta", "lambda", "mu", "nu", "phi", "psi", "sigma", "theta", "zeta"}
_SHOWN = {"(": "(...)", ")": "(...)", "|": "|...|", "√": "√(...)"}  # the ends of longer operands, in notes


def read(text: str, *, functions: Arities, variables: Collection[str] = (), letters: Collection[str] = ()) -> Reading:
    """Reads a formula; `functions` are the known ones with their least and largest number of arguments.

    Names in `variables` are variables, be they e, pi or the name of a function. Where x and y are variables, xy is
    their product; `letters` are those that stand elsewhere.

    >>> reading = read("2x sin x - e^2/3", functions={"sin": (1, 1)})
    >>> reading.echo, reading.variables, reading.notes[0]
    ('2*x*sin(x) - e**2/3', ('x',), "'2x' was read as 2*x")
    """
    parser = _Parser(tokens.printable(text), functions, variables, letters)
    tree = parser.formula()
    tokens.check_sizes(tree, parser.text)
    return Reading(text, tokens.echo(tree), tuple(parser.variables), tree, tuple(dict.fromkeys(parser.notes.values())))


class _Parser:
    """One reading of one text: its tokens, the position, and what is noticed on the way."""

    def __init__(
        self, text: str, functions: Arities, variables: Collection[str], letters: Collection[str] = ()
    ) -> None:
        self.text, self.position = text, 0
        self.functions = {**functions, "pow": (2, 2), "where": (3, 3)}
        self.given = frozenset(variables)
        self.notes: dict[str, str] = {}
        words = tokens.cut(text)
        if _QUESTION.match(text):
            raise self.error("d/dx is what is asked here anyway", 0, fix="write the function alone, as in x**2")
        alone = {word.text for word in words if word.kind == "name" and len(word.text) == 1} | {*letters}
        self.tokens = [part for word in words for part in self.split(word, alone - {"e"} - self.functions.keys())]
        uncalled = {word.text for word, after in pairwise(self.tokens) if after.text != "("}
        self.known = self.given | uncalled  # names that stand for values
        self.variables: dict[str, None] = {}
        self.depth, self.in_bars = 0, False

    def split(self, word: Token, letters: Collection[str]) -> list[Token]:
        """The word, or its letters if they are all variables: xy is x*y where x and y stand by themselves."""
        name = word.text
        is_own = word.kind != "name" or name in self.given or name in self.functions or name in (*ALIASES, "pi")
        if is_own or not 2 <= len(name) <= _LONGEST_PRODUCT or not all(letter in letters for letter in name):
            return [word]
        self.note(_read_as(name, "*".join(name)))
        places = enumerate(name, word.column)
        return [replace(word, text=letter, source=letter, column=at, end=at + 1) for at, letter in places]

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    @property
    def last(self) -> Token:
        return self.tokens[self.position - 1]

    def advance(self) -> Token:
        token = self.token
        self.position += token.kind != "end"
        return token

    def note(self, message: str, key: str = "") -> None:
        """Notes a reading; of several with one key, the first."""
        self.notes.setdefault(key or message, message)

    def error(self, what: str, column: int, *, fix: str) -> ParseError:
        return ParseError(what, text=self.text, column=column, fix=fix)

    def unexpected(self) -> ParseError:
        """The error for a token that nothing can be made of where it stands."""
        token = self.token
        what = f"{token.source!r} has no meaning here" if token.source else "the formula is empty or ends too early"
        comma = "use commas between arguments only, and a point in decimal numbers"
        return self.error(what, token.column, fix=comma if token.text == "," else "write for example x**2 * sin(x)")

    def formula(self) -> Expr:
        tree = self.value(tokens.CHOICE)
        if self.token.kind != "end":
            raise self.unexpected()
        return tree

    def value(self, level: int) -> Expr:
        return self.as_value(self.expression(level))

    def as_value(self, tree: Node) -> Expr:
        if isinstance(tree, Comparison):
            fix = "an equation has a single =; a condition is used so: x if x > 0 else -x"
            raise self.error("a condition is no number", tree.column, fix=fix)
        return tree

    def as_condition(self, tree: Node) -> Comparison:
        if isinstance(tree, Comparison):
            return tree
        raise self.error("a condition must compare two values", tree.column, fix="write for example x > 0")

    def expression(self, level: int) -> Node:
        """An operand, and after it all operators that bind at least as tightly as `level`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error("the formula is nested too deeply", self.token.column, fix=tokens.FUNCTION)
        tree = self.operand()
        while (infix := self.infix()) and LEVELS[infix] >= level:
            tree = self.extended(tree, infix)
        self.depth -= 1
        return tree

    def operand(self) -> Node:
        """What stands in the place of an operand."""
        token = self.token
        if token.kind == "number":
            return Number(Fraction(self.advance().text), token.column)
        if token.kind in ("name", "member"):
            return self.name(self.advance())
        match token.text:
            case "-" | "+":
                return self.signed()
            case "(":
                return self.only(self.listed(")"), token)
            case "|":
                return self.call("abs", [self.only(self.listed("|"), token)], token)
            case "√":
                return self.root(self.advance())
        raise self.unexpected()

    def signed(self) -> Expr:
        """A value with signs before it: a loop, since there may be very many."""
        signs = []
        while self.token.text in ("-", "+"):
            signs.append(self.advance())
        tree = self.value(tokens.POWER)
        for sign in reversed(signs):
            tree = Negative(tree, sign.column) if sign.text == "-" else tree
        return tree

    def listed(self, closing: str) -> list[Node]:
        """What is listed between brackets or bars; inside bars, a bar behind an operand closes them."""
        opening, outer, self.in_bars = self.advance(), self.in_bars, closing == "|"
        found = [] if self.token.text == closing == ")" else [self.expression(tokens.CHOICE)]
        while self.token.text == ",":
            self.advance()
            found.append(self.expression(tokens.CHOICE))
        if self.token.kind == "end":
            raise self.error(f"{opening.text!r} is never closed", opening.column, fix=f"add a {closing}")
        if self.advance().text != closing:
            self.position -= 1
            raise self.unexpected()
        self.in_bars = outer
        return found

    def only(self, found: list[Node], opening: Token) -> Node:
        if len(found) != 1:
            raise self.error("these brackets must hold one value", opening.column, fix="write decimal points as .")
        return found[0]

    def root(self, sign: Token) -> Expr:
        """A root sign: of a number, a name, a call or a bracket, and of nothing more."""
        if not self.starts_operand():
            raise self.unexpected()
        tree, infix = self.call("sqrt", [self.expression(tokens.ATOM)], sign), self.infix()
        touches = self.last.text != ")" and self.last.end == self.token.column
        if infix == "**" or (infix == "implied" and touches):
            raise self.error("it is not clear where the root ends", self.token.column, fix="write sqrt(...)")
        return tree

    def name(self, token: Token) -> Expr:
        """A variable, a constant, or a function with what it is applied to."""
        called, function = self.token.text == "(", self.function(token)
        name = "pi" if token.text == "π" and "π" not in self.given else token.text
        if name in ("pi", "e") and (name not in self.given or token.kind == "member"):
            if token.source == "e":
                self.note(Sentence("'e' was read as Euler's number"))
            return tokens.Constant(name, token.column)
        if function and (called or token.text not in _LETTER_NAMES):
            return self.application(function, token)
        if token.kind == "member" or (len(name) > 1 and name not in self.known):
            raise self.unknown(token)
        if name not in self.given:
            self.check_glued(token)
        self.variables.setdefault(name)
        return tokens.Variable(name, token.column)

    def function(self, token: Token) -> str | None:
        """The canonical name of the function that a token names, if it names one."""
        if token.kind == "member" or token.text not in self.given:
            name = token.text if token.text in self.functions else ALIASES.get(token.text)
            return name if name in self.functions else None
        return None

    def unknown(self, token: Token) -> ParseError:
        names = [name for name in [*self.functions, *ALIASES] if ALIASES.get(name, name) in self.functions]
        near = difflib.get_close_matches(token.text.lower(), names)
        fix = f"use a known function{', such as ' if near else ''}{', '.join(near)}"
        product = f"; for a product write {token.text}*(...)" if token.kind == "name" else ""
        return self.error(f"unknown function {token.text}", token.column, fix=fix + product)

    def check_glued(self, token: Token) -> None:
        """Refuses sinx and log2x, which are hardly meant as variables; notes names like cost and ωt."""
        name, stem = token.text, token.text[:-1].rstrip("0123456789")
        inside = name.removeprefix(stem)
        if re.search(f"[{tokens.GREEK}][A-Za-z]|[A-Za-z][{tokens.GREEK}]", name):
            self.note(Sentence("'{name}' was read as one variable, not as a product", name=name))
        glued = inside[-1].isalpha() and stem not in _LETTER_NAMES
        if glued and self.functions.get(ALIASES.get(stem, stem), (0, 0))[0] == 1:
            if inside in self.known or not inside.isalpha() or inside in "xyzθ":
                raise self.error(f"{name!r} is one name, not a function", token.column, fix=f"write {stem}({inside})")
            call = f"{stem}({inside})"
            self.note(Sentence("'{name}' was read as one variable, not as {call}", name=name, call=call))

    def application(self, function: str, token: Token) -> Expr:
        """A function with its arguments, in brackets or bare as in sin 2x, and with a power as in sin^2(x)."""
        power, bare = self.power_of_name(token.text), self.token.text != "("
        tree = self.call(function, [self.bare_argument(function, token)] if bare else self.listed(")"), token)
        if power:
            tree = Binary("**", tree, power, power.column)
        if power or bare:
            self.note(_read_as(self.text[token.column : self.last.end], tokens.echo(tree)))
        elif token.text != function:
            self.note(_read_as(token.text, function))
        return tree

    def power_of_name(self, name: str) -> Number | None:
        """The square in sin^2 x; a negative power could be an inverse function or a reciprocal."""
        if self.token.text != "**":
            return None
        self.advance()
        exponent = self.advance()
        if exponent.text.isdigit() and int(exponent.text):
            return Number(Fraction(exponent.text), exponent.column)
        fix = f"write {name}(x)**-1 for 1/{name}(x); an inverse function has its own name, such as asin"
        raise self.error(f"this power of {name} is not clear", exponent.column, fix=fix)

    def bare_argument(self, function: str, token: Token) -> Expr:
        """An argument without brackets: x, 2x, x^2, cos x; refused where it could end in more than one place."""
        name = token.text
        if self.functions[function][0] != 1 or not self.starts_operand():
            fix = f"write {name}(...), or give a variable {name} a value"
            raise self.error(f"the function {name} has no arguments here", token.column, fix=fix)
        tree = self.value(tokens.POWER)
        while self.token.kind == "name" and self.token.column == self.last.end and not self.function(self.token):
            column = self.token.column
            tree = Binary("*", tree, self.value(tokens.POWER), column)
        infix = self.infix()
        after = self.token if infix == "implied" else self.tokens[self.position + bool(infix)]
        unclear = not self.function(after) or after.column == self.last.end
        if LEVELS.get(infix) == tokens.PRODUCT and unclear:
            fix = f"write {name}({tokens.echo(tree)}), or put more between the brackets"
            raise self.error(f"it is not clear where the argument of {name} ends", self.token.column, fix=fix)
        return tree

    def call(self, function: str, arguments: list[Node], token: Token) -> Expr:
        if function not in self.functions:
            raise self.error(f"the function {function} is not known", token.column, fix="use another function")
        least, most = self.functions[function]
        if len(arguments) < least or (most is not None and len(arguments) > most):
            count = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
            what = f"{token.source} takes {count} argument{'s'[: count != '1']}, not {len(arguments)}"
            raise self.error(what, token.column, fix="put commas between arguments")
        if function == "where":
            condition, if_true, if_false = arguments
            return Choice(self.as_condition(condition), self.as_value(if_true), self.as_value(if_false), token.column)
        values = tuple(self.as_value(argument) for argument in arguments)
        if function == "pow":
            return Binary("**", values[0], values[1], token.column)
        return Call(function, values, token.column)

    def starts_operand(self) -> bool:
        return self.token.text in ("(", "√", "|") or self.token.kind in ("number", "name", "member")

    def infix(self) -> str:
        """The operator that stands here; "" if none does."""
        text = self.token.text
        if self.starts_operand():
            return "" if text == "|" and self.in_bars else "implied"
        return text if text in LEVELS else ""

    def extended(self, left: Node, infix: str) -> Node:
        """The tree of an operand and one more operator with what follows it."""
        level, column = LEVELS[infix], self.token.column
        if infix in ("and", "or"):
            self.advance()
            return Comparison(infix, self.as_condition(left), self.as_condition(self.expression(level + 1)), column)
        left = self.as_value(left)
        if level == tokens.COMPARISON:
            return self.comparison(left)
        if infix == "if":
            return self.choice(left, self.advance())
        self.note_surprises(infix)
        if self.token.kind == "number":
            raise self.error("a number can't stand right behind a value", column, fix="write a * or ** between them")
        if infix == "implied":
            return Binary("*", left, self.value(tokens.SIGN), column)
        self.advance()
        return Binary(infix, left, self.value(tokens.POWER if infix == "**" else level + 1), column)

    def comparison(self, left: Expr) -> Comparison:
        """A comparison, or a chain of them: 0 < x < 1 is 0 < x and x < 1."""
        links: list[Comparison] = []
        while LEVELS.get(self.infix()) == tokens.COMPARISON:
            sign = self.advance()
            if links and tokens.children(left):  # would be written twice, and twice again in what stands around it
                raise self.error("this is not clear inside a chain", sign.column, fix="join conditions by and")
            right = self.value(tokens.SUM)
            links.append(Comparison(sign.text, left, right, sign.column))
            left = right
        return reduce(lambda both, link: Comparison("and", both, link, link.column), links)

    def choice(self, if_true: Expr, word: Token) -> Choice:
        condition = self.as_condition(self.expression(tokens.OR))
        if self.advance().text != "else":
            raise self.error("'if' has no 'else'", word.column, fix="say what holds otherwise: x if x > 0 else -x")
        return Choice(condition, if_true, self.value(tokens.CHOICE), word.column)

    def note_surprises(self, infix: str) -> None:
        """Notes powers by ^, products without a sign, and what may have been meant by 1/2x, e^2x and x^1/2."""
        before, last, token = self.tokens[self.position - 2], self.last, self.token
        if token.source == "^":
            self.note(Sentence("'^' was read as a power"))
        if infix == "/" and before.text == "**" and last.text == "1":
            sentence = "'{source}1/' was read as **1/; for a root write **(1/...)"
            self.note(Sentence(sentence, source=before.source))
        if infix != "implied" or (last.kind == "number" and last.text != last.source):
            return  # superscripts end where they end
        a, b = (_SHOWN.get(word.text, word.source) for word in (last, token))
        b += "(...)" * (self.function(token) is not None)
        gap = " " * (token.column > last.end)
        if before.text in ("/", "//", "%", "**"):
            read, other = f"{before.text}{a}*{b}", f"{before.text}({a}*{b})"
            sentence = "'{text}' was read as {read}, not as {other}"
            self.note(Sentence(sentence, text=f"{before.source}{a}{gap}{b}", read=read, other=other))
        else:
            key = "" if b == "(...)" and last.kind == "name" else f"{last.kind}{gap}{token.kind}"
            self.note(_read_as(f"{a}{gap}{b}", f"{a}*{b}"), key)


def _read_as(text: str, read: str) -> Sentence:
    return Sentence("'{text}' was read as {read}", text=text, read=read)
