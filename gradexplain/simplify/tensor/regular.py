"""Differentials where no norm is 0 and no two entries are the largest: without the cases for these."""

from __future__ import annotations

from gradexplain.graph import TABLE, Node, ancestors, constant, make
from gradexplain.ops.shaping import broadcast_to

_LENGTH, _LARGEST = "root_sum_square", ("max", "min")


def off_kinks(node: Node) -> Node:
    """The graph of a differential without what the rows of norms and of largest entries say of 0 and of ties."""
    new: dict[Node, Node] = {}
    for x in ancestors([node]):
        inputs = tuple(new[i] for i in x.inputs)
        if x.op is TABLE["where"] and _is_zero_length(x.inputs[0]):
            new[x] = inputs[2]
        elif x.op.name == "sum" and _counts_the_largest(x.inputs[0]):
            new[x] = broadcast_to(constant(1), shape=x.shape) if x.shape else constant(1)
        else:
            new[x] = make(x.op, inputs, x.params) if inputs != x.inputs else x
    return new[node]


def _is_zero_length(condition: Node) -> bool:
    """norm(w) == 0."""
    return condition.op.name == "equal" and _bare(condition.inputs[0]).op.name == _LENGTH


def _counts_the_largest(x: Node) -> bool:
    """The entries that are equal to the largest, as numbers."""
    if x.op.name != "as_number" or x.inputs[0].op.name != "equal":
        return False
    entries, largest = x.inputs[0].inputs
    found = _bare(largest)
    return found.op.name in _LARGEST and found.inputs[0] is entries


def _bare(node: Node) -> Node:
    while node.op.name in ("broadcast_to", "reshape"):
        node = node.inputs[0]
    return node
