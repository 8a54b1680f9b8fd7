"""`Calculus` differentiates a scalar graph by the rules of calculus books; steps and answer are read off from it."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from gradexplain.exposition.naming import chosen, depth_of, is_own_name, size_of
from gradexplain.exposition.pen import Pen
from gradexplain.exposition.rules import Rule, Scope, rule_of
from gradexplain.exposition.terms import product
from gradexplain.graph import VARIABLE, Node, ancestors, constant, depends_on

_LETTERS = "uvwpqrsabdeghjkmlt"
_SMALL, _MIDDLE = 24, 60  # operations of a program that is written out, and of one with a name for each long part
_SHALLOW = 8  # operations one inside the other that a reader can take apart
_LONGEST_LINEAR = 12  # nodes of a slope that is looked at to see whether it is constant


Calls = Mapping[Node, tuple[Any, tuple[Node, ...]]]  # results of the user's functions: the function, its arguments


class Calculus:
    """The derivative of `output` with respect to `x`: the rule and the derivative of every node on the way.

    `pen` writes all formulas: long parts are called by the names of the program, their derivatives by the same with a
    prime; `calls` of the user's functions stand as calls. Without recursion, and linear in the number of nodes.
    """

    def __init__(self, output: Node, x: Node, names: Mapping[Node, str], calls: Calls | None = None) -> None:
        self.output, self.x, self.names, self.calls = output, x, names, dict(calls or {})
        order = ancestors([output])
        self.varying = depends_on(order, [x])
        self.rules: dict[Node, Rule] = {}
        self.slopes: dict[Node, Node] = {x: constant(1)}
        self.letters: dict[Node, str] = {}
        self.pen = Pen(self._named(output))
        for node in sorted(self.calls, key=lambda n: n.index):
            function, arguments = self.calls[node]
            self.pen.put(node, function(*self.pen.write(arguments)))
        self._free_letters = _letters({*names.values(), *(n.params["name"] for n in order if n.op is VARIABLE)})
        self._uses = Counter(n for node in order for n in node.inputs)
        self._sizes: dict[Node, int] = {}
        self._times = partial(product, atoms=ChainMap[Node, Any](self.pen.named, self.calls))
        if output in self.varying:
            self._differentiate()

    @property
    def slope(self) -> Node:
        """The derivative of the output."""
        return self.slopes.get(self.output, constant(0))

    @property
    def raw(self) -> Any:
        """The derivative of the output as the rules give it: a formula over the variables and the names of the pen."""
        (formula,) = self.pen.open([self.slope]) if self.slope in self.pen.named else self.pen.write([self.slope])
        return formula

    @property
    def definitions(self) -> dict[str, Any]:
        """What the names of the pen stand for, each in terms of the arguments and of earlier names."""
        nodes = sorted(self.pen.named, key=lambda n: n.index)
        return dict(zip((self.pen.named[n] for n in nodes), self.pen.open(nodes), strict=True))

    def operands(self, node: Node) -> list[Node]:
        """What the rule of a node needs the derivatives of."""
        return [n for n in self.rules[node].operands if n in self.varying]

    def is_linear(self, node: Node) -> bool:
        """Whether a node is a*x + b."""
        seen: set[Node] = set()
        waiting = [self.slopes[node]]
        while waiting:
            n = waiting.pop()
            if n is self.x or len(seen) > _LONGEST_LINEAR or n in self.pen.named:
                return False
            if n not in seen:
                seen.add(n)
                waiting.extend(n.inputs)
        return True

    def letter(self, node: Node) -> str:
        """What a node is called in the statements of rules: its name, or a letter of its own."""
        if node in self.pen.named:
            return self.pen.named[node]
        if node not in self.letters:
            name = self.names.get(node, "")
            own = bool(name) and is_own_name(name) and node is not self.output
            self.letters[node] = name if own else next(self._free_letters)
        return self.letters[node]

    def called(self, node: Node) -> str:
        """The name or letter of a node, "" if it has none so far."""
        return self.pen.named.get(node) or self.letters.get(node, "")

    def _named(self, output: Node) -> dict[Node, str]:
        """The parts that formulas call by name: in a short program only what is used several times."""
        size, depth = size_of(output), depth_of(output)
        if size <= _SMALL and depth <= _SHALLOW:
            self._longest, self._longest_named = 40, 4
            return chosen(output, self.names, small=2, large=size, reused=True)
        if size <= _MIDDLE and size >= 2 * depth:
            self._longest, self._longest_named = 16, 4
            return chosen(output, self.names, small=0, large=10)
        self._longest, self._longest_named = 8, 1
        return chosen(output, self.names, small=0, large=3)

    def _differentiate(self) -> None:
        """Operands before their users, in depth-first order: logarithms that rules introduce are on the way too."""
        scope = Scope(self.varying, self._is_inner)
        waiting = [self.output]
        while waiting:
            node = waiting[-1]
            if node not in self.slopes and node not in self.rules:
                self.rules[node] = rule_of(node, scope)
                self._note_new(self.rules[node].operands)
            needed = [] if node in self.slopes else [n for n in self.operands(node) if n not in self.slopes]
            if needed:
                waiting.extend(reversed(needed))
                continue
            waiting.pop()
            if node not in self.slopes:
                self.slopes[node] = self._apply(node)

    def _note_new(self, operands: Sequence[Node]) -> None:
        for node in [m for n in operands for m in (*n.inputs, n)]:
            if node.op.differentiable and any(n in self.varying for n in node.inputs):
                self.varying.add(node)

    def _is_inner(self, node: Node) -> bool:
        """Whether a sum within a sum (a product within a product) may be taken as one with it."""
        return self._uses[node] == 1 and node not in self.pen.named and not is_own_name(self.names.get(node, "v0"))

    def _apply(self, node: Node) -> Node:
        rule = self.rules[node]
        primes = [self.slopes[n] if n in self.varying else None for n in rule.operands]
        slope = rule.slope(rule.operands, primes, self._times)
        limit = self._longest_named if node in self.pen.named else self._longest
        if slope.inputs and slope not in self.pen.named and self._size(slope) > limit and node is not self.output:
            name = self.letter(node)
            self.pen.name(slope, f"{name}'")
            self._sizes[slope] = 0
        return slope

    def _size(self, node: Node) -> int:
        waiting = [node]
        while waiting:
            n = waiting[-1]
            if n in self._sizes:
                waiting.pop()
            elif n in self.pen.named:
                self._sizes[n] = 0
            elif missing := [m for m in n.inputs if m not in self._sizes]:
                waiting.extend(missing)
            else:
                self._sizes[n] = min(bool(n.inputs) + sum(self._sizes[m] for m in n.inputs), 10**9)
        return self._sizes[node]


def _letters(taken: set[str]) -> Iterator[str]:
    """Letters for parts, those that the program does not use."""
    yield from (c for c in _LETTERS if c not in taken)
    yield from (name for n in count(1) if (name := f"u{n}") not in taken)


def names_of_more(node: Node, named: Mapping[Node, str]) -> dict[Node, str]:
    """Names also for the nodes of a first derivative, whose own derivative is next."""
    found, taken = dict(named), set(named.values())
    free = (f"v{i}" for i in range(1, 10**9) if f"v{i}" not in taken)
    for n in ancestors([node]):
        if n.inputs and n not in found:
            found[n] = next(free)
    return found
