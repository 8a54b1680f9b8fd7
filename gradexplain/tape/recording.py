"""What is recorded while a program runs: operations on tensors, and who listens to them.

A *listener* is a tape, or an accumulator of forward mode. Every operation that runs meanwhile is told to each of
them; what they keep of it is their affair.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradexplain.graph import Primitive
from gradexplain.ops.conventions import TENSORFLOW
from gradexplain.trace.source import Site, site

if TYPE_CHECKING:
    from gradexplain.tape.tensor import Tensor
    from gradexplain.tape.variable import Variable

# The cotangents of the operands that are wanted, given those of the results.
Pull = Callable[["Operation", Sequence[Any], Sequence[bool]], Sequence[Any]]


class Operation:
    """One operation that was carried out: a row of the table on tensors, or a function with a pullback of its own.

    `flat` operations have no derivative. `sparse` ones picked rows; their cotangent is a list of rows. `call` names the
    function of the user's program that the operation is a part of.
    """

    __slots__ = ("call", "flat", "inputs", "name", "outputs", "params", "pull", "row", "scope", "site", "sparse")

    def __init__(
        self,
        name: str,
        row: Primitive | None,
        params: Mapping[str, Any],
        inputs: tuple[Tensor, ...],
        outputs: tuple[Tensor, ...],
        *,
        pull: Pull | None = None,
        flat: bool = False,
        sparse: bool = False,
        call: str = "",
        at: Site | None = None,
    ) -> None:
        self.name, self.row, self.params, self.inputs, self.outputs = name, row, params, inputs, outputs
        self.pull, self.flat, self.sparse, self.call, self.site = pull, flat, sparse, call, at
        self.scope = state.scope  # of which operation this is a part of the derivative

    @property
    def ends(self) -> bool:
        """Whether no derivative flows through it."""
        has_no_rule = self.row is not None and self.row.pullback is None and self.row not in TENSORFLOW
        return self.flat or has_no_rule or not self.outputs[0].is_trainable

    def __repr__(self) -> str:
        return f"<{self.name}: {', '.join(str(t.serial) for t in self.inputs)} -> {self.outputs[0].serial}>"


class Listener(Protocol):
    """What hears of operations, of variables that are read, and of values that leave the record."""

    def note(self, operation: Operation) -> None:
        """An operation was carried out."""

    def read(self, variable: Variable) -> None:
        """A variable's value was read."""


class _State(threading.local):
    def __init__(self) -> None:
        self.listeners: list[Any] = []
        self.quiet, self.kept = 0, np.geterr()  # see `quiet`
        self.depth = 0  # of functions decorated with tf.function that are running
        self.scope: tuple[str, Operation | None] | None = None  # by whom a derivative is computed, and of what


state = _State()


class _Quiet:
    """NumPy without warnings; asked for within itself it does nothing, which is cheaper."""

    def __enter__(self) -> None:
        if not state.quiet:
            state.kept = np.seterr(all="ignore")
        state.quiet += 1

    def __exit__(self, *_: object) -> None:
        state.quiet -= 1
        if not state.quiet:
            np.seterr(**state.kept)


_quiet = _Quiet()


def quiet() -> _Quiet:
    """A block in which NumPy does not warn of infinities and NaN: tensors have them without a word."""
    return _quiet


def tell(operation: Operation) -> None:
    """Tells the listeners of an operation, and notes where it was made."""
    if operation.site is None:
        operation.site = site()
    for listener in state.listeners:  # this list is replaced, never changed, while they are told
        listener.note(operation)


@contextmanager
def scoped(style: str, operation: Operation | None) -> Iterator[None]:
    """What happens in this block is a part of the derivative of an operation."""
    before, state.scope = state.scope, (style, operation)
    try:
        yield
    finally:
        state.scope = before


@contextmanager
def without(listener: Any) -> Iterator[None]:
    """Within this block, one listener does not listen."""
    before = state.listeners
    state.listeners = [x for x in before if x is not listener]
    try:
        yield
    finally:
        state.listeners = before


@contextmanager
def nobody() -> Iterator[None]:
    """Within this block, nobody listens."""
    before = state.listeners
    state.listeners = []
    try:
        yield
    finally:
        state.listeners = before
