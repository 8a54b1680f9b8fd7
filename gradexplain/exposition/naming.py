"""Names for the nodes of a program: the user's own wherever there are any, v1, v2, … otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradexplain.exposition.pen import Pen
from gradexplain.graph import CONSTANT, VARIABLE, Node, ancestors
from gradexplain.simplify.written import text
from gradexplain.trace.run import Program

MOST_LOOKED_UP = 20_000  # nodes whose names are read from the source
_LONG = 60  # operations of a formula that is written out
_WIDE = 72  # characters of one with arrays: with its name and margin it fills a line
MOST_DEFINITIONS = 12
_SILENT = {"broadcast_to", "as_number"}


def names(program: Program, limit: int = MOST_LOOKED_UP) -> dict[Node, str]:
    """A name for every node but constants, in the order of computation; no two nodes that are shown share one.

    What NumPy does silently (spreading a number over an array) is called like its operand.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: (x * x + 1) ** 2
    >>> list(names(trace(f, bind(f, (3.0,), {}, symbolic=False))).values())
    ['x', 'v1', 'v2', 'y']
    """
    order = [n for n in ancestors([program.output]) if n.op is not CONSTANT]
    found = {n: n.params["name"] for n in [*program.inputs.values(), *order] if n.op is VARIABLE}
    own = _own_names(program, [n for n in order if n.inputs][:limit], set(found.values()))
    fresh = _fresh({*found.values(), *own.values()})
    for node in order:
        if node in found:
            continue
        if is_silent(node, program):
            origin = node.inputs[0]
            if origin in found:
                found[node] = found[origin]
        elif node in own:
            found[node] = own[node]
        elif node is program.output:
            found[node] = output_name(program.name, {*found.values(), *own.values()})
        else:
            found[node] = next(fresh)
    return found


def is_silent(node: Node, program: Program) -> bool:
    """Whether a node was not written by the user: NumPy spreads a number over an array without being asked."""
    return node.op.name in _SILENT and node not in program.trace.sites and node is not program.output


def source_of(node: Node, program: Program) -> Node:
    """The node itself, or what a silent one spreads."""
    while is_silent(node, program):
        node = node.inputs[0]
    return node


def output_name(function: str, taken: set[str]) -> str:
    """What the result is called: y, or the function's name where y means something else.

    >>> output_name("loss", {"x", "y"})
    'loss'
    """
    return next(n for n in ("y", function, "f", "result", "the_result") if n not in taken)


def _own_names(program: Program, nodes: Sequence[Node], taken: set[str]) -> dict[Node, str]:
    """The names of locals, numbered where a name is assigned several times."""
    assigned = {n: name for n in nodes if (name := program.local_name(n)) is not None}
    counts = Counter(assigned.values())
    seen: Counter[str] = Counter()
    found: dict[Node, str] = {}
    taken = taken | set(counts)
    for node, name in assigned.items():
        if counts[name] == 1 and name not in program.inputs:
            found[node] = name
            continue
        seen[name] += 1
        found[node] = _numbered(name, seen[name], taken)
        taken.add(found[node])
    return found


def _numbered(name: str, number: int, taken: set[str]) -> str:
    joined = f"{name}{number}" if not name[-1].isdigit() else f"{name}_{number}"
    while joined in taken:
        joined += "_"
    return joined


def _fresh(taken: set[str]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        if f"v{number}" not in taken:
            yield f"v{number}"


def is_own_name(name: str) -> bool:
    """Whether the user gave this name (or it is the result's), rather than `names`."""
    return not (name[0] == "v" and name[1:].isdigit())


def formula(program: Program, names: Mapping[Node, str]) -> Any:
    """The function as the user wrote it; a long one in terms of the names of its parts."""
    return _pen(program, names).write([program.output])[0]


def definitions(program: Program, names: Mapping[Node, str]) -> tuple[tuple[str, Any], ...]:
    """What the names in `formula` stand for, those of a page at most."""
    pen = _pen(program, names)
    nodes = list(pen.named)[:MOST_DEFINITIONS]
    return tuple(zip((names[n] for n in nodes), pen.open(nodes), strict=True))


def _pen(program: Program, names: Mapping[Node, str]) -> Pen:
    def pen(given: Mapping[Node, str]) -> Pen:
        return Pen(given, lambda n: is_silent(n, program))

    output = program.output
    if size_of(output) > _LONG:
        return pen(chosen(output, names, small=0, large=8))
    whole = pen({})
    if not any(n.shape for n in program.inputs.values()) or len(text(whole.write([output])[0])) <= _WIDE:
        return whole
    own = {n: name for n, name in names.items() if is_own_name(name) and not is_silent(n, program)}
    return pen(chosen(output, own, small=0, large=_LONG))


def chosen(output: Node, names: Mapping[Node, str], *, small: int, large: int, reused: bool = False) -> dict[Node, str]:
    """The nodes that formulas call by name: the user's of more than `small` operations, any of more than `large`.

    With `reused`, the user's names are kept only where the value is used several times.
    """
    uses = Counter(n for node in ancestors([output]) for n in node.inputs)
    kept: dict[Node, str] = {}

    def keep(node: Node, size: int) -> bool:
        name = names.get(node)
        if name is None or node is output or node.kind == "bool":
            return False
        own = is_own_name(name) and size > small and (not reused or uses[node] > 1)
        if own or size > large:
            kept[node] = name
        return node in kept

    size_of(output, keep)
    return kept


def size_of(output: Node, keep: Callable[[Node, int], bool] | None = None) -> int:
    """Operations of a node written out; `keep(node, size)` says whether it is called by name, and so counts nothing."""
    sizes: dict[Node, int] = {}
    for node in ancestors([output]):
        size = bool(node.inputs) + sum(sizes[n] for n in node.inputs)
        sizes[node] = 0 if keep is not None and keep(node, size) else min(size, 10**9)
    return sizes[output]


def depth_of(output: Node) -> int:
    """How many operations are one inside the other."""
    depths: dict[Node, int] = {}
    for node in ancestors([output]):
        depths[node] = 1 + max((depths[n] for n in node.inputs), default=-1)
    return depths[output]
