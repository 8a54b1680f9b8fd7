"""Where a node comes from: file, line, source text, and the name that the user gave to the value.

A node's site is the code object and the instruction at which it was made; that costs a fraction of a microsecond. Lines
and names are read from it only when an explanation is made, by means of `co_positions` and the syntax tree.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import opcode
import sys
import sysconfig
import textwrap
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FrameType, FunctionType
from typing import Any

from gradexplain.errors import Place

Site = tuple[CodeType, int]
_STANDARD_FILES = sysconfig.get_paths()["stdlib"]
_LIBRARIES = {"numpy", "scipy", "sympy", "mpmath", "gradexplain", "builtins"}
_CALLS = "gradexplain.trace.calling"  # the module whose `apply` calls the traced function
_REMAINDER = (6, 19)  # the operand of BINARY_OP for % and %=


@lru_cache(maxsize=4096)
def is_library(module: Any) -> bool:
    """Whether a module belongs to Python, to NumPy and its kin, or to this package: its code is not the user's."""
    if not isinstance(module, str):  # types made by C code may have a descriptor there
        return True
    root = module.partition(".")[0]
    if root in _LIBRARIES:
        return True
    if root not in sys.stdlib_module_names or root == "__main__":
        return False
    file = getattr(sys.modules.get(root), "__file__", None)  # a file of the user may be called queue.py
    return file is None or file.startswith(_STANDARD_FILES)


def user_frame(start: int = 2) -> FrameType | None:
    """The innermost frame that belongs neither to this package nor to a library."""
    frame: FrameType | None = sys._getframe(start)
    while frame is not None:
        if not is_library(frame.f_globals.get("__name__", "")):
            return frame
        frame = frame.f_back
    return None


def site() -> Site | None:
    """The instruction of the traced function that is being executed; None in formulas, which have no source."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not is_library(module):
            return frame.f_code, frame.f_lasti
        if frame.f_code.co_name == "apply" and module == _CALLS:  # beyond it lies whoever asked for the explanation
            return None
        frame = frame.f_back
    return None


def place() -> Place | None:
    """The line of the user's program that is being executed."""
    frame = user_frame(2)
    return None if frame is None else place_at(frame.f_code, frame.f_lineno)


def is_formatting() -> bool:
    """Whether a value was asked for by `"%.2f" % x`: the only case in which `%` asks for a plain number."""
    frame = user_frame(2)
    if frame is None or frame.f_lasti < 0:
        return False
    code = frame.f_code.co_code
    return code[frame.f_lasti] == opcode.opmap["BINARY_OP"] and code[frame.f_lasti + 1] in _REMAINDER


def library_function() -> str:
    """The function of a library that the user's program called just now, and that asks us for a value; "" if none."""
    frame: FrameType | None = sys._getframe(1)
    called: list[FrameType] = []
    while frame is not None and is_library(module := frame.f_globals.get("__name__", "")):
        if module.partition(".")[0] != "gradexplain":
            called.append(frame)
        frame = frame.f_back
    return public_name(called[-1]) if called else ""


def public_name(frame: FrameType) -> str:
    """The name by which users know the function that runs in a frame: np.linalg.inv, scipy.linalg.expm."""
    module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
    if name == "__call__" and "self" in frame.f_locals:
        name = type(frame.f_locals["self"]).__name__
    wrapped = [v for v in frame.f_locals.values() if isinstance(v, FunctionType)] if "wrap" in name else []
    if wrapped:
        module, name = wrapped[0].__module__, wrapped[0].__name__
    if name in ("__init__", "__new__"):  # a class is known by its own name
        owner = frame.f_locals.get("cls") if name == "__new__" else type(frame.f_locals.get("self"))
        name = getattr(owner, "__name__", name)
    public = ".".join(p for p in module.split(".") if not p.startswith("_") and p not in ("lib", "core"))
    return f"{public}.{name}".replace("numpy.", "np.", 1)


def place_of(found: Site | None) -> Place | None:
    """File, line and text of a site."""
    if found is None:
        return None
    code, instruction = found
    return place_at(code, _positions(code)[instruction // 2][0] or code.co_firstlineno)


def place_of_function(function: Callable[..., Any]) -> Place | None:
    """Where a function is defined, if that can be known."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return None if code is None else place_at(code, code.co_firstlineno)


def lines_of(function: Callable[..., Any]) -> tuple[tuple[int, str], ...]:
    """The lines of a function with their numbers; none where there is no source."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    try:
        lines, first = inspect.getsourcelines(code) if code is not None else ([], 0)
    except (OSError, SyntaxError):
        return ()
    return tuple(enumerate(textwrap.dedent("".join(lines)).splitlines(), first))


def place_at(code: CodeType, line: int) -> Place:
    """A line of a code object, with its text."""
    text = linecache.getline(code.co_filename, line).strip()
    return Place(code.co_filename.rpartition("/")[2], line, code.co_name, text)


def name_of(found: Site | None) -> str | None:
    """The variable that the value made at a site is assigned to, if it is assigned as it is."""
    if found is None:
        return None
    code, instruction = found
    return _names(code.co_filename).get(_positions(code)[instruction // 2])


def text_at(found: Site | None) -> str:
    """The expression at a site as the source has it, on one line; "" without source."""
    if found is None:
        return ""
    code, instruction = found
    line, end_line, column, end = _positions(code)[instruction // 2]
    if line is None or end_line is None or column is None or end is None:
        return ""
    lines = [linecache.getline(code.co_filename, n) for n in range(line, end_line + 1)]
    if not all(lines):
        return ""
    parts = [text.encode() for text in lines]  # columns count bytes
    parts[-1] = parts[-1][:end]
    parts[0] = parts[0][column:]
    return " ".join(part.decode().strip() for part in parts)


def name_of_function(code: CodeType) -> str | None:
    """What the source calls a function: its own name, or that of the variable that a lambda is assigned to."""
    if code.co_name != "<lambda>":
        return code.co_name
    spans = [(line, column, end_line, end) for line, end_line, column, end in _positions(code) if line and end]
    if not spans:
        return None
    line, column = min((line, column) for line, column, _, _ in spans)
    end_line, end = max((line, end) for _, _, line, end in spans)
    return _lambdas(code.co_filename).get((line, end_line, column, end))


Position = tuple[int | None, int | None, int | None, int | None]


@lru_cache(maxsize=256)
def _positions(code: CodeType) -> list[Position]:
    return [(line, end_line, column, end_column) for line, end_line, column, end_column in code.co_positions()]


@lru_cache(maxsize=64)
def _nodes(filename: str) -> tuple[ast.AST, ...]:
    """The syntax tree of a file, as a list."""
    try:
        return tuple(ast.walk(ast.parse("".join(linecache.getlines(filename)))))
    except (SyntaxError, ValueError):
        return ()


@lru_cache(maxsize=64)
def _lambdas(filename: str) -> dict[Position, str]:
    """The spans of the bodies of lambdas in a file, and the names that the lambdas are assigned to."""
    return {
        _span(node.value.body): node.targets[0].id
        for node in _nodes(filename)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda) and isinstance(node.targets[0], ast.Name)
    }


@lru_cache(maxsize=64)
def _names(filename: str) -> dict[Position, str]:
    """The spans of assigned expressions in a file, and the names they are assigned to."""
    names: dict[Position, str] = {}
    for node in _nodes(filename):
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
