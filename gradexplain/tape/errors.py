"""The errors of tapes and tensors, also of those classes of Python's that TensorFlow raises in their place."""

from __future__ import annotations

from gradexplain.errors import ArgumentError, GradexplainError


class OpError(GradexplainError):
    """An operation on tensors failed."""

    @property
    def message(self) -> str:
        return str(self)


class InvalidArgumentError(OpError, ValueError):
    """Operands of an operation that do not go together: other types, or shapes that do not fit."""


class OutOfRangeError(OpError):
    """An iterator has no more elements."""


class FailedPreconditionError(OpError):
    """Something was used before it was ready."""


class UnimplementedError(OpError, NotImplementedError):
    """There is no such operation here."""


class OperandError(ArgumentError, ValueError):
    """A value that can't be an operand."""


class ConversionError(InvalidArgumentError, OperandError):
    """A value that can't be converted to the type of the tensor that it meets."""


class TapeError(GradexplainError, RuntimeError):
    """A tape was used at a time when it can't be."""


class TapeStateError(GradexplainError, ValueError):
    """A tape was entered, reset or paused in a state in which that means nothing."""


class NoRecordError(TapeStateError, AttributeError):
    """Something was to be watched by a tape that has no record: it was not entered yet, or is used up."""


class SourceError(ArgumentError, AttributeError, ValueError):
    """What a derivative is asked of, or with respect to, is no tensor and no variable."""


class MissingGradientError(GradexplainError, LookupError):
    """An operation that TensorFlow has no derivative for is on the path."""


class UnknownNameError(GradexplainError, AttributeError):
    """A name of TensorFlow that is not here."""
