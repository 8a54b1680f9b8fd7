"""Routines: functions over nodes, made ready to be carried out on arrays.

A function of TensorFlow, and the pullback of a row, are both expressions over nodes. For given shapes such an
expression is written down once, as a list of steps, and kept; carried out on numbers, a step is a call of NumPy's.
If somebody records, every step becomes an operation of its own, and so gradients can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gradexplain.autodiff import pushed, vjp
from gradexplain.evaluate import missing
from gradexplain.graph import CONSTANT, Fixed, Node, Primitive, as_node, make, substitute, variable
from gradexplain.ops.arithmetic import power
from gradexplain.ops.conventions import TENSORFLOW
from gradexplain.ops.shaping import broadcast_to
from gradexplain.primitive import filled
from gradexplain.shapes import Shape
from gradexplain.tape.recording import Operation, quiet, state, tell
from gradexplain.tape.tensor import Tensor
from gradexplain.trace.source import Site

Spec = tuple[Shape, Any, bool]
_MOST_KEPT = 4096


@dataclass(frozen=True, slots=True)
class Step:
    """One row, applied to earlier slots."""

    row: Primitive
    value: Callable[..., Any]
    params: dict[str, Any]
    slots: tuple[int, ...]
    is_float: bool


def _power(a: Any, b: Any) -> Any:
    """Also of complex numbers, which the row has no use for."""
    return np.power(a, b) if np.iscomplexobj(a) or np.iscomplexobj(b) else power.value(a, b)


def _spread(x: Any, *, shape: Shape) -> Any:
    """NumPy's broadcast_to without its checks, which cost more than all else: shapes were looked at before."""
    array = np.asarray(x)
    lead = len(shape) - array.ndim
    strides = [0 if n == 1 else s for n, s in zip(array.shape, array.strides, strict=True)]
    view: Any = np.ndarray(shape, array.dtype, array, 0, (*(0,) * lead, *strides)) if array.flags.c_contiguous else None
    if view is None:
        return np.broadcast_to(array, shape)
    view.flags.writeable = False
    return view


# Rows that are carried out otherwise: on the types that tensors have, and for speed.
VALUES: dict[Primitive, Callable[..., Any]] = {power: _power, broadcast_to: _spread}


class Routine:
    """The steps from some nodes to others; None among the outputs stays None."""

    __slots__ = ("constants", "float_outputs", "is_single", "kind", "outputs", "steps")

    def __init__(
        self, inputs: Sequence[Node], outputs: Sequence[Node | None], literals: Sequence[Node] = (), kind: Any = None
    ) -> None:
        slots: dict[Node, int] = {}
        for i, node in enumerate(inputs):
            slots.setdefault(node, i)
        found = [n for n in outputs if n is not None]
        order = missing(found, slots)
        self.constants = [_literal(n) for n in order if n.op is CONSTANT]
        for i, node in enumerate([n for n in order if n.op is CONSTANT], len(inputs)):
            slots[node] = i
        self.steps: list[Step] = []
        spread = _needless(order, literals, found)
        count = len(inputs) + len(self.constants)
        for node in order:
            if node.op is CONSTANT:
                continue
            if node in spread:
                slots[node] = slots[node.inputs[0]]
                continue
            arguments = tuple(slots[n] for n in node.inputs)
            self.steps.append(
                Step(node.op, VALUES.get(node.op, node.op.value), node.params, arguments, node.kind == "float")
            )
            slots[node] = count
            count += 1
        self.outputs = tuple(None if n is None else slots[n] for n in outputs)
        self.float_outputs = tuple(n is not None and n.kind == "float" for n in outputs)
        self.kind = kind  # tuple, list or a named tuple where the function gives several results
        self.is_single = kind is None and len(outputs) == 1

    def compute(self, arrays: Sequence[Any], plain: Any) -> list[Any]:
        """The outputs as arrays; floats have the type `plain`."""
        slots = [*arrays, *[c.array for c in self.constants]]
        with quiet():
            for step in self.steps:
                value = step.value(*[slots[i] for i in step.slots], **step.params)
                if step.is_float and getattr(value, "dtype", None) is not plain:
                    value = np.asarray(value).astype(plain)[()]
                slots.append(value)
        return [
            None if i is None else _typed(slots[i], plain, is_float)
            for i, is_float in zip(self.outputs, self.float_outputs, strict=True)
        ]

    def run(self, tensors: Sequence[Tensor], plain: Any, call: str = "", at: Site | None = None) -> list[Tensor | None]:
        """The outputs as tensors; every step is told to whoever records."""
        if not state.listeners:
            found = self.compute([t.array for t in tensors], plain)
            return [None if a is None else _computed(a, call) for a in found]
        slots = [*tensors, *self.constants]
        with quiet():
            for step in self.steps:
                operands = tuple([slots[i] for i in step.slots])
                value = step.value(*[t.array for t in operands], **step.params)
                if step.is_float and getattr(value, "dtype", None) is not plain:
                    value = np.asarray(value).astype(plain)[()]
                result = _computed(value if hasattr(value, "dtype") else np.asarray(value)[()], call or step.row.name)
                tell(Operation(step.row.name, step.row, step.params, operands, (result,), call=call, at=at))
                slots.append(result)
        return [
            None if i is None else self._given(slots[i], i < len(tensors), plain, is_float)
            for i, is_float in zip(self.outputs, self.float_outputs, strict=True)
        ]

    def _given(self, tensor: Tensor, is_input: bool, plain: Any, is_float: bool) -> Tensor:
        return (
            tensor
            if not tensor.literal and (is_input or tensor.array.dtype == plain or not is_float)
            else Tensor(_typed(tensor.array, plain, is_float))
        )


def _computed(array: Any, by: str) -> Tensor:
    result = Tensor(array)
    result.made_by = by
    return result


def _typed(value: Any, plain: Any, is_float: bool) -> Any:
    if is_float and getattr(value, "dtype", None) is not plain:
        return np.asarray(value).astype(plain)[()]
    return value if hasattr(value, "dtype") else np.asarray(value)[()]


def _needless(order: Sequence[Node], literals: Sequence[Node], outputs: Sequence[Node]) -> set[Node]:
    """Numbers that would be spread over an array, only to meet arrays entry by entry: NumPy does that by itself."""
    spread = {n for n in order if n.op is broadcast_to and (n.inputs[0] in literals or n.inputs[0].op is CONSTANT)}
    spread = {n for n in spread if n.inputs[0].shape == ()}
    for node in order:
        if node.op.family != "elementwise" or all(n in spread or n.shape == () for n in node.inputs):
            spread.difference_update(node.inputs)
    return spread.difference(outputs)


def _literal(node: Node) -> Tensor:
    data = node.data
    if isinstance(data, Fixed):
        return Tensor(data.array)
    if isinstance(data, bool):
        return Tensor(np.bool_(data))
    return Tensor(float(data), literal=True)


def _variables(specs: Sequence[Spec]) -> list[Node]:
    return [variable("x", shape, kind) for shape, kind, _ in specs]


@lru_cache(_MOST_KEPT)
def routine(function: Callable[..., Any], specs: tuple[Spec, ...], static: tuple[tuple[str, Any], ...]) -> Routine:
    """A function on nodes for operands of given shapes."""
    return build(function, specs, dict(static))


def build(function: Callable[..., Any], specs: Sequence[Spec], static: dict[str, Any]) -> Routine:
    """The same, not kept (for parameters that have no hash)."""
    nodes = _variables(specs)
    result = function(*nodes, **static)
    several = isinstance(result, (tuple, list))
    outputs = [as_node(r) for r in result] if several else [as_node(result)]
    literals = [n for n, s in zip(nodes, specs, strict=True) if s[2]]
    return Routine(nodes, outputs, literals, type(result) if several else None)


@lru_cache(_MOST_KEPT)
def pullback(
    row: Primitive, params: tuple[tuple[str, Any], ...], specs: tuple[Spec, ...], wanted: tuple[bool, ...]
) -> Routine:
    """What an operation hands back: from (cotangent, result, *operands) to the cotangents of the operands."""
    nodes = _variables(specs)
    y = make(row, tuple(nodes), dict(params))
    g = variable("g", y.shape)
    rule = TENSORFLOW.get(row, row.pullback)
    handed = [rule(i, g, y) if rule is not None and want else None for i, want in enumerate(wanted)]
    outputs = [None if h is None else as_node(h) for h in handed]
    literals = [n for n, s in zip(nodes, specs, strict=True) if s[2]]
    return Routine([g, y, *nodes], outputs, literals)


@lru_cache(_MOST_KEPT)
def pushforward(
    row: Primitive, params: tuple[tuple[str, Any], ...], specs: tuple[Spec, ...], moving: tuple[bool, ...]
) -> Routine:
    """The tangent of a result: from (result, *operands, *tangents of those that move) to it."""
    nodes = _variables(specs)
    y = make(row, tuple(nodes), dict(params))
    tangents = {n: variable("t", n.shape) for n, moves in zip(nodes, moving, strict=True) if moves}
    tangent = None
    if row.pullback is not None:
        tangent = _transposed(y, tangents) if row in TENSORFLOW else pushed(y, tangents)
    literals = [n for n, s in zip(nodes, specs, strict=True) if s[2]]
    return Routine([y, *nodes, *tangents.values()], [tangent], literals)


def _transposed(y: Node, tangents: Mapping[Node, Node]) -> Node | None:
    """Where TensorFlow has a pullback of its own: its transpose, as a pullback is linear in the cotangent."""
    rule = TENSORFLOW.get(y.op, y.op.pullback)
    g, total = variable("g", y.shape), None
    for i, x in enumerate(y.inputs):
        cotangent = rule(i, g, y) if rule is not None and x in tangents else None
        if cotangent is not None:
            (term,) = vjp(cotangent, [g], tangents[x])
            total = term if total is None else total + term
    # Linear but for conditions that ask for g (the square root's does), which TensorFlow answers for a cotangent of 1.
    return None if total is None else substitute([total], {g: filled(1, g.shape)})[0]
