"""The rules of calculus as a book states them: which rule an operation calls for, and what it says.

The table of derivatives gives every operation its partial derivatives; that is the rule of most of them. The few
that have rules of their own in calculus books (products, quotients, powers, sums, branches) are in `_CHOICES`: a
function from the node to its `Rule`. A rule is stated by running it on letters and applied by running it on nodes, so
that both agree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from gradexplain.exposition.terms import total
from gradexplain.graph import VARIABLE, Node, Primitive, constant
from gradexplain.ops.arithmetic import add, div, mul, neg, power, sub
from gradexplain.ops.elementary import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    cos,
    cosh,
    log,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from gradexplain.ops.ordering import where

Times = Callable[..., Node]  # how products are written: terms.product or terms.plain_product
Slope = Callable[[Sequence[Node], Sequence[Node | None], Times], Node]

SUM, DIFFERENCE, MULTIPLE = "sum rule", "difference rule", "constant multiple rule"
PRODUCT, QUOTIENT, RECIPROCAL, BRANCHES = "product rule", "quotient rule", "reciprocal rule", "branch by branch"
LOGARITHMIC, POWER, POWER_AND_CHAIN = "logarithmic differentiation", "power rule", "power and chain rule"
QUIET = (SUM, DIFFERENCE, MULTIPLE)
LOUD = (PRODUCT, QUOTIENT, RECIPROCAL, LOGARITHMIC, BRANCHES)
_MOST_OPERANDS = 12  # a longer sum or product is taken in parts


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for one operation.

    `operands` are what the rule has letters for; the others are held constant. `value` puts operands together again;
    `slope` gives the derivative from the operands and their derivatives (None for what is held constant).
    """

    name: str
    operands: tuple[Node, ...]
    value: Callable[..., Node]
    slope: Slope
    held: str = ""  # the letter of the operand that is held constant, "" where it stands for itself

    @property
    def is_quiet(self) -> bool:
        """Whether people apply it without a word: sums and constant multiples."""
        return self.name in QUIET

    @property
    def is_loud(self) -> bool:
        """Whether it takes a line however simple its operands are."""
        return self.name in LOUD


@dataclass(frozen=True, slots=True)
class Scope:
    """What a choice of rule depends on: the nodes that vary with x, and those that may be merged with their user."""

    varying: Collection[Node]
    inner: Callable[[Node], bool]


def rule_of(node: Node, scope: Scope) -> Rule:
    """The rule that a calculus book would use for an operation that varies with x.

    >>> from gradexplain.graph import variable
    >>> x = variable("x")
    >>> rule_of(3 * x, Scope({x}, lambda n: False)).name
    'constant multiple rule'
    """
    return _CHOICES.get(node.op, _function_rule)(node, scope)


def _function_rule(node: Node, scope: Scope) -> Rule:
    """The partial derivatives of the table, each times the derivative of its operand."""
    partials = node.op.partials

    def slope(xs: Sequence[Node], primes: Sequence[Node | None], times: Times) -> Node:
        y = node if tuple(xs) == node.inputs else node.op.record(*xs, **node.params)
        pairs = [(p, prime) for p, prime in zip(partials, primes, strict=True) if p is not None and prime is not None]
        return total(times(_as_node(p(y, *xs)), prime) for p, prime in pairs)

    varying = [n for n in node.inputs if n in scope.varying]
    name = "chain rule" if len(node.inputs) == 1 and varying[0].op is not VARIABLE else node.op.rule
    return Rule(name, node.inputs, lambda *xs: node.op.record(*xs, **node.params), slope)


def _as_node(value: object) -> Node:
    return value if isinstance(value, Node) else constant(value)


def _product_rule(node: Node, scope: Scope) -> Rule:
    factors = _flat_product(node, scope)
    if len(factors) == 2 and not all(f in scope.varying for f in factors):
        return Rule(MULTIPLE, factors, mul.record, lambda xs, primes, times: times(*_with_primes(xs, primes)), "c")

    def slope(xs: Sequence[Node], primes: Sequence[Node | None], times: Times) -> Node:
        return times(total(times(*xs[:i], prime, *xs[i + 1 :]) for i, prime in enumerate(primes) if prime is not None))

    return Rule(PRODUCT, factors, lambda *xs: _chain(mul, xs), slope)


def _with_primes(xs: Sequence[Node], primes: Sequence[Node | None]) -> list[Node]:
    return [x if prime is None else prime for x, prime in zip(xs, primes, strict=True)]


def _chain(op: Primitive, xs: Sequence[Node]) -> Node:
    result = xs[0]
    for x in xs[1:]:
        result = op.record(result, x)
    return result


def _flat_product(node: Node, scope: Scope) -> tuple[Node, ...]:
    """The factors that vary with x, products of products taken apart; or the two operands of a constant multiple."""
    if not all(n in scope.varying for n in node.inputs):
        return node.inputs
    factors = list(node.inputs)
    for i in range(len(factors) - 1, -1, -1):
        while (f := factors[i]).op is mul and scope.inner(f) and len(factors) < _MOST_OPERANDS:
            if not all(n in scope.varying for n in f.inputs):
                break
            factors[i : i + 1] = f.inputs
            i += 1
    return tuple(factors)


def _sum_rule(node: Node, scope: Scope) -> Rule:
    terms = _flat_sum(node, scope)
    signs = [sign for sign, _ in terms]

    def value(*xs: Node) -> Node:
        result = xs[0] if signs[0] > 0 else neg.record(xs[0])
        for sign, x in zip(signs[1:], xs[1:], strict=True):
            result = (add if sign > 0 else sub).record(result, x)
        return result

    def slope(xs: Sequence[Node], primes: Sequence[Node | None], times: Times) -> Node:
        return total(p if sign > 0 else -p for sign, p in zip(signs, primes, strict=True) if p is not None)

    name = MULTIPLE if len(terms) == 1 else DIFFERENCE if len(terms) == 2 and signs == [1, -1] else SUM
    return Rule(name, tuple(n for _, n in terms), value, slope)


def _flat_sum(node: Node, scope: Scope) -> list[tuple[int, Node]]:
    """The terms with their signs, sums of sums taken apart."""
    terms: list[tuple[int, Node]] = []
    waiting = [(1, node)]
    while waiting:
        sign, n = waiting.pop()
        opened = n is node or (scope.inner(n) and n in scope.varying and len(terms) + len(waiting) < _MOST_OPERANDS)
        if opened and n.op in (add, sub):
            a, b = n.inputs
            waiting += [(sign if n.op is add else -sign, b), (sign, a)]
        elif opened and n.op is neg:
            waiting.append((-sign, n.inputs[0]))
        else:
            terms.append((sign, n))
    return terms


def _quotient_rule(node: Node, scope: Scope) -> Rule:
    above, below = (n in scope.varying for n in node.inputs)

    def quotient(xs: Sequence[Node], primes: Sequence[Node | None], times: Times) -> Node:
        (u, v), (du, dv) = xs, primes
        if dv is None:
            return times(du, over=v)
        if du is None:
            return -times(u, dv, over=v**2)
        return times(times(du, v) - times(u, dv), over=v**2)

    name = QUOTIENT if above and below else RECIPROCAL if below else MULTIPLE
    return Rule(name, node.inputs, div.record, quotient, "c" if name is MULTIPLE else "")


def _power_rule(node: Node, scope: Scope) -> Rule:
    base, exponent = node.inputs
    if base in scope.varying and exponent in scope.varying:
        return _logarithmic(node)

    def of_base(xs: Sequence[Node], primes: Sequence[Node | None], times: Times) -> Node:
        (u, n), (du, _) = xs, primes
        return times(n, u ** (n - 1), du)

    def of_exponent(xs: Sequence[Node], primes: Sequence[Node | None], times: Times) -> Node:
        (a, v), (_, dv) = xs, primes
        return times(a**v, log(a), dv)

    if base in scope.varying:
        return Rule(POWER if base.op is VARIABLE else POWER_AND_CHAIN, node.inputs, power.record, of_base, "n")
    return Rule("exponential rule", node.inputs, power.record, of_exponent, "a")


def _logarithmic(node: Node) -> Rule:
    """u**v where both vary: its logarithm v*log(u) is differentiated, since (log y)' is y'/y."""
    base, exponent = node.inputs
    logarithm = mul.record(exponent, log.record(base))
    return Rule(LOGARITHMIC, (logarithm,), lambda _: node, lambda xs, primes, times: times(node, primes[0]))


def _branch_rule(node: Node, scope: Scope) -> Rule:
    """Branches one after the other: those of an `elif`, which is a choice within the `else`, are of the same rule."""
    pieces = list(node.inputs)
    while (last := pieces[-1]).op is where and scope.inner(last) and len(pieces) < _MOST_OPERANDS:
        pieces[-1:] = last.inputs

    def slope(xs: Sequence[Node], primes: Sequence[Node | None], times: Times) -> Node:
        return _choice(where, [x if i in conditions else primes[i] or constant(0) for i, x in enumerate(xs)])

    conditions = range(0, len(pieces) - 1, 2)
    return Rule(BRANCHES, tuple(pieces), lambda *xs: _choice(where.record, xs), slope)


def _choice(choose: Callable[..., Node], pieces: Sequence[Node]) -> Node:
    """Conditions and values in turn, and the value for "else"."""
    result = pieces[-1]
    for i in range(len(pieces) - 3, -1, -2):
        result = choose(pieces[i], pieces[i + 1], result)
    return result


_CHOICES: dict[Primitive, Callable[[Node, Scope], Rule]] = {
    mul: _product_rule,
    add: _sum_rule,
    sub: _sum_rule,
    neg: _sum_rule,
    div: _quotient_rule,
    power: _power_rule,
    where: _branch_rule,
}

# Inverse functions: what they invert, and its slope as it is written in terms of the operand u of the inverse.
INVERSES: dict[Primitive, tuple[Primitive, Callable[[Node], Node]]] = {
    arcsin: (sin, lambda u: sqrt(1 - u**2)),
    arccos: (cos, lambda u: -sqrt(1 - u**2)),
    arctan: (tan, lambda u: 1 + u**2),
    arcsinh: (sinh, lambda u: sqrt(1 + u**2)),
    arccosh: (cosh, lambda u: sqrt(u**2 - 1)),
    arctanh: (tanh, lambda u: 1 - u**2),
}
