"""What a text was read as: the tree of a formula, and its value on whatever its names stand for."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gradexplain.readers import tokens
from gradexplain.readers.tokens import Binary, Call, Choice, Comparison, Expr, Negative, Node, Number

_LONGEST_DENOMINATOR = 10**10  # of a decimal that is more than a fraction


@dataclass(frozen=True, slots=True)
class Reading:
    """How a text was read: `echo` says it in Python's notation, `notes` name the readings that could surprise."""

    text: str
    echo: str
    variables: tuple[str, ...]
    tree: Expr = field(repr=False, compare=False)  # readings compare by what they say, which never recurses
    notes: tuple[str, ...]

    def evaluate(self, functions: Mapping[str, Callable[..., Any]], values: Mapping[str, Any]) -> Any:
        """The value of the tree, by Python's operators on whatever `values` holds; exact numbers stay exact.

        `functions` also holds the values of "pi" and "e", and "where" for choices. It may hold "logical_and",
        "logical_or", and "pow" for powers of numbers that are not rational. Raises what Python's arithmetic raises.

        >>> from gradexplain.readers.text import read
        >>> read("x + 1/3", functions={}).evaluate({}, {"x": Fraction(1, 2)})
        Fraction(5, 6)
        """

        def value(node: Node, parts: list[Any]) -> Any:
            if isinstance(node, Choice) and isinstance(parts[0], (bool, np.bool_)):
                return parts[1] if parts[0] else parts[2]  # the other may have no value
            failed = next((p for p in parts if isinstance(p, _Failed)), None)
            try:
                return own_value(node, parts) if failed is None else failed
            except (ArithmeticError, ValueError) as error:
                return _Failed(error)

        def own_value(node: Node, parts: list[Any]) -> Any:
            match node:
                case Number(number):
                    return _plain(number)
                case tokens.Variable(name):
                    return values[name]
                case tokens.Constant(name):
                    return values[name] if name in values else functions[name]
                case Call(name):
                    return functions[name](*parts)
                case Negative():
                    return -parts[0]
                case Binary(sign):
                    return _apply(sign, parts[0], parts[1], functions.get("pow", operator.pow))
                case Comparison(sign):
                    return functions.get(f"logical_{sign}", tokens.OPERATORS[sign])(*parts)
                case Choice():
                    return functions["where"](*parts)

        found = tokens.fold(self.tree, value)
        if isinstance(found, _Failed):
            raise found.error
        return found


class _Failed(NamedTuple):
    """What a part of a formula raised: of no matter if that part is not chosen."""

    error: Exception


def _plain(value: Fraction) -> int | float | Fraction:
    if value.denominator > _LONGEST_DENOMINATOR:
        return float(value)  # 2.718281828459045 is e
    return value.numerator if value.denominator == 1 else value


def _apply(sign: str, left: Any, right: Any, power: Callable[[Any, Any], Any]) -> Any:
    """Arithmetic on two values; rational numbers stay rational, and `power` takes their roots."""
    if isinstance(left, int | Fraction) and isinstance(right, int | Fraction):
        result = tokens.exact(sign, Fraction(left), Fraction(right))
        return power(left, right) if result is None else _plain(result)
    if sign == "**" and isinstance(left, Fraction) and not isinstance(right, float | complex):
        return right.__rpow__(left)  # Python 3.11's Fraction would make itself a float before it asks the other side
    return tokens.OPERATORS[sign](left, right)
