"""What is asked about: a computation with its values and its reverse sweep. Functions and tapes make one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import mpmath as mp
import numpy as np

from gradexplain.autodiff import Sweep
from gradexplain.errors import Place
from gradexplain.evaluate import evaluate, evaluate_exact, exact_array
from gradexplain.exposition.model import Waypoint
from gradexplain.exposition.naming import is_own_name as is_own
from gradexplain.graph import VARIABLE, Node, ancestors, depends_on
from gradexplain.lambdify import expression, without_broadcasting

LONGEST = 60  # characters of an expression inside a sentence
_SMALL = 12  # nodes of an expression that is written out
_BRIEF = 24  # characters of an operand that is written out on a path
_WIDE = 40  # characters of a formula on a path
_LONGEST_WAY = 14  # values of a way that are kept
_SILENT = ("broadcast_to", "as_number")
MOST_EXACT_WORK = 25_000  # numbers in an exact evaluation
_DIGITS = 60
_FEW = 3  # entries of a vector that are written out


def _nowhere(_: Node) -> None:
    """A place that nobody knows."""


@dataclass(frozen=True)
class Subject:
    """A computation at a point: the result, the sources by name, the sweep from one to the others, and all values.

    `names` calls nodes as the program does, `place` tells the line of a node. `values` has those of the sources; what
    is computed from them is added to it.
    """

    output: Node
    sources: Mapping[str, Node]
    sweep: Sweep
    values: MutableMapping[Node, Any]
    names: Mapping[Node, str]
    place: Callable[[Node], Place | None] = _nowhere
    poisons: bool = True  # whether a rejected branch can spoil a derivative, as it does on tapes
    joins: Collection[Node] = ()  # each a `where` that nobody wrote: the branches of an `if` meet in it
    asked: Mapping[Node, str] = field(default_factory=dict)  # what the program asks, as its source has it

    # Values.
    def value(self, node: Node) -> Any:
        """The float64 value of a node of the program or of the sweep; nan where a matrix has no inverse."""
        try:
            (found,) = evaluate([node], self.values)
        except np.linalg.LinAlgError:
            found = self.values[node] = np.full(node.shape, np.nan)[()]
        return found

    @cached_property
    def has_point(self) -> bool:
        """Whether the sources have values."""
        return all(x in self.values for x in self.order if x.op is VARIABLE)

    def is_finite(self, node: Node) -> bool:
        return bool(np.all(np.isfinite(self.value(node))))

    @cached_property
    def exact(self) -> Mapping[Node, Any] | None:
        """All nodes of the program and of its sweep in exact arithmetic; None if that is too much work."""
        order = ancestors([self.output, *self.sweep.gradients, *(p.contribution for p in self.sweep.pullbacks)])
        if sum(max(1, n.size) for n in order) > MOST_EXACT_WORK:
            return None
        with mp.workdps(_DIGITS):
            given = {n: _exactly(self.values[n]) for n in order if n.op is VARIABLE and n in self.values}
            try:
                return dict(zip(order, evaluate_exact(order, given), strict=True))
            except (TypeError, AttributeError, ValueError, ArithmeticError, KeyError):
                return None

    def exact_value(self, node: Node) -> Any:
        """The exact value of a number of the program, None if it has none."""
        found = None if self.exact is None else self.exact.get(node)
        return (
            None if found is None or np.shape(found) else mp.mpf(found[()] if isinstance(found, np.ndarray) else found)
        )

    # The graph.
    @cached_property
    def order(self) -> list[Node]:
        return ancestors([self.output])

    @cached_property
    def arrivals(self) -> Mapping[Node, Sequence[Node]]:
        """What comes back to each node, path by path."""
        found: dict[Node, list[Node]] = {}
        for p in self.sweep.pullbacks:
            found.setdefault(p.node.inputs[p.operand], []).append(p.contribution)
        return found

    @cached_property
    def members(self) -> set[Node]:
        """The nodes that the result is computed from."""
        return set(self.order)

    @cached_property
    def hot(self) -> set[Node]:
        """The nodes that a source flows into."""
        return depends_on(self.order, self.sources.values())

    def influenced(self, node: Node) -> bool:
        """Whether a source comes into a node, be it by operations without a derivative."""
        return node in self._influenced

    @cached_property
    def _influenced(self) -> set[Node]:
        found = set(self.sources.values())
        for n in self.order:
            if any(m in found for m in n.inputs):
                found.add(n)
        return found

    @cached_property
    def live(self) -> Mapping[Node, Any]:
        """For each node which of its entries the result depends on here: what a `where` rejects is left out."""
        found: dict[Node, Any] = {self.output: np.ones(self.output.shape, bool)}
        for node in reversed(self.order):
            mask = found.get(node)
            if mask is None:
                continue
            for i, x in enumerate(node.inputs):
                passed = self._passed(node, i, mask)
                found[x] = passed | found[x] if x in found else passed
        return found

    def _passed(self, node: Node, i: int, mask: Any) -> Any:
        x = node.inputs[i]
        if node.op.name == "where" and i:
            chosen = np.asarray(self.value(node.inputs[0]), bool)
            return mask & np.broadcast_to(chosen if i == 1 else ~chosen, node.shape)
        if x.shape == node.shape and node.op.family == "elementwise":
            return mask
        return np.full(x.shape, bool(np.any(mask)))

    # Words.
    def text(self, node: Node) -> str:
        """A node in a sentence: its formula over the names of its operands, written out where that is short."""
        inputs = {x: n for x, n in self.names.items() if x.op is VARIABLE}
        written = self._written(node, inputs) if _is_small(node) else ""
        if written and len(written) <= LONGEST:
            return written
        return self.short(node)

    def short(self, node: Node) -> str:
        """A node as one operation over the names of its operands."""
        operands = set(without_broadcasting(node))
        given = {n: t for n, t in self.names.items() if n.op is VARIABLE or n in operands}
        return self._written(node, given) if node.inputs else self.names.get(node, "it")

    def condition(self, node: Node) -> str:
        """What is asked, in the words of the source: `u > 0`, or `max(u, 0)`, which asks, too."""
        written = self.asked.get(node, "")
        return written if 0 < len(written) <= LONGEST else self.text(node)

    def _written(self, node: Node, given: Mapping[Node, str]) -> str:
        """The formula of a node; where branches of an `if` meet it is Python's `a if c else b`."""
        if self.joins and node.inputs:
            given = dict(given)
            for n in ancestors([node]):
                if n in self.joins and n not in given:
                    condition, a, b = (plain(expression(x, given)) for x in n.inputs)
                    given[n] = f"({a} if {condition} else {b})"
            if node in self.joins:
                return given[node][1:-1]
        return plain(expression(node, given))

    def equation(self, node: Node, beside: Collection[Node] = ()) -> str:
        """A value as a path names it: `u = x**2`. What stands `beside` it on the path goes by its name."""
        name = self.names.get(node, "")
        if not node.inputs:
            return name or self.text(node)
        given = {n: t for n, t in self.names.items() if n.op is VARIABLE}
        for n in without_broadcasting(node):
            if n in self.names and (n in beside or is_own(self.names[n]) or len(self.text(n)) > _BRIEF):
                given[n] = self.names[n]
        written = self._written(node, given)
        written = written if len(written) <= _WIDE else self.short(node)
        return f"{name} = {written}" if name else written

    def called(self, node: Node) -> str:
        """A node by the name that the program gives it, else by its formula."""
        name = self.names.get(node, "")
        return name if name and is_own(name) else self.text(node)

    def at(self, node: Node, index: tuple[int, ...] = ()) -> str:
        """A value as a point: `x**2 = 0`."""
        entry = f"[{', '.join(map(str, index))}]" if index else ""
        found = np.asarray(self.value(node))
        return f"{self.called(node)}{entry} = {number(found[index] if index else found)}"

    # Slopes and ways.
    def slope(self, node: Node, i: int) -> Any:
        """The slope of an entrywise operation in one operand, None for other operations."""
        rule = node.op.partials[i] if node.op.partials else None
        if rule is None:
            return None
        partial = rule(node, *node.inputs)
        return self.value(partial) if isinstance(partial, Node) else float(partial)

    def factor(self, node: Node, i: int) -> Any:
        """The slope as a path shows it: a number, or the least and the greatest of the entries."""
        found = self.slope(node, i)
        if found is None:
            return None
        low, high = float(np.min(found)), float(np.max(found))
        return low if low == high or np.isnan(low) else (low, high)

    def way(self, source: Node, culprit: Node, operand: int | None = None) -> tuple[Waypoint, ...]:
        """The path from a source over an operation to the result; it enters the operation by the operand."""
        reached = depends_on(self.order, [source])
        steps: list[tuple[Node, int | None]] = []
        node, i = culprit, operand
        while node is not source:
            i = self._entered(node, reached) if i is None else i
            steps.append((node, i))
            if i is None:
                break
            node, i = node.inputs[i], None
        else:
            steps.append((source, None))
        steps.reverse()
        return self.along([*steps, *self._upwards(culprit)], culprit)

    def along(self, steps: Sequence[tuple[Node, int | None]], culprit: Node | None = None) -> tuple[Waypoint, ...]:
        """A path: its nodes, each with the operand by which the path enters it."""
        nodes = {n for n, _ in steps}
        shown = [(n, k) for n, k in steps if n.op.name not in _SILENT or n is culprit]
        at = next((i for i, (n, _) in enumerate(shown) if n is culprit), None)
        found: list[Waypoint] = []
        last = -1
        for i in _kept(len(shown), at):
            if i > last + 1:
                found.append(Waypoint("", skipped=i - last - 1))
            found.append(self._waypoint(*shown[i], culprit, nodes))
            last = i
        return tuple(found)

    def _entered(self, node: Node, reached: set[Node]) -> int | None:
        """The operand by which a path comes in: of a `where` on numbers the one that it selects."""
        found = [k for k, x in enumerate(node.inputs) if x in reached]
        if node.op.name == "where" and len(found) > 1 and self.has_point:
            selected = np.asarray(self.value(node.inputs[0]), bool)
            return 1 if np.all(selected) else 2 if not np.any(selected) else found[0]
        return found[0] if found else None

    def _upwards(self, node: Node) -> Iterator[tuple[Node, int]]:
        while node is not self.output:
            user = self._user.get(node)
            if user is None:
                return
            yield user
            node = user[0]

    @cached_property
    def _user(self) -> Mapping[Node, tuple[Node, int]]:
        """For each node an operation that uses it on the way to the result, the last one of several."""
        found: dict[Node, tuple[Node, int]] = {}
        for node in self.order:
            for i, x in enumerate(node.inputs):
                if node.op.differentiable and node in self.sweep.adjoints:
                    found[x] = (node, i)
        return found

    def _waypoint(self, node: Node, i: int | None, culprit: Node | None, beside: Collection[Node]) -> Waypoint:
        value, factor = None, None
        if i is not None and not node.op.differentiable:
            factor = 0.0
        elif i is not None and self.has_point:
            factor = self.factor(node, i)
        if self.has_point:
            value = self.value(node)
        return Waypoint(self.equation(node, beside), value, factor, self.place(node), node is culprit)


def _is_small(node: Node) -> bool:
    """Whether a node is made of few others."""
    seen, waiting = {node}, [node]
    while waiting and len(seen) <= _SMALL:
        new = [n for n in waiting.pop().inputs if n not in seen]
        seen.update(new)
        waiting += new
    return len(seen) <= _SMALL


def _kept(count: int, at: int | None) -> list[int]:
    """Which of many values of a way are shown: both ends, and what is around the culprit."""
    if count <= _LONGEST_WAY:
        return list(range(count))
    middle = range(0) if at is None else range(max(0, at - 2), min(count, at + 3))
    return sorted({*range(4), *middle, *range(count - 3, count)})


def _exactly(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind != "f":
        return array if array.shape else mp.mpf(int(array))
    return exact_array(array) if array.shape else mp.mpf(float(array))


def plain(source: str) -> str:
    """NumPy source as it stands in a sentence."""
    return source.replace("np.", "").replace("absolute(", "abs(")


def number(value: Any) -> str:
    """A number in a sentence; a vector by its first and last entries, other arrays by their shape.

    >>> number(2 / 3), number(np.zeros(9)), number(np.zeros((3, 2)))
    ('0.666667', '[0, ..., 0]', '(3, 2)')
    """
    if np.ndim(value) > 1:
        return str(np.shape(value))
    if np.ndim(value) == 0:
        return f"{float(value) + 0.0:.6g}"
    entries = [f"{float(v) + 0.0:.6g}" for v in value]
    return f"[{', '.join(entries if len(entries) <= _FEW else [entries[0], '...', entries[-1]])}]"


def exact_number_text(value: Any) -> str:
    """An exact number in a sentence, however small or large it is.

    >>> exact_number_text(mp.mpf(10) ** -400)
    '1.0e-400'
    """
    return str(mp.nstr(value, 3))


def first_entry(mask: Any) -> tuple[int, ...]:
    """The first entry of an array of truths; () of a number."""
    found = np.argwhere(np.asarray(mask))
    return tuple(int(k) for k in found[0]) if np.ndim(mask) and len(found) else ()
