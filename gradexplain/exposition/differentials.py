"""Derivations of matrix results by differentials: that of the result, with those of the statements put in one by one"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from gradexplain.exposition.model import DifferentialLine, Differentials
from gradexplain.exposition.naming import is_silent, names, source_of
from gradexplain.exposition.pen import Pen
from gradexplain.exposition.rules import LOUD, QUIET, Scope, rule_of
from gradexplain.exposition.sized import as_written
from gradexplain.graph import Node, ancestors, depends_on
from gradexplain.language import Sentence
from gradexplain.simplify.form import ClosedForm
from gradexplain.simplify.written import text
from gradexplain.trace.run import Program

MOST_LINES = 16  # statements of a derivation; longer programs have their reverse sweep
_LARGEST = 400  # operations of a program
_BENDS = (
    "a = b",
    "x = 0: slopes",
    "x at a constant bound",
    "0 where all entries are 0",
)  # how rows with kinks begin


def derive(program: Program, wrt: str, closed: ClosedForm, facts: Mapping[str, frozenset[str]]) -> Differentials | None:
    """The differentials of the statements up to the result; None where one of them has no matrix notation.

    Every formula has been compared with autodiff at points.
    """
    from gradexplain.simplify.tensor.differentials import differentials
    from gradexplain.simplify.tensor.forms import sizing_of
    from gradexplain.simplify.tensor.statements import Statements

    if program.output.shape != () or closed.level != "matrix notation" or closed.texts is None:
        return None
    nodes = _statements(program)
    if nodes is None:
        return None
    statements = Statements.of(program, wrt, nodes)
    varying = statements.varying
    if varying[-1] != next(reversed(nodes)) or {*program.inputs, *nodes} & {f"d{n}" for n in varying}:
        return None
    sizing = sizing_of(program)
    again = _statements(sizing.elsewhere) if sizing and sizing.elsewhere else None
    elsewhere = None
    if sizing and sizing.elsewhere and again and list(again) == list(nodes):
        elsewhere = Statements.of(sizing.elsewhere, wrt, again)
    deltas = {of: delta for delta, of in closed.texts.adjoints if of in nodes}
    found = differentials(statements, elsewhere, facts, deltas)
    if found is None:
        return None
    values, sizes = as_written(program, nodes, sizing)
    pen = Pen({x: n for n, x in statements.known.items()}, lambda n: is_silent(n, program))
    hot = depends_on(ancestors([program.output]), [program.inputs[wrt]])
    lines = []
    for x in found:
        operations = _operations(nodes, x.name, program, hot)
        rules = tuple(dict.fromkeys(_rule(n, hot) for n in operations))
        kinks = tuple(dict.fromkeys(_kinks(operations, pen)))
        lines.append(DifferentialLine(x.name, x.differential, rules, kinks, x.gathered, x.delta))
    needed = (*closed.conditions, *(c for x in found for c in x.conditions))
    shown = [w for x in found for w in (x.differential, *(w for _, w in x.gathered))]
    letters = dict(sizes) | dict(pair for w in (*shown, closed.texts) for pair in w.sizes)
    if letters.keys() & nodes.keys():  # the user has the letter of a size for a value
        return None
    used = {x for y in ancestors([program.output]) for x in y.inputs}
    constants = tuple(n for n, x in program.inputs.items() if n != wrt and x in used)
    shapes = tuple((n, statements.known[n].shape) for n in varying)
    return Differentials(
        variable=wrt,
        output=varying[-1],
        constants=constants,
        values=values,
        sizes=tuple(letters.items()),
        shapes=shapes,
        lines=tuple(lines),
        result=closed,
        conditions=tuple(dict.fromkeys(needed)),
    )


def _statements(program: Program) -> dict[str, Node] | None:
    """The values that the user named, and the result, in the order of computation."""
    order = ancestors([program.output])
    if len(order) > _LARGEST:
        return None
    called = names(program)
    chosen: dict[str, Node] = {}
    for node in order:
        if not node.inputs or node not in called or is_silent(node, program):
            continue
        if node is program.output or (program.local_name(node) is not None and node.kind != "bool"):
            if not called[node].isidentifier() or called[node] in chosen:
                return None
            chosen[called[node]] = node
    return chosen if 0 < len(chosen) <= MOST_LINES and program.output in chosen.values() else None


def _operations(nodes: Mapping[str, Node], name: str, program: Program, hot: Collection[Node]) -> tuple[Node, ...]:
    """What a statement does with what varies, from the outermost operation inwards."""
    known = {*nodes.values()} - {nodes[name]}
    found: dict[Node, None] = {}
    waiting = [nodes[name]]
    while waiting:
        node = source_of(waiting.pop(0), program)
        if node in hot and node.inputs and node not in known:
            found[node] = None
            waiting += node.inputs
    return tuple(found)


def _rule(node: Node, hot: Collection[Node]) -> str:
    rule = node.op.rule
    if node.op.family != "elementwise":
        return rule
    own = rule_of(node, Scope(hot, lambda _: False)).name
    return own if own in LOUD + QUIET and own != "chain rule" else rule


def _kinks(operations: Sequence[Node], pen: Pen) -> Iterator[str]:
    """Where the operations of a statement bend, and what is taken there."""
    for node in operations:
        (shown,) = pen.open([node])
        if node.op.name in ("max", "min"):
            yield Sentence("no entries are assumed to tie in {formula}", formula=text(shown))
        elif node.op.kinks.startswith(_BENDS):
            yield Sentence("{formula} has kinks ({slopes})", formula=text(shown), slopes=Sentence(node.op.kinks))
