"""Sums, products and extremes along axes; running sums; sorting and segments."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from gradexplain.graph import Node
from gradexplain.ops import arithmetic, elementary, indexing, ordering, reductions, special
from gradexplain.ops.keys import HOLE
from gradexplain.ops.statistics import average_over
from gradexplain.shapes import normal_axes, normal_axis, size
from gradexplain.tape.functions import call, cast, cut, tensor
from gradexplain.tape.tensor import Tensor, operators
from gradexplain.tf.names.table import named, on_nodes


def _axes(x: Node, axis: Any) -> tuple[int, ...]:
    return normal_axes(axis, x.ndim)


@on_nodes("reduce_sum", "math.reduce_sum", "keras.backend.sum", op="Sum")
def reduce_sum(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """The sum over axes, over all of them by default."""
    return reductions.sum_over(input_tensor, axis=_axes(input_tensor, axis), keepdims=bool(keepdims))


@on_nodes("reduce_mean", "math.reduce_mean", "keras.backend.mean", op="Mean")
def reduce_mean(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """The mean over axes."""
    return average_over(input_tensor, _axes(input_tensor, axis), bool(keepdims))


@on_nodes("reduce_max", "math.reduce_max", "keras.backend.max", op="Max")
def reduce_max(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """The largest entry over axes."""
    return reductions.max_over(input_tensor, axis=_axes(input_tensor, axis), keepdims=bool(keepdims))


@on_nodes("reduce_min", "math.reduce_min", "keras.backend.min", op="Min")
def reduce_min(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """The smallest entry over axes."""
    return reductions.min_over(input_tensor, axis=_axes(input_tensor, axis), keepdims=bool(keepdims))


@on_nodes("reduce_prod", "math.reduce_prod", "keras.backend.prod", op="Prod")
def reduce_prod(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """The product over axes."""
    return reductions.prod_over(input_tensor, axis=_axes(input_tensor, axis), keepdims=bool(keepdims))


@on_nodes("reduce_any", "math.reduce_any", op="Any")
def reduce_any(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """Whether any entry is true."""
    return reductions.any_over(input_tensor, axis=_axes(input_tensor, axis), keepdims=bool(keepdims))


@on_nodes("reduce_all", "math.reduce_all", op="All")
def reduce_all(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """Whether all entries are true."""
    return reductions.all_over(input_tensor, axis=_axes(input_tensor, axis), keepdims=bool(keepdims))


@on_nodes("reduce_logsumexp", "math.reduce_logsumexp", op="LogSumExp")
def reduce_logsumexp(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """log(sum(exp(x))), without overflow."""
    return special.log_sum_exp(input_tensor, axis=_axes(input_tensor, axis), keepdims=bool(keepdims))


@on_nodes("math.reduce_variance", "keras.backend.var", op="Variance")
def reduce_variance(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """The mean of the squares of the centred entries."""
    axes = _axes(input_tensor, axis)
    centred = arithmetic.sub.record(input_tensor, average_over(input_tensor, axes, keepdims=True))
    return average_over(elementary.square.record(centred), axes, bool(keepdims))


@on_nodes("math.reduce_std", "keras.backend.std", op="Std")
def reduce_std(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """The square root of the variance."""
    axes = _axes(input_tensor, axis)
    centred = arithmetic.sub.record(input_tensor, average_over(input_tensor, axes, keepdims=True))
    return elementary.sqrt.record(average_over(elementary.square.record(centred), axes, bool(keepdims)))


@on_nodes("math.reduce_euclidean_norm", op="EuclideanNorm")
def reduce_euclidean_norm(input_tensor: Node, axis: Any = None, keepdims: bool = False) -> Node:
    """The length of vectors."""
    axes = _axes(input_tensor, axis)
    total = reductions.sum_over(arithmetic.mul.record(input_tensor, input_tensor), axis=axes, keepdims=bool(keepdims))
    return elementary.sqrt.record(total)


def _running(x: Node, row: Any, start: int, axis: int, exclusive: bool, reverse: bool) -> Node:
    from gradexplain.ops.joining import concatenate
    from gradexplain.primitive import filled

    axis = normal_axis(axis, x.ndim)
    x = reductions.backwards(x, axis) if reverse else x
    if exclusive:
        first = filled(start, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
        x = concatenate(first, indexing.at_axis(x, axis, slice(None, -1)), axis=axis)
    found: Node = row(x, axis=axis)
    return reductions.backwards(found, axis) if reverse else found


@on_nodes("cumsum", "math.cumsum", op="Cumsum")
def cumsum(x: Node, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Node:
    """Running sums."""
    return _running(x, reductions.cumsum, 0, axis, exclusive, reverse)


@on_nodes("math.cumprod", op="Cumprod")
def cumprod(x: Node, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Node:
    """Running products."""
    return _running(x, reductions.cumprod, 1, axis, exclusive, reverse)


@on_nodes("argmax", "math.argmax", op="ArgMax")
def argmax(input: Node, axis: int = 0, output_type: Any = None) -> Node:
    """Where the largest entry is."""
    return reductions.argmax(input, axis=normal_axis(axis or 0, input.ndim))


@on_nodes("argmin", "math.argmin", op="ArgMin")
def argmin(input: Node, axis: int = 0, output_type: Any = None) -> Node:
    """Where the smallest entry is."""
    return reductions.argmin(input, axis=normal_axis(axis or 0, input.ndim))


@named("argsort")
def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: Any = None
) -> Tensor:
    """The order that sorts."""
    given = tensor(values)
    array = given.array if direction == "ASCENDING" else -given.array
    return cut(given, "argsort", np.argsort(array, axis=axis, kind="stable").astype(np.int32))


@named("sort")
def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: Any = None) -> Tensor:
    """The entries in order; each takes its derivative along."""
    given = tensor(values)
    order = argsort(given, axis, direction)
    found: Tensor = call(_along, [given, order], {"axis": axis}, name="Sort", plain=given.array.dtype)
    return found


def _along(x: Node, order: Node, axis: int) -> Node:
    return indexing.take_along_axis(x, order, axis)


TopK = namedtuple("TopK", ("values", "indices"))


@named("math.top_k", "nn.top_k")
def top_k(input: Any, k: int = 1, sorted: bool = True, index_type: Any = None, name: Any = None) -> Any:
    """The k largest entries of the last axis, and where they are."""
    given = tensor(input)
    order = np.argsort(-given.array, axis=-1, kind="stable")[..., : int(k)].astype(np.int32)
    indices = cut(given, "top_k", order)
    return TopK(call(_along, [given, indices], {"axis": -1}, name="TopKV2", plain=given.array.dtype), indices)


def _segments(data: Node, segment_ids: Node, num_segments: int) -> Node:
    lead = segment_ids.ndim
    row = data.shape[lead:]
    flat = operators_reshape(data, (size(segment_ids.shape), *row))
    ids = operators_reshape(segment_ids, (size(segment_ids.shape),))
    return indexing.scatter.record(flat, ids, pattern=(HOLE,), shape=(num_segments, *row))


def operators_reshape(x: Node, shape: tuple[int, ...]) -> Node:
    """A node in another shape."""
    from gradexplain.ops.shaping import reshape

    return reshape(x, shape=shape)


@named("math.unsorted_segment_sum")
def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: Any = None) -> Tensor:
    """The sum of the entries with the same number."""
    given, ids = tensor(data), tensor(segment_ids)
    found: Tensor = call(_segments, [given, ids], {"num_segments": int(num_segments)}, plain=given.array.dtype)
    return found


@named("math.segment_sum")
def segment_sum(data: Any, segment_ids: Any, name: Any = None) -> Tensor:
    """The sum of the entries with the same number, as many as there are."""
    ids = tensor(segment_ids)
    return unsorted_segment_sum(data, ids, int(ids.array.max()) + 1 if ids.array.size else 0)


@named("math.segment_mean")
def segment_mean(data: Any, segment_ids: Any, name: Any = None) -> Tensor:
    """The mean of the entries with the same number."""
    ids, given = tensor(segment_ids), tensor(data)
    total = segment_sum(given, ids)
    counts = np.bincount(ids.array).astype(given.array.dtype)
    found: Tensor = operators["div"](total, counts.reshape((-1,) + (1,) * (given.ndim - 1)))
    return found


@named("math.unsorted_segment_mean")
def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: Any = None) -> Tensor:
    """The mean of the entries with the same number."""
    ids, given = tensor(segment_ids), tensor(data)
    counts = np.maximum(np.bincount(ids.array.ravel(), minlength=int(num_segments)), 1).astype(given.array.dtype)
    total = unsorted_segment_sum(given, ids, num_segments)
    found: Tensor = operators["div"](total, counts.reshape((-1,) + (1,) * (total.ndim - 1)))
    return found


@named("math.count_nonzero")
def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool = False, dtype: Any = "int64", name: Any = None
) -> Tensor:
    """How many entries are not 0."""
    given = tensor(input)
    found = np.count_nonzero(
        given.array, axis=axis if axis is None or isinstance(axis, int) else tuple(axis), keepdims=keepdims
    )
    return cast(cut(given, "count_nonzero", np.asarray(found)[()]), dtype)


@on_nodes("math.zero_fraction", op="ZeroFraction")
def zero_fraction(value: Node) -> Node:
    """The share of entries that are 0."""
    return average_over(ordering.as_number(ordering.equal(value, 0)), tuple(range(value.ndim)))
