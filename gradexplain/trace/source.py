"""Where a node comes from: file, line, source text, and the name that the user gave to the value.

A node's site is the code object and the instruction at which it was made; that costs a fraction of a microsecond. Lines
and names are read from it only when an explanation is made, by means of `co_positions` and the syntax tree.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from gradexplain.errors import Place

Site = tuple[CodeType, int]
_INTERNAL = ("gradexplain.", "numpy.", "scipy.")
_OWN = {"gradexplain", "numpy", "scipy"}


def user_frame(start: int = 2) -> FrameType | None:
    """The innermost frame that belongs neither to this package nor to NumPy."""
    frame: FrameType | None = sys._getframe(start)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module not in _OWN and not module.startswith(_INTERNAL):
            return frame
        frame = frame.f_back
    return None


def site() -> Site | None:
    """The instruction of the user's program that is being executed."""
    frame = user_frame(2)
    return None if frame is None else (frame.f_code, frame.f_lasti)


def place() -> Place | None:
    """The line of the user's program that is being executed."""
    frame = user_frame(2)
    return None if frame is None else _place(frame.f_code, frame.f_lineno)


def library_function() -> str:
    """The NumPy or SciPy function through which the package was called just now, "" if none."""
    frame: FrameType | None = sys._getframe(1)
    found = ""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(("numpy.", "scipy.")):
            owner = type(frame.f_locals["self"]).__name__ if "self" in frame.f_locals else frame.f_code.co_name
            found = f"{'np' if module.startswith('numpy') else 'scipy'}.{owner}"
        elif module != "gradexplain" and not module.startswith("gradexplain."):
            return found
        frame = frame.f_back
    return found


def place_of(found: Site | None) -> Place | None:
    """File, line and text of a site."""
    if found is None:
        return None
    code, instruction = found
    return _place(code, _positions(code)[instruction // 2][0] or code.co_firstlineno)


def place_of_function(function: Callable[..., Any]) -> Place | None:
    """Where a function is defined, if that can be known."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return None if code is None else _place(code, code.co_firstlineno)


def _place(code: CodeType, line: int) -> Place:
    text = linecache.getline(code.co_filename, line).strip()
    return Place(code.co_filename.rpartition("/")[2], line, code.co_name, text)


def name_of(found: Site | None) -> str | None:
    """The variable that the value made at a site is assigned to, if it is assigned as it is."""
    if found is None:
        return None
    code, instruction = found
    return _names(code.co_filename).get(_positions(code)[instruction // 2])


Position = tuple[int | None, int | None, int | None, int | None]


@lru_cache(maxsize=256)
def _positions(code: CodeType) -> list[Position]:
    return [(line, end_line, column, end_column) for line, end_line, column, end_column in code.co_positions()]


@lru_cache(maxsize=64)
def _names(filename: str) -> dict[Position, str]:
    """The spans of assigned expressions in a file, and the names they are assigned to."""
    lines = linecache.getlines(filename)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return {}
    names: dict[Position, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[*targets], value=value):
                for target in targets:
                    _assign(target, value, names)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                _assign(target, value, names)
            case ast.AugAssign(target=ast.Name(id=name)):
                names[_span(node)] = name
    return names


def _assign(target: ast.expr, value: ast.expr, names: dict[Position, str]) -> None:
    match target, value:
        case ast.Name(id=name), _:
            names[_span(value)] = name
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values))):
            for one_target, one_value in zip(targets, values, strict=False):
                _assign(one_target, one_value, names)


def _span(node: ast.expr | ast.stmt) -> Position:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
