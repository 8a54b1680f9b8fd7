"""From the graph to the index normal form: what an operation is as a sum of products, by the name of its row.

Operations that are none (a cumulative sum, a sorted array) stay whole: an atom with their row, operands and parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from gradexplain.graph import CONSTANT, VARIABLE, Fixed, Node, ancestors
from gradexplain.numbers import exact_number
from gradexplain.simplify.tensor.reshaping import Reshapes
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import (
    ONE,
    Axes,
    Dim,
    Factor,
    Index,
    Tensor,
    Term,
    instance,
    like,
)

Rule = Callable[["Lowering", Node, list[Tensor]], Tensor]
RULES: dict[str, Rule] = {}
_SAME_AXES = ("cumsum", "cumprod", "triu", "tril", "inv", "cholesky", "cofactor", "roll", "product_of_others")
_MOST_TERMS = 2500  # of all sums of a program: adding up 70 rows one by one, or 50 residual layers
_LARGEST_CONSTANT = 64  # entries that are written in a formula


class NotLoweredError(Exception):
    """The program has something for which there is no formula here."""


class TooLongError(NotLoweredError):
    """The program has a formula that nobody would read: no other way to it is tried."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enters how rows are lowered."""

    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return enter


class Lowering:
    """Turns nodes into tensors; `known` has those of the variables (and of what stands in for a node)."""

    def __init__(
        self, space: Space, known: Mapping[Node, Tensor], sizes: Mapping[tuple[Node, int], Any] | None = None
    ) -> None:
        self.space, self.known, self.sizes = space, dict(known), dict(sizes or {})
        self.reshapes = Reshapes(regular=space.regular)

    def tensors(self, nodes: Sequence[Node]) -> list[Tensor]:
        """The nodes as tensors."""
        count = 0
        for node in ancestors(nodes):
            if node not in self.known:
                made = self.known[node] = self._simpler(node) or self._lowered(node)
                count += len(made.terms)
                if count > _MOST_TERMS:
                    raise TooLongError("too long a program")
                if len(made.terms) > 1 and len(made.axes) == 2:
                    self.space.wrapped(made)  # so that its atom has the axes in this order
        return [self.known[n] for n in nodes]

    def _simpler(self, node: Node) -> Tensor | None:
        """What there is fewer reshapes in."""
        other = self.reshapes.simpler(node)
        if other is None or other is node:
            return None
        self.sizes |= {(other, k): self.sizes[(node, k)] for k in range(len(other.inputs)) if (node, k) in self.sizes}
        return self.tensors([other])[0]

    def _lowered(self, node: Node) -> Tensor:
        if node.op is VARIABLE:
            raise NotLoweredError(node.params["name"])
        if node.op is CONSTANT:
            return self._constant(node)
        operands = [self._operand(node, k) for k in range(len(node.inputs))]
        found = RULES.get(node.op.name)
        if found is not None:
            return found(self, node, operands)
        return self.function(node, operands) if node.op.family == "elementwise" else self.operation(node, operands)

    def _operand(self, node: Node, place: int) -> Tensor:
        """An operand; a number that is a size by its name."""
        made = self.sizes.get((node, place))
        return self.known[node.inputs[place]] if made is None else self.space.of_sizes(*made)

    def _constant(self, node: Node) -> Tensor:
        data = node.data
        if not isinstance(data, Fixed):
            return Tensor((), self._number(data))
        array = data.array
        if array.size == 0:
            raise NotLoweredError("an empty array")
        if np.all(array == array.flat[0]) and array.dtype.kind != "b":
            return Tensor(fresh(array.shape), self._number(array.flat[0].item()))
        axes = fresh(array.shape)
        real = [i for i in axes if i is not None]
        if array.ndim == 2 and array.shape[0] == array.shape[1] and np.array_equal(array, np.eye(len(array))):
            real[0].dim.same(real[1].dim)
            return Tensor(axes, (Term(ONE, (Factor(self.space.delta, tuple(real), ONE),)),))
        if array.size > _LARGEST_CONSTANT:
            raise NotLoweredError("a large constant array")
        f = self.space.factor("constant", data, [], real)
        return Tensor(axes, (Term(ONE, (f,)),))

    def _number(self, value: Any) -> tuple[Term, ...]:
        exact = exact_number(value)
        if exact.form == "rational":
            number = Fraction(exact.factor)
            return (Term(number, ()),) if number else ()
        if exact.form == "sqrt" and isinstance(exact.factor, Fraction):
            inner = Tensor((), (Term(exact.factor, ()),))
            return (
                Term(Fraction(exact.sign), (Factor(self.space.atom("sum", None, [inner], []), (), Fraction(1, 2)),)),
            )
        if isinstance(exact.factor, Fraction) and exact.form in ("pi", "e"):
            return (Term(exact.factor, (Factor(self.space.atom("number", exact.form, [], []), (), ONE),)),)
        if not np.isfinite(value):
            raise NotLoweredError("an infinite number")
        return (Term(Fraction(repr(float(value))), ()),)

    def aligned(self, node: Node, operands: Sequence[Tensor]) -> tuple[Axes, list[Tensor]]:
        """The common axes of elementwise operands, and these over them."""
        full = [t for t in operands if len(t.axes) == node.ndim]
        axes = like(full[0].axes) if full else fresh(node.shape)
        out = []
        for t in operands:
            if len(t.axes) != node.ndim:
                out.append(Tensor(axes, t.terms))
                continue
            for i, j in zip(t.axes, axes, strict=True):
                if i is not None and j is not None:
                    j.dim.same(i.dim)
            out.append(Tensor(axes, tuple(instance(t, axes))))
        return axes, out

    def function(self, node: Node, operands: Sequence[Tensor]) -> Tensor:
        """A function of numbers, entry by entry."""
        _refuse_pinned(node, operands)
        axes, over = self.aligned(node, operands)
        used = [
            i for i in axes if i is not None and any(i in f.indices for t in over for x in t.terms for f in x.factors)
        ]
        parts = [Tensor(tuple(used), t.terms) for t in over]
        data = (node.op.name, tuple(n if n.op is CONSTANT and n.shape == () else None for n in node.inputs))
        return Tensor(axes, (Term(ONE, (self.space.factor("function", data, parts, used),)),))

    def operation(self, node: Node, operands: Sequence[Tensor]) -> Tensor:
        """An operation of whole arrays."""
        _refuse_pinned(node, operands)
        axes = fresh(node.shape)
        if node.op.name in _SAME_AXES and node.shape == node.inputs[0].shape:
            axes = like(operands[0].axes)
        used = [i for i in axes if i is not None]
        shapes = tuple(n.shape for n in node.inputs)
        constants = tuple(n if n.op is CONSTANT else None for n in node.inputs)
        data = (node.op.name, tuple(node.params.items()), node.shape, shapes, constants)
        parts = [Tensor(like(t.axes), ()) for t in operands]
        parts = [Tensor(p.axes, tuple(instance(t, p.axes))) for p, t in zip(parts, operands, strict=True)]
        return Tensor(axes, (Term(ONE, (self.space.factor("operation", data, parts, used),)),))


def _refuse_pinned(node: Node, operands: Sequence[Tensor]) -> None:
    """No operation is applied to what carries the axes of a Jacobian along: it would have to be repeated over them."""
    if any(i.pinned for t in operands for x in t.terms for f in x.factors for i in f.indices):
        raise NotLoweredError(node.op.name)


def fresh(shape: Sequence[int]) -> Axes:
    """Indices for a shape."""
    return tuple(None if n == 1 else Index(Dim(n)) for n in shape)
