"""Calls of the user's own functions while a program runs on tracers: which function, on which nodes, with which result.

Python's profiling hook sees every call with its exact arguments and its exact result, and changes nothing. It costs
about a microsecond for each function that runs, ours included, so it is used for explanations alone and given up in
long programs. A profiler that runs already keeps its place.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_OPTIMIZED, CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FrameType
from typing import Any

from gradexplain.errors import NotTraceableError
from gradexplain.graph import Node, constant
from gradexplain.trace.exits import Exits
from gradexplain.trace.running import Call, Trace
from gradexplain.trace.source import is_library
from gradexplain.trace.tracer import Tracer

MOST_EVENTS = 60_000  # calls and returns of any function: some 500 operations of the user's
_SUSPENDED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_STARRED = CO_VARARGS | CO_VARKEYWORDS
# Where one of these runs, what is traced holds for the values at hand only.
_STEERING = {
    id(method.__code__)
    for method in (Trace.decide, Trace.fails, Trace.pin, Trace.settle, Trace.written, Exits.__int__, Exits.__index__)
}


@contextmanager
def recorded(trace: Trace) -> Iterator[None]:
    """Keeps the calls of the user's functions in the trace; none at all where there are too many to look at."""
    if sys.getprofile() is not None:
        yield
        return
    recorder = _Recorder(trace)
    sys.setprofile(recorder.event)
    try:
        yield
    finally:
        recorder.end()


@dataclass(slots=True)
class _Open:
    """A call that has not returned yet; `arguments` is None where they are not numbers, or the call is not plain."""

    frame: FrameType
    arguments: dict[str, Node] | None


@dataclass(slots=True)
class _Recorder:
    trace: Trace
    found: list[Call] = field(default_factory=list)
    running: list[_Open] = field(default_factory=list)
    main: CodeType | None = None
    count: int = 0

    def event(self, frame: FrameType, event: str, result: Any) -> None:
        """The hook."""
        self.count += 1
        if self.count > MOST_EVENTS:
            self.found.clear()
            self.trace.returned.clear()
            self.main = None
            self.end()
        elif event == "call":
            self._called(frame)
        elif event == "return" and self.running and self.running[-1].frame is frame:
            self._returned(self.running.pop(), result)

    def end(self) -> None:
        """Takes the hook away, if it is still there."""
        if sys.getprofile() == self.event:
            sys.setprofile(None)
        self.running.clear()
        self.trace.calls = tuple(self.found)
        if self.main is not None:
            result = next((c.result for c in reversed(self.found) if c.code is self.main), None)
            counts = Counter(id(c.code) for c in self.found)
            passed_on = (c.code for c in self.found if c.result is result and counts[id(c.code)] == 1)
            self.trace.own = (self.main, *passed_on)

    def _called(self, frame: FrameType) -> None:
        code = frame.f_code
        if is_library(frame.f_globals.get("__name__", "")):
            if id(code) in _STEERING:
                for call in self.running:
                    call.arguments = None
        elif code.co_flags & CO_OPTIMIZED and not code.co_flags & _SUSPENDED:
            if not self.running:
                self.main = code
            is_recursive = any(call.frame.f_code is code for call in self.running)
            for call in self.running:
                if call.frame.f_code is code:
                    call.arguments = None
            self.running.append(_Open(frame, None if is_recursive else self._arguments(frame)))

    def _arguments(self, frame: FrameType) -> dict[str, Node] | None:
        """The arguments as nodes, None if one is no number or the function sees traced values beside them."""
        code, local = frame.f_code, frame.f_locals
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if code.co_flags & _STARRED or any(type(local.get(n)) is Tracer for n in code.co_freevars):
            return None
        found = {n: self._node(local.get(n)) for n in names if not (n == names[0] and n in ("self", "cls"))}
        return None if None in found.values() else found  # type: ignore[return-value]

    def _node(self, value: Any) -> Node | None:
        """The node of a number, traced or plain."""
        if type(value) is Tracer:
            return value.node if value._trace is self.trace and value._node.kind == "float" else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                return constant(value)
            except NotTraceableError:
                return None
        return None

    def _returned(self, call: _Open, result: Any) -> None:
        node = self._node(result)
        if node is None or not node.inputs:
            return
        caller = call.frame.f_back
        if caller is not None and not is_library(caller.f_globals.get("__name__", "")):
            self.trace.returned.setdefault(node, []).append((caller.f_code, caller.f_lasti))
        arguments = tuple((call.arguments or {}).items())
        self.found.append(Call(call.frame.f_code, arguments, node, call.arguments is not None))
