"""One object for all that is equal, as long as something refers to it."""

from __future__ import annotations

from typing import Any, Generic, TypeVar
from weakref import ref

T = TypeVar("T")
_ROOM = 10_000


class Interned(Generic[T]):
    """Objects by what they are made of.

    Python's `WeakValueDictionary` calls back when one dies, in the midst of whatever is computed just then, where the
    watchdog may strike; here the dead stay until room is made.

    >>> known, some = Interned(), {1, 2}
    >>> known.keep("some", some) is some, known.get("some") is some, known.get("other") is None
    (True, True, True)
    """

    def __init__(self) -> None:
        self._refs: dict[Any, ref[T]] = {}
        self._room = _ROOM

    def get(self, key: Any) -> T | None:
        """The living object with this key."""
        found = self._refs.get(key)
        return None if found is None else found()

    def keep(self, key: Any, made: T) -> T:
        """Enters an object."""
        if len(self._refs) >= self._room:
            self._refs = {k: r for k, r in self._refs.items() if r() is not None}
            self._room = max(_ROOM, 2 * len(self._refs))
        self._refs[key] = ref(made)
        return made
