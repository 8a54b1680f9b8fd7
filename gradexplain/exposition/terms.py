"""Products and sums as a person writes them while differentiating: the number first, one fraction bar, no zeros.

Only arithmetic on numbers and whole powers of one factor is done silently; everything else is left as a rule made it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from gradexplain.graph import CONSTANT, VARIABLE, Fixed, Node, constant
from gradexplain.numbers import exact_number
from gradexplain.ops.arithmetic import div, mul, neg, power

_MOST_FACTORS = 16  # a product of more factors is not taken apart


def product(*factors: Node, over: Node | None = None, atoms: Container[Node] = ()) -> Node:
    """The product of the factors, divided by `over`; what is in `atoms` is not taken apart.

    >>> from gradexplain.graph import variable
    >>> from gradexplain.lambdify import expression
    >>> x = variable("x")
    >>> expression(product(x**2, constant(3), x, over=constant(2) * x), {x: "x"})
    '3*x**2/2'
    """
    fraction = _Fraction(atoms)
    for factor in factors:
        fraction.take(factor, 1)
    if over is not None:
        fraction.take(over, -1)
    return fraction.node()


def plain_product(*factors: Node, over: Node | None = None) -> Node:
    """The product as it stands, for the statement of a rule."""
    result = _joined(factors)
    return result if over is None else div(result, over)


def unfolded_product(*factors: Node, over: Node | None = None) -> Node:
    """The product with every factor in its place, even where that is 1."""
    result, *others = factors or (constant(1),)
    for factor in others:
        result = mul.record(result, factor)
    return result if over is None else div.record(result, over)


def total(terms: Iterable[Node]) -> Node:
    """The sum of the terms, without those that are zero."""
    result = constant(0)
    for term in terms:
        result = result + term
    return result


def rational(node: Node) -> Fraction | None:
    """The number that a constant stands for if it is a rational one."""
    if node.op is not CONSTANT or isinstance(node.data, (Fixed, bool)):
        return None
    exact = exact_number(node.data)
    return exact.factor if exact.form == "rational" and isinstance(exact.factor, Fraction) else None


def whole_power(node: Node) -> tuple[Node, int]:
    """Base and exponent: (b, n) for b**n with a whole number n, else the node itself and 1."""
    if node.op is power:
        exponent = rational(node.inputs[1])
        if exponent is not None and exponent.denominator == 1:
            return node.inputs[0], exponent.numerator
    return node, 1


@dataclass(slots=True)
class _Fraction:
    """A product in the making: a number and the powers of its factors."""

    atoms: Container[Node]
    number: Fraction = Fraction(1)
    powers: dict[Node, int] = field(default_factory=dict)

    def take(self, node: Node, sign: int) -> None:
        """Multiplies by a node (`sign` 1) or divides by it (-1)."""
        waiting = [(node, sign)]
        while waiting:
            factor, sign = waiting.pop()
            number = rational(factor)
            if number is not None and (number or sign > 0):
                self.number *= number**sign
            elif factor in self.atoms or len(self.powers) > _MOST_FACTORS:
                self._count(factor, sign)
            elif factor.op is neg:
                self.number = -self.number
                waiting.append((factor.inputs[0], sign))
            elif factor.op is mul:
                waiting += [(n, sign) for n in reversed(factor.inputs)]
            elif factor.op is div:
                waiting += [(factor.inputs[1], -sign), (factor.inputs[0], sign)]
            else:
                base, exponent = whole_power(factor)
                self._count(base, sign * exponent)

    def _count(self, base: Node, exponent: int) -> None:
        self.powers[base] = self.powers.get(base, 0) + exponent

    def node(self) -> Node:
        """The product as a node: powers of variables before everything else, otherwise in the order they came."""
        bases = sorted(self.powers, key=lambda base: base.op is not VARIABLE)
        above = [base ** self.powers[base] for base in bases if self.powers[base] > 0]
        below = [base ** -self.powers[base] for base in bases if self.powers[base] < 0]
        top, bottom = abs(self.number.numerator), self.number.denominator
        result = _joined([constant(top), *above])
        if below or bottom != 1:
            result = div(result, _joined([constant(bottom), *below]))
        return neg(result) if self.number < 0 else result


def _joined(factors: Iterable[Node]) -> Node:
    result = constant(1)
    for factor in factors:
        result = mul(result, factor)
    return result
