"""Python's garbage collector, paused while large graphs are made.

Nodes are kept, not thrown away: looking for garbage among them again and again takes time that grows faster than the
graph.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_paused = 0  # how many threads and nested blocks ask for the pause


@contextmanager
def paused() -> Iterator[None]:
    """A block without garbage collection; it goes on after the last block, if it ran before the first."""
    global _paused
    with _lock:
        counts = bool(_paused) or gc.isenabled()
        if counts:
            _paused += 1
            gc.disable()
    try:
        yield
    finally:
        if counts:
            with _lock:
                _paused -= 1
                if not _paused:
                    gc.enable()
