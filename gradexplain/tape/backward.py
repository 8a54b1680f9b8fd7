"""Reverse mode over a record of operations: cotangents, from the targets back to the sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradexplain.tape import routine as routines
from gradexplain.tape.errors import MissingGradientError
from gradexplain.tape.recording import Operation, quiet, state, tell
from gradexplain.tape.slices import added, dense, of_rows
from gradexplain.tape.tensor import Tensor
from gradexplain.trace.source import place_of


def cotangents(
    operations: Sequence[Operation],
    seeds: Iterable[tuple[Tensor, Tensor]],
    sources: Iterable[Tensor],
    style: str = "gradient_tape",
) -> dict[int, Any]:
    """The cotangents of the sources (and of all on the way to them) by serial number, given those of the targets."""
    hot = {t.serial for t in sources}
    path: list[tuple[Operation, tuple[bool, ...]]] = []
    for operation in operations:
        wanted = tuple([t.serial in hot for t in operation.inputs])
        if True in wanted or operation.name in MISSING:
            path.append((operation, wanted))
            hot.update([t.serial for t in operation.outputs if t.is_trainable])
    found: dict[int, Any] = {}
    for target, seed in seeds:
        found[target.serial] = added(found[target.serial], seed) if target.serial in found else seed
    with quiet():
        _hand_back(path, found, hot, style)
    return found


def _hand_back(
    path: Sequence[tuple[Operation, tuple[bool, ...]]], found: dict[int, Any], hot: set[int], style: str
) -> None:
    """Adds to the cotangents of all operands what the operations hand back, the last one first."""
    outside = state.scope
    for operation, wanted in reversed(path):
        given = [found.get(t.serial) for t in operation.outputs]
        if all(g is None for g in given):
            continue
        state.scope = (style, operation)
        try:
            contributions = handed_back(operation, given, wanted)
        finally:
            state.scope = outside
        for t, handed in zip(operation.inputs, contributions, strict=True):
            if handed is not None and t.serial in hot:
                found[t.serial] = added(found[t.serial], handed) if t.serial in found else handed


# Operations for which TensorFlow has no derivative and says so by an error, where others give None.
MISSING = {"TruncateMod", "Bitcast", "Unique", "Lu", "AdjustContrastv2", "InTopKV2", "HistogramFixedWidth"}


def handed_back(operation: Operation, given: Sequence[Any], wanted: tuple[bool, ...]) -> Sequence[Any]:
    """What an operation hands to its operands, given the cotangents of its results; None where nothing flows."""
    if operation.name in MISSING:
        raise MissingGradientError(
            f"gradient registry has no entry for: {operation.name}",
            where=place_of(operation.site),
            why="TensorFlow has no derivative for this operation",
            fix="write it with operations that have one, or use tf.custom_gradient",
        )
    if operation.flat:
        return [None] * len(operation.inputs)
    if operation.name == "identity":  # rows that were picked stay rows
        return [given[0]]
    if operation.sparse:
        table, indices = operation.inputs
        return [of_rows(dense(given[0]), indices, table) if wanted[0] else None, None]
    if operation.pull is not None:
        return operation.pull(operation, [None if g is None else dense(g) for g in given], wanted)
    assert operation.row is not None
    y, g = operation.outputs[0], dense(given[0])
    specs = tuple([t.spec for t in operation.inputs])
    routine = routines.pullback(operation.row, tuple(operation.params.items()), specs, wanted)
    plain = g.array.dtype
    if plain.kind != "c":
        handed = routine.run([g, y, *operation.inputs], plain)
        return (
            [_beside(h, t) for h, t in zip(handed, operation.inputs, strict=True)]
            if operation.call in GATES
            else handed
        )
    return [_conjugate(h) for h in routine.run([_conjugate(g), y, *operation.inputs], plain)]


# Activations whose slope has a derivative in TensorFlow that is there, and 0; elsewhere there is none.
GATES = {"Relu", "Relu6", "LeakyRelu", "HardSigmoid"}


def _beside(handed: Any, operand: Tensor) -> Any:
    """A cotangent that depends on the operand too, with a slope of 0."""
    if handed is None or not state.listeners:
        return handed
    result = Tensor(handed.array)
    pull = lambda op, gs, wanted: [gs[0], zeros_like(op.inputs[1])]  # noqa: E731 (told of once)
    tell(Operation("beside", None, {}, (handed, operand), (result,), pull=pull))
    return result


def _conjugate(t: Any) -> Any:
    """Of complex numbers TensorFlow hands back the conjugate: z*z at 1+2j has the gradient 2-4j."""
    if t is None or t.array.dtype.kind != "c":
        return t
    from gradexplain.tape.functions import conjugate

    return conjugate(t)


def ones_like(t: Tensor) -> Tensor:
    """The seed of a sweep."""
    seed = Tensor(np.ones(t.array.shape, t.array.dtype)[()])
    if state.listeners:
        tell(Operation("ones", None, {}, (), (seed,), flat=True))
    return seed


def zeros_like(t: Any) -> Tensor:
    """What stands for None where zeros are asked for."""
    return Tensor(np.zeros(t.shape, t.dtype.plain)[()])
