"""The deltas of the textbooks: parts of a gradient that are the derivative of the result by a value of the program.

Which part belongs to which value is told by numbers: the part and the adjoint that autodiff has for the value agree at
points. Deltas are numbered like the values (`delta1` for `Z1`), else in the order of computation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradexplain.autodiff import sweep
from gradexplain.evaluate import evaluate
from gradexplain.graph import Node, ancestors, depends_on
from gradexplain.simplify.tensor.checking import function_of
from gradexplain.simplify.tensor.notation import Form, name, replaced, subforms
from gradexplain.trace.run import Program

_MOST_NODES = 400  # operations of a program whose adjoints are looked at
Parts = Sequence[tuple[str, Form]]


def deltas(
    parts: Parts, program: Program, wrt: Sequence[str], at: Sequence[Mapping[str, Any]]
) -> dict[str, tuple[str, str]]:
    """The parts that are adjoints: what each is to be called, and the name of its value ("" if it has none)."""
    order = ancestors([program.output])
    if not parts or len(order) > _MOST_NODES:
        return {}
    own = {name for n in order if (name := program.local_name(n)) is not None}
    fresh = [n for n, f in parts if n not in own and f.ndim]
    hot = depends_on(order, [program.inputs[n] for n in wrt])
    nodes = [n for n in order if n in hot and n.inputs and n is not program.output and n.shape]
    found = dict(_matched(fresh, parts, nodes, program, at)) if fresh else {}
    return _called(found, nodes, program, {*program.inputs, *own, *(n for n, _ in parts)} - found.keys())


def _matched(
    fresh: Sequence[str], parts: Parts, nodes: Sequence[Node], program: Program, at: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Node]]:
    """Parts and nodes whose adjoint they are, the nodes with a name first, and of these the latest."""
    gradients = sweep(program.output, nodes).gradients
    inputs = program.inputs
    at = [*at, _with_signs(at[0])]
    everything: dict[str, list[Any]] = {}
    with np.errstate(all="ignore"):
        adjoints = [evaluate(list(gradients), {inputs[n]: v for n, v in point.items()}) for point in at]
        for k, (part, form) in enumerate(parts):
            if part in fresh:
                function = function_of(form, parts[:k], inputs)
                everything[part] = [function(*point.values()) for point in at]
    ranked = sorted(range(len(nodes)), key=lambda k: (program.local_name(nodes[k]) is None, -k))
    for part, values in everything.items():
        for k in ranked:
            wanted = [np.broadcast_to(a[k], nodes[k].shape) for a in adjoints]
            if all(np.shape(v) == w.shape and _is_same(v, w) for v, w in zip(values, wanted, strict=True)):
                yield part, nodes[k]
                break


def _with_signs(point: Mapping[str, Any]) -> dict[str, Any]:
    """A point at which about half of the numbers are negative: there a relu has an adjoint of its own."""
    rng = np.random.default_rng(2)
    return {n: rng.choice([-1.0, 1.0], np.shape(v)) * v for n, v in point.items()}


def _is_same(value: Any, wanted: Any) -> bool:
    scale = np.max(np.abs(wanted), initial=0.0)
    if not np.isfinite(scale):  # outside of the domain: nothing is said
        return True
    return bool(scale > 0 and np.allclose(value, wanted, rtol=1e-9, atol=1e-9 * scale))


def _called(
    found: Mapping[str, Node], nodes: Sequence[Node], program: Program, taken: set[str]
) -> dict[str, tuple[str, str]]:
    """Names for adjoints."""
    order = sorted(found, key=lambda part: nodes.index(found[part]))
    values = [program.local_name(found[part]) or "" for part in order]
    numbers = [re.findall(r"\d+$", v) for v in values]
    own_numbers = [n[0] for n in numbers if n]
    if len(own_numbers) == len(order) and len(set(own_numbers)) == len(order):
        called = [f"delta{n}" for n in own_numbers]
    else:
        called = [f"delta{k}" for k in range(1, len(order) + 1)] if len(order) > 1 else ["delta"]
    if not found or set(called) & taken:
        return {}
    return {part: (new, value) for part, new, value in zip(order, called, values, strict=True)}


def renamed(form: Form, table: Mapping[str, str]) -> Form:
    """A form in which parts go by other names."""
    old = {p for p in subforms(form) if p.op == "name" and p.data in table}
    return replaced(form, {p: name(table[p.data], p.ndim) for p in old}) if old else form
