"""What is asked of a tape: targets, sources, their cotangents, and what stands where no path leads."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from gradexplain.tape.backward import ones_like, zeros_like
from gradexplain.tape.errors import InvalidArgumentError, OperandError, SourceError
from gradexplain.tape.functions import cast, conversions, tensor
from gradexplain.tape.slices import IndexedSlices, added
from gradexplain.tape.structures import flatten
from gradexplain.tape.tensor import Operators, Tensor, operators
from gradexplain.tape.variable import Variable


class UnconnectedGradients(enum.Enum):
    """What stands for a derivative where no path leads: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


def unconnected(given: Any) -> UnconnectedGradients:
    """What stands where no path leads, by its name or value."""
    try:
        return UnconnectedGradients(given)
    except ValueError:
        raise OperandError(
            f"unknown value for unconnected_gradients: {given!r}",
            why="it says what stands where no path leads",
            fix="use tf.UnconnectedGradients.NONE ('none') or ZERO ('zero')",
        ) from None


def seeds_of(targets: Sequence[Tensor], given: Any) -> list[Tensor]:
    """The cotangents of the targets: those given, or ones."""
    if given is None:
        return [ones_like(t) for t in targets]
    listed = flatten(given)[: len(targets)]  # of a list of numbers for one target TensorFlow takes the first
    if any(g is None for g in listed):
        raise OperandError(
            "output_gradients must not hold None",
            why="every target needs its cotangent",
            fix="give zeros instead of None",
        )
    if len(listed) != len(targets):
        raise OperandError(f"{len(listed)} output_gradients for {len(targets)} targets", fix="give one for each target")
    return [_fitted(g, t) for g, t in zip(listed, targets, strict=True)]


def _fitted(seed: Any, target: Tensor) -> Tensor:
    given = tensor(seed, None if isinstance(seed, Operators) else target.dtype)
    if given.shape != target.shape:
        given = operators["mul"](given, ones_like(target))  # raises where the shapes do not fit
    if given.shape != target.shape:
        raise InvalidArgumentError(
            f"Incompatible shapes: output_gradients of shape {tuple(given.shape)} for a target of shape"
            f" {tuple(target.shape)}",
            fix="give a cotangent of the target's shape",
        )
    return given


def target_tensor(value: Any) -> Tensor:
    """The tensor whose derivative is asked for."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Variable):
        return value.read()
    if type(value) in conversions:
        return tensor(value)
    raise SourceError(
        f"the target of a derivative must be a tensor, not {_called(value)}",
        why="a number has no history" if value is not None else "None has no history",
        fix="keep the tensor: no .numpy(), float() or np.… between the block and the gradient",
    )


def plain_source(source: Any) -> Any:
    """The variable of TensorFlow's that a variable of Keras' holds; anything else itself."""
    value = getattr(source, "value", None)
    return value if isinstance(value, Variable) else source


def require_source(leaf: Any) -> None:
    """Raises `SourceError` for what is no tensor and no variable."""
    if not isinstance(plain_source(leaf), (Tensor, Variable)):
        raise SourceError(
            f"a derivative can't be taken with respect to {_called(leaf)}",
            why="sources are tensors or variables",
            fix="make it a tf.Variable, or a tf.constant that is watched",
        )


def unwatchable(leaf: Any) -> OperandError:
    """The error about what a tape can't watch."""
    return OperandError(
        f"a tape can't watch {_called(leaf)}",
        why="it watches tensors and variables" + (": a Variable of Keras is neither" if hasattr(leaf, "value") else ""),
        fix="watch its value: tape.watch(v.value)"
        if hasattr(leaf, "value")
        else "make it a tensor with tf.constant first",
    )


def _called(value: Any) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def total_of(parts: Sequence[Any]) -> Any:
    """The sum of cotangents, None without any."""
    total = None
    for part in parts:
        total = part if total is None else added(total, part)
    return total


def instead_of(found: Any, source: Any, kind: UnconnectedGradients) -> Any:
    """The result for a source: its cotangent in its own type, or what stands for None."""
    if found is None:
        plain = plain_source(source)
        if kind is UnconnectedGradients.NONE:
            return None
        return zeros_like(plain)
    if isinstance(found, IndexedSlices):
        return found
    dtype = source.dtype
    if found.dtype is not dtype:
        return cast(found, dtype)
    return found
