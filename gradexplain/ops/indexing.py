"""Rows for `x[key]`, its transpose (`scatter`: into zeros) and `x[key] = value` (`setitem`: a changed copy)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.errors import NoRuleError, ShapeError
from gradexplain.graph import Fixed, Node, Sample, as_node, constant, is_scalar_constant, operators
from gradexplain.ops.keys import (
    ALL,
    BACKWARDS,
    HOLE,
    Pattern,
    Slice,
    are_apart,
    expanded,
    extents,
    has_arrays,
    key_of,
    key_text,
    pattern_of,
    picked_shape,
    scatter_text,
    setitem_text,
    slots,
)
from gradexplain.ops.reductions import argsort, in_line
from gradexplain.ops.refusals import only_defaults
from gradexplain.ops.shaping import array, broadcast_to, moveaxis, reshape
from gradexplain.primitive import POSTFIX, Code, filled, flat, general, linear, numpy_function, zero_like
from gradexplain.shapes import Shape, broadcast, normal_axis

_MOST_WRITES = 32  # to how many writes a reading looks back


def _picked(x: Any, *indices: Any, pattern: Pattern) -> Any:
    return np.asarray(x)[key_of(pattern, indices)]


def _scattered(g: Any, *indices: Any, pattern: Pattern, shape: Shape) -> Any:
    out = np.zeros(shape, dtype=object if np.asarray(g).dtype == object else float)
    np.add.at(out, key_of(pattern, indices), g)
    return out


def _changed(x: Any, value: Any, *indices: Any, pattern: Pattern, shape: Shape) -> Any:
    out = np.array(x, dtype=object if object in (np.asarray(x).dtype, np.asarray(value).dtype) else float)
    out[key_of(pattern, indices)] = value
    return out


def _is_identity(x: Node, pattern: Pattern) -> bool:
    if any(type(e) is not Slice and e is not Ellipsis for e in pattern):
        return False
    entries = expanded(pattern, x.ndim) or ()
    return all(slice(*e).indices(n) == (0, n, 1) for e, n in zip(entries, x.shape, strict=True))


def _is_reversal(pattern: Pattern) -> bool:
    return all(e in (ALL, BACKWARDS) if type(e) is Slice else False for e in pattern)


def _fold_getitem(x: Node, *indices: Node, pattern: Pattern) -> Node | None:
    if _is_identity(x, pattern):
        return x
    if is_scalar_constant(x):
        shape = picked_shape(x.shape, *[i.shape for i in indices], pattern=pattern)
        return broadcast_to(x if x.shape == () else x.inputs[0], shape=shape)
    if x.is_constant and not indices:
        return constant(x.data.array[key_of(pattern, [])]) if x.kind != "int" else None
    if x.op is getitem and x.params["pattern"] == pattern and _is_reversal(pattern):
        return x.inputs[0]
    if x.op is scatter or x.op is setitem:
        return _written(x, pattern)
    if x.op.name == "stack" and x.params["axis"] == 0 and type(pattern[0]) is int:
        return pick(x.inputs[pattern[0]], pattern[1:], list(indices))
    return None


def _written(x: Node, pattern: Pattern) -> Node | None:
    """`x[key]` where x was written to: what was written there, or what was there before writes to other entries."""
    wanted, source = extents(x.shape, pattern), x
    for _ in range(_MOST_WRITES):
        written = extents(x.shape, source.params["pattern"]) if source.op in (scatter, setitem) else None
        if wanted is None or written is None or not (wanted == written or are_apart(wanted, written)):
            return None if source is x else getitem(source, pattern=pattern)
        if wanted == written:
            return reshape(source.inputs[source.op is setitem], shape=picked_shape(x.shape, pattern=pattern))
        if source.op is scatter:
            return filled(0, picked_shape(x.shape, pattern=pattern))
        source = source.inputs[0]
    return getitem.record(source, pattern=pattern)


def _fold_scatter(g: Node, *indices: Node, pattern: Pattern, shape: Shape) -> Node | None:
    return filled(0, shape) if is_scalar_constant(g, 0) else None


def _fold_setitem(x: Node, value: Node, *indices: Node, pattern: Pattern, shape: Shape) -> Node | None:
    if _is_identity(x, pattern):
        return value
    if x.op is setitem and x.params["pattern"] == pattern and not has_arrays(pattern):
        return setitem(x.inputs[0], value, pattern=pattern, shape=shape)
    return x if is_scalar_constant(x, 0) and is_scalar_constant(value, 0) else None


def _unpick(g: Node, x: Node, *indices: Node, pattern: Pattern) -> Node:
    if _is_reversal(pattern):
        return getitem(g, pattern=pattern)
    if _is_identity(x, tuple(e for e in pattern if e is not None)):
        return reshape(g, shape=x.shape)
    return scatter(g, *indices, pattern=pattern, shape=x.shape)


def _changed_pullback(
    i: int, g: Node, y: Node, x: Node, value: Node, *indices: Node, pattern: Pattern, shape: Shape
) -> Node | None:
    if i == 0:
        return setitem(g, zero_like(value), *indices, pattern=pattern, shape=shape)
    return getitem(g, *indices, pattern=pattern) if i == 1 else None


def _changed_pushforward(tangents: Any, y: Node) -> Node:
    x, value = (zero_like(n) if t is None else t for t, n in zip(tangents[:2], y.inputs[:2], strict=True))
    return setitem(x, value, *y.inputs[2:], **y.params)


def _getitem_text(x: Code, *indices: Code, pattern: Pattern) -> Code:
    return Code(f"{x.at(POSTFIX)}[{key_text(pattern, indices)}]", POSTFIX)


def _picks(*samples: tuple[Shape, Any]) -> tuple[Sample, ...]:
    return tuple(
        Sample((shape, *([(2,)] if HOLE in pattern else [])), {"pattern": pattern}) for shape, pattern in samples
    )


_ROW, _BLOCK, _MIXED = (1,), (Slice(1, None, None), 0), (Slice(None, None, 2), Fixed([2, 0, 2]))
_MASK, _TRACED = (Fixed([True, False, True]),), (HOLE, Slice(None, 2, None))

# fmt: off
getitem = linear("getitem", _picked, picked_shape, transpose=_unpick, rule="the same entries of the derivative", result="same",
                 fold=_fold_getitem, numpy=_getitem_text,
                 samples=_picks(((4,), (-1,)), ((3, 2), _ROW), ((3, 2), _BLOCK), ((3, 4), _MIXED), ((3,), _MASK), ((2, 3), (..., None, BACKWARDS)), ((3, 4), _TRACED)))
scatter = linear("scatter", _scattered, lambda g, *indices, pattern, shape: shape, fold=_fold_scatter,
                 transpose=lambda g, x, *indices, pattern, shape: getitem(g, *indices, pattern=pattern),
                 rule="the same entries of the derivative, zero elsewhere", numpy=scatter_text,
                 samples=(Sample(((),), {"pattern": (-1,), "shape": (4,)}), Sample(((2,),), {"pattern": _ROW, "shape": (3, 2)}),
                          Sample(((2,),), {"pattern": _BLOCK, "shape": (3, 2)}), Sample(((2, 3),), {"pattern": _MIXED, "shape": (3, 4)}),
                          Sample(((3, 2), (3,)), {"pattern": _TRACED, "shape": (3, 4)})))
setitem = general("setitem", _changed, lambda x, value, *indices, pattern, shape: x, variadic=_changed_pullback, pushforward=_changed_pushforward,
                  rule="entry by entry", fold=_fold_setitem, numpy=setitem_text,
                  samples=(Sample(((4,), ()), {"pattern": (-1,), "shape": (4,)}), Sample(((3, 2), (2,)), {"pattern": _ROW, "shape": (3, 2)}),
                           Sample(((5,), (3,)), {"pattern": (Slice(1, -1, None),), "shape": (5,)}),
                           Sample(((3, 2), (2,)), {"pattern": _BLOCK, "shape": (3, 2)}), Sample(((3,), (2,)), {"pattern": _MASK, "shape": (3,)})))
as_index = flat("as_index", lambda x: np.asarray(x).astype(int)[()], lambda x: x, family="general", result="int",
                numpy=lambda x: Code(f"np.int64({x})"), rule="an integer: no derivative", samples=(Sample(((3,),)),))
# fmt: on


def pick(x: Node, pattern: Pattern, indices: list[Node]) -> Node:
    """x[key], for a key that is a pattern already."""
    return getitem(x, *[i if i.kind == "int" else as_index(i) for i in indices], pattern=pattern)


def item(x: Any, key: Any) -> Node:
    """`x[key]`.

    >>> from gradexplain.graph import variable
    >>> item(variable("x", (3, 4)), (slice(None), [0, 2, 2]))
    <getitem #... (3, 3)>
    """
    return pick(as_node(x), *pattern_of(key))


def with_item(x: Any, key: Any, value: Any) -> Node:
    """A copy of x in which `x[key] = value` was done. Of entries that a key names twice, the last value stays."""
    x, value = as_node(x), array(value)
    pattern, nodes = pattern_of(key)
    if any(n.shape for n in nodes):
        raise NoRuleError(
            "x[indices] = value with an array of traced indices has no derivative rule",
            why="they may name an entry twice, and then only the last value counts",
            fix="write it as a selection: value[np.argsort(indices)] where the indices are an order",
        )
    slot = picked_shape(x.shape, *[n.shape for n in nodes], pattern=pattern)
    value = _fit(value, slot)
    if has_arrays(pattern) and not nodes:
        last = slots(x.shape, pattern).ravel()[::-1]
        where, first = np.unique(last, return_index=True)
        if where.size < last.size:
            value = item(reshape(value, shape=(value.size,)), last.size - 1 - first)
            return reshape(with_item(reshape(x, shape=(x.size,)), where, value), shape=x.shape)
    return setitem(x, value, *[i if i.kind == "int" else as_index(i) for i in nodes], pattern=pattern, shape=x.shape)


def _fit(value: Node, slot: Shape) -> Node:
    """The value, broadcast to the slot (axes of size 1 in front are dropped, as NumPy does)."""
    extra = value.ndim - len(slot)
    if extra > 0 and value.shape[:extra] == (1,) * extra:
        value = reshape(value, shape=value.shape[extra:])
    if broadcast(value.shape, slot) != slot:
        raise ShapeError(
            f"a value of shape {value.shape} does not fit into entries of shape {slot}", fix="reshape the value"
        )
    return broadcast_to(value, shape=slot)


def at_axis(x: Node, axis: int, key: Any) -> Node:
    """x[:, …, key], the key along one axis (counted from 0)."""
    return item(x, (slice(None),) * axis + (key,))


def scattered(g: Node, key: Any, shape: Shape) -> Node:
    """g at the entries `key` of an array of zeros."""
    pattern, nodes = pattern_of(key)
    return scatter(g, *nodes, pattern=pattern, shape=shape)


# NumPy's functions.


@numpy_function(np.take)
def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Node:
    """`np.take`."""
    only_defaults("np.take", out=out, mode=mode)
    x, number = in_line(array(a), axis)
    return at_axis(x, number, indices if type(indices) is Node else np.asarray(indices))


@numpy_function(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Node:
    """`np.take_along_axis`: along each line of an axis, the entries that the indices name."""
    x, number = in_line(array(arr), axis)
    rank = len(np.shape(indices)) if type(indices) is not Node else indices.ndim
    if rank != x.ndim:
        raise ShapeError(f"indices with {rank} axes for an array with {x.ndim}", fix="give them as many axes")
    key = [np.arange(n).reshape((n,) + (1,) * (x.ndim - i - 1)) for i, n in enumerate(x.shape)]
    return item(x, (*key[:number], indices, *key[number + 1 :]))


@numpy_function(np.compress)
def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Node:
    """`np.compress`: the entries (or rows) where a constant condition holds."""
    only_defaults("np.compress", out=out)
    x, number = in_line(array(a), axis)
    return at_axis(x, number, np.flatnonzero(_known(condition)))


@numpy_function(np.extract)
def extract(condition: Any, arr: Any) -> Node:
    """`np.extract`: the entries where a constant condition holds."""
    return compress(_known(condition), arr)


def _known(condition: Any) -> Any:
    """The values of a condition that is constant."""
    node = as_node(condition)
    if not node.is_constant:
        raise NoRuleError(
            "entries can't be selected by a traced condition",
            why="how many entries there are depends on the values",
            fix="use np.where(condition, x, 0)",
        )
    return node.data.array if isinstance(node.data, Fixed) else node.data


@numpy_function(np.sort)
def sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Node:
    """`np.sort`: the entries in the order that argsort finds."""
    only_defaults("np.sort", order=order)
    x, number = in_line(array(a), axis)
    return take_along_axis(x, argsort(x, axis=number, kind="stable"), number)


@numpy_function(np.flip)
def flip(m: Any, axis: Any = None) -> Node:
    """`np.flip`: entries in reverse order along axes."""
    x = array(m)
    axes = range(x.ndim) if axis is None else [normal_axis(int(a), x.ndim) for a in np.atleast_1d(axis)]
    return item(x, tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(x.ndim)))


numpy_function(np.fliplr)(lambda m: flip(m, 1))
numpy_function(np.flipud)(lambda m: flip(m, 0))


@numpy_function(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Node:
    """`np.rot90`: quarter turns in a plane."""
    x = array(m)
    first, second = (normal_axis(int(a), x.ndim) for a in axes)
    for _ in range(k % 4):
        x = flip(moveaxis(x, (first, second), (second, first)), first)
    return x


operators.update(getitem=item, setitem=with_item, scatter=scattered)
