"""The call that makes an explanation again, as Python source: for notebooks that others open.

A function of the user's is copied with the imports, numbers and functions that it needs. What it can't be without
(a closure, an object, a large array) can't be written down; there is no call then.
"""

from __future__ import annotations

import builtins
import inspect
import keyword
import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gradexplain.lambdify import readable_names
from gradexplain.readers.functions import TextFunction
from gradexplain.simplify.form import ClosedForm
from gradexplain.structured import structured_in
from gradexplain.trace.run import Program
from gradexplain.trace.signature import Argument

_MOST_ENTRIES = 400  # of an array that is written out
_MOST_LINES = 200


def formulas(arguments: Sequence[str], forms: Sequence[ClosedForm]) -> str:
    """Closed forms as a NumPy program: a function of the arguments."""
    names = {a: a if _is_free(a) else safe for a, safe in zip(arguments, readable_names(arguments), strict=True)}
    parts = {n: t for f in forms for n, t in f.where_numpy.items()}
    lines = [*(f"{n} = {t}" for n, t in parts.items()), f"return {', '.join(f.numpy for f in forms)}"]
    imports = ["import numpy as np", *(["import scipy.special"] if "scipy" in " ".join(lines) else [])]
    head = f"def derivative({', '.join(names.values())}):"
    return "\n".join([*imports, "", "", head, *(f"    {line}" for line in lines), ""])


def _is_free(name: str) -> bool:
    """Whether a program may call an argument by this name."""
    return name.isidentifier() and not keyword.iskeyword(name) and name not in ("np", "scipy", "derivative")


def call(
    program: Program,
    function: str,
    *,
    wrt: Sequence[str] = (),
    order: int = 1,
    of: str = "",
    facts: Mapping[str, Collection[str]] | None = None,
) -> str | None:
    """The source of a program that makes an explanation with the function of the API that is named; None if there is
    none.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = TextFunction.read("x**2")
    >>> print(call(trace(f, bind(f, (3.0,), {}, symbolic=True)), "explain"))
    import gradexplain as gx
    <BLANKLINE>
    e = gx.explain("x**2", x=3.0)
    e
    """
    given = arguments(program)
    written = _function(program.function)
    if given is None or written is None:
        return None
    lines, name = written
    options = [f"wrt={list(wrt)!r}"] if _is_choice(program, wrt) else []
    options += [f"order={order}"] if order > 1 and function != "explain_hessian" else []
    options += [f"of={of!r}"] if of else []
    options += _facts(facts or {})
    made = f"e = gx.{function}({', '.join([name, *given, *options])})"
    imports = ["import numpy as np"] if "np." in made and "import numpy as np" not in lines else []
    return "\n".join([*imports, "import gradexplain as gx", *lines, "", made, "e"])


def _facts(facts: Mapping[str, Collection[str]]) -> Iterator[str]:
    """What was said of arrays, as arguments of the call."""
    structured = sorted(structured_in(facts))
    stated = {n: tuple(sorted({*known} - {"structured"})) for n, known in sorted(facts.items()) if n not in structured}
    if stated:
        yield f"facts={stated!r}"
    if structured:
        yield f"structured={structured!r}"


def arguments(program: Program) -> list[str] | None:
    """The arguments of a call as source, by keyword; None if one is too large or is an object."""
    written = [_argument(a) for a in program.arguments if not (a.is_default or (not a.is_numeric and a.shape == ()))]
    return None if None in written else [text for text in written if text is not None]


def _argument(argument: Argument) -> str | None:
    if not argument.name.isidentifier():
        return None
    value = _value(argument.value) if argument.is_numeric else repr(argument.shape)
    return None if value is None else f"{argument.name}={value}"


def _value(value: Any) -> str | None:
    if isinstance(value, np.ndarray):
        if value.size > _MOST_ENTRIES or value.dtype.kind not in "fiub" or not np.all(np.isfinite(value)):
            return None
        return f"np.array({value.tolist()!r})"
    if isinstance(value, (bool, int, str, type(None))):
        return repr(value)
    if isinstance(value, (float, np.floating)) and math.isfinite(value):
        return repr(float(value))
    return None


def _is_choice(program: Program, wrt: Sequence[str]) -> bool:
    """Whether `wrt` is other than what it is by default."""
    floats = [a.name for a in program.arguments if a.role == "traced" and a.kind == "float" and not a.is_default]
    return bool(wrt) and list(wrt) != floats


def _function(function: Any) -> tuple[list[str], str] | None:
    """The lines that define the function, and what it is called in them."""
    if isinstance(function, TextFunction):
        return [], _quoted(function.echo)
    found: dict[str, str] = {}
    if not isinstance(function, FunctionType) or not _defined(function, found):
        return None
    lines = sorted(line for line in found.values() if line.startswith(("import ", "from ")))
    numbers = [line for line in found.values() if "\n" not in line and line not in lines]
    functions = [text for text in found.values() if "\n" in text]
    blocks = [*lines, *([""] if numbers else []), *numbers]
    for text in functions:
        blocks += ["", "", *text.rstrip().split("\n")]
    return blocks, function.__name__


def _quoted(text: str) -> str:
    return f'"{text}"' if text.isprintable() and not set(text) & set('"\\') else repr(text)


def _defined(function: FunctionType, found: dict[str, str]) -> bool:
    """Whether the function can be copied; what it needs is put into `found` by name, in the order of definition."""
    name = function.__name__
    if name in found:
        return True
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return False
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    copyable = source.startswith(f"def {name}(") and not function.__closure__ and source.count("\n") <= _MOST_LINES
    if not copyable or any(_value(default) is None for default in defaults):
        return False
    found[name] = ""
    for used in sorted(_names(function.__code__) & function.__globals__.keys()):
        if used not in found and not _needed(used, function.__globals__[used], found):
            return False
    del found[name]
    found[name] = source  # after what it needs
    return True


def _needed(name: str, value: Any, found: dict[str, str]) -> bool:
    if isinstance(value, ModuleType):
        found[name] = f"import {value.__name__}" + (f" as {name}" if name != value.__name__ else "")
        return True
    if isinstance(value, FunctionType) and not value.__module__.startswith(("numpy", "gradexplain")):
        return value.__name__ == name and _defined(value, found)
    if isinstance(value, (BuiltinFunctionType, FunctionType, np.ufunc)):
        home = next((m for m in (math, np, builtins) if getattr(m, name, None) is value), None)
        if home is not None and home is not builtins:
            found[name] = f"from {home.__name__} import {name}"
        return home is not None
    written = _value(value)
    if written is None or not (isinstance(value, (int, float)) or "np." not in written):
        return False
    found[name] = f"{name} = {written}"
    return True


def _names(code: CodeType) -> set[str]:
    """The names that a function and those within it look up outside."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)
