"""Derivatives of small arrays entry by entry: the rung for programs that take their arguments apart (`x[0]**2 + x[1]`).

The program is rewritten on numbers: each entry of an argument becomes a variable (x0, x1, …), arrays become arrays of
nodes, and every operation is applied to them. The entries of the derivative are then closed forms of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradexplain.graph import CONSTANT, VARIABLE, Fixed, Node, ancestors, as_node, constant, variable
from gradexplain.ops import arithmetic, ordering
from gradexplain.trace.run import Program

MOST_ENTRIES = 12  # of all arguments together
MOST_RESULTS = 36
MOST_OPERATIONS = 300


def is_suitable(program: Program, gradient: Node) -> bool:
    """Whether the user takes small arrays apart by index, so that entries are what they think in."""
    inputs = list(program.inputs.values())
    if sum(x.size for x in inputs) > MOST_ENTRIES or gradient.size > MOST_RESULTS or all(x.shape == () for x in inputs):
        return False
    order = ancestors([program.output, gradient])
    apart = any(n.op.name == "getitem" and n.shape == () and n.inputs[0].op is VARIABLE for n in order)
    return apart and len(order) <= MOST_OPERATIONS and all(x.kind == "float" for x in inputs)


_PLACED = {"getitem", "scatter", "reshape", "broadcast_to", "transpose", "stack", "concatenate", "squeeze", "as_index"}
_AT_A_GLANCE = 4  # entries that are read as well one by one


def runs_over_all(program: Program) -> bool:
    """Whether a program also adds up (or the like) more entries than are read one by one: a mean beside a[0]."""
    return any(
        y.op.family != "elementwise" and y.op.name not in _PLACED and any(x.size > _AT_A_GLANCE for x in y.inputs)
        for y in ancestors([program.output])
    )


def entries(program: Program, gradient: Node) -> tuple[Program, Any] | None:
    """The program on numbers and the derivative as an array of nodes; None where an operation needs whole arrays."""
    parts = {x: _entry_variables(n, x, program) for n, x in program.inputs.items()}
    try:
        output, result = _applied([program.output, gradient], parts)
    except (TypeError, ValueError, AttributeError, IndexError, KeyError):
        return None
    inputs = {n.params["name"]: n for array in parts.values() for n in np.ravel(array)}
    arguments = tuple(
        replace(a, name=n.params["name"], value=None if a.value is None else float(v), shape=())
        for a in program.arguments
        if a.name in program.inputs
        for n, v in zip(np.ravel(parts[program.inputs[a.name]]), _values(a.value, a.shape), strict=True)
    )
    first = as_node(np.ravel(output)[0])
    return replace(program, arguments=arguments, inputs=inputs, output=first), result


def _values(value: Any, shape: tuple[int, ...]) -> Any:
    return np.ravel(np.zeros(shape) if value is None else value)


def _entry_variables(name: str, x: Node, program: Program) -> Any:
    """x0, x1, … for a vector, x01 or x0_1 for a matrix; x[0] where such a name is taken."""
    out = np.empty(x.shape, dtype=object)
    if x.shape == ():
        out[()] = variable(name)
        return out
    for index in np.ndindex(x.shape):
        short = name + "_".join(map(str, index))
        out[index] = variable(short if short not in program.inputs else f"{name}[{', '.join(map(str, index))}]")
    return out


def source_names(program: Program) -> Mapping[str, str]:
    """What each entry's name is in NumPy source: x0 is x[0]."""
    return {
        name + "_".join(map(str, index)): f"{name}[{', '.join(map(str, index))}]"
        for name, x in program.inputs.items()
        if x.shape
        for index in np.ndindex(x.shape)
    }


def _applied(outputs: Sequence[Node], parts: Mapping[Node, Any]) -> list[Any]:
    table: dict[Node, Any] = dict(parts)
    for node in ancestors(outputs):
        if node not in table:
            table[node] = _constant(node) if node.op is CONSTANT else _apply(node, [table[n] for n in node.inputs])
    return [table[n] for n in outputs]


def _constant(node: Node) -> Any:
    if not isinstance(node.data, Fixed):
        return node
    if node.kind == "int":
        return node.data.array
    out = np.empty(node.shape, dtype=object)
    for index in np.ndindex(node.shape):
        out[index] = constant(node.data.array[index])
    return out


def _apply(node: Node, operands: list[Any]) -> Any:
    if node.op.name in _OVER_CONDITIONS:
        return _over_conditions(node, _object_array(operands[0]))
    if node.op.family != "elementwise":
        return node.op.value(*[_object_array(x) for x in operands], **node.params)
    arrays = np.broadcast_arrays(*[_object_array(x) for x in operands])
    out = np.empty(arrays[0].shape, dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = node.op(*[a[index] for a in arrays])
    return out


def _over_conditions(node: Node, conditions: Any) -> Any:
    """Entries that are joined by a row: NumPy would ask each whether it is true, and any node is."""
    asked, joined = _OVER_CONDITIONS[node.op.name]
    found = np.frompyfunc(asked, 1, 1)(conditions)
    for axis in sorted(node.params["axis"], reverse=True):
        found = np.frompyfunc(joined, 2, 1).reduce(found, axis=axis, keepdims=node.params["keepdims"])
    return found


def _is_nonzero(entry: Node) -> Node:
    return entry if entry.kind == "bool" else ordering.not_equal(entry, 0)


# How any, all and count_nonzero are made: what is asked of an entry, and what joins two answers.
_OVER_CONDITIONS: Mapping[str, tuple[Any, Any]] = {
    "any": (_is_nonzero, ordering.logical_or),
    "all": (_is_nonzero, ordering.logical_and),
    "count_nonzero": (lambda entry: ordering.as_number(_is_nonzero(entry)), arithmetic.add),
}


def _object_array(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x
    out = np.empty((), dtype=object)
    out[()] = x
    return out
