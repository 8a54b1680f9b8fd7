"""Lists, tuples and dicts of tensors, one inside the other: flattened, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


def flatten(structure: Any) -> list[Any]:
    """The leaves, from left to right; dicts in the order of their sorted keys, as TensorFlow has them.

    >>> flatten({"b": [1, (2,)], "a": 3})
    [3, 1, 2]
    """
    if isinstance(structure, Mapping):
        return [leaf for key in _keys(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [leaf for part in structure for leaf in flatten(part)]
    return [structure]


def pack(structure: Any, leaves: Any) -> Any:
    """New leaves in the shape of a structure.

    >>> pack({"b": [1, (2,)], "a": 3}, "xyz")
    {'b': ['y', ('z',)], 'a': 'x'}
    """
    return _packed(structure, iter(leaves))


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, Mapping):
        found = {key: _packed(structure[key], leaves) for key in _keys(structure)}
        return {key: found[key] for key in structure}
    if isinstance(structure, (list, tuple)):
        parts = [_packed(part, leaves) for part in structure]
        if hasattr(structure, "_fields"):
            return type(structure)(*parts)
        return parts if isinstance(structure, list) else tuple(parts)
    return next(leaves)


def mapped(function: Callable[..., Any], *structures: Any) -> Any:
    """The function on all leaves; the structures must be alike.

    >>> mapped(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    columns = zip(*map(flatten, structures), strict=True)
    return pack(structures[0], [function(*leaves) for leaves in columns])


def _keys(structure: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(structure)
    except TypeError:
        return list(structure)
