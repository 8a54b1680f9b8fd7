"""`ForwardAccumulator`: forward mode. Every operation hands its tangent on at once."""

from __future__ import annotations

from typing import Any

from gradexplain.tape import routine as routines
from gradexplain.tape.backward import cotangents, handed_back, ones_like, zeros_like
from gradexplain.tape.errors import OperandError, TapeStateError
from gradexplain.tape.functions import tensor
from gradexplain.tape.gradient import GradientTape
from gradexplain.tape.recording import Operation, state, without
from gradexplain.tape.requests import UnconnectedGradients, plain_source, require_source, unconnected
from gradexplain.tape.structures import flatten, pack
from gradexplain.tape.tensor import Operators, Tensor
from gradexplain.tape.variable import Variable


class ForwardAccumulator:
    """Jacobian times vector: `jvp(y)` is the change of y when the primals change along the tangents.

    >>> from gradexplain.tape.tensor import constant
    >>> x = constant(3.0)
    >>> with ForwardAccumulator(x, constant(2.0)) as accumulator:
    ...     y = x * x
    >>> accumulator.jvp(y)
    <tf.Tensor: shape=(), dtype=float32, numpy=12.0>
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        leaves, moves = flatten(primals), flatten(tangents)
        if len(leaves) != len(moves):
            raise OperandError(
                f"{len(leaves)} primals and {len(moves)} tangents", fix="give one tangent for each primal"
            )
        self.tangents: dict[int, Tensor] = {}
        self._variables: dict[int, tuple[Variable, Tensor]] = {}
        self._seen: list[Any] = []
        self._recording = False
        for leaf, move in zip(leaves, moves, strict=True):
            self._start(plain_source(leaf), move)

    def _start(self, primal: Any, move: Any) -> None:
        require_source(primal)
        if any(primal is p for p in self._seen):
            raise OperandError(
                "a primal was given multiple times", why="it has one tangent", fix="add the tangents and give it once"
            )
        self._seen.append(primal)
        if not primal.dtype.is_trainable:
            return
        given = tensor(move, None if isinstance(move, Operators) else primal.dtype)
        if isinstance(primal, Variable):
            self._variables[id(primal)] = (primal, given)
            self.tangents[primal.current.serial] = given
        else:
            self.tangents[primal.serial] = given

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise TapeStateError("the accumulator is already recording", fix="use one of its own")
        self._recording = True
        state.listeners.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._recording = False
        state.listeners = [x for x in state.listeners if x is not self]

    def read(self, variable: Variable) -> None:
        """A variable was read: this version moves as it was told."""
        if id(variable) in self._variables:
            self.tangents.setdefault(variable.current.serial, self._variables[id(variable)][1])

    def note(self, operation: Operation) -> None:
        """An operation was carried out: its result has a tangent if an operand has one."""
        moving = tuple([t.serial in self.tangents for t in operation.inputs])
        if True not in moving or operation.flat:
            return
        with without(self):
            for output, tangent in zip(operation.outputs, self._pushed(operation, moving), strict=True):
                if tangent is not None and output.dtype.is_trainable:
                    self.tangents[output.serial] = tangent

    def _pushed(self, operation: Operation, moving: tuple[bool, ...]) -> list[Any]:
        given = [self.tangents[t.serial] for t, moves in zip(operation.inputs, moving, strict=True) if moves]
        if operation.row is None:
            return [self._by_transposing(operation, y, moving) for y in operation.outputs]
        specs = tuple([t.spec for t in operation.inputs])
        routine = routines.pushforward(operation.row, tuple(operation.params.items()), specs, moving)
        y = operation.outputs[0]
        return list(routine.run([y, *operation.inputs, *given], y.array.dtype))

    def _by_transposing(self, operation: Operation, y: Tensor, moving: tuple[bool, ...]) -> Any:
        """The tangent of what states a pullback only: the pullback is linear, and this is its transpose."""
        with GradientTape() as tape:
            seed = ones_like(y)
            tape.watch(seed)
            given = [seed if o is y else zeros_like(o) for o in operation.outputs]
            handed = handed_back(operation, given, moving)
        pairs = [
            (h, self.tangents[t.serial])
            for t, h in zip(operation.inputs, handed, strict=True)
            if h is not None and t.serial in self.tangents
        ]
        return cotangents(tape.operations, pairs, [seed]).get(seed.serial)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The tangents of tensors, in their structure; None where nothing moves."""
        kind = unconnected(unconnected_gradients)
        found = []
        for leaf in flatten(primals):
            t = leaf.current if isinstance(leaf, Variable) else tensor(leaf)
            tangent = self.tangents.get(t.serial)
            found.append(zeros_like(t) if tangent is None and kind is UnconnectedGradients.ZERO else tangent)
        return pack(primals, found)
