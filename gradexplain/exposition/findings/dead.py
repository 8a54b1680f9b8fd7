"""Rectifiers that are flat: where a factor 0 comes from, and units of an array through which nothing comes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradexplain.exposition.causes import finding
from gradexplain.exposition.findings.subject import Subject
from gradexplain.exposition.model import Finding
from gradexplain.graph import Node, depends_on
from gradexplain.language import Sentence

RECTIFIERS = ("maximum", "minimum", "fmax", "fmin")
_FLAT = (*RECTIFIERS, "clip")
_PRODUCTS = ("mul", "matmul", "einsum", "outer", "tensordot", "dot")
_MOST_UNITS = 6  # that are listed


def origin_of_zero(subject: Subject, node: Node) -> Node:
    """Where a value that is 0 in all entries begins to be: at a rectifier, an input, a constant, or a difference."""
    while node.inputs and node.op.name not in _FLAT:
        zero = [x for x in node.inputs if x.kind != "bool" and not np.any(subject.value(x))]
        if not zero:
            break
        node = next((x for x in zero if subject.influenced(x)), zero[0])
    return node


def is_product(node: Node) -> bool:
    """Whether the slope in one operand is the other operand."""
    return node.op.name in _PRODUCTS or node.op.family == "bilinear"


def rectified(node: Node) -> int | None:
    """The operand of a rectifier whose other operands are constants; None for other operations."""
    if node.op.name not in _FLAT:
        return None
    moving = [i for i, x in enumerate(node.inputs) if not _is_fixed(x)]
    return moving[0] if len(moving) == 1 else None


def _is_fixed(node: Node) -> bool:
    while node.op.name == "broadcast_to":
        (node,) = node.inputs
    return node.is_constant


def flat_in_part(subject: Subject) -> Iterator[Finding]:
    """Rectifiers with units that are flat in all rows, where a derivative is 0 in some of its entries for that."""
    partial = {name: x for name, x in subject.sources.items() if x.shape and _is_zero_in_part(subject, x)}
    if not partial:
        return
    reached = {name: depends_on(subject.order, [x]) for name, x in partial.items()}
    for node in subject.order:
        units = _dead_units(subject, node)
        if not len(units):
            continue
        name = next((n for n in partial if node in reached[n] and _stops(subject, node, units)), None)
        name = name or next((n for n in partial if _multiplies(subject, node, reached[n])), None)
        if name is not None:
            yield _in_part(subject, node, units, name, partial[name] if node in reached[name] else None)


def _is_zero_in_part(subject: Subject, x: Node) -> bool:
    if not subject.sweep.is_connected(x):
        return False
    zero = np.asarray(subject.value(subject.sweep.adjoints[x])) == 0
    return bool(np.any(zero) and not np.all(zero))


def _dead_units(subject: Subject, node: Node) -> Any:
    """The entries of the last axis at which all rows are on the flat side, if there are others beside them."""
    i = rectified(node) if node.shape else None
    if i is None:
        return ()
    flat = np.broadcast_to(np.asarray(subject.slope(node, i)) == 0, node.shape)
    dead = np.all(flat, axis=tuple(range(node.ndim - 1)))
    return () if np.all(dead) else np.flatnonzero(dead)


def _stops(subject: Subject, node: Node, units: Any) -> bool:
    """Whether anything arrives at the units that they could hand on."""
    adjoint = subject.sweep.adjoints.get(node)
    return adjoint is not None and bool(np.any(np.asarray(subject.value(adjoint))[..., units]))


def _multiplies(subject: Subject, node: Node, reached: set[Node]) -> bool:
    """Whether the rectifier is in a factor of something that a source is in the other factor of."""
    above = depends_on(subject.order, [node])
    return any(
        is_product(p.node)
        and p.node.inputs[p.operand] in reached
        and any(x in above and x not in reached for k, x in enumerate(p.node.inputs) if k != p.operand)
        for p in subject.sweep.pullbacks
    )


def _in_part(subject: Subject, node: Node, units: Any, name: str, source: Node | None) -> Finding:
    listed = ", ".join(map(str, units[:_MOST_UNITS])) + (", ..." if len(units) > _MOST_UNITS else "")
    values: dict[str, Any] = {
        "formula": subject.called(node),
        "count": len(units),
        "size": node.shape[-1],
        "units": listed,
    }
    text = None
    if node.ndim > 1:
        sentence = "{count} of {size} units of {formula} are dead here (index {units}): all rows are on the flat side"
        text = Sentence(sentence, **values)
    return finding(
        "flat-in-part",
        subject.place(node),
        text=text,
        path=subject.way(source, node, rectified(node)) if source is not None else (),
        ruled_out=[Sentence("the other units do hand something back to {name}", name=name)],
        name=name,
        **values,
    )
