"""What stands in the brackets of `x[...]`: a key as a hashable pattern, back as a key, and as source text.

A pattern is a tuple of ints, `Slice`s, None, Ellipsis, constant index arrays (`Fixed`) and `HOLE`s, which stand for
traced integers: these are operands of the row.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from gradexplain.errors import ArgumentError, NoRuleError, ShapeError
from gradexplain.graph import Fixed, Node
from gradexplain.primitive import POSTFIX, Code
from gradexplain.shapes import Shape

_LONG = 8  # entries from which on an index array 0, 1, 2, … is printed as np.arange


class Slice(NamedTuple):
    """A slice that can be hashed (Python's can be from 3.12 on)."""

    start: int | None
    stop: int | None
    step: int | None


class Hole(Enum):
    """The place of a traced index in a pattern."""

    HOLE = "traced index"

    def __repr__(self) -> str:
        return "HOLE"


HOLE = Hole.HOLE
ALL = Slice(None, None, None)
BACKWARDS = Slice(None, None, -1)
Pattern = tuple[Any, ...]


def pattern_of(key: Any) -> tuple[Pattern, list[Node]]:
    """A key as written by the user, as a pattern and the traced indices that go into its holes."""
    nodes: list[Node] = []
    parts = key if type(key) is tuple else (key,)
    return tuple(_entry(part, nodes) for part in parts), nodes


def _entry(part: Any, nodes: list[Node]) -> Any:
    if part is None or part is Ellipsis:
        return part
    if type(part) is slice:
        return Slice(*[None if n is None else operator.index(n) for n in (part.start, part.stop, part.step)])
    if type(part) is Node:
        return _traced(part, nodes)
    if isinstance(part, (int, np.integer)) and not isinstance(part, bool):
        return int(part)
    index = np.asarray(part)
    if index.size == 0 and index.dtype.kind == "f":
        index = index.astype(int)
    if index.dtype.kind not in "iub":
        raise ArgumentError(
            f"{part!r:.60} is no index",
            why="an index is an integer, a slice, None, ..., or an array of integers or of true and false",
            fix="use integers",
        )
    return Fixed(index) if index.shape or index.dtype.kind == "b" else int(index)


def _traced(index: Node, nodes: list[Node]) -> Any:
    if index.is_constant and isinstance(index.data, Fixed):
        return _entry(index.data.array, nodes)
    if index.is_constant:
        return _entry(index.data, nodes)
    if index.kind == "bool":
        raise NoRuleError(
            "a traced condition can't be an index",
            why="how many entries x[condition] has depends on the values",
            fix="use np.where(condition, x, 0)",
        )
    nodes.append(index)
    return HOLE


def key_of(pattern: Pattern, indices: Sequence[Any]) -> tuple[Any, ...]:
    """The key for NumPy, with values in the holes."""
    values = iter(indices)
    return tuple(_part(entry, values) for entry in pattern)


def _part(entry: Any, values: Iterator[Any]) -> Any:
    if entry is HOLE:
        return np.asarray(next(values), dtype=int)
    if type(entry) is Slice:
        return slice(*entry)
    return entry.array if type(entry) is Fixed else entry


def picked_shape(shape: Shape, *indices: Shape, pattern: Pattern) -> Shape:
    """The shape of x[key]; what the holes hold does not matter for it."""
    try:
        if not has_arrays(pattern):
            return _basic_shape(shape, pattern)
        return tuple(np.broadcast_to(0, shape)[key_of(pattern, [np.zeros(s, dtype=int) for s in indices])].shape)
    except IndexError as error:
        names = [f"i{n}" for n in range(len(indices))]
        raise ShapeError(
            f"x[{key_text(pattern, names)}] does not exist for x of shape {shape}",
            why=str(error),
            fix="count entries from 0",
        ) from None


def _basic_shape(shape: Shape, pattern: Pattern) -> Shape:
    """The shape of x[key], for a key of ints, slices, None and Ellipsis."""
    missing = len(shape) - sum(e is not None and e is not Ellipsis for e in pattern)
    if missing < 0 or pattern.count(Ellipsis) > 1:
        raise IndexError("there are more indices than axes")
    out: list[int] = []
    axes = iter(shape)
    for entry in pattern:
        if entry is Ellipsis:
            out += (next(axes) for _ in range(missing))
        elif type(entry) is Slice:
            out.append(len(range(*slice(*entry).indices(next(axes)))))
        elif entry is None:
            out.append(1)
        elif not -(n := next(axes)) <= entry < n:
            raise IndexError(f"the axis has {n} entries")
    return (*out, *axes)


def key_text(pattern: Pattern, names: Sequence[str]) -> str:
    """The key as source text.

    >>> key_text(pattern_of((0, slice(None, -1), ...))[0], [])
    '0, :-1, ...'
    """
    values = iter(names)
    return ", ".join(_part_text(entry, values) for entry in pattern) or "()"


def _part_text(entry: Any, names: Iterator[str]) -> str:
    if entry is HOLE:
        return next(names)
    if type(entry) is Slice:
        ends = ["" if n is None else str(n) for n in entry]
        return ":".join(ends if entry.step is not None else ends[:2])
    if entry is Ellipsis:
        return "..."
    return array_text(entry.array) if type(entry) is Fixed else repr(entry)


def array_text(array: Any) -> str:
    """An index array as source text, for use in brackets."""
    if array.size > _LONG and array.dtype.kind != "b" and np.array_equal(array.ravel(), np.arange(array.size)):
        return f"np.arange({array.size})" + (f".reshape{array.shape}" if array.ndim > 1 else "")
    return repr(array.tolist())


def expanded(pattern: Pattern, rank: int) -> Pattern | None:
    """A pattern of ints and slices with one entry an axis; None if there is anything else in it but None and Ellipsis."""
    entries = [e for e in pattern if e is not None]
    if any(type(e) not in (int, Slice) and e is not Ellipsis for e in entries):
        return None
    missing = [ALL] * (rank - sum(e is not Ellipsis for e in entries))
    at = next((i for i, e in enumerate(entries) if e is Ellipsis), len(entries))
    return (*entries[:at], *missing, *entries[at + 1 :])


def extents(shape: Shape, pattern: Pattern) -> list[tuple[int, int]] | None:
    """Where the block that a key names begins and ends along each axis; None if it names no block."""
    entries = expanded(pattern, len(shape))
    if not entries:
        return None
    found = []
    for entry, n in zip(entries, shape, strict=True):
        start, stop, step = slice(*entry).indices(n) if type(entry) is Slice else (entry % n, entry % n + 1, 1)
        if step != 1 or stop <= start:
            return None
        found.append((start, stop))
    return found


def are_apart(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> bool:
    """Whether two blocks have no entry in common."""
    return any(stop <= start or end <= begin for (begin, stop), (start, end) in zip(a, b, strict=True))


def has_arrays(pattern: Pattern) -> bool:
    """Whether a key has index arrays or holes: these may name an entry twice."""
    return any(e is HOLE or type(e) is Fixed for e in pattern)


def slots(shape: Shape, pattern: Pattern) -> Any:
    """The numbers, in reading order, of the entries that a key without holes names."""
    return np.arange(int(np.prod(shape, dtype=int))).reshape(shape)[key_of(pattern, [])]


# How the transposes of x[key] are written: as np.where for one entry (or row), as np.pad for a block, else by counting.


def _numbers_text(shape: Shape) -> str:
    """Source text of the numbers of all entries, in reading order."""
    count = f"np.arange({int(np.prod(shape, dtype=int))})"
    return count if len(shape) == 1 else f"{count}.reshape{shape}"


def slots_text(shape: Shape, pattern: Pattern, names: Sequence[str]) -> str:
    """Source text of the numbers of the entries that a key names."""
    return f"{_numbers_text(shape)}[{key_text(pattern, names)}]"


def row_text(shape: Shape, pattern: Pattern) -> str | None:
    """Source text of the condition `entry is in row i`, where the key is one integer."""
    if len(pattern) != 1 or type(pattern[0]) is not int:
        return None
    column = f"[:{', None' * (len(shape) - 1)}]" if len(shape) > 1 else ""
    return f"np.arange({shape[0]}){column} == {pattern[0] % shape[0]}"


def block_text(g: Code, shape: Shape, pattern: Pattern) -> str | None:
    """Source text of g with zeros around it, where the key names a block of x."""
    block = extents(shape, pattern)
    if block is None:
        return None
    kept = tuple(stop - start for start, stop in block)
    widths = tuple((start, n - stop) for (start, stop), n in zip(block, shape, strict=True))
    inside = g if kept == picked_shape(shape, pattern=pattern) else f"np.reshape({g}, {kept})"
    return f"np.pad({inside}, {widths[0] if len(widths) == 1 else widths})"


def scatter_text(g: Code, *indices: Code, pattern: Pattern, shape: Shape) -> Code:
    """Source text of g at the entries that the key names, in zeros."""
    row = row_text(shape, pattern)
    if row is not None:
        return Code(f"np.where({row}, {g}, 0.0)")
    block = block_text(g, shape, pattern)
    if block is not None:
        return Code(block)
    size = int(np.prod(shape, dtype=int))
    counted = f"np.bincount({slots_text(shape, pattern, indices)}.ravel(), np.ravel({g}), {size})"
    return Code(counted if len(shape) == 1 else f"{counted}.reshape{shape}")


def setitem_text(x: Code, value: Code, *indices: Code, pattern: Pattern, shape: Shape) -> Code:
    """Source text of x with other entries at a key."""
    row = row_text(shape, pattern)
    if row is not None:
        return Code(f"np.where({row}, {value}, {x})")
    block = extents(shape, pattern)
    if block is not None and type(pattern[0]) is Slice and block[1:] == [(0, n) for n in shape[1:]]:
        (start, stop), whole = block[0], x.at(POSTFIX)
        parts = [f"{whole}[:{start}]"] * (start > 0) + [str(value)] + [f"{whole}[{stop}:]"] * (stop < shape[0])
        return Code(f"np.concatenate(({', '.join(parts)}))")
    there = f"np.isin({_numbers_text(shape)}, {slots_text(shape, pattern, indices)})"
    return Code(f"np.where({there}, {scatter_text(value, *indices, pattern=pattern, shape=shape)}, {x})")
