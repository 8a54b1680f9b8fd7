"""Derivations of matrix results by differentials: that of the result, with those of the statements put in one by one"""

from __future__ import annotations

from collections.abc import Mapping

from gradexplain.exposition.model import DifferentialLine, Differentials
from gradexplain.exposition.naming import is_silent, names, source_of
from gradexplain.exposition.rules import LOUD, QUIET, Scope, rule_of
from gradexplain.exposition.sized import as_written
from gradexplain.graph import Node, ancestors, depends_on
from gradexplain.simplify.form import ClosedForm
from gradexplain.trace.run import Program

MOST_LINES = 16  # statements of a derivation; longer programs have their reverse sweep
_LARGEST = 400  # operations of a program


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
    lines = tuple(
        DifferentialLine(x.name, x.differential, _rules(nodes, x.name, program, wrt), x.gathered, x.delta)
        for x in found
    )
    shown = [w for x in found for w in (x.differential, *(w for _, w in x.gathered))]
    letters = dict(sizes) | dict(pair for w in (*shown, closed.texts) for pair in w.sizes)
    used = {x for y in ancestors([program.output]) for x in y.inputs}
    constants = tuple(n for n, x in program.inputs.items() if n != wrt and x in used)
    shapes = tuple((n, statements.known[n].shape) for n in varying)
    return Differentials(wrt, next(reversed(nodes)), constants, values, tuple(letters.items()), shapes, lines, closed)


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


def _rules(nodes: Mapping[str, Node], name: str, program: Program, wrt: str) -> tuple[str, ...]:
    """The rules that a statement needs, from the outermost operation inwards."""
    hot = depends_on(ancestors([program.output]), [program.inputs[wrt]])
    known = {*nodes.values()} - {nodes[name]}
    found: dict[str, None] = {}
    waiting = [nodes[name]]
    while waiting:
        node = source_of(waiting.pop(0), program)
        if node not in hot or not node.inputs or node in known:
            continue
        rule = node.op.rule
        if node.op.family == "elementwise":
            own = rule_of(node, Scope(hot, lambda _: False)).name
            rule = own if own in LOUD + QUIET and own != "chain rule" else rule
        found[rule] = None
        waiting += node.inputs
    return tuple(found)
