"""Shapes, parts and joints: reshape, transpose, stack, gather, pad, …"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.graph import Node
from gradexplain.ops import indexing, joining, shaping
from gradexplain.ops.keys import ALL, HOLE, Pattern
from gradexplain.shapes import normal_axis, size
from gradexplain.tape.errors import InvalidArgumentError
from gradexplain.tape.functions import alike, call, cut, getitem, identity, tensor
from gradexplain.tape.recording import Operation, state, tell
from gradexplain.tape.tensor import Operators, Tensor, constant
from gradexplain.tape.variable import Variable
from gradexplain.tf.names.table import named, on_nodes, settled


@on_nodes("reshape", op="Reshape")
def reshape(tensor: Node, shape: Any) -> Node:
    """The entries in another shape; one size may be -1."""
    return shaping.reshaped(tensor, shape)


@on_nodes("transpose", op="Transpose")
def transpose(a: Node, perm: Any = None, conjugate: bool = False) -> Node:
    """The axes in another order, reversed by default."""
    return shaping.transposed(a, perm)


@on_nodes("linalg.matrix_transpose", "linalg.adjoint", op="Transpose")
def matrix_transpose(a: Node) -> Node:
    """The last two axes interchanged."""
    return shaping.swapaxes(a, -1, -2)


@on_nodes("expand_dims", "keras.backend.expand_dims", op="ExpandDims")
def expand_dims(input: Node, axis: int) -> Node:
    """A new axis of size 1."""
    return shaping.expand_dims(input, axis)


@on_nodes("squeeze", "keras.backend.squeeze", op="Squeeze")
def squeeze(input: Node, axis: Any = None) -> Node:
    """Without axes of size 1."""
    return shaping.squeeze(input, axis)


@on_nodes("broadcast_to", op="BroadcastTo")
def broadcast_to(input: Node, shape: Any) -> Node:
    """Spread over a larger shape."""
    return shaping.broadcast_to(input, shape=tuple(shape))


@on_nodes("tile", op="Tile")
def tile(input: Node, multiples: Any) -> Node:
    """Copies beside each other."""
    return joining.tile(input, multiples)


@on_nodes("repeat", op="Repeat")
def repeat(input: Node, repeats: Any, axis: Any = None) -> Node:
    """Every entry as often as it says."""
    return joining.repeat(input, repeats, axis)


@on_nodes("reverse", op="ReverseV2")
def reverse(tensor: Node, axis: Any) -> Node:
    """Entries in reverse order along axes."""
    return indexing.flip(tensor, axis)


@on_nodes("roll", op="Roll")
def roll(input: Node, shift: Any, axis: Any) -> Node:
    """Entries moved along axes; what leaves at one end enters at the other."""
    return joining.roll(input, shift, axis)


@on_nodes("slice", op="Slice")
def slice_of(input_: Node, begin: Any, size: Any) -> Node:
    """A block that starts at `begin`; a size of -1 goes to the end."""
    return indexing.item(input_, tuple(slice(b, None if n == -1 else b + n) for b, n in zip(begin, size, strict=True)))


@on_nodes("linalg.diag", op="MatrixDiag")
def diag(diagonal: Node) -> Node:
    """Vectors as the diagonals of matrices."""
    if diagonal.ndim == 1:
        return shaping.diag(diagonal, k=0)
    n = diagonal.shape[-1]
    return shaping.expand_dims(diagonal, -1) * np.eye(n)


@on_nodes("linalg.diag_part", "linalg.tensor_diag_part", op="MatrixDiagPart")
def diag_part(input: Node) -> Node:
    """The diagonals of matrices."""
    return shaping.diagonals(input, 0, -2, -1)


@on_nodes("linalg.tensor_diag", op="Diag")
def tensor_diag(diagonal: Node) -> Node:
    """A vector as the diagonal of a matrix."""
    return shaping.diag(diagonal, k=0)


@on_nodes("linalg.band_part", op="MatrixBandPart")
def band_part(input: Node, num_lower: int, num_upper: int) -> Node:
    """A band beside the diagonal; -1 keeps all of a triangle."""
    rows, columns = input.shape[-2:]
    i, j = np.ogrid[:rows, :columns]
    kept = ((num_lower < 0) | (i - j <= num_lower)) & ((num_upper < 0) | (j - i <= num_upper))
    return input * kept.astype(float)


@on_nodes("linalg.trace", op="Trace")
def trace(x: Node) -> Node:
    """The sum of the diagonal."""
    return shaping.traced(x, 0, -2, -1)


@named("stack")
def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape along a new axis."""
    found: Tensor = call(_stacked, alike("Pack", _listed(values)), {"axis": int(axis)}, name="Pack")
    return found


def _stacked(*xs: Node, axis: int) -> Node:
    return joining.stacked(list(xs), axis)


def _listed(values: Any) -> list[Any]:
    return list(values) if not isinstance(values, Operators) else list(iter(tensor(values)))


@named("concat", "keras.layers.concatenate", "keras.backend.concatenate")
def concat(values: Any, axis: int = 0, name: str = "concat") -> Tensor:
    """Tensors after each other along an axis."""
    operands = alike("ConcatV2", _listed(values))
    found: Tensor = call(_joined, operands, {"axis": int(axis)}, name="ConcatV2")
    return found


def _joined(*xs: Node, axis: int) -> Node:
    return joining.joined(list(xs), axis)


@on_nodes("split", op="Split")
def split(value: Node, num_or_size_splits: Any, axis: int = 0, num: Any = None) -> list[Node]:
    """Parts along an axis: as many, or of the given sizes."""
    if isinstance(num_or_size_splits, int):
        return joining.split(value, num_or_size_splits, axis)
    total = value.shape[normal_axis(axis, value.ndim)]
    known = sum(n for n in num_or_size_splits if n != -1)
    sizes = [total - known if n == -1 else n for n in num_or_size_splits]
    return joining.array_split(value, np.cumsum(sizes)[:-1].tolist(), axis)


@on_nodes("unstack", op="Unpack")
def unstack(value: Node, num: Any = None, axis: int = 0) -> list[Node]:
    """The parts along an axis."""
    return list(joining.unstack(value, axis=axis))


@on_nodes("pad", op="Pad")
def pad(tensor: Node, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Node:
    """A border of zeros (or of a number, or mirrored)."""
    modes = {"constant": "constant", "reflect": "reflect", "symmetric": "symmetric"}
    options = {"constant_values": constant_values} if mode.lower() == "constant" else {}
    return joining.pad(tensor, [tuple(p) for p in paddings], modes[mode.lower()], **options)


@named("meshgrid")
def meshgrid(*args: Any, indexing: str = "xy", name: Any = None) -> list[Tensor]:
    """Coordinates of a grid."""
    return list(call(_grids, alike("meshgrid", args), {"indexing": indexing}))


def _grids(*xs: Node, indexing: str) -> list[Node]:
    return list(joining.meshgrid(*xs, indexing=indexing))


@named("strided_slice")
def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, **_: Any) -> Tensor:
    """x[begin:end:stride] along every axis."""
    b, e = settled(begin), settled(end)
    s = settled(strides) if strides is not None else (1,) * len(b)
    found: Tensor = getitem(input_, tuple(slice(*part) for part in zip(b, e, s, strict=True)))
    return found


# Picking.


@named("gather")
def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0, name: Any = None
) -> Tensor:
    """The rows (or entries along an axis) that the indices name. Of rows, the gradient is IndexedSlices."""
    table, at = tensor(params), tensor(indices)
    number = normal_axis(int(settled(axis) if axis is not None else batch_dims), table.ndim)
    _require_inside(at, table.shape[number])
    if batch_dims:
        found: Tensor = call(
            _in_batches, [table, at], {"axis": number, "batch": int(batch_dims)}, plain=table.array.dtype
        )
        return found
    if number == 0 and table.dtype.is_trainable:
        return _rows(table, at)
    return call(_taken, [table, at], {"axis": number}, name="GatherV2", plain=table.array.dtype)  # type: ignore[no-any-return]


def _rows(table: Tensor, at: Tensor) -> Tensor:
    result = Tensor(table.array[at.array])
    if state.listeners:
        tell(
            Operation(
                "getitem",
                indexing.getitem,
                {"pattern": (HOLE,)},
                (table, at),
                (result,),
                sparse=True,
                call="GatherV2",
            )
        )
    return result


def _require_inside(at: Tensor, count: int) -> None:
    if at.array.size and (at.array.min() < 0 or at.array.max() >= count):
        raise InvalidArgumentError(
            f"indices = {at.array.tolist()} is not in [0, {count})", why="they name rows that do not exist"
        )


def _taken(x: Node, at: Node, axis: int) -> Node:
    pattern: Pattern = (*(ALL,) * axis, HOLE)
    return indexing.getitem.record(x, at, pattern=pattern)


def _in_batches(x: Node, at: Node, axis: int, batch: int) -> Node:
    lead = [np.arange(n).reshape((n,) + (1,) * (at.ndim - i - 1)) for i, n in enumerate(x.shape[:batch])]
    return indexing.item(x, (*lead, *(slice(None),) * (axis - batch), at))


@named("nn.embedding_lookup")
def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: Any = None) -> Tensor:
    """The rows of a table."""
    return gather(params, ids)


@named("gather_nd")
def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: Any = None) -> Tensor:
    """Entries (or slices) by index vectors."""
    table, at = tensor(params), tensor(indices)
    columns = [Tensor(np.ascontiguousarray(at.array[..., i])) for i in range(at.shape[-1])]
    static = {"pattern": (HOLE,) * len(columns)}
    found: Tensor = call(_picked, [table, *columns], static, name="GatherNd", plain=table.array.dtype)
    return found


def _picked(x: Node, *indices: Node, pattern: Any) -> Node:
    return indexing.getitem.record(x, *indices, pattern=pattern)


@named("boolean_mask")
def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: Any = None) -> Tensor:
    """The entries where the mask is true."""
    from gradexplain.tape.functions import tensor as as_tensor

    truth = np.asarray(as_tensor(mask).array, dtype=bool)
    start = 0 if axis is None else int(settled(axis))
    found: Tensor = getitem(tensor, (slice(None),) * start + tuple(constant(i) for i in np.nonzero(truth)))
    return found


@named("tensor_scatter_nd_update")
def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: Any = None) -> Tensor:
    """A copy in which entries are replaced."""
    x, u = alike("TensorScatterUpdate", (tensor, updates))
    found: Tensor = call(_with_entries, [x, u], {"at": _key(indices)}, plain=x.array.dtype)
    return found


@named("tensor_scatter_nd_add")
def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, name: Any = None) -> Tensor:
    """A copy in which something is added to entries."""
    x, u = alike("TensorScatterAdd", (tensor, updates))
    found: Tensor = call(_with_added, [x, u], {"at": _key(indices)}, plain=x.array.dtype)
    return found


@named("scatter_nd")
def scatter_nd(indices: Any, updates: Any, shape: Any, name: Any = None) -> Tensor:
    """Entries in an array of zeros; those with the same index are added."""
    u = tensor(updates)
    static = {"at": _key(indices), "shape": tuple(settled(shape))}
    found: Tensor = call(_into_zeros, [u], static, plain=u.array.dtype)
    return found


def _key(indices: Any) -> Any:
    array = np.asarray(tensor(indices).array)
    return tuple(tuple(array[..., i].ravel().tolist()) for i in range(array.shape[-1])), array.shape[:-1]


def _arrays(at: Any) -> tuple[Any, ...]:
    return tuple(np.reshape(np.asarray(column, dtype=int), at[1]) for column in at[0])


def _with_entries(x: Node, updates: Node, at: Any) -> Node:
    return indexing.with_item(x, _arrays(at), updates)


def _with_added(x: Node, updates: Node, at: Any) -> Node:
    return x + indexing.scattered(updates, _arrays(at), x.shape)


def _into_zeros(updates: Node, at: Any, shape: Any) -> Node:
    return indexing.scattered(updates, _arrays(at), shape)


@named("dynamic_partition")
def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: Any = None) -> list[Tensor]:
    """The entries by the number of their part."""
    numbers = np.asarray(tensor(partitions).array)
    return [boolean_mask(data, numbers == i) for i in range(num_partitions)]


# Conversions and facts.


@named("convert_to_tensor")
def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: Any = None) -> Tensor:
    """The value as a tensor."""
    return identity(value) if isinstance(value, Variable) else tensor(value, dtype)


@named("ensure_shape")
def ensure_shape(x: Any, shape: Any, name: Any = None) -> Tensor:
    """The tensor itself; raises where its shape is another."""
    given, wanted = identity(x), settled(shape)
    if len(wanted) != given.ndim or any(w is not None and w != n for w, n in zip(wanted, given.shape, strict=True)):
        raise InvalidArgumentError(
            f"Shape of tensor {tuple(given.shape)} is not compatible with expected shape {list(wanted)}"
        )
    return given


@named("shape")
def shape(input: Any, out_type: Any = "int32", name: Any = None) -> Tensor:
    """The shape as a tensor."""
    given = tensor(input)
    return cut(given, "shape", np.asarray(given.shape, dtype=np.int32))


@named("size")
def size_of(input: Any, out_type: Any = "int32", name: Any = None) -> Tensor:
    """The number of entries."""
    given = tensor(input)
    return cut(given, "size", np.int32(size(tuple(given.shape))))


@named("rank")
def rank(input: Any, name: Any = None) -> Tensor:
    """The number of axes."""
    given = tensor(input)
    return cut(given, "rank", np.int32(given.ndim))


@named("is_tensor")
def is_tensor(x: Any) -> bool:
    """Whether something is a tensor or a variable."""
    return isinstance(x, Operators)
