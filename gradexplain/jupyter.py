"""Magics for IPython: `%load_ext gradexplain` brings `%explain`, `%%explain`, `%gradcheck`, `%why` and `%tape`.

They are short for the functions of the API, which do the same without them. What follows a magic is a function or an
expression of the user's, then values of its arguments; both are looked up in the user's namespace, by IPython. Nothing
of IPython is imported: it calls `load_ipython_extension` and hands itself over.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np

from gradexplain.api import explain, explain_implicit
from gradexplain.errors import ArgumentError, FunctionError, GradexplainError
from gradexplain.explanation import Explanation
from gradexplain.readers.equation import defined_formula, is_equation
from gradexplain.readers.functions import TextFunction
from gradexplain.render.display import Display

_OPTION = re.compile(r"(?<!\S)--(?:(wrt|of|order|style|gradient)[ =]\s*(\S+)|(steps|stepper))(?!\S)")
_ASSIGNED = re.compile(r"(?:^|(?<=[\s,]))([^\W\d]\w*)=(?!=)")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_CELL = "cell"  # what the function of a cell is called


@dataclass(frozen=True, slots=True)
class Request:
    """What a magic is asked for: what to explain, the values of arguments as they were typed, and options."""

    what: str
    values: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, typed: str) -> Request:
        """Reads the line of a magic.

        >>> Request.read("loss(w, 2) y=[1, 2], n=3 --wrt w")
        Request(what='loss(w, 2)', values={'y': '[1, 2]', 'n': '3'}, options={'wrt': 'w'})
        """
        options = {found[1] or found[3]: found[2] or "" for found in _OPTION.finditer(typed)}
        line = _OPTION.sub("", typed).strip()
        starts = [found for found in _ASSIGNED.finditer(line) if _depth(line[: found.start()]) == 0]
        ends = [*(found.start() for found in starts), len(line)]
        values = {found[1]: line[found.end() : end].strip(" ,") for found, end in zip(starts, ends[1:], strict=True)}
        return cls(line[: ends[0]].strip(" ,"), values, options)


def _depth(text: str) -> int:
    return sum(text.count(c) for c in "([{") - sum(text.count(c) for c in ")]}")


class Magics:
    """The magics of one IPython shell."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell

    def explain(self, line: str, cell: str | None = None) -> Display:
        """Explains the derivative of a function, an expression, or of what the cell computes.

        %explain f x=3.0          %explain f(3.0)          %explain x**2 * sin(x)    x=3
        Options: --wrt x,y  --order 2  --of y  --steps  --style reverse  --stepper
        """
        request = Request.read(line)
        e = self._explained(request) if cell is None else self._of_cell(request, cell)
        if "stepper" in request.options:
            return e.stepper()
        if "style" in request.options:
            return e.derivation(style=request.options["style"])  # type: ignore[arg-type]
        if "steps" in request.options:
            e.detail = "full"
        return e

    def gradcheck(self, line: str) -> Display:
        """Compares a derivative with difference quotients: %gradcheck f x=3.0, or your own with --gradient 27.0"""
        request = Request.read(line)
        claimed = request.options.get("gradient")
        return self._explained(request).check(None if claimed is None else self._value("gradient", claimed))

    def why(self, line: str) -> Display:
        """Tells what there is to know about a derivative, why it is zero for example: %why f x=3.0"""
        return self._explained(Request.read(line)).why()

    def tape(self, line: str) -> Display:
        """Shows the operations that were recorded, and what each hands on: %tape f x=3.0"""
        return self._explained(Request.read(line)).derivation(style="reverse")

    def _explained(self, request: Request) -> Explanation:
        if not request.what:
            raise ArgumentError("there is nothing to explain", fix="write %explain f x=3.0 or %explain x**2")
        given = {name: self._value(name, text) for name, text in request.values.items()}
        function, args, called = self._function(request.what)
        wrt = self._wrt(request)
        if isinstance(function, str):
            known = self._known(function, given)
            wrt = wrt or (list(given) if given and known else None)
            given = {**known, **given}
        order = request.options.get("order", "1")
        if not order.isdecimal():
            raise ArgumentError(f"--order {order} is no order of a derivative", fix="use 1, 2, 3, …")
        given |= called
        if "of" in request.options:
            return explain_implicit(function, *args, of=request.options["of"], wrt=wrt, order=int(order), **given)
        return explain(function, *args, wrt=wrt, order=int(order), **given)

    def _wrt(self, request: Request) -> list[str] | None:
        asked = request.options.get("wrt")
        return None if asked is None else [name.strip() for name in asked.split(",") if name.strip()]

    def _function(self, what: str) -> tuple[Any, Sequence[Any], Mapping[str, Any]]:
        """A function of the user's with the arguments that it is called with, or the text of a formula."""
        names = self.shell.user_ns
        if _DOTTED.fullmatch(what) and what.split(".", maxsplit=1)[0] in names:
            return self._callable(what), (), {}
        if what.startswith("lambda"):
            return self._value("", what), (), {}
        try:
            call = ast.parse(what, mode="eval").body
        except (SyntaxError, ValueError):
            return what, (), {}
        if not (isinstance(call, ast.Call) and _DOTTED.fullmatch(ast.unparse(call.func))):
            return what, (), {}
        name = ast.unparse(call.func)
        if name.split(".")[0] not in names:
            return what, (), {}
        args = [self._value("", ast.unparse(argument)) for argument in call.args]
        return (
            self._callable(name),
            args,
            {k.arg: self._value(k.arg, ast.unparse(k.value)) for k in call.keywords if k.arg},
        )

    def _callable(self, name: str) -> Any:
        found = self._value("", name)
        if not callable(found):
            raise ArgumentError(f"{name} is no function", why=f"it is a {type(found).__name__}", fix="name a function")
        return found

    def _value(self, name: str, text: str) -> Any:
        """What a text stands for in the user's namespace."""
        try:
            return self.shell.ev(text)
        except Exception as error:
            shown = f"{name}={text}" if name else text
            raise ArgumentError(
                f"{shown} has no value",
                why=f"{type(error).__name__}: {error}",
                fix="use names of this notebook; leave out what is to stay open",
            ) from None

    def _known(self, formula: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Variables of a formula that are numbers in the user's namespace."""
        if is_equation(defined_formula(formula)):
            return {}
        variables = TextFunction.read(defined_formula(formula), known=list(given)).reading.variables
        found = {name: self.shell.user_ns.get(name) for name in variables if name not in given}
        return {n: v for n, v in found.items() if isinstance(v, (int, float, np.number, np.ndarray))}

    def _of_cell(self, request: Request, cell: str) -> Explanation:
        if request.what:
            raise ArgumentError(
                f"{request.what!r} is no value of an argument", fix="write %%explain x=3.0, and the function below it"
            )
        try:
            statements = ast.parse(cell).body
        except (SyntaxError, ValueError):
            return self._explained(Request(" ".join(cell.split()), request.values, request.options))
        if not statements:
            raise ArgumentError("the cell is empty", fix="write below %%explain what is to be explained")
        last = statements[-1]
        if isinstance(last, ast.FunctionDef):
            self._run("\n" + cell)
            return self._explained(Request(last.name, request.values, request.options))
        if len(statements) == 1 and isinstance(last, ast.Expr) and "\n" not in cell.strip():
            return self._explained(Request(cell.strip(), request.values, request.options))
        return self._as_function(request, cell, statements)

    def _as_function(self, request: Request, cell: str, statements: list[ast.stmt]) -> Explanation:
        """The cell as a function of what it leaves open, in lines that have the numbers that they have there."""
        names = self.shell.user_ns
        open_names = [n for n in _read_first(statements) if n not in names and not hasattr(builtins, n)]
        arguments = list(dict.fromkeys([*request.values, *open_names]))
        before = names.get(_CELL)
        self._run(f"def {_CELL}({', '.join(arguments)}):\n{textwrap.indent(_returning(cell, statements[-1]), '    ')}")
        try:
            return self._explained(Request(_CELL, request.values, request.options))
        finally:
            names.pop(_CELL, None)
            names.update({_CELL: before} if before is not None else {})

    def _run(self, source: str) -> None:
        """Runs a program of the user's as a cell: under the name of one, by which its lines are found again."""
        try:
            self.shell.ex(self.shell.compile(source, self.shell.compile.cache(source), "exec"))
        except Exception as error:
            raise FunctionError(
                f"the cell raises {type(error).__name__}: {error}", fix="run it without the magic"
            ) from error


def _read_first(statements: Sequence[ast.stmt]) -> list[str]:
    """The names that are read before they are assigned, roughly: by the order of statements."""
    assigned: set[str] = set()
    found: list[str] = []
    for statement in statements:
        nodes = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        bound = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
        inner = {a.arg for node in ast.walk(statement) if isinstance(node, ast.arguments) for a in node.args}
        within = inner | (bound if isinstance(statement, (ast.For, ast.While, ast.With)) else set())
        read = [n.id for n in nodes if isinstance(n.ctx, ast.Load) and n.id not in assigned | within]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            read += [statement.target.id] if statement.target.id not in assigned else []
        found += read
        assigned |= bound
    return list(dict.fromkeys(found))


def _returning(cell: str, last: ast.stmt) -> str:
    """The cell with its last value returned."""
    lines = cell.rstrip().split("\n")
    match last:
        case ast.Return():
            return cell
        case ast.Expr():
            line = lines[last.lineno - 1].encode()
            lines[last.lineno - 1] = (line[: last.col_offset] + b"return " + line[last.col_offset :]).decode()
            return "\n".join(lines)
        case ast.Assign(targets=[ast.Name(id=name), *_]) | ast.AugAssign(target=ast.Name(id=name)):
            return "\n".join([*lines, f"return {name}"])
        case ast.AnnAssign(target=ast.Name(id=name)):
            return "\n".join([*lines, f"return {name}"])
    raise ArgumentError(
        "the cell does not end with a value",
        why=f"its last statement is {type(last).__name__.lower()}",
        fix="end it with an expression, an assignment or a function",
    )


def _plainly(magic: Callable[..., Display]) -> Callable[..., Display]:
    """The magic, whose errors are shown as messages: the lines of this package would tell a user nothing."""

    @wraps(magic)
    def call(*args: Any) -> Display:
        try:
            return magic(*args)
        except GradexplainError as error:
            message = f"{type(error).__name__}: {error}"
            error._render_traceback_ = lambda: message.split("\n")  # type: ignore[attr-defined]
            raise

    return call


_MAGICS = {"explain": "line_cell", "gradcheck": "line", "why": "line", "tape": "line"}


def load_ipython_extension(shell: Any) -> None:
    """Brings the magics; IPython calls this for `%load_ext gradexplain`."""
    magics = Magics(shell)
    for name, kind in _MAGICS.items():
        shell.register_magic_function(_plainly(getattr(magics, name)), kind, name)


def unload_ipython_extension(shell: Any) -> None:
    """Takes the magics away again."""
    for name, kind in _MAGICS.items():
        for one in kind.split("_"):
            shell.magics_manager.magics[one].pop(name, None)
