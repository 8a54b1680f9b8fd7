"""Conditions: masks and their complements, what a mask leaves of a function, and two branches as one choice."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from gradexplain.graph import CONSTANT, Node, is_scalar_constant
from gradexplain.simplify.tensor.lowering import Lowering, rule
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import ONE, Atom, Factor, Index, Tensor, Term, instance

_OPPOSITE = {
    "greater": "less_equal", "less_equal": "greater", "less": "greater_equal", "greater_equal": "less",
    "equal": "not_equal", "not_equal": "equal",
}  # fmt: skip


@rule("where")
def _where(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    """A mask times what it lets through, where the other side is 0."""
    axes, (c, a, b) = self.aligned(node, operands)
    if not b.terms:
        return self.space.product(axes, [mask(self.space, c), a])
    opposite = None if a.terms else complement(self.space, c)
    if opposite is not None:
        return self.space.product(axes, [mask(self.space, opposite), b])
    return self.function(node, operands)


@rule("by_order")
def _by_order(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    """One side or the other by which of two is larger, which is meant where they differ."""
    axes, (a, b, larger, smaller) = self.aligned(node, operands)
    if not self.space.regular or (larger.terms and smaller.terms):
        return self.function(node, operands)
    used = tuple(i for i in axes if i and any(i in f.indices for p in (a, b) for t in p.terms for f in t.factors))
    name = "greater" if larger.terms else "less"
    parts = [Tensor(used, p.terms) for p in (a, b)]
    f = self.space.factor("function", (name, (None, None)), parts, used)
    condition = Tensor(axes, (Term(ONE, (f,)),))
    return self.space.product(axes, [mask(self.space, condition), larger if larger.terms else smaller])


@rule("as_number")
def _as_number(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    return mask(self.space, operands[0])


@rule("logical_and")
def _and(self: Lowering, node: Node, operands: list[Tensor]) -> Tensor:
    """-c < x and x < c is |x| < c."""
    low, high = node.inputs
    if low.op.name == "greater" and high.op.name == "less" and low.inputs[0] is high.inputs[0]:
        below, above = low.inputs[1], high.inputs[1]
        if is_scalar_constant(below) and is_scalar_constant(above) and below.op is CONSTANT and above.op is CONSTANT:
            inner = self.known[low.inputs[0]]
            bound = self.known[above]
            if below.data == -above.data and inner.terms:
                used = tuple(i for i in inner.indices if any(i in f.indices for t in inner.terms for f in t.factors))
                size = self.space.factor("function", ("abs", (None,)), [Tensor(used, inner.terms)], used)
                parts = [Tensor(used, (Term(ONE, (size,)),)), Tensor(used, bound.terms)]
                f = self.space.factor("function", ("less", (None, above)), parts, used)
                return Tensor(inner.axes, (Term(ONE, (f,)),))
    return self.function(node, operands)


def mask(space: Space, condition: Tensor) -> Tensor:
    """A condition as 1 and 0."""
    used = [i for i in condition.indices if any(i in f.indices for t in condition.terms for f in t.factors)]
    f = space.factor("function", ("as_number", (None,)), [Tensor(tuple(used), condition.terms)], used)
    return Tensor(condition.axes, (Term(ONE, (f,)),))


def complement(space: Space, condition: Tensor) -> Tensor | None:
    """The opposite of a comparison."""
    if len(condition.terms) != 1 or len(condition.terms[0].factors) != 1:
        return None
    (f,) = condition.terms[0].factors
    if f.atom.kind != "function" or f.atom.data[0] not in _OPPOSITE:
        return None
    name, constants = f.atom.data
    other = space.atom("function", (_OPPOSITE[name], constants), f.atom.parts, f.atom.axes)
    return Tensor(condition.axes, (Term(ONE, (Factor(other, f.indices, ONE),)),))


def masked(space: Space, tensor: Tensor) -> Tensor:
    """The tensor without what a mask says already: relu(z) [z > 0] is relu(z), clip(x) where it does not clip is x."""
    terms = []
    for term in tensor.terms:
        factors = list(term.factors)
        for m in [f for f in factors if is_mask(f)]:
            (condition,) = m.atom.parts
            for f in [f for f in factors if f.atom.kind == "function" and f.indices == m.indices]:
                if f.atom.data[0] == "maximum" and _says_positive(space, condition, f) and m in factors:
                    factors.remove(m)
                elif f.atom.data[0] == "clip" and _says_inside(space, condition, f):
                    x = f.atom.parts[0]
                    raised = space.power(Tensor(f.atom.axes, x.terms), f.power)
                    one = space.product(f.indices, [Tensor(f.atom.axes, (space.wrapped(raised),))])
                    factors.remove(f)
                    factors += one.terms[0].factors if one.terms and one.terms[0].number == 1 else [f]
        terms.append((term.number, factors))
    return space.tensor(tensor.axes, terms)


def is_mask(f: Factor) -> bool:
    """Whether a factor is 1 or 0 by a condition."""
    return f.atom.kind == "function" and f.atom.data[0] == "as_number"


def _condition(space: Space, tensor: Tensor) -> tuple[str, tuple[Tensor, ...]] | None:
    if len(tensor.terms) != 1 or len(tensor.terms[0].factors) != 1:
        return None
    (f,) = tensor.terms[0].factors
    return (f.atom.data[0], f.atom.parts) if f.atom.kind == "function" else None


def _says_positive(space: Space, condition: Tensor, f: Factor) -> bool:
    """Whether the condition is z > 0 and the factor max(z, 0)."""
    found = _condition(space, condition)
    zero = [p for p in f.atom.parts if not p.terms]
    if found is None or found[0] != "greater" or found[1][1].terms or not zero:
        return False
    inner = next(p for p in f.atom.parts if p.terms)
    return space.same(found[1][0], inner)


def _says_inside(space: Space, condition: Tensor, f: Factor) -> bool:
    found = _condition(space, condition)
    if found is None:
        return False
    x, low, high = f.atom.parts
    if found[0] == "less":  # |x| < c
        inner = _condition(space, found[1][0])
        symmetric = [t.number for t in low.terms] == [-t.number for t in high.terms]
        return inner is not None and inner[0] == "abs" and space.same(inner[1][0], x) and symmetric
    if found[0] != "logical_and":
        return False
    sides = [_condition(space, p) for p in found[1]]
    return all(s is not None and space.same(s[1][0], x) for s in sides)


def resolved(space: Space, tensor: Tensor) -> Tensor:
    """The tensor with choices decided by masks: where(z > 0, a, b) [z > 0] is a [z > 0]."""
    terms: list[tuple[Fraction, list[Factor]]] = []
    for term in tensor.terms:
        number, factors = term.number, list(term.factors)
        for m in [f for f in term.factors if is_mask(f)]:
            for f in [f for f in factors if f.atom.kind == "function" and f.atom.data[0] == "where"]:
                branch = _decided(space, m, f)
                if branch is None:
                    continue
                part = Tensor(f.indices, tuple(instance(branch, f.indices)))
                one = space.wrapped(space.power(part, f.power)) if part.terms else Term(Fraction(0), ())
                factors.remove(f)
                number, factors = number * one.number, [*factors, *one.factors]
        terms.append((number, factors))
    return space.tensor(tensor.axes, [t for t in terms if t[0]])


def _decided(space: Space, m: Factor, f: Factor) -> Tensor | None:
    """The branch of a choice that a mask leaves."""
    condition, yes, no = f.atom.parts
    other = complement(space, condition)
    asked = Tensor(f.indices, tuple(instance(condition, f.indices)))
    refused = None if other is None else Tensor(f.indices, tuple(instance(other, f.indices)))
    given = instance(m.atom.parts[0], m.indices)
    if any(i not in f.indices for t in given for g in t.factors for i in g.indices):
        return None
    said = Tensor(f.indices, tuple(given))
    if space.same(said, asked):
        return yes
    return no if refused is not None and space.same(said, refused) else None


def chosen(space: Space, tensor: Tensor) -> Iterator[Tensor]:
    """Terms under a condition and terms under its opposite as one choice."""
    masks = dict.fromkeys((f.atom, f.indices) for t in tensor.terms for f in t.factors if is_mask(f))
    for atom, indices in sorted(masks, key=lambda m: _serial(m[0])):  # the program's own condition before its opposite
        inner = complement(space, atom.parts[0])
        if inner is None or any(i not in tensor.axes for i in indices):
            continue
        other = space.atom("function", atom.data, [Tensor(atom.axes, inner.terms)], atom.axes)
        yes, no = (_under(tensor, a, indices) for a in (atom, other))
        if not yes or not no or len(yes) + len(no) < len(tensor.terms):
            continue
        axes = tensor.indices
        condition = Tensor(axes, tuple(instance(atom.parts[0], indices)))
        parts = [condition, space.tensor(axes, yes), space.tensor(axes, no)]
        used = [i for i in axes if any(i in f.indices for p in parts for t in p.terms for f in t.factors)]
        parts = [Tensor(tuple(used), p.terms) for p in parts]
        f = space.factor("function", ("where", (None, None, None)), parts, used)
        yield Tensor(tensor.axes, (Term(ONE, (f,)),))


def _serial(mask: Atom) -> int:
    return max((f.atom.serial for t in mask.parts[0].terms for f in t.factors), default=0)


def _under(tensor: Tensor, atom: Atom, indices: tuple[Index, ...]) -> list[tuple[Fraction, list[Factor]]]:
    """The terms with a mask, without it."""
    out = []
    for t in tensor.terms:
        rest = [f for f in t.factors if not (f.atom is atom and f.indices == indices)]
        if len(rest) < len(t.factors):
            out.append((t.number, rest))
    return out
