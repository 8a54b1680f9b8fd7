"""The methods and attributes of arrays, on traced values: each is NumPy's function of that name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradexplain.graph import Node
from gradexplain.language import Sentence
from gradexplain.shapes import Shape
from gradexplain.trace.exits import leave
from gradexplain.trace.running import Trace
from gradexplain.trace.source import place


class ArrayMethods:
    """What a traced value has in common with `np.ndarray`."""

    __slots__ = ()
    if TYPE_CHECKING:
        _trace: Trace
        _node: Node

        @property
        def node(self) -> Node: ...
        @property
        def shape(self) -> Shape: ...

        def copy(self, order: str = "C") -> Any: ...
        def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any: ...
        def __iter__(self) -> Any: ...
        def __getitem__(self, key: Any) -> Any: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...

    @property
    def ndim(self) -> int:
        return len(self._node.shape)

    @property
    def size(self) -> int:
        return self._node.size

    @property
    def dtype(self) -> Any:
        return np.dtype({"float": float, "int": int, "bool": bool}[self._node.kind])

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def T(self) -> Any:  # noqa: N802 (NumPy's name)
        return np.transpose(self)  # type: ignore[call-overload]

    @property
    def mT(self) -> Any:  # noqa: N802 (NumPy's name)
        return np.swapaxes(self, -1, -2)  # type: ignore[call-overload]

    @property
    def flat(self) -> Any:
        return np.reshape(self, (self.size,))  # type: ignore[call-overload]

    @property
    def real(self) -> Any:
        return self

    @property
    def imag(self) -> Any:
        return np.zeros(self.shape) if self.shape else 0.0

    def conjugate(self) -> Any:
        return self

    conj = conjugate

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)  # type: ignore[call-overload]

    def transpose(self, *axes: Any) -> Any:
        return np.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)  # type: ignore[call-overload]

    def flatten(self, order: str = "C") -> Any:
        return np.ravel(self, order=order).copy()  # type: ignore[call-overload]

    def sort(self, axis: int = -1, **_: Any) -> None:
        self[...] = np.sort(self, axis=axis)  # type: ignore[call-overload]

    def fill(self, value: Any) -> None:
        self[...] = value

    def item(self, *index: Any) -> Any:
        if index:
            return self.flat[index[0]] if len(index) == 1 else self[tuple(index)]
        return self.flat[0] if self.shape else self

    def tolist(self) -> Any:
        return [x.tolist() for x in self] if self.shape else self

    def is_integer(self) -> Any:
        return np.floor(self) == self  # type: ignore[call-overload]

    def astype(self, dtype: Any, **_: Any) -> Any:
        kind = np.dtype(dtype).kind
        if kind == "f" or (kind in "iu" and self._node.kind == "int"):
            return self * 1.0 if self._node.kind == "bool" else self.copy()  # type: ignore[operator]
        if kind in "iu":
            found = place()
            at = f"{found.file}:{found.line}: " if found else ""
            name = np.dtype(dtype).name
            sentence = "{place}a conversion to {kind} cuts off the fraction, so its derivative is 0"
            self._trace.note(Sentence(sentence, place=at, kind=name))
            return np.trunc(self)  # type: ignore[call-overload]
        if kind == "b":
            return np.not_equal(self, 0)  # type: ignore[call-overload]
        return leave(f"astype({np.dtype(dtype)})", "float64 is what derivatives are computed in")


def _method(function: Any) -> Any:
    def method(self: ArrayMethods, *args: Any, **kwargs: Any) -> Any:
        return self.__array_function__(function, (), (self, *args), kwargs)

    return method


_NAMES = (
    "sum prod mean var std max min cumsum cumprod dot ravel squeeze swapaxes trace diagonal repeat clip argmax argmin "
    "argsort ptp take any all compress nonzero searchsorted round choose"
)
for _name in _NAMES.split():
    setattr(ArrayMethods, _name, _method(getattr(np, _name)))
