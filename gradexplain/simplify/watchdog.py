"""A last resort for SymPy calls that can hang: the call is ended after some seconds, and the caller is told.

Budgets are counts of operations, so that results do not depend on the machine; the watchdog only keeps a formula that
slipped through them from stopping the program. It works in any thread and touches no signal handler.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class _TimeIsUp(BaseException):
    """Raised in the thread of the call; a BaseException, so that no handler of SymPy's takes it."""


def within(seconds: float, call: Callable[[], T]) -> T | None:
    """The result of a call, or None if it took too long.

    >>> within(5.0, lambda: 6 * 7)
    42
    """
    target = threading.get_ident()
    lock = threading.Lock()
    done = False

    def stop() -> None:
        with lock:
            if not done:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(target), ctypes.py_object(_TimeIsUp))

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        result = call()
        with lock:
            done = True
    except _TimeIsUp:
        return None
    finally:
        timer.cancel()
    return result
