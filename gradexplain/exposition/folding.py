"""Large graphs folded by the user's own structure: a group for each line of the function and each function it calls."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from gradexplain.errors import Place
from gradexplain.graph import Node
from gradexplain.language import Sentence
from gradexplain.trace.run import Program
from gradexplain.trace.source import place_of

_PIECES = 20  # groups of a program without lines


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that are shown as one, in the order of computation."""

    label: str
    nodes: tuple[Node, ...]
    place: Place | None = None


def folded(order: Sequence[Node], program: Program, most: int) -> list[Group]:
    """The nodes in at most `most` groups, in the order in which each group's first node is computed.

    A group is a line of the function, or a function that it calls; neighbouring lines are joined where there are too
    many, and stretches of operations are taken where one line holds everything.
    """
    main = _main(order, program)
    places = {n: place_of(program.trace.sites.get(n)) for n in order}

    def by_line_or_function(node: Node) -> Hashable:
        place = places[node]
        if place is None or not node.inputs:
            return node if not node.inputs else None
        return (place.function, place.line if place.function == main else 0)

    def by_line(node: Node) -> Hashable:
        place = places[node]
        return node if not node.inputs else None if place is None else (place.function, place.line)

    groups = _grouped(order, by_line_or_function)
    if sum(bool(g[0].inputs) for g in groups) < 2:
        groups = _grouped(order, by_line)
    if sum(bool(g[0].inputs) for g in groups) < 2:
        return _stretches(order, places, most)
    return [_group(g, places, main) for g in _joined(groups, most)]


def _main(order: Sequence[Node], program: Program) -> str:
    """The function whose lines are shown one by one: that which the result is computed in."""
    place = place_of(program.trace.sites.get(program.output))
    return "" if place is None else place.function


def _grouped(order: Sequence[Node], key: Callable[[Node], Hashable]) -> list[list[Node]]:
    found: dict[Hashable, list[Node]] = {}
    for node in order:
        found.setdefault(key(node), []).append(node)
    return list(found.values())


def _stretches(order: Sequence[Node], places: Mapping[Node, Place | None], most: int) -> list[Group]:
    """The arguments, and stretches of equally many operations."""
    arguments, operations = ([n for n in order if bool(n.inputs) is inner] for inner in (False, True))
    size = ceil(len(operations) / max(2, min(_PIECES, most - len(arguments))))
    groups = [_group(g, places, "") for g in _joined([[n] for n in arguments], most)]
    for start in range(0, len(operations), size):
        piece = operations[start : start + size]
        label = Sentence("operations {first}-{last}", first=start + 1, last=start + len(piece))
        groups.append(Group(label, tuple(piece), places[piece[0]]))
    return groups


def _joined(groups: list[list[Node]], most: int) -> list[list[Node]]:
    """Groups beside each other put together until there are few enough: the smallest first, arguments among them."""
    while len(groups) > most:
        costs = [_cost(a, b) for a, b in itertools.pairwise(groups)]
        cheapest = costs.index(min(costs))
        groups[cheapest : cheapest + 2] = [sorted(groups[cheapest] + groups[cheapest + 1], key=lambda n: n.index)]
    return groups


def _cost(a: list[Node], b: list[Node]) -> tuple[int, int]:
    """Operations are put together before arguments are, and these before both are."""
    arguments = sum(not n.inputs for n in (*a, *b))
    return (0 if not arguments else 1 if arguments == len(a) + len(b) else 2), len(a) + len(b)


def _group(nodes: Sequence[Node], places: Mapping[Node, Place | None], main: str) -> Group:
    found = [p for n in nodes if (p := places[n]) is not None]
    if not any(n.inputs for n in nodes):
        return Group(Sentence("{count} arguments", count=len(nodes)), tuple(nodes))
    if len(found) < len(nodes):
        return Group(Sentence("{count} operations", count=len(nodes)), tuple(nodes), found[0] if found else None)
    lines = sorted({p.line for p in found})
    functions = list(dict.fromkeys(p.function for p in found))
    if functions == [main] and len(lines) == 1:
        return Group(Sentence("line {number}", number=lines[0]), tuple(nodes), found[0])
    if functions == [main]:
        return Group(Sentence("lines {first}-{last}", first=lines[0], last=lines[-1]), tuple(nodes), found[0])
    return Group(", ".join(f if f.startswith("<") else f"{f}()" for f in functions), tuple(nodes), found[0])
