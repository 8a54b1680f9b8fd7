"""Tensors from nothing: zeros, ones, ranges, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.graph import Node
from gradexplain.ops.joining import linspace as node_linspace
from gradexplain.tape.dtypes import as_dtype
from gradexplain.tape.errors import InvalidArgumentError
from gradexplain.tape.functions import alike, call, cut, tensor
from gradexplain.tape.tensor import Tensor
from gradexplain.tf.names.table import named, settled


def _shape(value: Any) -> tuple[int, ...]:
    found = settled(value)
    return (int(found),) if isinstance(found, (int, float)) else tuple(int(n) for n in found)


@named("zeros")
def zeros(shape: Any, dtype: Any = "float32", name: Any = None, layout: Any = None) -> Tensor:
    """Zeros."""
    return Tensor(np.zeros(_shape(shape), as_dtype(dtype).plain)[()])


@named("ones")
def ones(shape: Any, dtype: Any = "float32", name: Any = None, layout: Any = None) -> Tensor:
    """Ones."""
    return Tensor(np.ones(_shape(shape), as_dtype(dtype).plain)[()])


@named("zeros_like")
def zeros_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Tensor:
    """Zeros in the shape of a tensor."""
    given = tensor(input)
    return cut(given, "zeros_like", np.zeros(given.shape, as_dtype(dtype or given.dtype).plain)[()])


@named("ones_like")
def ones_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Tensor:
    """Ones in the shape of a tensor."""
    given = tensor(input)
    return cut(given, "ones_like", np.ones(given.shape, as_dtype(dtype or given.dtype).plain)[()])


@named("fill")
def fill(dims: Any, value: Any, name: Any = None, layout: Any = None) -> Tensor:
    """One number in all entries."""
    given, shape = tensor(value), _shape(dims)
    found: Tensor = call(_filled, [given], {"shape": shape}, name="Fill")
    return found


def _filled(x: Node, shape: Any) -> Node:
    from gradexplain.ops.shaping import broadcast_to

    return broadcast_to.record(x, shape=shape)


@named("eye", "linalg.eye")
def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = "float32", name: Any = None
) -> Tensor:
    """The identity matrix."""
    found = np.eye(int(num_rows), None if num_columns is None else int(num_columns), dtype=as_dtype(dtype).plain)
    return Tensor(found if batch_shape is None else np.tile(found, (*_shape(batch_shape), 1, 1)))


@named("range")
def range_of(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: Any = None) -> Tensor:
    """Equally spaced numbers, the limit excluded."""
    first, last = (0, start) if limit is None else (start, limit)
    given = (first, last, delta)
    typed = [float(v) for v in given] if any(isinstance(v, float) for v in given) else list(given)
    parts = alike("Range", typed)
    first, last, step = (np.asarray(p.array).item() for p in parts)
    numbers = np.arange(first, last, step)
    wanted = as_dtype(dtype).plain if dtype is not None else next(p for p in parts if not p.literal).array.dtype
    return Tensor(numbers.astype(wanted))


@named("linspace")
def linspace(start: Any, stop: Any, num: Any, name: Any = None, axis: int = 0) -> Tensor:
    """Equally spaced numbers, both ends included."""
    a, b = alike("LinSpace", (start, stop))
    found: Tensor = call(_linspace, [a, b], {"num": int(num), "axis": int(axis)}, name="LinSpace")
    return found


def _linspace(start: Node, stop: Node, num: int, axis: int) -> Node:
    found: Node = node_linspace(start, stop, num, axis=axis)
    return found


@named("one_hot")
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    axis: int = -1,
    dtype: Any = None,
    name: Any = None,
) -> Tensor:
    """1 at the index, 0 elsewhere."""
    given = tensor(indices)
    if not given.dtype.is_integer:
        raise InvalidArgumentError(f"one_hot of a tensor of type {given.dtype.name}", why="indices are whole numbers")
    hit = np.asarray(given.array)[..., None] == np.arange(int(depth))
    wanted = as_dtype(dtype or "float32").plain
    found = np.where(hit, float(on_value if on_value is not None else 1), float(off_value or 0)).astype(wanted)
    return cut(given, "one_hot", np.moveaxis(found, -1, axis) if axis != -1 else found)


@named("sequence_mask")
def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = "bool", name: Any = None) -> Tensor:
    """True for the first entries, as many as the lengths say."""
    given = tensor(lengths)
    longest = int(given.array.max()) if maxlen is None else int(maxlen)
    found = np.arange(longest) < np.asarray(given.array)[..., None]
    return cut(given, "sequence_mask", found.astype(as_dtype(dtype).plain))


# Random numbers: NumPy's, so the same seed does not give TensorFlow's numbers.
_state: dict[str, Any] = {"seed": None, "generator": None}


@named("random.set_seed", "keras.utils.set_random_seed")
def set_seed(seed: int) -> None:
    """From here on, the same random numbers in every run."""
    _state.update(seed=seed, generator=np.random.default_rng(seed))


def generator(seed: Any = None) -> Any:
    """A generator with its own seed, or the one that all share."""
    if seed is not None:
        return np.random.default_rng([int(seed), _state["seed"] or 0])
    if _state["generator"] is None:
        _state["generator"] = np.random.default_rng()
    return _state["generator"]


@named("random.normal")
def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None, name: Any = None
) -> Tensor:
    """Normally distributed numbers."""
    return Tensor(
        generator(seed).normal(float(mean), float(stddev), _shape(shape)).astype(as_dtype(dtype).plain)
        if _shape(shape)
        else as_dtype(dtype).plain.type(generator(seed).normal(float(mean), float(stddev)))
    )


@named("random.truncated_normal")
def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None, name: Any = None
) -> Tensor:
    """Normally distributed numbers that are at most two standard deviations away."""
    random, wanted = generator(seed), _shape(shape)
    found = random.normal(size=wanted)
    while np.any(outside := np.abs(found) > 2):
        found = np.where(outside, random.normal(size=wanted), found)
    return Tensor(np.asarray(mean + stddev * found).astype(as_dtype(dtype).plain)[()])


@named("random.uniform")
def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", seed: Any = None, name: Any = None
) -> Tensor:
    """Uniformly distributed numbers."""
    kind, random = as_dtype(dtype), generator(seed)
    if kind.is_integer:
        return Tensor(np.asarray(random.integers(int(minval), int(maxval), _shape(shape)), kind.plain)[()])
    low, high = float(minval), 1.0 if maxval is None else float(maxval)
    return Tensor(np.asarray(random.uniform(low, high, _shape(shape))).astype(kind.plain)[()])


@named("random.shuffle")
def shuffle(value: Any, seed: Any = None, name: Any = None) -> Tensor:
    """The rows in a random order."""
    from gradexplain.tape.functions import getitem

    given = tensor(value)
    found: Tensor = getitem(given, Tensor(generator(seed).permutation(given.shape[0])))
    return found


@named("random.categorical")
def categorical(logits: Any, num_samples: int, dtype: Any = "int64", seed: Any = None, name: Any = None) -> Tensor:
    """Samples of the distributions that the logits describe."""
    given = tensor(logits)
    noise = generator(seed).gumbel(size=(given.shape[0], int(num_samples), given.shape[1]))
    return cut(given, "categorical", np.argmax(given.array[:, None, :] + noise, axis=-1).astype(as_dtype(dtype).plain))
