"""Rows that join arrays, and NumPy's functions that join, split, pad, repeat and lay out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError, NoRuleError, ShapeError
from gradexplain.graph import Node, Sample, as_node, constant, operators
from gradexplain.ops.arithmetic import add, mul, sub
from gradexplain.ops.indexing import at_axis, scattered
from gradexplain.ops.reductions import in_line
from gradexplain.ops.refusals import only_defaults
from gradexplain.ops.shaping import (
    array,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_to,
    expand_dims,
    moveaxis,
    repeated,
    reshape,
    rolled,
    tiled,
    transposed,
)
from gradexplain.primitive import NUMPY, Code, general, numpy_function, zero_like
from gradexplain.shapes import Shape, broadcast, normal_axis


def _concatenated_shape(*shapes: Shape, axis: int) -> Shape:
    first = shapes[0]
    if any(len(s) != len(first) or s[:axis] + s[axis + 1 :] != first[:axis] + first[axis + 1 :] for s in shapes):
        raise ShapeError(
            f"arrays of shapes {', '.join(map(str, shapes))} can't be joined along axis {axis}",
            fix="their other axes must have the same sizes",
        )
    return (*first[:axis], sum(s[axis] for s in shapes), *first[axis + 1 :])


def _stacked_shape(*shapes: Shape, axis: int) -> Shape:
    if len(set(shapes)) > 1:
        raise ShapeError(
            f"arrays of shapes {', '.join(map(str, shapes))} can't be stacked", fix="they must have the same shape"
        )
    return (*shapes[0][:axis], len(shapes), *shapes[0][axis:])


def _concatenate_pullback(i: int, g: Node, y: Node, *xs: Node, axis: int) -> Node:
    start = sum(x.shape[axis] for x in xs[:i])
    return at_axis(g, axis, slice(start, start + xs[i].shape[axis]))


def _together(tangents: Sequence[Node | None], y: Node) -> Node:
    """The pushforward of what is linear in all operands at once."""
    return y.op(*[zero_like(x) if t is None else t for t, x in zip(tangents, y.inputs, strict=True)], **y.params)


def _listed(*operands: Code) -> str:
    return ", ".join(operands) + ("," if len(operands) == 1 else "")


def _concatenate_text(*operands: Code, axis: int) -> Code:
    return Code(f"np.concatenate(({_listed(*operands)}){f', axis={axis}' if axis else ''})")


def _stack_text(*operands: Code, axis: int) -> Code:
    return Code(f"np.stack(({_listed(*operands)}), axis={axis})" if axis else f"np.array([{', '.join(operands)}])")


# fmt: off
concatenate = general("concatenate", lambda *xs, axis: np.concatenate(xs, axis), _concatenated_shape, variadic=_concatenate_pullback,
                      pushforward=_together, rule="part by part", numpy=_concatenate_text, result="same",
                      fold=lambda *xs, axis: xs[0] if len(xs) == 1 else None,
                      samples=(Sample(((2,), (3,)), {"axis": 0}), Sample(((2, 1), (2, 3), (2, 2)), {"axis": 1})))
stack       = general("stack", lambda *xs, axis: np.stack(xs, axis), _stacked_shape,
                      variadic=lambda i, g, y, *xs, axis: at_axis(g, axis, i),
                      pushforward=_together, rule="part by part", numpy=_stack_text, result="same",
                      samples=(Sample(((), ()), {"axis": 0}), Sample(((2,), (2,), (2,)), {"axis": 1})))
# fmt: on


def _operands(arrays: Any) -> list[Node]:
    if type(arrays) is Node or isinstance(arrays, np.ndarray):
        return [at_axis(as_node(arrays), 0, i) for i in range(len(arrays.shape) and arrays.shape[0])]
    return [array(a) for a in arrays]


@numpy_function(*(getattr(np, n) for n in ("concatenate", "concat") if hasattr(np, n)))
def joined(
    arrays: Any, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Node:
    """`np.concatenate`."""
    only_defaults("np.concatenate", out=out, dtype=dtype)
    nodes = _operands(arrays)
    if axis is None:
        nodes, axis = [reshape(n, shape=(n.size,)) for n in nodes], 0
    if not nodes or any(not n.shape for n in nodes):
        raise ShapeError("numbers can't be concatenated", fix="use np.stack, or np.append")
    return concatenate(*nodes, axis=normal_axis(axis, nodes[0].ndim))


@numpy_function(np.stack)
def stacked(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Node:
    """`np.stack`."""
    only_defaults("np.stack", out=out, dtype=dtype)
    nodes = _operands(arrays)
    if not nodes:
        raise ShapeError("there is nothing to stack", fix="give at least one array")
    return stack(*nodes, axis=normal_axis(axis, nodes[0].ndim + 1))


@numpy_function(np.vstack)
def vstack(tup: Any, **options: Any) -> Node:
    """`np.vstack`."""
    return joined([atleast_2d(a) for a in _operands(tup)], 0, **options)


@numpy_function(np.hstack)
def hstack(tup: Any, **options: Any) -> Node:
    """`np.hstack`."""
    nodes = [atleast_1d(a) for a in _operands(tup)]
    return joined(nodes, 0 if nodes[0].ndim == 1 else 1, **options)


@numpy_function(np.dstack)
def dstack(tup: Any) -> Node:
    """`np.dstack`."""
    return joined([atleast_3d(a) for a in _operands(tup)], 2)


@numpy_function(np.column_stack)
def column_stack(tup: Any) -> Node:
    """`np.column_stack`: vectors become columns."""
    return joined([transposed(atleast_2d(a)) if a.ndim < 2 else a for a in _operands(tup)], 1)


@numpy_function(np.append)
def append(arr: Any, values: Any, axis: int | None = None) -> Node:
    """`np.append`."""
    return joined([array(arr), array(values)], axis)


@numpy_function(np.block)
def block(arrays: Any) -> Node:
    """`np.block`: lists of lists of blocks; the innermost list runs along the last axis."""
    return _blocks(arrays, _depth(arrays), max(_depth(arrays), _rank(arrays)))


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if type(arrays) is list else 0


def _rank(arrays: Any) -> int:
    return max(map(_rank, arrays)) if type(arrays) is list else array(arrays).ndim


def _blocks(arrays: Any, depth: int, rank: int) -> Node:
    if depth == 0:
        x = array(arrays)
        return reshape(x, shape=(1,) * (rank - x.ndim) + x.shape)
    return joined([_blocks(a, depth - 1, rank) for a in arrays], -depth)


@numpy_function(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Node]:
    """`np.array_split`: parts of almost the same size, or between given places."""
    x = array(ary)
    axis = normal_axis(axis, x.ndim)
    parts = np.array_split(np.arange(x.shape[axis]), indices_or_sections)
    starts = [int(p[0]) if p.size else 0 for p in parts]
    return [at_axis(x, axis, slice(start, start + p.size)) for start, p in zip(starts, parts, strict=True)]


@numpy_function(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Node]:
    """`np.split`."""
    x = array(ary)
    if hasattr(indices_or_sections, "__index__") and x.shape[normal_axis(axis, x.ndim)] % int(indices_or_sections):
        raise ShapeError(
            f"axis {axis} of shape {x.shape} has no {indices_or_sections} equal parts", fix="use np.array_split"
        )
    return array_split(x, indices_or_sections, axis)


numpy_function(np.vsplit)(lambda ary, indices_or_sections: split(ary, indices_or_sections, 0))
numpy_function(np.dsplit)(lambda ary, indices_or_sections: split(ary, indices_or_sections, 2))
numpy_function(np.hsplit)(lambda ary, indices_or_sections: split(ary, indices_or_sections, min(array(ary).ndim - 1, 1)))


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Node, ...]:
    """`np.unstack`: the parts along an axis."""
    node = array(x)
    axis = normal_axis(axis, node.ndim)
    return tuple(at_axis(node, axis, i) for i in range(node.shape[axis]))


NUMPY.update({f: unstack for f in (getattr(np, "unstack", None),) if f})


@numpy_function(np.tile)
def tile(A: Any, reps: Any) -> Node:
    """`np.tile`."""
    x, times = array(A), tuple(int(r) for r in np.atleast_1d(reps))
    return tiled(x, reps=(1,) * (x.ndim - len(times)) + times)


@numpy_function(np.repeat)
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Node:
    """`np.repeat`: every entry as often, or each entry as often as it says."""
    x, number = in_line(array(a), axis)
    counts = np.asarray(repeats)
    if counts.size == 1:
        return repeated(x, repeats=int(counts.item()), axis=number)
    return at_axis(x, number, np.repeat(np.arange(x.shape[number]), counts))


@numpy_function(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Node:
    """`np.roll`: along axes, or along the entries in a line."""
    x = array(a)
    if axis is None:
        line = rolled(reshape(x, shape=(x.size,)), shift=(int(np.sum(shift)),), axis=(0,))
        return reshape(line, shape=x.shape)
    shifts, axes = np.broadcast_arrays(np.atleast_1d(shift), np.atleast_1d(axis))
    return rolled(x, shift=tuple(map(int, shifts)), axis=tuple(normal_axis(int(n), x.ndim) for n in axes))


@numpy_function(np.pad)
def pad(array_: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Node:
    """`np.pad`: with a constant, or with entries of the array itself (edge, reflect, symmetric, wrap)."""
    x = array(array_)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(i, pad_width.get(i - x.ndim, (0, 0))) for i in range(x.ndim)]
        pad_width = [(w, w) if np.ndim(w) == 0 else w for w in pad_width]
    widths = [(int(a), int(b)) for a, b in np.broadcast_to(pad_width, (x.ndim, 2))]
    if mode == "constant":
        return _pad_constant(x, widths, options.get("constant_values", 0))
    if mode not in ("edge", "reflect", "symmetric", "wrap") or options.get("reflect_type", "even") != "even":
        raise NoRuleError(
            f"np.pad with mode={mode!r} {options or ''} has no derivative rule",
            why="constant, edge, reflect, symmetric and wrap have one",
            fix="put the border on with np.concatenate",
        )
    for axis, width in enumerate(widths):
        x = at_axis(x, axis, np.pad(np.arange(x.shape[axis]), width, mode=mode)) if any(width) else x
    return x


def _pad_constant(x: Node, widths: list[tuple[int, int]], values: Any) -> Node:
    shape = tuple(a + n + b for n, (a, b) in zip(x.shape, widths, strict=True))
    inside = scattered(x, tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths, strict=True)), shape)
    if type(values) is Node:
        border = constant(np.pad(np.zeros(x.shape), widths, constant_values=1))
        return add(inside, mul(border, values))
    return inside if not np.any(values) else add(inside, np.pad(np.zeros(x.shape), widths, constant_values=values))


@numpy_function(np.delete)
def delete(arr: Any, obj: Any, axis: int | None = None) -> Node:
    """`np.delete`: the array without the entries (or rows) that a constant index names."""
    x, number = in_line(array(arr), axis)
    return at_axis(x, number, np.delete(np.arange(x.shape[number]), obj))


@numpy_function(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Node:
    """`np.insert` into a vector (or into the entries in a line): joined at the end, then put in order."""
    x = in_line(array(arr), axis)[0]
    if x.ndim != 1:
        raise NoRuleError(
            "np.insert along an axis has no derivative rule",
            why="only vectors are in the table",
            fix="use np.concatenate",
        )
    new = array(values)
    new = reshape(new, shape=(new.size,))
    count = np.insert(np.arange(x.size), obj, np.zeros(new.size, dtype=int)).size - x.size
    places = np.arange(x.size, x.size + count)
    order = np.insert(np.arange(x.size), obj, places if np.size(obj) > 1 or count > 1 else places[0])
    return at_axis(concatenate(x, broadcast_to(new, shape=(count,)), axis=0), 0, order)


# Grids.


@numpy_function(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Node, ...]:
    """`np.meshgrid`."""
    lines = [array(x) for x in xi]
    turned = indexing == "xy" and len(lines) > 1
    places = [1, 0, *range(2, len(lines))] if turned else list(range(len(lines)))
    grids = [
        reshape(x, shape=tuple(x.size if i == at else 1 for i in range(len(lines))))
        for x, at in zip(lines, places, strict=True)
    ]
    shape = broadcast(*[g.shape for g in grids]) if grids else ()
    return tuple(grids) if sparse else tuple(broadcast_to(g, shape=shape) for g in grids)


@numpy_function(np.linspace)
def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
             axis: int = 0, *, device: Any = None) -> Any:  # fmt: skip
    """`np.linspace` between traced ends."""
    only_defaults("np.linspace", dtype=dtype)
    a, b = array(start), array(stop)
    parts = max(num - 1, 1) if endpoint else num
    distance = sub(b, a)
    share = np.arange(num).reshape((num,) + (1,) * distance.ndim) / parts
    points = moveaxis(add(expand_dims(broadcast_to(a, shape=distance.shape), 0), mul(distance, share)), 0, axis)
    if num > 1 or not endpoint:
        return (points, distance / parts) if retstep else points
    if retstep:
        raise ArgumentError("np.linspace with one point has no step", fix="leave retstep out, or ask for two points")
    return points


operators.update(stack=stacked)
