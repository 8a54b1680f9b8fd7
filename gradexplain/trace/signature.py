"""What a function is called with: arguments by name, and which of them are traced."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import Any, Literal

import numpy as np

from gradexplain.errors import ArgumentError
from gradexplain.graph import Kind
from gradexplain.shapes import Shape
from gradexplain.trace.source import place_of_function

Role = Literal["traced", "static"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name, its number (None if only the shape is known), shape, kind, and how it is passed on."""

    name: str
    value: Any
    shape: Shape = ()
    kind: Kind = "float"
    role: Role = "traced"
    keyword: bool = False
    is_default: bool = False
    of_numpy: bool = False  # a float that was given as one of NumPy's
    letters: tuple[str, ...] = ()  # the names of the sizes, where the shape was given by names

    @property
    def is_numeric(self) -> bool:
        """Whether there is a number."""
        return self.value is not None

    def as_given(self) -> Any:
        """The number as the plain function gets it first: arrays copied, floats of the type that they had."""
        return self.value if type(self.value) is float and not self.of_numpy else self.plain()

    def plain(self) -> Any:
        """The number as it goes with traced ones: arrays copied, floats as NumPy's (1/0 is infinite)."""
        if isinstance(self.value, np.ndarray):
            return self.value.copy()
        return np.float64(self.value) if type(self.value) is float else self.value


def bind(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], *, symbolic: bool
) -> list[Argument]:
    """The arguments of a call by name. Where `symbolic`, missing ones are real variables and shapes stand for arrays.

    >>> [a.name for a in bind(lambda x, y=2.0: x * y, (1.0,), {}, symbolic=False)]
    ['x', 'y']
    """
    if not callable(function):
        raise no_function(function)
    _refuse_kinds(function)
    parameters = parameters_of(function, len(args))
    given = _match(function, parameters, args, kwargs)
    missing = [p.name for p in parameters if p.name not in given and p.default is p.empty and not _is_variadic(p)]
    if missing and not symbolic:
        listed = ", ".join(missing)
        raise ArgumentError(
            f"missing argument {listed}",
            where=place_of_function(function),
            why=f"{_name(function)} needs {'it' if len(missing) == 1 else 'them'}",
            fix=f"call it as g({', '.join(p.name for p in parameters)})",
        )
    out = []
    for p in parameters:
        keyword = p.kind is p.KEYWORD_ONLY
        if _is_variadic(p):
            continue
        if p.name in given:
            out.append(replace(classify(p.name, given[p.name], symbolic=symbolic), keyword=keyword))
        elif p.default is not p.empty:
            out.append(replace(_default(p.name, p.default), keyword=keyword))
        else:
            out.append(Argument(p.name, None, keyword=keyword))
    named = {p.name for p in parameters}
    out += [replace(classify(n, v, symbolic=symbolic), keyword=True) for n, v in given.items() if n not in named]
    return _with_sizes(out)


def _match(
    function: Callable[..., Any], parameters: list[inspect.Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    if len(args) > len(positional):
        raise ArgumentError(
            f"{_name(function)} takes {len(positional)} positional arguments, {len(args)} were given",
            where=place_of_function(function),
            fix=f"its parameters are {', '.join(p.name for p in parameters) or 'none'}",
        )
    given = {p.name: a for p, a in zip(positional, args, strict=False)}
    for name, value in kwargs.items():
        if name in given:
            raise ArgumentError(f"argument {name} is given twice", fix="give it by position or by name")
        if not takes_any and name not in {p.name for p in parameters}:
            raise ArgumentError(
                f"{_name(function)} has no argument {name}",
                where=place_of_function(function),
                fix=f"its parameters are {', '.join(p.name for p in parameters) or 'none'}",
            )
        given[name] = value
    return given


def parameters_of(function: Callable[..., Any], count: int) -> list[inspect.Parameter]:
    """The parameters; `*xs` counts as x0, x1, … as many as are given; builtins without a signature get x, y, z."""
    kind = inspect.Parameter.POSITIONAL_ONLY
    if isinstance(function, np.ufunc):
        return [inspect.Parameter(n, kind) for n in ("x", "y", "z")[: function.nin]]
    try:
        found = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return [inspect.Parameter(n, kind) for n in ("x", "y", "z", "u", "v", "w")[: max(count, 1)]]
    out: list[inspect.Parameter] = []
    for p in found:
        if p.kind is p.VAR_POSITIONAL:
            out += [inspect.Parameter(f"{p.name}{i}", kind) for i in range(max(0, count - len(out)))]
        else:
            out.append(p)
    return out


def _is_variadic(p: inspect.Parameter) -> bool:
    return p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)


def _default(name: str, value: Any) -> Argument:
    """A default that is a real number keeps its name in formulas; others are passed as they are."""
    if type(value) is float:
        return Argument(name, value, is_default=True)
    return Argument(
        name, value, np.shape(value) if isinstance(value, np.ndarray) else (), role="static", is_default=True
    )


def classify(name: str, value: Any, *, symbolic: bool) -> Argument:
    """What a given value is to the trace."""
    if symbolic and isinstance(value, str):
        return Argument(name, None, shape=_shape_of(name, value), letters=_letters_of(value))
    if symbolic and isinstance(value, tuple) and all(type(v) is int for v in value):
        return Argument(name, None, shape=value)
    if type(value).__module__.partition(".")[0] == "gradexplain" and hasattr(value, "__gradexplain_value__"):
        value = value.__gradexplain_value__()
    if isinstance(value, (bool, np.bool_)):
        return Argument(name, bool(value), kind="bool")
    if isinstance(value, (int, np.integer)):
        return Argument(name, int(value), kind="int")
    if isinstance(value, (float, np.floating)):
        return Argument(name, float(value), of_numpy=isinstance(value, np.floating))
    if isinstance(value, (list, tuple)) and not value:
        return Argument(name, value, role="static")  # no number in it: a flag, or no choice made
    if isinstance(value, (list, tuple)) or (hasattr(value, "__array__") and not isinstance(value, (str, type))):
        return _array_argument(name, value)
    if symbolic and (value is None or isinstance(value, _NO_NUMBERS)):
        raise no_number(name, value)
    return Argument(name, value, role="static")


_NO_NUMBERS = (str, complex, np.complexfloating, bytes, dict, set)


def no_function(value: Any) -> ArgumentError:
    """The error for a value in the place of a function."""
    return ArgumentError(
        f"expected a function, got {type(value).__name__}",
        why="there is nothing to differentiate in a value",
        fix="pass the function itself, as in grad(f)(3.0)",
    )


def no_number(name: str, value: Any) -> ArgumentError:
    """The error for an argument with respect to which there is no derivative."""
    shown = "None" if value is None else f"a {type(value).__name__}"
    return ArgumentError(
        f"argument {name} is {shown}",
        why="derivatives are taken with respect to real numbers and arrays of real numbers",
        fix=_advice(name, value),
    )


def _advice(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return f"give the entries of {name} as arguments of their own"
    if isinstance(value, (complex, np.complexfloating)):
        return "give the real and the imaginary part as two arguments"
    return f"give a number, as in {name}=3.0"


def _array_argument(name: str, value: Any) -> Argument:
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(
            f"argument {name} is a masked array", why="masks are not traced", fix="use np.where with a mask"
        )
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ArgumentError(f"argument {name} is no array: {error}", fix="give rows of equal length") from None
    if array.dtype.kind not in "fiub":
        raise ArgumentError(
            f"argument {name} is an array of dtype {array.dtype}",
            why="derivatives are taken with respect to real numbers",
            fix="convert it with astype(float)",
        )
    if array.ndim == 0:
        return classify(name, array[()].item(), symbolic=False)
    kind: Kind = {"f": "float", "b": "bool"}.get(array.dtype.kind, "int")  # type: ignore[assignment]
    return Argument(name, array.astype(float) if kind == "float" else array.copy(), array.shape, kind)


def _shape_of(name: str, text: str) -> Shape:
    """A shape given as text, `"4 3"` or, with names for sizes, `"m n"`."""
    sizes = text.split()
    if not all(size.isdigit() or size.isidentifier() for size in sizes):
        raise ArgumentError(
            f"argument {name} has the shape {text!r}",
            why="a shape has a number or a name for each size",
            fix=f'give sizes, as in {name}=(4, 3) or {name}="m n", or an array',
        )
    return tuple(int(size) if size.isdigit() else 0 for size in sizes)


def _letters_of(text: str) -> tuple[str, ...]:
    sizes = tuple(text.split())
    return () if all(size.isdigit() for size in sizes) else sizes


_STAND_INS = (5, 3, 4, 7, 6, 8, 9, 10, 11, 12, 13)  # what named sizes are while a function is traced


def _with_sizes(arguments: list[Argument]) -> list[Argument]:
    """Numbers for the sizes that have names: the same name is the same size."""
    names = dict.fromkeys(c for a in arguments for c in a.letters if not c.isdigit())
    for name in names:
        taken = any(a.name == name and a.role == "traced" for a in arguments)
        if taken or iskeyword(name):
            why = (
                "an argument has that name, so a formula would not tell them apart"
                if taken
                else "Python keeps that name"
            )
            raise ArgumentError(f"a size can't be called {name}", why=why, fix='choose another letter, as in x="k"')
    typed = {n for a in arguments for n in a.shape}
    free = (n for n in (*_STAND_INS, *range(14, 14 + len(names))) if n not in typed)
    sizes = dict(zip(names, free, strict=False))
    return [
        replace(a, shape=tuple(sizes.get(c, n) for c, n in zip(a.letters, a.shape, strict=True))) if a.letters else a
        for a in arguments
    ]


def promote(argument: Argument) -> Argument:
    """An integer argument that is differentiated becomes real."""
    if argument.kind == "float":
        return argument
    value = argument.value
    try:
        real = value.astype(float) if isinstance(value, np.ndarray) else float(value)
    except OverflowError:
        raise ArgumentError(
            f"argument {argument.name} is a whole number of {value.bit_length():,} binary digits",
            why="it is larger than any float",
            fix="scale the numbers, or use logarithms",
        ) from None
    return replace(argument, value=real, kind="float")


def by_position(
    arguments: Sequence[Argument], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    """The values of the traced arguments of a call, in order; None if it gives other arguments than a known call."""
    positional = [a.name for a in arguments if not a.keyword]
    given = dict(zip(positional, args, strict=False)) | dict(kwargs)
    names = {a.name for a in arguments}
    if len(args) > len(positional) or len(given) < len(args) + len(kwargs) or not given.keys() <= names:
        return None
    values = []
    for a in arguments:
        if a.name not in given and not a.is_default:
            return None
        if a.role == "traced":
            values.append(given.get(a.name, a.value))
        elif a.name in given and not _is_same(a, given[a.name]):
            return None
    return tuple(values)


def _is_same(a: Argument, value: Any) -> bool:
    """Whether an argument that is passed on as it is was that in the known call too."""
    return can_be_compared(a) and not a.is_default and type(value) is type(a.value) and bool(value == a.value)


def can_be_compared(a: Argument) -> bool:
    """Whether a later call can tell that an argument is what it was; defaults are looked at with the function."""
    return a.role == "traced" or a.is_default or a.value is None or type(a.value) in (str, bytes)


def takes_arguments_as_they_stand(arguments: Sequence[Argument]) -> bool:
    """Whether the traced arguments are the first ones, so that a call by position gives just these."""
    traced = [a.role == "traced" for a in arguments]
    first = sum(traced)
    return all(traced[:first]) and all(a.is_default for a in arguments[first:]) and not any(
        a.keyword for a in arguments[:first])  # fmt: skip


def _refuse_kinds(function: Callable[..., Any]) -> None:
    inner = inspect.unwrap(getattr(function, "__func__", function))
    for test, kind in (
        (inspect.isasyncgenfunction, "an asynchronous generator"),
        (inspect.iscoroutinefunction, "an async function"),
        (inspect.isgeneratorfunction, "a generator function"),
    ):
        if test(inner):
            raise ArgumentError(
                f"{_name(function)} is {kind}",
                where=place_of_function(inner),
                why="it does not return a number when it is called",
                fix="write a function that returns one number or array",
            )


def _name(function: Callable[..., Any]) -> str:
    found: str = getattr(function, "__name__", type(function).__name__)
    return found
