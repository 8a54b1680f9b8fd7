"""`GradientTape`: records what is done with the tensors that it watches, and gives their derivatives."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradexplain.tape.backward import cotangents, zeros_like
from gradexplain.tape.errors import NoRecordError, OperandError, SourceError, TapeError, TapeStateError
from gradexplain.tape.functions import call
from gradexplain.tape.recording import Operation, scoped, state, without
from gradexplain.tape.requests import (
    UnconnectedGradients,
    instead_of,
    plain_source,
    require_source,
    seeds_of,
    target_tensor,
    total_of,
    unconnected,
    unwatchable,
)
from gradexplain.tape.slices import dense
from gradexplain.tape.structures import flatten, pack
from gradexplain.tape.tensor import Tensor
from gradexplain.tape.variable import Variable
from gradexplain.tape.views import Explained

_log = logging.getLogger("gradexplain")


class _Pause:
    """Listens in place of a tape that is stopped, so that it can tell what it missed."""

    def __init__(self, tape: GradientTape) -> None:
        self._tape = tape

    def note(self, operation: Operation) -> None:
        self._tape.paused.append(operation)

    def read(self, variable: Variable) -> None:
        pass


class GradientTape(Explained):
    """Records operations on what it watches; `gradient` goes back over the record.

    Trainable variables are watched when they are read; tensors after `watch`. A tape that is not `persistent` gives one
    set of gradients.

    >>> from gradexplain.tape.tensor import constant
    >>> x = constant(3.0)
    >>> with GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        super().__init__()
        self._persistent, self.automatic = persistent, watch_accessed_variables
        self._usable = False  # whether gradients may be asked for
        self._recording = False
        self._depth = 0  # of functions in which it was entered
        self.style = "gradient_tape"  # what the operations of its gradients are called by

    # The block.
    def __enter__(self) -> GradientTape:
        if self._recording:
            raise TapeStateError(
                "the tape is still recording", why="its block was entered already", fix="use a tape of its own"
            )
        self._recording = self._usable = True
        self._depth = state.depth
        self._entered()
        state.listeners.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._recording:
            self._close()

    def _close(self) -> None:
        self._recording = False
        self._left()
        state.listeners = [x for x in state.listeners if x is not self]

    # What is recorded.
    def note(self, operation: Operation) -> None:
        """An operation was carried out: it is recorded if it starts from what is watched."""
        tracked = self.tracked
        for t in operation.inputs:
            if t.serial in tracked:
                self.operations.append(operation)
                if not operation.flat:
                    tracked.update([o.serial for o in operation.outputs if o.is_trainable])
                return
        self.skipped.append(operation)

    def read(self, variable: Variable) -> None:
        """A variable was read: it is watched from now on, if it is trainable."""
        if (self.automatic and variable.trainable) or id(variable) in self.variables:
            self._watch_variable(variable)

    def _watch_variable(self, variable: Variable) -> None:
        version = variable.current
        if version.serial not in self.tracked and version.is_trainable:
            self.tracked.add(version.serial)
            self.variables.setdefault(id(variable), (variable, []))[1].append(version)

    def watch(self, tensor: Any) -> None:
        """Records what is done with a tensor or variable (or all in a structure) from now on."""
        if not self._usable:
            raise NoRecordError(
                "this tape has no record (_tape) that could watch anything",
                why="its block was not entered yet, or its gradients were given already",
                fix="call watch inside the with block",
            )
        for leaf in flatten(tensor):
            if isinstance(leaf, Variable):
                self.variables.setdefault(id(leaf), (leaf, []))
                self._watch_variable(leaf)
            elif isinstance(leaf, Tensor):
                if not leaf.dtype.is_trainable:
                    _log.warning(
                        "the dtype of the watched tensor must be floating (e.g. tf.float32), got %r", leaf.dtype
                    )
                else:
                    self.watched.setdefault(leaf.serial, leaf)
                    self.tracked.add(leaf.serial)
            else:
                raise unwatchable(leaf)

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that were read (or watched), in the order in which they were made."""
        return tuple(sorted((variable for variable, _ in self.variables.values()), key=lambda v: v.born))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """What is computed in this block is constant for the tape."""
        if not self._recording:
            raise TapeError("the tape is not recording, and can't be stopped", fix="use this inside the tape's block")
        self._recording, pause = False, _Pause(self)
        with without(self):
            state.listeners.append(pause)
            try:
                yield
            finally:
                self._recording = True

    def reset(self) -> None:
        """Forgets what was recorded and watched."""
        if not self._recording:
            raise TapeStateError(
                "the tape is not recording, and can't be reset", fix="use this inside the tape's block"
            )
        self.forget()

    # Derivatives.
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The derivatives of the (sum of the) targets, in the structure of the sources; None where no path leads.

        `output_gradients` are the cotangents of the targets, ones unless given.
        """
        kind = unconnected(unconnected_gradients)
        self._use("gradient")
        targets = [target_tensor(t) for t in flatten(target)]
        leaves = flatten(sources)
        for leaf in leaves:
            require_source(leaf)
        with scoped(self.style, None):
            seeds = seeds_of(targets, output_gradients)
        found = self._sweep(targets, seeds, leaves)
        if self._closing:
            self._finish()
        results = [instead_of(f, s, kind) for f, s in zip(found, leaves, strict=True)]
        self._remember(results, target, leaves)
        return pack(sources, results)

    def _sweep(self, targets: Sequence[Tensor], seeds: Sequence[Tensor], sources: Sequence[Any]) -> list[Any]:
        versions = [self.versions(s) for s in sources]
        pairs = [(t, s) for t, s in zip(targets, seeds, strict=True) if t.dtype.is_trainable]
        watched = [v for vs in versions for v in vs if v.serial in self.tracked or any(v is t for t in targets)]
        found = {} if state.depth > self._depth else cotangents(tuple(self.operations), pairs, watched, self.style)
        found = {v.serial: found[v.serial] for v in watched if v.serial in found}
        return [total_of([found[v.serial] for v in vs if v.serial in found]) for vs in versions]

    def versions(self, source: Any) -> list[Tensor]:
        """The tensors that a source stands for: of a variable, all its values that were read."""
        plain = plain_source(source)
        if isinstance(plain, Variable):
            known = self.variables.get(id(plain), (plain, []))[1]
            return known if any(v is plain.current for v in known) else [*known, plain.current]
        return [plain]

    def _use(self, what: str) -> None:
        if not self._usable:
            raise TapeError(
                "a non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)",
                why="it has given them already, or has recorded nothing yet",
                fix="use tf.GradientTape(persistent=True), or ask for all gradients at once",
            )
        if self._recording and self._persistent:
            _log.warning(
                "%s of a persistent tape inside its own block also records the operations of the gradient; "
                "ask for it after the block unless you want higher derivatives",
                what,
            )
        self._closing = not self._persistent
        if self._closing and self._recording:
            self._close()

    def _finish(self) -> None:
        self._usable = False

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of every entry of one target: of shape target.shape + source.shape."""
        kind = unconnected(unconnected_gradients)
        if isinstance(target, (list, tuple, dict)):
            raise SourceError(
                f"jacobian takes one tensor as target, not a {type(target).__name__}",
                fix="call it for each of them (with persistent=True)",
            )
        if not experimental_use_pfor and not self._persistent:
            raise TapeError(
                "jacobian with experimental_use_pfor=False needs a persistent tape",
                fix="use GradientTape(persistent=True)",
            )
        self._use("jacobian")
        y, leaves = target_tensor(target), flatten(sources)
        for leaf in leaves:
            require_source(leaf)
        results = []
        for leaf, column in zip(leaves, self._columns(y, unit_seeds(y), leaves), strict=True):
            source, shape = plain_source(leaf), tuple(y.shape) + tuple(leaf.shape)
            if all(c is None for c in column):
                zero = Tensor(np.zeros(shape, source.dtype.plain)[()])
                results.append(None if kind is UnconnectedGradients.NONE else zero)
            else:
                results.append(assembled(column, source, shape))
        return pack(sources, results)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of every example by itself: (b, …) and (b, …) give (b, target[1:], source[1:])."""
        unconnected(unconnected_gradients)
        y, x = target_tensor(target), plain_source(source)
        if not y.shape or not x.shape:
            raise IndexError("batch_jacobian needs a batch: target and source must have a first axis")
        if y.shape[0] != x.shape[0]:
            raise OperandError(
                f"target and source must have the same first dimension, not {y.shape[0]} and {x.shape[0]}",
                why="it counts the examples",
                fix="use jacobian",
            )
        self._use("batch_jacobian")
        (column,) = self._columns(y, _seeds_of_examples(y), [source])
        return assembled(column, x, (y.shape[0], *y.shape[1:], *x.shape[1:]), axis=1)

    def _columns(self, y: Tensor, seeds: Iterable[Tensor], sources: Sequence[Any]) -> list[list[Any]]:
        """For each source what comes back to it from every seed. The tape is used up after that."""
        rows = [[dense(g) for g in self._sweep([y], [seed], sources)] for seed in seeds]
        if self._closing:
            self._finish()
        return [[row[k] for row in rows] for k, _ in enumerate(sources)]


def assembled(column: Sequence[Any], source: Any, shape: tuple[int, ...], axis: int = 0) -> Any:
    """Cotangents of a source as one array, put side by side along an axis and then in a shape; None is zeros."""
    return call(_stacked, [zeros_like(source) if c is None else c for c in column], {"shape": shape, "axis": axis})


def _stacked(*parts: Any, shape: tuple[int, ...], axis: int) -> Any:
    from gradexplain.ops.joining import stacked
    from gradexplain.ops.shaping import reshape

    return reshape(stacked(list(parts), axis=axis), shape=shape)


def _seeds_of_examples(y: Tensor) -> Iterator[Tensor]:
    """A seed for each entry of an example, the same for all examples."""
    per_example = int(np.prod(y.shape[1:], dtype=int))
    for i in range(per_example):
        seed = np.zeros((y.shape[0], per_example), y.array.dtype)
        seed[:, i] = 1
        yield Tensor(seed.reshape(y.shape))


def unit_seeds(y: Tensor) -> Iterator[Tensor]:
    """A seed for each entry of a target."""
    for i in range(int(np.prod(y.shape, dtype=int))):
        seed = np.zeros(y.shape, y.array.dtype)
        seed.flat[i] = 1
        yield Tensor(seed[()])
