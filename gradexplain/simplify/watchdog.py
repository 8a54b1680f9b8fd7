"""A last resort for SymPy calls that can hang: the call is ended after some seconds, and the caller is told.

Budgets are counts of operations, so that results do not depend on the machine; the watchdog only keeps a formula that
slipped through them from stopping the program. It works in any thread and touches no signal handler.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from sympy.polys.polyerrors import BasePolynomialError

T = TypeVar("T")
# What SymPy raises where it can't do what it was asked for.
FAILURES = (ValueError, TypeError, AttributeError, NotImplementedError, RecursionError, ArithmeticError, LookupError,
            AssertionError, BasePolynomialError)  # fmt: skip
_AGAIN = 0.5  # seconds
_BUSY = 10  # a thread that gets no more of the machine than one part in ten has to make do with that
_raise = ctypes.pythonapi.PyThreadState_SetAsyncExc


class _TimeIsUp(BaseException):
    """Raised in the thread of the call; a BaseException, so that no handler of SymPy's takes it."""


def within(seconds: float, call: Callable[[], T]) -> T | None:
    """The result of a call, or None if it worked too long. Calls may be nested: each ends its own alone.

    >>> within(5.0, lambda: 6 * 7)
    42
    """
    watch = _Watch(seconds)
    try:
        try:
            watch.start()
            result = call()
        except watch.signal:
            raise
        except BaseException:
            watch.settle()
            raise
        watch.settle()
    except watch.signal:
        with suppress(watch.signal):
            watch.settle()
        return None
    return result


def _worked(thread: int) -> Callable[[], float]:
    """A clock that goes on while a thread works: on a busy machine a call is not slower for it. Elsewhere any clock."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    clock = time.pthread_getcpuclockid(thread)
    return lambda: time.clock_gettime(clock)


class _Watch(threading.Thread):
    """Raises an exception of a class of its own in the thread that made it, again and again until it is heeded: in a
    callback of the interpreter's it would be lost.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True)
        self.signal: type[BaseException] = type("_TimeIsUp", (_TimeIsUp,), {})
        self._seconds, self._watched = seconds, threading.get_ident()
        self._lock, self._over = threading.Lock(), threading.Event()
        self._fired = False
        self._worked = _worked(self._watched)
        self._at_start = self._worked()

    def run(self) -> None:
        """Waits, and raises."""
        began, patience = time.monotonic(), self._seconds
        while not self._over.wait(_AGAIN if self._fired else patience):
            patience = self._seconds - (self._worked() - self._at_start)
            if patience > 0 and time.monotonic() - began < _BUSY * self._seconds:
                continue
            with self._lock:
                if not self._over.is_set():
                    self._fired = True
                    _raise(ctypes.c_ulong(self._watched), ctypes.py_object(self.signal))

    def settle(self) -> None:
        """From here on nothing is raised: what is on its way arrives now."""
        with self._lock:
            self._over.set()
        waits = 20 if self._fired else 0
        while waits:
            time.sleep(0.001)
            waits -= 1
