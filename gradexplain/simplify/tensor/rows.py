"""What the rows of the table are in the normal form: sums, products and powers, matrix products, sums over axes, …"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gradexplain.graph import CONSTANT, Node, is_scalar_constant
from gradexplain.numbers import exact_number
from gradexplain.simplify.tensor.lowering import Lowering, NotLoweredError, fresh, rule
from gradexplain.simplify.tensor.rolling import rolled
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import (
    ONE,
    Axes,
    Factor,
    Index,
    Tensor,
    Term,
    instance,
)


@rule("add", "sub")
def _sum(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    axes, over = self.aligned(node, operands)
    return rolled(self.space, self.space.total(axes, over, (1, 1 if node.op.name == "add" else -1)))


@rule("neg")
def _negative(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    return self.space.scaled(operands[0], Fraction(-1))


@rule("mul")
def _product(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    axes, over = self.aligned(node, operands)
    for a, b in (over, over[::-1]):
        if not any(t.factors for t in a.terms):  # a number: the sum that it multiplies stays one
            return self.space.scaled(b, a.terms[0].number) if a.terms else a
    return self.space.product(axes, over)


@rule("div")
def _quotient(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    axes, (a, b) = self.aligned(node, operands)
    below = self.space.power(b, Fraction(-1))
    if not any(t.factors for t in below.terms):
        return self.space.scaled(a, below.terms[0].number)
    return one_root(self.space, self.space.product(axes, [a, below]))


def one_root(space: Space, tensor: Tensor) -> Tensor:
    """sqrt(5) and the root of a sum as the root of five times the sum: what a standard deviation is made of."""
    if len(tensor.terms) != 1:
        return tensor
    (term,) = tensor.terms
    numbers = [f for f in term.factors if abs(f.power) == Fraction(1, 2) and _is_number(f)]
    sums = [f for f in term.factors if f not in numbers and f.atom.kind == "sum" and abs(f.power) == Fraction(1, 2)]
    if len(numbers) != 1 or len(sums) != 1:
        return tensor
    (number,), (f,) = numbers, sums
    scale = space.power(Tensor((), (Term(ONE, (Factor(number.atom, (), ONE),)),)), number.power / f.power)
    scale = space.tensor(f.indices, [(t.number, t.factors) for t in scale.terms])
    inner = space.product(f.indices, [Tensor(f.indices, tuple(instance(f.atom.parts[0], f.indices))), scale])
    raised = space.power(inner, f.power)
    rest = [g for g in term.factors if g is not f and g is not number]
    return space.tensor(tensor.axes, [(term.number * t.number, [*rest, *t.factors]) for t in raised.terms])


def _is_number(f: Factor) -> bool:
    """Whether a factor is a number, or the size of an axis."""
    return f.atom.kind == "size" or (f.atom.kind == "sum" and not any(t.factors for t in f.atom.parts[0].terms))


@rule("pow")
def _power(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    exponent = node.inputs[1]
    if not is_scalar_constant(exponent):
        return self.function(node, operands)
    value = exact_number(exponent.data if exponent.op is CONSTANT else exponent.inputs[0].data)
    if value.form != "rational":
        return self.function(node, operands)
    return self.space.power(operands[0], Fraction(value.factor))


@rule("square")
def _square(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    return self.space.power(operands[0], Fraction(2))


@rule("sqrt")
def _root(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    return self.space.power(operands[0], Fraction(1, 2))


@rule("sum")
def _reduction(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    (x,) = operands
    gone = node.params["axis"]
    keep = node.params["keepdims"]
    axes = tuple(None if n in gone else i for n, i in enumerate(x.axes) if keep or n not in gone)
    return summed(self.space, x, axes)


def summed(space: Space, x: Tensor, axes: Axes) -> Tensor:
    """The sum over the indices that are not among the axes."""
    lost = [i for i in x.indices if i not in axes]
    terms = []
    for t in x.terms:
        number, factors = t.number, list(t.factors)
        for i in lost:
            if not any(i in f.indices for f in t.factors):
                more, named = space.size(i.dim)
                number, factors = number * more, [*factors, *named]
        terms.append((number, factors))
    return space.tensor(axes, terms)


@rule("max", "min", "prod")
def _of_one(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    """The largest of one entry is that entry."""
    (x,) = operands
    gone, keep = node.params["axis"], node.params["keepdims"]
    if any(x.axes[n] is not None for n in gone):
        return self.operation(node, operands)
    return Tensor(tuple(i for n, i in enumerate(x.axes) if keep or n not in gone), x.terms)


@rule("root_sum_square")
def _norm(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    total = _reduction(self, node, [self.space.power(operands[0], Fraction(2))])
    return self.space.power(total, Fraction(1, 2))


@rule("broadcast_to")
def _broadcast(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    (x,) = operands
    new = fresh(node.shape)
    lead = node.ndim - len(x.axes)
    axes = tuple(new[n] if n < lead or x.axes[n - lead] is None else x.axes[n - lead] for n in range(node.ndim))
    return Tensor(axes, x.terms)


@rule("reshape")
def _reshape(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    (x,) = operands
    before = [n for n in node.inputs[0].shape if n != 1]
    if before != [n for n in node.shape if n != 1]:
        return self.operation(node, operands)
    if len(x.indices) != len(before):
        raise NotLoweredError("a value whose axes are not those of its node")
    rest = iter(x.indices)
    return Tensor(tuple(None if n == 1 else next(rest) for n in node.shape), x.terms)


@rule("transpose")
def _transpose(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    return Tensor(tuple(operands[0].axes[a] for a in node.params["axes"]), operands[0].terms)


def contracted(self: Lowering, operands: Sequence[Tensor], letters: Sequence[str], output: str) -> Tensor:
    """A sum of products over named axes; an axis of size 1 goes with any other."""
    table: dict[str, Index | None] = {}
    for t, names in zip(operands, letters, strict=True):
        for i, letter in zip(t.axes, names, strict=True):
            known = table.get(letter)
            if known is None:
                table[letter] = None if i is None else Index(i.dim)
            elif i is not None:
                known.dim.same(i.dim)
    number, factors = ONE, []
    for t, names in zip(operands, letters, strict=True):
        axes: list[Index | None] = []
        for i, letter in zip(t.axes, names, strict=True):
            j = table[letter]
            if i is not None and j is not None and j in axes:  # an index twice: the diagonal
                twin = Index(j.dim)
                factors.append(Factor(self.space.delta, (twin, j), ONE))
                axes.append(twin)
            else:
                axes.append(j if i is not None else None)
        for term in instance(Tensor(t.axes, (self.space.wrapped(t),)), axes) if t.terms else [Term(Fraction(0), ())]:
            number *= term.number
            factors += term.factors
    shown = tuple(table[letter] for letter in output)
    for letter, j in table.items():
        if letter not in output and j is not None and not any(j in f.indices for f in factors):
            more, named = self.space.size(j.dim)
            number *= more
            factors += named
    return self.space.tensor(shown, [(number, factors)] if number else [])


@rule("einsum")
def _einsum(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    left, output = node.params["subscripts"].split("->")
    return contracted(self, operands, left.split(","), output)


@rule("matmul")
def _matmul(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    a, b = operands
    batch = "abcdefgh"
    lead_a, lead_b = max(len(a.axes) - 2, 0), max(len(b.axes) - 2, 0)
    lead = max(lead_a, lead_b)
    left = batch[lead - lead_a : lead] + ("xy" if len(a.axes) > 1 else "y")
    right = batch[lead - lead_b : lead] + ("yz" if len(b.axes) > 1 else "y")
    output = batch[:lead] + ("x" if len(a.axes) > 1 else "") + ("z" if len(b.axes) > 1 else "")
    return contracted(self, operands, [left, right], output)


@rule("outer")
def _outer(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    return contracted(self, operands, ["x", "y"], "xy")


@rule("diag", "diagonal", "trace")
def _diagonal(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    (x,) = operands
    if node.params["k"] or any(i is None for i in x.axes) or len(set(node.inputs[0].shape)) > 1:
        return self.operation(node, operands)
    space = self.space
    if node.op.name == "diag":
        (i,) = x.indices
        axes: Axes = (i, Index(i.dim))
        terms = [(t.number, [*t.factors, Factor(space.delta, (i, axes[1] or i), ONE)]) for t in x.terms]
        return space.tensor(axes, terms)
    i, j = x.indices
    i.dim.same(j.dim)
    a, b = Index(i.dim), Index(i.dim)
    over = instance(x, (a, b))
    tied = [(t.number, [*t.factors, Factor(space.delta, (a, b), ONE)]) for t in over]
    if node.op.name == "diagonal":
        return space.tensor((a,), tied)
    whole = space.tensor((a,), tied)
    return summed(space, whole, ())


@rule("xlogy")
def _xlogy(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    axes, (x, y) = self.aligned(node, operands)
    used = [i for i in axes if i is not None and any(i in f.indices for t in y.terms for f in t.factors)]
    log = self.space.factor("function", ("log", (None,)), [Tensor(tuple(used), y.terms)], used)
    return self.space.product(axes, [x, Tensor(axes, (Term(ONE, (log,)),))])
