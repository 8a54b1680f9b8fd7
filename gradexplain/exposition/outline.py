"""Which steps of a derivation get a line: the outermost and innermost of long chains, and as many as a page holds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from gradexplain.graph import Node

_LONGEST_CHAIN, _OUTERMOST, _INNERMOST = 10, 6, 3


@dataclass(slots=True)
class Entry:
    """A step to be: the node that it differentiates, and the steps inside it."""

    node: Node
    children: list[Entry] = field(default_factory=list)
    first: Entry | None = None  # the earlier step that derived the same
    elided: int = 0
    number: int = 0


def preorder(root: Entry) -> Iterator[Entry]:
    """The entries in reading order."""
    waiting = [root]
    while waiting:
        entry = waiting.pop()
        yield entry
        waiting.extend(reversed(entry.children))


def shorten_chains(root: Entry) -> None:
    """Of a long chain of steps, each the only one inside the last, the outermost and the innermost stay."""
    inside: set[int] = set()
    for entry in list(preorder(root)):
        if id(entry) in inside:
            continue
        chain = [entry]
        while len(chain[-1].children) == 1:
            chain.append(chain[-1].children[0])
        inside.update(map(id, chain))
        if len(chain) > _LONGEST_CHAIN:
            chain[_OUTERMOST - 1].elided = len(chain) - _OUTERMOST - _INNERMOST
            chain[_OUTERMOST - 1].children = [chain[-_INNERMOST]]


def keep_first(root: Entry, most: int) -> None:
    """Level by level, as many steps as a page holds; the rest is counted where it was."""
    sizes: dict[int, int] = {}
    for entry in reversed(list(preorder(root))):
        sizes[id(entry)] = 1 + entry.elided + sum(sizes[id(c)] for c in entry.children)
    kept = 1
    waiting = deque([root])
    while waiting:
        entry = waiting.popleft()
        if kept + len(entry.children) > most:
            entry.elided += sum(sizes[id(c)] for c in entry.children)
            entry.children = []
        kept += len(entry.children)
        waiting.extend(entry.children)
