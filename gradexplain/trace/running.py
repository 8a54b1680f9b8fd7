"""`Trace`, the record of one run of a function: values, where they were made, the branches that were taken, notes."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass, field
from enum import IntEnum
from types import CodeType
from typing import Any

import numpy as np

from gradexplain.errors import BranchLimitError, NoRuleError, NotTraceableError, TraceWarning
from gradexplain.evaluate import evaluate
from gradexplain.graph import CONSTANT, VARIABLE, Node, constant, substitute
from gradexplain.ops import ordering
from gradexplain.primitive import NUMPY
from gradexplain.trace.source import Site, place, site

MOST_OPERATIONS = 1_000_000
MOST_DECISIONS = 60  # branch decisions on one path while both sides are explored
_running = threading.local()


class Origin(IntEnum):
    """What a value is computed from: constants alone, integer arguments too, or real arguments."""

    CONSTANT, INTEGER, REAL = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Condition:
    """A branch of the user's program: what was asked, how it was answered, and where."""

    node: Node
    truth: bool
    site: Site | None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the user's own functions: by which names it got which numbers, and its result.

    Not `plain`: what it computed depends on more than its arguments, or holds for the values at hand only.
    """

    code: CodeType
    arguments: tuple[tuple[str, Node], ...]
    result: Node
    plain: bool


@dataclass(slots=True)
class Trace:
    """One run: the values of nodes, where they were made, the branches taken, and notes for the reader."""

    function: str
    numeric: bool = True
    exploring: bool = False
    planned: tuple[bool, ...] = ()
    strict: bool = False  # errors of math and divisions by zero are raised as Python does: the function may handle them
    values: dict[Node, Any] = field(default_factory=dict)
    sites: dict[Node, Site | None] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    decided: dict[Node, bool] = field(default_factory=dict)
    guards: dict[Node, bool] = field(default_factory=dict)  # what else must hold for the program to be the function's
    by_math: dict[Node, None] = field(
        default_factory=dict
    )  # what functions of `math` computed: they may fail elsewhere
    notes: list[str] = field(default_factory=list)
    concretised: bool = False  # whether the value of an integer argument steered the program
    handled: bool = False  # whether an exception did
    texts: list[Site | None] = field(default_factory=list)  # where traced values were turned into text
    nested: bool = False  # whether a derivative was taken within it
    calls: tuple[Call, ...] = ()  # of the user's functions, in the order of their ends, where they were recorded
    own: tuple[CodeType, ...] | None = None  # the function's code, and that of what it only hands its arguments to
    returned: dict[Node, list[Site]] = field(default_factory=dict)  # where calls stand, by their results
    alive: bool = True
    parent: Trace | None = None  # the trace that this one runs within (a derivative inside a function)
    binding: dict[Node, Node] = field(default_factory=dict)  # this trace's variables as nodes of the parent
    _origins: dict[Node, Origin] = field(default_factory=dict)

    def __enter__(self) -> Trace:
        stack().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        stack().remove(self)
        self.alive = False

    def made(self, node: Node) -> None:
        """Notes where a node was made."""
        if node not in self.sites and node.inputs:
            self.sites[node] = site()
            if len(self.sites) > MOST_OPERATIONS:
                raise NotTraceableError(
                    f"{self.function} takes more than {MOST_OPERATIONS:,} operations",
                    where=place(),
                    why="a trace has to hold every one of them",
                    fix="use arrays instead of loops, or check that the loop ends",
                )

    def origin(self, node: Node) -> Origin:
        """What a node is computed from; every node is looked at once."""
        known = self._origins
        waiting = [] if node in known else [node]
        while waiting:
            n = waiting[-1]
            missing = [i for i in n.inputs if i not in known]
            if missing:
                waiting += missing
            else:
                known[n] = _origin_of_leaf(n) if not n.inputs else max(known[i] for i in n.inputs)
                waiting.pop()
        return known[node]

    def value(self, node: Node) -> Any:
        """The number at a node, None where the trace has none."""
        if self.parent is not None:
            return self.parent.value(substitute([node], self.binding)[0])
        if node in self.values:
            return self.values[node]
        if not self.numeric and (self.origin(node) is Origin.REAL or not self._has_integers(node)):
            return None
        return evaluate([node], self.values)[0]

    def _has_integers(self, node: Node) -> bool:
        """Whether the integer arguments that a node depends on have numbers."""
        if self.origin(node) is Origin.CONSTANT:
            return True
        waiting, seen = [node], set()
        while waiting:
            n = waiting.pop()
            if n.op is VARIABLE and n not in self.values:
                return False
            if n not in seen:
                seen.add(n)
                waiting.extend(n.inputs)
        return True

    def decide(self, node: Node) -> bool:
        """Answers a branch of the user's program and records the answer; integers steer it without being recorded."""
        if self.parent is not None:
            return self.parent.decide(substitute([node], self.binding)[0])
        origin = self.origin(node)
        if origin is not Origin.REAL:
            self.concretised = self.concretised or origin is Origin.INTEGER
            return bool(self.value(node))
        if node in self.decided:
            return self.decided[node]
        count = len(self.conditions)
        if count < len(self.planned):
            truth = self.planned[count]
        elif self.exploring and count >= MOST_DECISIONS:
            raise BranchLimitError(
                f"{self.function} has a path with more than {MOST_DECISIONS} branches",
                where=place(),
                why="without a number (or beside it) every side of every branch has to be followed",
                fix="give a point: the path taken there is explained",
            )
        else:
            truth = bool(self.value(node)) if self.numeric else True
        self._took(node, truth)
        return truth

    def _took(self, node: Node, truth: bool) -> None:
        self.conditions.append(Condition(node, truth, site()))
        self.decided[node] = truth

    def settle(self, node: Node) -> Any:
        """The values of a condition as constants; that they are these is recorded like a branch."""
        found = self.value(node)
        if found is None:
            raise NoRuleError(
                "a traced condition can't be an index",
                where=place(),
                why="how many entries x[condition] has depends on the values, and there are none here",
                fix="use np.where(condition, x, 0), or give a point",
            )
        if self.origin(node) is not Origin.CONSTANT:
            self.decide(NUMPY[np.all](ordering.equal(ordering.as_number(node), constant(np.asarray(found, float)))))
        return found

    def fails(self, unsafe: Node) -> bool:
        """In a strict trace: whether Python raises here, because a condition is true; the answer is recorded."""
        root = self
        while root.parent is not None:
            unsafe, root = substitute([unsafe], root.binding)[0], root.parent
        if not root.numeric or root.origin(unsafe) is not Origin.REAL:
            return root.numeric and bool(root.value(unsafe))
        if not root.value(unsafe):
            root.guards[unsafe] = False
            return False
        root.handled = True
        root._took(unsafe, truth=True)
        return True

    def pin(self, node: Node, number: int) -> None:
        """From here on the program holds only where a node has this whole value."""
        root = self
        while root.parent is not None:
            node, root = substitute([node], root.binding)[0], root.parent
        if root.origin(node) is Origin.REAL:
            root.guards[ordering.equal(node, number)] = True
        elif root.origin(node) is Origin.INTEGER:
            root.concretised = True

    def written(self) -> None:
        """Notes that a value was turned into text here: where that flows back, the trace does not see it."""
        self.root.texts.append(site())

    @property
    def root(self) -> Trace:
        """The outermost trace."""
        found = self
        while found.parent is not None:
            found = found.parent
        return found

    def note(self, text: str) -> None:
        """Keeps a note for the explanation, and shows it at once as a warning."""
        if text not in self.notes:
            self.notes.append(text)
            warnings.warn(text, TraceWarning, stacklevel=4)


def _origin_of_leaf(node: Node) -> Origin:
    if node.op is CONSTANT:
        return Origin.CONSTANT
    return Origin.REAL if node.kind == "float" else Origin.INTEGER


def stack() -> list[Trace]:
    """The traces that run in this thread, the innermost last."""
    try:
        found: list[Trace] = _running.stack
    except AttributeError:
        found = _running.stack = []
    return found
