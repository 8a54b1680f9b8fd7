"""A last resort for SymPy calls that can hang: the call is ended after some seconds, and the caller is told.

Budgets are counts of operations, so that results do not depend on the machine; the watchdog only keeps a formula that
slipped through them from stopping the program. It works in any thread and touches no signal handler.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_raise = ctypes.pythonapi.PyThreadState_SetAsyncExc


class _TimeIsUp(BaseException):
    """Raised in the thread of the call; a BaseException, so that no handler of SymPy's takes it."""


def within(seconds: float, call: Callable[[], T]) -> T | None:
    """The result of a call, or None if it took too long. Calls may be nested: each ends its own alone.

    >>> within(5.0, lambda: 6 * 7)
    42
    """
    watch = _Watch(seconds)
    try:
        try:
            watch.timer.start()
            result = call()
        except watch.signal:
            raise
        except BaseException:
            watch.settle()
            raise
        watch.settle()
    except watch.signal:
        return None
    finally:
        watch.timer.cancel()
    return result


class _Watch:
    """A timer that raises an exception of a class of its own in the thread that made it."""

    def __init__(self, seconds: float) -> None:
        self.signal: type[BaseException] = type("_TimeIsUp", (_TimeIsUp,), {})
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._done = self._fired = False
        self.timer = threading.Timer(seconds, self._stop)
        self.timer.daemon = True

    def _stop(self) -> None:
        with self._lock:
            if not self._done:
                self._fired = True
                _raise(ctypes.c_ulong(self._thread), ctypes.py_object(self.signal))

    def settle(self) -> None:
        """From here on nothing is raised: what is on its way arrives now."""
        with self._lock:
            self._done = True
        waits = 50 if self._fired else 0
        while waits:
            time.sleep(0.001)
            waits -= 1
