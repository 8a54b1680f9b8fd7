"""A last resort for SymPy calls that can hang: the call is ended after some seconds, and the caller is told.

Budgets are counts of operations, so that results do not depend on the machine; the watchdog only keeps a formula that
slipped through them from stopping the program. It works in any thread and touches no signal handler. One thread looks
after all calls, since starting one for each would cost more than most of them.
"""

from __future__ import annotations

import ctypes
import os
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
_TICK = 0.05  # seconds
_AGAIN = 0.5  # seconds
_IDLE = 20  # ticks with nothing to look after, then the thread ends
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
            _watchman.takes(watch)
            result = call()
        except BaseException as error:
            if type(error) is not watch.signal:
                watch.settle()
            raise
        watch.settle()
    except _TimeIsUp as signal:
        if type(signal) is not watch.signal:
            raise
        with suppress(type(signal)):
            watch.settle()
        return None
    return result


def _worked(thread: int) -> Callable[[], float]:
    """A clock that goes on while a thread works: on a busy machine a call is not slower for it. Elsewhere any clock."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    clock = time.pthread_getcpuclockid(thread)
    return lambda: time.clock_gettime(clock)


class _Watch:
    """Raises an exception of a class of its own in the thread that made it, again and again until it is heeded: in a
    callback of the interpreter's it would be lost.
    """

    def __init__(self, seconds: float) -> None:
        self.signal: type[BaseException] | None = None  # once it was raised
        self.is_over = False
        self._seconds, self._thread = seconds, threading.get_ident()
        self._lock = threading.Lock()
        self._clock = _worked(self._thread)
        self._at_start, self._began, self._next = self._clock(), time.monotonic(), 0.0

    def look(self) -> None:
        """Raises if the time is up."""
        with self._lock:
            now = time.monotonic()
            if self.is_over or now < self._next:
                return
            if self._clock() - self._at_start < self._seconds and now - self._began < _BUSY * self._seconds:
                return
            self.signal = self.signal or type("_TimeIsUp", (_TimeIsUp,), {})
            self._next = now + _AGAIN
            _raise(ctypes.c_ulong(self._thread), ctypes.py_object(self.signal))

    def settle(self) -> None:
        """From here on nothing is raised: what is on its way arrives now."""
        with self._lock:
            self.is_over = True
        waits = 20 if self.signal else 0
        while waits:
            time.sleep(0.001)
            waits -= 1


class _Watchman:
    """The watches that run, and the thread that looks at them while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watches: list[_Watch] = []
        self._thread: threading.Thread | None = None

    def takes(self, watch: _Watch) -> None:
        """Looks after a watch until it is over."""
        with self._lock:
            self._watches.append(watch)
            if self._thread is None:
                self._thread = threading.Thread(target=self._round, daemon=True)
                self._thread.start()

    def _round(self) -> None:
        idle = 0
        while idle < _IDLE:
            time.sleep(_TICK)
            with self._lock:
                self._watches = running = [w for w in self._watches if not w.is_over]
                idle = 0 if running else idle + 1
                if idle == _IDLE:
                    self._thread = None
            for watch in running:
                watch.look()


def _anew() -> None:
    global _watchman
    _watchman = _Watchman()


_watchman = _Watchman()
if hasattr(os, "register_at_fork"):  # a forked process has the lock as it was, and no thread
    os.register_at_fork(after_in_child=_anew)
