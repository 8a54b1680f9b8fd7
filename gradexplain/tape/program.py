"""A part of a tape's record as a traced program, so that everything that explains functions explains tapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError
from gradexplain.evaluate import evaluate
from gradexplain.graph import Node, constant, is_scalar_constant, make, variable
from gradexplain.ops.arithmetic import mul
from gradexplain.ops.shaping import broadcast_to
from gradexplain.tape.functions import conversions
from gradexplain.tape.recording import Operation
from gradexplain.tape.tensor import Tensor
from gradexplain.tape.variable import Variable
from gradexplain.trace.program import Program
from gradexplain.trace.running import Condition, Trace
from gradexplain.trace.signature import Argument
from gradexplain.trace.source import name_of, place_of, user_frame

_MOST_PARTS = 20  # of a list or dict in which names are looked for
_PASSED_ON = {"identity", "cast", "beside"}


class Replay:
    """The recorded program as a function of its inputs, in float64."""

    def __init__(self, output: Node, inputs: Sequence[Node], name: str) -> None:
        self._output, self._inputs = output, tuple(inputs)
        self.__name__ = name

    def __call__(self, *values: Any) -> Any:
        (found,) = evaluate([self._output], dict(zip(self._inputs, values, strict=True)))
        return found


class Builder:
    """Makes nodes of operations. What was not recorded is a constant, or an input where the user has a name for it."""

    def __init__(self, operations: Sequence[Operation], names: Mapping[int, str]) -> None:
        self._names, self._taken = names, set[str]()
        self._operations, self.moving = operations, set[int]()
        self._last = _last_of_each_call(operations)
        self._nodes: dict[int, Node] = {}
        self.inputs: dict[str, Node] = {}
        self.values: dict[Node, Any] = {}
        self.sites: dict[Node, Any] = {}

    def source(self, t: Tensor, name: str) -> str:
        """A tensor to differentiate with respect to; gives the name of its input."""
        name = self._free(name)
        node = variable(name, tuple(t.shape))
        self.inputs[name], self.values[node] = node, as_meant(t)
        self._nodes[t.serial] = node
        self.moving.add(t.serial)
        for operation in self._operations:
            if any(i.serial in self.moving for i in operation.inputs):
                self.moving.update(o.serial for o in operation.outputs)
        return name

    def _free(self, name: str) -> str:
        candidates = (name, *(f"{name}_{i}" for i in range(2, 1000)))
        found = next(n for n in candidates if n not in self._taken)
        self._taken.add(found)
        return found

    def node(self, target: Tensor) -> Node:
        """The node of a tensor."""
        return self.build([target])[0]

    def build(self, targets: Sequence[Tensor]) -> list[Node]:
        """The nodes of tensors; those that they need are made in the order in which the program computed them."""
        needed = {t.serial for t in targets}
        for operation in reversed(self._operations):
            if self._is_needed(operation, needed):
                needed.update(i.serial for i in operation.inputs)
        for operation in self._operations:
            if self._is_needed(operation, needed):
                for i in operation.inputs:
                    self._settle(i, is_derived=operation.scope is not None)
                for t in operation.outputs:
                    if t.serial in needed and t.serial not in self._nodes:
                        self._nodes[t.serial] = self._applied(operation, t)
        for t in targets:
            self._settle(t)
        return [self._nodes[t.serial] for t in targets]

    def _is_needed(self, operation: Operation, needed: set[int]) -> bool:
        wanted = [t for t in operation.outputs if t.serial in needed and t.serial not in self._nodes]
        return any(not self._stands_still(operation, t) for t in wanted)

    def _settle(self, t: Tensor, *, is_derived: bool = False) -> None:
        """A tensor without a node yet is a leaf; in a derivative an array of one number is that number, spread out."""
        if t.serial in self._nodes:
            return
        number = _spread(t) if is_derived and t.serial not in self._names else None
        self._nodes[t.serial] = self._leaf(t) if number is None else number

    def _stands_still(self, operation: Operation, t: Tensor) -> bool:
        """Whether a result is a constant: cut off, or made by a foreign function of what is constant itself."""
        is_foreign = operation.row is None and operation.name not in _PASSED_ON
        return operation.flat or (is_foreign and t.serial not in self.moving)

    def _applied(self, operation: Operation, t: Tensor) -> Node:
        operands = tuple(self._nodes[i.serial] for i in operation.inputs)
        if operation.name in _PASSED_ON:
            return operands[0]
        if operation.row is None:
            raise _without_formula(operation)
        if operation.scope is not None and operation.row is mul:
            beside = [b for a, b in zip(operands, reversed(operands), strict=True) if is_scalar_constant(a, 1)]
            if beside and beside[0].shape == tuple(t.shape):
                return beside[0]  # 1*x**3 is what a sweep begins with: nobody wrote it
        node = make(operation.row, operands, dict(operation.params))
        if operation in self._last:
            self.sites.setdefault(node, operation.site)
        return node

    def _leaf(self, t: Tensor) -> Node:
        """A value that does not come from the sources."""
        if t.literal:
            return constant(t.array)
        if t.array.dtype.kind in "ib":
            return constant(np.asarray(t.array))
        name = self._names.get(t.serial)
        if name is None and t.array.shape == ():
            return constant(as_meant(t))
        name = self._free(name or "c")
        node = variable(name, tuple(t.shape))
        self.inputs[name], self.values[node] = node, as_meant(t)
        return node


def _without_formula(operation: Operation) -> ArgumentError:
    if "custom" in operation.params:
        return ArgumentError(
            f"{operation.name} has a custom gradient: what it computes and its derivative are two formulas, not one",
            where=place_of(operation.site),
            why="a closed form is checked against the function itself, and a custom gradient need not agree with it",
            fix="ask tape.why, which has the formula that the custom gradient hands back; explain the parts before and "
            "after it, or the function without its decorator",
        )
    return ArgumentError(
        f"{operation.name} has no formula here",
        where=place_of(operation.site),
        why="it is about complex numbers, or a function that the table of derivatives does not have",
        fix="explain the parts before and after it",
    )


def _spread(t: Tensor) -> Node | None:
    """An array whose entries are all the same, as a sweep makes them of its seed and of exponents; None for others."""
    if t.array.dtype.kind != "f" or not np.size(t.array) or np.any(t.array != np.ravel(t.array)[0]):
        return None
    value = as_meant(t)
    return constant(value) if not t.shape else broadcast_to(constant(float(np.ravel(value)[0])), shape=tuple(t.shape))


def _last_of_each_call(operations: Sequence[Operation]) -> set[Operation]:
    """Of a function of TensorFlow's that is several rows, the last one: its result has the user's name."""
    pairs = zip(operations, [*operations[1:], None], strict=True)
    return {op for op, after in pairs if after is None or after.site != op.site or after.call != op.call}


def as_meant(t: Tensor) -> Any:
    """Numbers as they were written: 0.1 as float32 stands for 0.1."""
    array = np.asarray(t.array)
    if array.dtype.kind == "c":
        raise ArgumentError(
            "complex numbers have derivatives on a tape, but no formula here",
            why="arguments of formulas are real",
            fix="explain the real and the imaginary part as functions of two real variables",
        )
    if array.dtype == np.float32 or array.dtype == np.float16:
        array = array.astype(str).astype(float)
    return array if array.shape else float(array)


def names_in_frame(frame: FrameType | None) -> dict[int, str]:
    """What the user calls tensors and variables: the names in the frame, by the serial numbers of their values."""
    found: dict[int, str] = {}
    spaces = () if frame is None else (frame.f_globals, frame.f_locals)
    for space in spaces:
        for name, value in list(space.items()):
            if not name.startswith("_"):
                _enter(found, name, value)
    return found


def _enter(found: dict[int, str], name: str, value: Any) -> None:
    if (serial := _serial(value)) is not None:
        found[serial] = name
    elif isinstance(value, (list, tuple, dict)) and len(value) <= _MOST_PARTS:
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            title = f"{name}{key}" if isinstance(key, int) else str(key)
            if (serial := _serial(part)) is not None and title.isidentifier():
                found.setdefault(serial, title)


def _serial(value: Any) -> int | None:
    """The number of the tensor that a value is, or that a variable holds now."""
    if type(value) in conversions:  # a Variable of Keras': of others no attribute is read, it may run code or raise
        value = getattr(value, "value", value)
    found = value.current if isinstance(value, Variable) else value
    return found.serial if isinstance(found, Tensor) else None


def own_name(source: Any) -> str | None:
    """The name that a variable was given."""
    name = getattr(source, "name", "").removesuffix(":0")
    return name if name and name.isidentifier() and name != "Variable" and not name.startswith("tensor_") else None


def program(tape: Any, target: Tensor, sources: Sequence[Any]) -> tuple[Program, tuple[str, ...]]:
    """The record from the sources to the target as a program, and the names of the sources' values."""
    names = names_in_frame(user_frame())
    for variable_, versions in tape.variables.values():
        own = own_name(variable_) or names.get(variable_.current.serial)
        names |= {v.serial: own for v in versions if own}
    builder = Builder(tape.operations, names)
    wrt: list[str] = []
    for i, source in enumerate(sources):
        for version in tape.versions(source) if isinstance(source, Variable) else [source]:
            if version.serial in tape.tracked or not wrt:
                wrt.append(builder.source(version, names.get(version.serial, "x" if i == 0 else f"x{i + 1}")))
    output = builder.node(target)
    title = names.get(target.serial) or (name_of(_site_of(tape, target)) or "y")
    trace = Trace(title, numeric=True, values=dict(builder.values), sites=builder.sites)
    trace.conditions = [
        Condition(node, truth, site) for t, truth, site in tape.decisions if (node := _known(builder, t)) is not None
    ]
    arguments = tuple(
        Argument(name, builder.values[node], node.shape, is_default=name not in wrt)
        for name, node in builder.inputs.items()
    )
    replay = Replay(output, list(builder.inputs.values()), title)
    found = Program(replay, title, arguments, dict(builder.inputs), output, trace)
    return replace(found, explored=False), tuple(wrt)


def _known(builder: Builder, t: Tensor) -> Node | None:
    """The node of a condition, if it depends on the sources."""
    return builder.node(t) if t.serial in builder.moving else None


def _site_of(tape: Any, target: Tensor) -> Any:
    return next((op.site for op in reversed(tape.operations) if any(t is target for t in op.outputs)), None)
