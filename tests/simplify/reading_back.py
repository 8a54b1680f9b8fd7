"""The value of a printed formula: its text read by the project's own reader, computed with mpmath."""

import mpmath as mp

from gradexplain.readers import tokens
from gradexplain.readers.functions import ARITIES
from gradexplain.readers.text import read
from gradexplain.simplify.numeric import value

NAMES = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt erf gamma floor ceil"
FUNCTIONS = {name: getattr(mp, name) for name in NAMES.split()}
FUNCTIONS |= {"abs": mp.fabs, "sign": mp.sign, "atan2": mp.atan2, "max": max, "min": min}  # fmt: skip
CONSTANTS = {"pi": mp.pi, "e": mp.e}
UNREADABLE = ("nan", "inf", "gamma(", "EulerGamma", "not ", "bessel", "LambertW", "zeta", "if (")


def written_value(text, table):
    """What a reader of the text computes."""

    def compute(node, parts):
        match node:
            case tokens.Number(number):
                return mp.mpf(number.numerator) / number.denominator
            case tokens.Variable(name):
                return table[name]
            case tokens.Constant(name):
                return +CONSTANTS[name]
            case tokens.Call(name):
                return FUNCTIONS[name](*parts)
            case tokens.Negative():
                return -parts[0]
            case tokens.Binary("**"):
                return mp.power(*parts)
            case tokens.Binary(sign):
                return tokens.OPERATORS[sign](*parts)
            case tokens.Comparison(sign):
                return {"and": all, "or": any}[sign](parts) if sign in ("and", "or") else tokens.OPERATORS[sign](*parts)
            case tokens.Choice():
                return parts[1] if parts[0] else parts[2]

    return tokens.fold(read(text, functions=ARITIES, variables=table).tree, compute)


def is_misread(text, expr, table):
    """Whether the text says something else than the expression at a point."""
    meant = value(expr, table)
    if any(word in text for word in UNREADABLE) or not mp.isfinite(meant):
        return False
    said = written_value(text, table)
    return not abs(said - meant) <= mp.mpf(10) ** -25 * max(abs(meant), mp.mpf(10) ** -20)
