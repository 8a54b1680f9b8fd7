"""How a program writes its sums and products: the `Arrangement` that its closed forms are printed in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from gradexplain.graph import VARIABLE, Node, ancestors
from gradexplain.ops.arithmetic import add, div, mul, neg, power, sub
from gradexplain.ops.elementary import sqrt, square
from gradexplain.ops.ordering import greater, greater_equal, less, less_equal
from gradexplain.simplify.arrangement import TEXTBOOK, Arrangement, Product, split
from gradexplain.simplify.watchdog import within
from gradexplain.symbolic import of_node, symbol, tree_size

_LARGEST = 400  # operations of a program that is read
_PATIENCE = 3.0  # seconds: SymPy evaluates as it builds
_SUMS, _PRODUCTS, _POWERS = (add, sub), (mul, div), (power, square, sqrt)
_COMPARISONS = {less: sp.Lt, less_equal: sp.Le, greater: sp.Gt, greater_equal: sp.Ge}
_FAMILIES = (*_SUMS, neg), (*_PRODUCTS, neg)


def arrangement(output: Node, named: Iterable[Mapping[Node, Any]] = ({},)) -> Arrangement:
    """How the program of a number writes; `named` are the choices of nodes that formulas have symbols for.

    >>> from gradexplain.graph import variable
    >>> x, y = variable("x"), variable("y")
    >>> found = arrangement(sub.record(y * (1 + x**2), x))
    >>> X, Y = sp.symbols("x y", real=True)
    >>> found.terms(X**2 + 1), found.terms(3 * X**2 + 4), found.products[Y * (1 + X**2)].factors
    ([1, x**2], [4, 3*x**2], ((y, 1), (x**2 + 1, 1)))
    """
    order = ancestors([output])
    if any(n.shape for n in order) or tree_size(output) > _LARGEST:
        return TEXTBOOK
    return within(_PATIENCE, lambda: _read(output, order, named)) or TEXTBOOK


def _read(output: Node, order: Sequence[Node], named: Iterable[Mapping[Node, Any]]) -> Arrangement:
    met = list(_as_met(output))
    arguments = sorted((n for n in order if n.op is VARIABLE), key=lambda n: n.index)
    found = Arrangement({}, {}, {}, tuple(map(symbol, arguments)))
    seen: set[Any] = set()
    for given in named:
        reader = _Reader(order, given, found, seen)
        for position, node in enumerate(met):
            reader.place(node, position)
        for node in order:
            reader.read(node)
    for terms in found.sums.values():
        for term in terms:
            found.place(_symbols(term), found.positions.get(term, found.positions.get(-term, len(met))))
    rising, numbers_first = _manner(found.sums.values())
    return replace(found, rising=rising, numbers_first=numbers_first)


def _as_met(output: Node) -> Iterator[Node]:
    """The nodes as a reader of the formula meets them: from left to right, parts before what they are parts of."""
    seen: set[Node] = set()
    waiting = [(output, False)]
    while waiting:
        node, is_read = waiting.pop()
        if is_read:
            yield node
        elif node not in seen:
            seen.add(node)
            waiting.append((node, True))
            waiting += [(n, False) for n in reversed(node.inputs)]


class _Reader:
    """Enters in an arrangement how nodes are written, over some names; `seen` are values that have been entered."""

    def __init__(self, order: Sequence[Node], given: Mapping[Node, Any], found: Arrangement, seen: set[Any]) -> None:
        self.found, self.seen = found, seen
        self.values: dict[Node, Any] = {}  # what stands for a node in formulas
        self.opened: dict[Node, Any] = {}
        self.inside = _inner_links(order, given)
        for node in order:
            self.opened[node] = of_node(node, [self.values[n] for n in node.inputs])
            self.values[node] = given.get(node, self.opened[node])

    def place(self, node: Node, position: int) -> None:
        """A reader meets the node's value at a position, and functions of these arguments."""
        for value in (self.values[node], self.opened[node]):
            self.found.place(value, position)
            if isinstance(value, sp.Function):
                self.found.place(value.args, position)

    def read(self, node: Node) -> None:
        """Enters how a node is written, if it is the first of its value: so nothing is written by means of itself."""
        value = self.opened[node]
        if node in self.inside or value in self.seen:
            return
        if node.op in _COMPARISONS:
            sides = [self.values[n] for n in node.inputs]
            if isinstance(value, Relational):
                self.found.relate(_COMPARISONS[node.op](*sides, evaluate=False))
            return
        self.seen.add(value)
        if value.is_Add and node.op in _FAMILIES[0]:
            terms = self._terms(node)
            if len(terms) <= len(value.args) and sp.Add(*terms) == value:
                self.found.sums[value] = tuple(terms)
                return
        if value.is_Mul or value.is_Add:
            product = self._power(node) if node.op in _POWERS else self._product(node)
            if product is not None and _is_as_short(product, value) and _composed(product) == value:
                self.seen.update(base for base, _ in product.factors)
                self.found.products.setdefault(*_without_coefficient(value, product))

    def _terms(self, node: Node) -> list[Any]:
        """The terms of a sum with their signs, its numbers added up."""
        terms: list[Any] = []
        number: int | None = None
        for leaf, sign in self._leaves(node, _SUMS):
            value = self.values[leaf]
            is_sum = value.is_Add and not self.found.is_product(value)
            for term in self.found.terms(value) if is_sum else (value,):
                if not term.is_Number or number is None:
                    number = len(terms) if term.is_Number else number
                    terms.append(sign * term)
                else:
                    terms[number] += sign * term
        return [t for t in terms if t != 0]

    def _power(self, node: Node) -> Product | None:
        """(x/s)**2 and sqrt(2*pi*t), whose values are products."""
        base, *exponents = (self.values[n] for n in node.inputs)
        exponent = exponents[0] if exponents else sp.S.Half if node.op is sqrt else sp.Integer(2)
        return Product(sp.S.One, ((base, exponent),)) if base.is_Mul and exponent.is_Rational else None

    def _product(self, node: Node) -> Product | None:
        if node.op not in _FAMILIES[1]:
            return None
        number, powers = sp.S.One, dict[Any, Any]()
        for leaf, sign in self._leaves(node, _PRODUCTS):
            inner, factors = self.found.product(self.values[leaf]) if leaf is not None else (-sp.S.One, [])
            number *= inner**sign
            for base, exponent in factors:
                powers[base] = powers.get(base, 0) + exponent * sign
        return Product(number, tuple((b, e) for b, e in powers.items() if e != 0))

    def _leaves(self, node: Node, family: tuple[Any, ...]) -> Iterator[tuple[Any, int]]:
        """The terms or factors of a node with the signs of the terms, or of the exponents; a sign is a factor None."""
        waiting = [(node, 1)]
        while waiting:
            n, sign = waiting.pop()
            if n is not node and n not in self.inside:
                yield n, sign
            elif n.op is neg:
                if family is _PRODUCTS:
                    yield None, 1
                waiting.append((n.inputs[0], sign if family is _PRODUCTS else -sign))
            elif n.op in family:
                turned = n.op in (sub, div)
                waiting += [(n.inputs[1], -sign if turned else sign), (n.inputs[0], sign)]
            else:
                yield n, sign


def _inner_links(order: Sequence[Node], given: Mapping[Node, Any]) -> set[Node]:
    """Sums that are only a term of another, products that are only a factor of another."""
    users: dict[Node, list[Node]] = {}
    for node in order:
        for n in node.inputs:
            users.setdefault(n, []).append(node)
    return {
        n
        for n, (first, *more) in users.items()
        if not more and n not in given and any(n.op in f and first.op in f for f in _FAMILIES)
    }


def _is_as_short(found: Product, value: Any) -> bool:
    """Whether a product has no more factors than its value has; a sum is only one as a number times another."""
    if value.is_Add:
        return found.number != 1 and len(found.factors) == 1 and found.factors[0][0].is_Add
    return len(found.factors) <= len(split(value.args)[1])


def _composed(product: Product) -> Any:
    return sp.Mul(product.number, *(b**e for b, e in product.factors))


def _without_coefficient(value: Any, product: Product) -> tuple[Any, Product]:
    """A product and its value without their rational factor, so that it is known with any, unless that is inside."""
    coefficient, rest = value.as_coeff_Mul()
    number = product.number / coefficient
    if value.is_Add or number.as_coeff_Mul()[0] != 1:
        return value, product
    return rest, Product(number, product.factors)


def _symbols(term: Any) -> frozenset[Any]:
    """The symbols of a term that is a product of powers of symbols, none for others."""
    _, factors = split(sp.Mul.make_args(term))
    is_monomial = all(b.is_Symbol and e.is_Rational for b, e in factors)
    return frozenset(b for b, _ in factors) if is_monomial else frozenset()


def _manner(sums: Iterable[tuple[Any, ...]]) -> tuple[frozenset[Any], bool]:
    """The symbols whose powers rise in most sums, and whether most numbers come first; 1 - x says nothing."""
    rising: dict[Any, int] = {}
    first = 0
    for terms in sums:
        signs = [t.as_coeff_Mul()[0].is_negative for t in terms]
        if len(terms) > 1 and terms[-1].is_number:
            first -= 1
        elif terms[0].is_number and not signs[1]:
            first += 1
        powers = [dict(split(sp.Mul.make_args(t))[1]) for t in terms]
        for s in {b: None for p in powers for b in p if b.is_Symbol}:
            exponents = [p.get(s, sp.S.Zero) for p in powers]
            if all(e.is_Rational and e >= 0 for e in exponents) and len(set(exponents)) > 1:
                if sorted(exponents) == exponents and not signs[-1]:
                    rising[s] = rising.get(s, 0) + 1
                elif sorted(exponents, reverse=True) == exponents:
                    rising[s] = rising.get(s, 0) - 1
    return frozenset(s for s, votes in rising.items() if votes > 0), first > 0
