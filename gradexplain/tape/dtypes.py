"""The types of the entries of tensors, with TensorFlow's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError
from gradexplain.graph import Kind


class DType:
    """The type of a tensor's entries; equal to its name and to NumPy's type.

    >>> float32.name, float32 == np.float32, float32 == "float32", float32.is_floating
    ('float32', True, True, True)
    """

    __slots__ = ("as_numpy_dtype", "kind", "name", "plain")

    def __init__(self, name: str, plain: Any) -> None:
        self.name, self.plain = name, np.dtype(plain)
        self.as_numpy_dtype = self.plain.type
        kinds: dict[str, Kind] = {"b": "bool", "i": "int", "u": "int"}
        self.kind: Kind = kinds.get(self.plain.kind, "float")

    @property
    def is_floating(self) -> bool:
        return bool(self.plain.kind == "f")

    @property
    def is_complex(self) -> bool:
        return bool(self.plain.kind == "c")

    @property
    def is_integer(self) -> bool:
        return self.plain.kind in "iu"

    @property
    def is_bool(self) -> bool:
        return bool(self.plain.kind == "b")

    @property
    def is_trainable(self) -> bool:
        """Whether a derivative flows through values of this type."""
        return self.plain.kind in "fc"

    @property
    def real_dtype(self) -> DType:
        """The type of the real part."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def base_dtype(self) -> DType:
        return self

    @property
    def min(self) -> Any:
        """The smallest number of this type."""
        return np.finfo(self.plain).min if self.is_floating else np.iinfo(self.plain).min

    @property
    def max(self) -> Any:
        """The largest number of this type."""
        return np.finfo(self.plain).max if self.is_floating else np.iinfo(self.plain).max

    @property
    def size(self) -> int:
        """Bytes of an entry."""
        return int(self.plain.itemsize)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        try:
            return as_dtype(other) is self
        except (ArgumentError, TypeError):
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"


float16, float32, float64 = DType("float16", "f2"), DType("float32", "f4"), DType("float64", "f8")
int8, int16, int32, int64 = DType("int8", "i1"), DType("int16", "i2"), DType("int32", "i4"), DType("int64", "i8")
uint8, uint16, uint32, uint64 = (
    DType("uint8", "u1"),
    DType("uint16", "u2"),
    DType("uint32", "u4"),
    DType("uint64", "u8"),
)
complex64, complex128 = DType("complex64", "c8"), DType("complex128", "c16")
truth, text = DType("bool", "?"), DType("string", "O")

BY_NAME = {d.name: d for d in (float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                               complex64, complex128, truth, text)}  # fmt: skip
BY_PLAIN = {d.plain: d for d in BY_NAME.values()}
_OTHER_NAMES = {"half": float16, "double": float64, "float": float32, "bfloat16": float32}


def as_dtype(value: Any) -> DType:
    """The type of that name, or NumPy's or Python's type as one of ours.

    >>> as_dtype("float64"), as_dtype(float), as_dtype(np.int64)
    (tf.float64, tf.float32, tf.int64)
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, str) and value in _OTHER_NAMES:
        return _OTHER_NAMES[value]
    if value in (float, int, bool):
        return {float: float32, int: int32, bool: truth}[value]
    try:
        return BY_PLAIN[np.dtype(value)]
    except (KeyError, TypeError):
        fix = f"use one of {', '.join(BY_NAME)}"
        raise ArgumentError(f"{value!r} is no type of a tensor's entries", fix=fix) from None
