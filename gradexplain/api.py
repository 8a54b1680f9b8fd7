"""What users call: each function walks the straight line once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradexplain.declared import declared
from gradexplain.errors import ArgumentError, NoRuleError, NotTraceableError, ShapeError
from gradexplain.explanation import Explanation
from gradexplain.exposition.domain import require_all_paths, require_domain
from gradexplain.language import Sentence
from gradexplain.render.answers import CheckDisplay, FindingsDisplay
from gradexplain.trace.run import Program, compare, explore, trace
from gradexplain.trace.signature import Argument, bind, promote

if TYPE_CHECKING:  # loaded by those who use them: text, equations and plots are not every day's work
    from gradexplain.directional import Pushforward
    from gradexplain.implicit import ImplicitExplanation
    from gradexplain.render.pictures.picture import Descent

HIGHEST_ORDER = 8
HIGHEST_IMPLICIT_ORDER = 4
_PULLED_BACK = "{name} is a cotangent of the result: the derivatives of sum({name}*f) are its pullbacks (vjp)"
Function = Callable[..., Any] | str
Names = str | int | Sequence[str | int] | None

__all__ = [
    "check",
    "descent",
    "explain",
    "explain_hessian",
    "explain_implicit",
    "explain_jacobian",
    "explain_jvp",
    "explain_vjp",
    "why",
]


def explain(
    f: Function,
    *args: Any,
    wrt: Names = None,
    order: int = 1,
    facts: Mapping[str, Any] | None = None,
    structured: str | Sequence[str] = (),
    **kwargs: Any,
) -> Explanation:
    """Explains the derivative of a function, or of text such as `"x**2 * sin(x)"`.

    Arguments are numbers or arrays (the point), shapes (`(3, 2)`, `"3 2"`, or with names for sizes `"m n"`), or are
    left out: then they stand for every real number. `wrt` names what to differentiate with respect to, by default every
    floating argument. `facts` says what is known of arrays: symmetric, positive-definite, onehot, probability, sign,
    mask, positive (a tuple for several). `structured` names symmetric matrices that are varied as such: both entries of
    a pair move together, and the derivative is A + A.T - diag(A), where A is that for independent entries. Text with an
    `=` is an equation: see `explain_implicit`. Raises `GradexplainError` where the function can't be traced.

    >>> e = explain(lambda x: x**2, x=3.0)
    >>> e["x"].text, e.value, e.gradient_values["x"]
    ('2*x', 9.0, 6.0)
    >>> explain(lambda x, S: x @ S @ x, x="n", S="n n", wrt="x", facts={"S": "symmetric"})["x"].text
    '2*S @ x'
    >>> explain(lambda A, S: np.trace(A @ S), A="n n", S="n n", wrt="S", structured="S")["S"].text
    'A.T + A - diag(diag(A))'
    """
    if isinstance(f, str):
        from gradexplain.readers.equation import defined_formula, is_equation

        f = defined_formula(f)
        if is_equation(f):
            return explain_implicit(f, *args, wrt=wrt, order=order, **kwargs)
    return _explain(f, args, kwargs, wrt, order, "gradient", facts, structured)


def explain_jacobian(
    f: Function,
    *args: Any,
    wrt: Names = None,
    facts: Mapping[str, Any] | None = None,
    structured: str | Sequence[str] = (),
    **kwargs: Any,
) -> Explanation:
    """Explains the Jacobian: the output's axes, then the argument's. Takes what `explain` takes.

    >>> import numpy as np
    >>> explain_jacobian(lambda x: np.array([x[0]**2, np.sin(x[1])]), np.array([1.0, 2.0, 3.0]))["x"].text
    '[[2*x0, 0, 0], [0, cos(x1), 0]]'
    """
    return _explain(f, args, kwargs, wrt, 1, "jacobian", facts, structured)


def explain_hessian(
    f: Function,
    *args: Any,
    wrt: Names = None,
    facts: Mapping[str, Any] | None = None,
    structured: str | Sequence[str] = (),
    **kwargs: Any,
) -> Explanation:
    """Explains the Hessian, with keys `"x,x"`, `"x,y"`, … (for one variable also `"x"`). Takes what `explain` takes.

    >>> explain_hessian(lambda x, y: x**2 * y, 1.0, 2.0)["x,y"].text
    '2*x'
    """
    return _explain(f, args, kwargs, wrt, 2, "hessian", facts, structured)


def explain_vjp(
    f: Function,
    *args: Any,
    cotangent: str = "g",
    wrt: Names = None,
    facts: Mapping[str, Any] | None = None,
    structured: str | Sequence[str] = (),
    **kwargs: Any,
) -> Explanation:
    """Explains the pullback (vjp): what a cotangent of the result is for each argument. Takes what `explain` takes.

    The cotangent has the shape of the result and the name that `cotangent` gives it; a value may be given by that name
    (else it is ones where there are numbers). Raises `ArgumentError` if it does not fit, or the name is taken.

    >>> e = explain_vjp(lambda X, w: X @ w, X="m n", w="n")
    >>> e["X"].text, e["w"].text
    ('outer(g, w)', 'X.T @ g')
    """
    from gradexplain import directional

    f, notes, title = _read(f, kwargs, wrt)
    others = {n: v for n, v in kwargs.items() if n != cotangent}
    names = _chosen(bind(f, args, others, symbolic=True), wrt)
    paired, arguments = directional.paired(f, args, others, cotangent, kwargs.get(cotangent), names)
    program, whole = _explored(paired, arguments, names, stack_results=False)
    notes += (Sentence(_PULLED_BACK, name=cotangent), *_without_value(program.arguments))
    known = declared(facts or {}, structured, program)
    return Explanation(program, whole, names, 1, title=title, notes=notes, facts=known)


def explain_jvp(
    f: Function, *args: Any, wrt: Names = None, facts: Mapping[str, Any] | None = None, **kwargs: Any
) -> Pushforward:
    """Explains the pushforward (jvp): how the result changes along tangents of the arguments, `dx` for `x`.

    Takes what `explain` takes, and a value for each tangent by its name (else it is ones where there are numbers). The
    only key is that of the result's change, `"dy"`. Raises `ArgumentError` for tangents that do not fit.

    >>> explain_jvp(lambda X, w: X @ w, X="m n", w="n")["dy"].text
    'X @ dw + dX @ w'
    >>> explain_jvp(lambda x: x**2, 3.0, dx=0.5).gradient_values["dy"]
    3.0
    """
    from gradexplain import directional

    f, notes, title = _read(f, kwargs, wrt)
    others, given = directional.with_tangents(f, args, kwargs)
    names = _chosen(bind(f, args, others, symbolic=True), wrt)
    moving, arguments = directional.moving(f, args, others, given, names)
    program, whole = _explored(moving, arguments, [*names, *moving.names], stack_results=True)
    known = declared(facts or {}, (), program)
    notes += _without_value(program.arguments)
    return directional.Pushforward(program, whole, names, title=title, notes=notes, facts=known)


def explain_implicit(
    f: Function, *args: Any, of: str | None = None, wrt: Names = None, order: int = 1, **kwargs: Any
) -> ImplicitExplanation:
    """Explains the derivative of one variable along the curve F = 0, where F is a function or text with an `=`.

    `of` is the variable that depends on the others (by default y, of x, y, z the last), `wrt` the independent ones. A
    point must lie on the curve; where only `of` is left out, it is found. Raises `DomainError` off the curve and where
    the equation does not determine `of`, `ArgumentError` for names that are not in it.

    >>> e = explain_implicit("x**2 + y**2 = 25", x=3, y=4)
    >>> e["x"].text, e.gradient_values["x"], e["x"].conditions
    ('-x/y', -0.75, ('y != 0',))
    >>> explain_implicit(lambda u, v: u * v - 1, of="v", wrt="u")["u"].text
    '-v/u'
    """
    from gradexplain.implicit import ImplicitExplanation, on_the_curve, roles

    _require_order(order, HIGHEST_IMPLICIT_ORDER)
    notes: tuple[str, ...] = ()
    title, subtracts = "", False
    if isinstance(f, str):
        from gradexplain.readers.equation import EquationFunction

        text = EquationFunction.read(f, known=[*kwargs, *_as_names(wrt), *_as_names(of)])
        f, notes, title, subtracts = text, text.notes, text.echo, text.subtracts
    arguments = bind(f, args, kwargs, symbolic=True)
    _refuse_nan(arguments)
    of, independent = roles([a for a in arguments if a.role == "traced"], of, _as_listed(wrt, arguments))
    arguments = [promote(a) if a.name in (of, *independent) and a.is_numeric else a for a in arguments]
    arguments, program, whole, more = on_the_curve(f, arguments, of, independent)
    title = title or f"{program.name}({', '.join(a.name for a in arguments)}) = 0"
    notes += more + _without_value(arguments)
    return ImplicitExplanation(program, whole, independent, order, of=of, subtracts=subtracts, title=title, notes=notes)


def _as_listed(wrt: Names, arguments: Sequence[Argument]) -> tuple[str, ...] | None:
    return None if wrt is None else _chosen(arguments, wrt)


def check(f: Function, *args: Any, gradient: Any = None, wrt: Names = None, **kwargs: Any) -> CheckDisplay:
    """Compares a derivative with difference quotients: the one found here, or a claimed `gradient`.

    >>> check(lambda x: x**3, 5.0).ok, check(lambda x: x**3, 5.0, gradient=74.0).ok
    (True, False)
    """
    return explain(f, *args, wrt=wrt, **kwargs).check(gradient)


def why(f: Function, *args: Any, wrt: Names = None, **kwargs: Any) -> FindingsDisplay:
    """Why a derivative is zero, infinite, NaN, huge, or not what was expected. Takes what `explain` takes.

    Each finding has a code, the path as far as it goes, the operation with its line, what is not the cause, and what to
    do. A function that can't be traced, or an operation without a rule, is a finding too.

    >>> print(why(lambda x, y: x**2, 1.0, 2.0))
    Findings
    ========
    <BLANKLINE>
    warning: y does not appear: its derivative is 0 [unused]
    <BLANKLINE>
      -  not the cause: no operation cut or rounded it: none reads it
      -  what to do: use y in the result, or leave it out
    """
    try:
        return explain(f, *args, wrt=wrt, **kwargs).why()
    except (NoRuleError, NotTraceableError) as error:
        from gradexplain.exposition.causes import finding

        code = "no-rule" if isinstance(error, NoRuleError) else "left-trace"
        return FindingsDisplay((finding(code, error.where, what=error.what, do=error.fix),))


def descent(f: Callable[..., Any], start: Sequence[float], *, rate: float = 0.1, steps: int = 50) -> Descent:
    """Gradient descent from a point, to look at: `start` has a number for each argument, or is the only argument.

    It stops where the function has no value. Raises `ArgumentError` if the point does not fit the function.

    >>> found = descent(lambda x, y: x**2 + y**2, (1.0, 2.0), rate=0.25, steps=3)
    >>> found
    <Descent: 3 steps, from 5 to 0.078125>
    >>> found.points[-1]
    (0.125, 0.25)
    """
    from gradexplain.exposition import plots
    from gradexplain.render.pictures.picture import Descent

    return Descent(plots.descent(f, start, rate=rate, steps=steps))


def _explain(
    f: Function,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    wrt: Names,
    order: int,
    kind: str,
    facts: Mapping[str, Any] | None,
    structured: str | Sequence[str],
) -> Explanation:
    _require_order(order, HIGHEST_ORDER)
    f, notes, title = _read(f, kwargs, wrt)
    arguments = bind(f, args, kwargs, symbolic=True)
    names = _chosen(arguments, wrt)
    if order > 1 and kind == "gradient" and any(a.shape for a in arguments if a.name in names):
        if order > 2:
            raise ArgumentError(f"order {order} of arrays is not explained", fix="use order 1 or 2")
        kind = "hessian"
    program, whole = _explored(f, arguments, names, stack_results=kind == "jacobian")
    notes += _without_value(program.arguments)
    known = declared(facts or {}, structured, program)
    return Explanation(program, whole, names, order, kind=kind, title=title, notes=notes, facts=known)


def _read(f: Function, kwargs: Mapping[str, Any], wrt: Names) -> tuple[Callable[..., Any], tuple[str, ...], str]:
    """The function, what was read in a special way, and its text if it was text."""
    if not isinstance(f, str):
        return f, (), ""
    from gradexplain.readers.functions import TextFunction

    text = TextFunction.read(f, known=[*kwargs, *_as_names(wrt)])
    return text, text.notes, text.echo


def _explored(
    f: Callable[..., Any], arguments: Sequence[Argument], names: Sequence[str], *, stack_results: bool
) -> tuple[Program, Program]:
    """The function traced along the path that it takes, and along all."""
    _refuse_nan(arguments)
    arguments = [promote(a) if a.name in names and a.is_numeric else a for a in arguments]
    program = _traced(f, arguments, stack_results=stack_results)
    if program.is_numeric:
        compare(program)
    whole = explore(program, stack_results=stack_results)
    if not program.is_numeric:
        require_domain(whole)
        require_all_paths(program, whole)
    return program, whole


def _require_order(order: int, highest: int) -> None:
    if not isinstance(order, int) or order < 1:
        raise ArgumentError(f"order={order!r} is no order of a derivative", fix="use 1, 2, 3, …")
    if order > highest:
        raise ArgumentError(
            f"order {order} is not explained",
            why=f"formulas grow with each order; {highest} is the highest",
            fix="use gx.grad of gx.grad for numbers",
        )


def _traced(f: Callable[..., Any], arguments: Sequence[Argument], *, stack_results: bool) -> Program:
    """The traced function; where shapes do not fit, it may be that arguments without a value were taken as numbers."""
    try:
        return trace(f, arguments, stack_results=stack_results, calls=True)
    except ShapeError as error:
        unknown = [a.name for a in arguments if a.role == "traced" and not a.is_numeric and a.shape == ()]
        if not unknown:
            raise
        raise ArgumentError(
            f"{', '.join(unknown)} had no value and {'was' if len(unknown) == 1 else 'were'} taken as single numbers",
            where=error.where,
            why=error.what,
            fix=f"give arrays, or shapes such as {unknown[0]}=(3, 2)",
        ) from None


def _refuse_nan(arguments: Sequence[Argument]) -> None:
    for a in arguments:
        if a.role == "traced" and a.is_numeric and not _is_finite(a.value):
            raise ArgumentError(
                f"argument {a.name} is not finite",
                why="nothing can be computed from nan, infinity, or more than a float holds, and so nothing explained",
                fix=f"give a finite number, as in {a.name}=3.0, or leave {a.name} out",
            )


def _is_finite(value: Any) -> bool:
    """Whether all numbers are finite, as floats too."""
    try:
        return bool(np.all(np.isfinite(np.asarray(value, dtype=float))))
    except OverflowError:
        return False


def _without_value(arguments: Sequence[Argument]) -> tuple[str, ...]:
    """A point that is given in part is no point: which numbers are missing."""
    traced = [a for a in arguments if a.role == "traced"]
    missing = [a.name for a in traced if not a.is_numeric]
    if not missing or all(not a.is_numeric or a.is_default for a in traced):
        return ()
    one, several = "no numbers are shown: {names} has no value", "no numbers are shown: {names} have no value"
    return (Sentence(one if len(missing) == 1 else several, names=", ".join(missing)),)


def _as_names(wrt: Names) -> list[str]:
    if wrt is not None and not isinstance(wrt, (str, int, Iterable)):
        raise ArgumentError(
            f"wrt={wrt!r} names no argument", fix='give names or positions, as in wrt="x" or wrt=(0, 1)'
        )
    if wrt is None or isinstance(wrt, int):
        return []
    return [wrt] if isinstance(wrt, str) else [w for w in wrt if isinstance(w, str)]


def _chosen(arguments: Sequence[Argument], wrt: Names) -> tuple[str, ...]:
    """The names to differentiate with respect to: those asked for, or every floating argument given."""
    traced = {a.name: a for a in arguments if a.role == "traced"}
    if wrt is None:
        names = [n for n, a in traced.items() if a.kind == "float" and not a.is_default]
        return tuple(names or [n for n, a in traced.items() if a.kind != "bool"] or list(traced))
    _as_names(wrt)
    asked = (wrt,) if isinstance(wrt, (str, int)) else tuple(wrt)
    if not asked:
        raise ArgumentError(
            "wrt names nothing",
            why="there is no derivative with respect to nothing",
            fix=f"leave wrt out, or choose among {', '.join(traced)}",
        )
    positions = [a.name for a in arguments]
    names = [positions[w] if isinstance(w, int) and 0 <= w < len(positions) else str(w) for w in asked]
    for name in names:
        if name not in traced:
            raise ArgumentError(
                f"there is no argument {name} to differentiate with respect to",
                why=f"the arguments are {', '.join(traced) or 'none'}",
                fix="choose among them with wrt=",
            )
    return tuple(names)
