"""`IndexedSlices`: the gradient of rows that were picked from a table, as the rows and where they belong."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.ops import arithmetic
from gradexplain.ops.indexing import scatter
from gradexplain.ops.joining import concatenate
from gradexplain.ops.keys import HOLE
from gradexplain.ops.shaping import reshape
from gradexplain.tape.dtypes import DType
from gradexplain.tape.functions import call, conversions
from gradexplain.tape.tensor import Tensor, TensorShape, operators


class IndexedSlices:
    """Rows `values` that belong at `indices` of an array of zeros; where an index is named twice, both are added.

    >>> from gradexplain.tape.tensor import constant
    >>> slices = IndexedSlices(constant([[1.0], [2.0]]), constant([1, 1]), constant([3, 1]))
    >>> slices.dense().numpy().tolist()
    [[0.0], [3.0], [0.0]]
    """

    __slots__ = ("dense_shape", "indices", "values")

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self.values, self.indices, self.dense_shape = values, indices, dense_shape

    @property
    def shape(self) -> TensorShape:
        assert self.dense_shape is not None
        return TensorShape(int(n) for n in self.dense_shape.array)

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    def dense(self) -> Tensor:
        """The array itself."""
        pattern = (HOLE,)
        static = {"pattern": pattern, "shape": tuple(self.shape)}
        found: Tensor = call(scatter.record, [self.values, self.indices], static, plain=self.values.array.dtype)
        return found

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(operators["neg"](self.values), self.indices, self.dense_shape)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.dense().__array__(dtype)

    def __repr__(self) -> str:
        return f"IndexedSlices(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape!r})"


conversions[IndexedSlices] = IndexedSlices.dense


def of_rows(cotangent: Tensor, indices: Tensor, table: Tensor) -> IndexedSlices:
    """The cotangent of `table` where `table[indices]` was picked."""
    row = tuple(table.shape[1:])
    count = int(np.prod(indices.shape, dtype=int))
    values = call(_reshaped, [cotangent], {"shape": (count, *row)})
    flat = Tensor(np.reshape(indices.array, (count,)))
    return IndexedSlices(values, flat, Tensor(np.asarray(table.shape, dtype=np.int32)))


def _reshaped(x: Any, shape: Any) -> Any:
    return reshape(x, shape=shape)


def _joined(*nodes: Any) -> Any:
    return concatenate(*nodes, axis=0)


def added(a: Any, b: Any) -> Any:
    """The sum of two cotangents; of rows and rows, all the rows."""
    if isinstance(a, IndexedSlices) and isinstance(b, IndexedSlices):
        indices = Tensor(np.concatenate((a.indices.array, b.indices.array)))
        return IndexedSlices(call(_joined, [a.values, b.values]), indices, a.dense_shape)
    return call(arithmetic.add.record, [dense(a), dense(b)], name="AddN")


def dense(cotangent: Any) -> Any:
    """A cotangent as one array."""
    return cotangent.dense() if isinstance(cotangent, IndexedSlices) else cotangent
