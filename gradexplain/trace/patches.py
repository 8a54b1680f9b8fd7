"""Puts the stand-ins (stand_ins.py) where a function looks names up, while a trace runs.

Other threads and nested traces are not disturbed: the stand-ins do for plain values what the originals do. These come
back with the end of the last trace, unless the program has put something else there itself.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradexplain.trace.callbacks import vectorized
from gradexplain.trace.reach import Slot
from gradexplain.trace.stand_ins import stand_in_for

_EXTRA_DEPTH = 200  # our own calls must not use up the recursion limit of a program that stays within it
_lock = threading.RLock()
_replaced: list[tuple[Slot, Any, Any]] = []  # where, the original, the stand-in
_active = 0
_at_end: list[Callable[[], Any]] = []


class Patches:
    """A context in which the functions that stand in the given places know tracers."""

    def __init__(self, places: Iterable[tuple[Slot, Any]]) -> None:
        self.places = places

    def __enter__(self) -> None:
        global _active
        with _lock:
            _active += 1
            if _active == 1:
                _begin()
            for slot, value in self.places:
                _replace(slot, value)

    def __exit__(self, *_: object) -> None:
        global _active
        with _lock:
            _active -= 1
            if _active == 0:
                while _replaced:
                    slot, original, stand_in = _replaced.pop()
                    with contextlib.suppress(LookupError, AttributeError, ValueError):
                        if slot.read() is stand_in:
                            slot.write(original)
                while _at_end:
                    _at_end.pop()()


def _begin() -> None:
    for name in _MODULES:
        if name in sys.modules and name not in _libraries:
            _libraries[name] = _in_library(vars(sys.modules[name]))
    for namespace, stand_ins, _ in _libraries.values():
        namespace.update(stand_ins)
    original = np.vectorize.__call__
    np.vectorize.__call__ = vectorized(original)  # type: ignore[method-assign]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + _EXTRA_DEPTH)
    _at_end.append(lambda: [namespace.update(originals) for namespace, _, originals in _libraries.values()])
    _at_end.append(lambda: setattr(np.vectorize, "__call__", original))
    _at_end.append(lambda: sys.setrecursionlimit(limit))


def _in_library(namespace: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    found = {name: (value, stand_in_for(value)) for name, value in list(namespace.items())}
    known = {name: pair for name, pair in found.items() if pair[1] is not None}
    return namespace, {n: new for n, (_, new) in known.items()}, {n: old for n, (old, _) in known.items()}


_MODULES = ("math", "numpy", "numpy.linalg", "scipy.special", "scipy.linalg")
_libraries: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {}


def _replace(slot: Slot, value: Any) -> None:
    stand_in = stand_in_for(value)
    if stand_in is not None:
        try:
            slot.write(stand_in)
        except (AttributeError, TypeError):  # a place that can't be written to
            return
        _replaced.append((slot, value, stand_in))
