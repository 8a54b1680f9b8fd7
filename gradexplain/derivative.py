"""Derivatives as NumPy callables: `grad`, `value_and_grad`, `jacobian`, `hessian`, `jvp`, `vjp`.

A callable traces its function at the first call of each signature and generates a program; later calls run that.
A program holds for the branches that its trace took and for the outside values that it saw: it checks both and the
function is traced again where one has changed. Inside another traced function everything stays a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from typing import Any, Literal

import numpy as np

from gradexplain.autodiff import jvp as forward_mode
from gradexplain.autodiff import vjp as reverse_mode
from gradexplain.collector import paused
from gradexplain.errors import ArgumentError
from gradexplain.generated import Function, build, pack
from gradexplain.graph import Node, ancestors, constant, variable
from gradexplain.isolated import isolated_points, limits_around, where_undefined
from gradexplain.jacobians import hessian_nodes, jacobian_nodes
from gradexplain.ops.ordering import equal
from gradexplain.trace.nested import as_outer, trace_inside
from gradexplain.trace.program import no_derivative
from gradexplain.trace.run import Program, compare, function_name, plain, trace
from gradexplain.trace.running import stack
from gradexplain.trace.signature import (
    Argument,
    bind,
    by_position,
    can_be_compared,
    no_function,
    no_number,
    promote,
    takes_arguments_as_they_stand,
)
from gradexplain.trace.snapshot import nothing_to_check, snapshot
from gradexplain.trace.tracer import Tracer

__all__ = ["Derivative", "grad", "hessian", "jacobian", "jacobian_nodes", "jvp", "value_and_grad", "vjp"]
Kind = Literal["grad", "value_and_grad", "jacobian", "hessian"]
Argnums = int | str | Sequence[int | str]
_HIDE_NAN = ("maximum", "minimum", "clip")  # operations whose slope is 0 where their operand is nan
_MOST_PROGRAMS = 32  # programs kept for one number of arguments: one for each signature and path through the branches


def grad(function: Callable[..., Any], argnums: Argnums = 0) -> Derivative:
    """The gradient function of `function`, by position (or name) of the arguments to differentiate.

    The gradient has the shape of its argument; of a result with several entries it is the gradient of their sum.

    >>> grad(lambda x: x**2)(3.0)
    6.0
    >>> grad(lambda w1, w2: 3*w1**2 + 2*w1*w2, argnums=(0, 1))(5.0, 3.0)
    (36.0, 10.0)
    """
    return Derivative(function, argnums, "grad")


def value_and_grad(function: Callable[..., Any], argnums: Argnums = 0) -> Derivative:
    """As `grad`, with the value: `(f(x), gradient)`.

    >>> value_and_grad(lambda x: x**3)(5.0)
    (125.0, 75.0)
    """
    return Derivative(function, argnums, "value_and_grad")


def jacobian(function: Callable[..., Any], argnums: Argnums = 0) -> Derivative:
    """The Jacobian function: the output's axes, then the argument's.

    >>> jacobian(lambda x: np.array([x[0]**2, np.sin(x[1])]))(np.array([1.0, 2.0, 3.0])).round(4)
    array([[ 2. ,  0. ,  0. ], [ 0. , -0.4161,  0. ]])
    """
    return Derivative(function, argnums, "jacobian")


def hessian(function: Callable[..., Any], argnums: Argnums = 0) -> Derivative:
    """The Hessian function of a scalar function; blocks in a tuple of tuples for several arguments.

    >>> hessian(lambda x: x**3)(5.0)
    30.0
    """
    return Derivative(function, argnums, "hessian")


class Derivative:
    """A derivative of a function, as a callable. Built by `grad`, `jacobian`, …"""

    def __init__(self, function: Callable[..., Any], argnums: Argnums, kind: Kind) -> None:
        if not callable(function):
            raise no_function(function)
        self.function, self.argnums, self.kind = function, argnums, kind
        self._known: list[tuple[Function, Program]] = []  # the latest first
        self._direct: dict[int, list[Function]] = {}  # those that take the call's arguments as they stand, by number
        self._is_current: Callable[[], bool] | None = None  # None: there is nothing that could change
        self._last: tuple[Function, Program] | None = None
        update_wrapper(self, function, updated=())
        self.__name__ = f"{kind}_of_{function_name(function)}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The derivative at a point; takes what the function takes."""
        known = self._direct.get(len(args))
        if known and not kwargs and (self._is_current is None or self._is_current()):
            try:
                for built in known:
                    result = built.call(*args)
                    if result is not None and result is not NotImplemented:
                        return result
            except np.linalg.LinAlgError:  # said with the user's line, after tracing
                pass
        return self._in_words(args, kwargs) if kwargs or not known else self._traced(args, kwargs)

    def _in_words(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A call with keywords or defaults, by a known program if there is one for it."""
        if not stack() and self._known and (self._is_current is None or self._is_current()):
            for built, program in self._known:
                values = by_position(program.arguments, args, kwargs)
                result = None if values is None else _attempt(built, values)
                if result is not None and result is not NotImplemented:
                    return result
        return self._traced(args, kwargs)

    def _traced(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if stack():
            return self._inside(args, kwargs)
        arguments = self._arguments(args, kwargs)
        is_current = snapshot(self.function)
        with paused():
            program = trace(self.function, arguments, stack_results=self.kind == "jacobian")
            compare(program)
            built = self._build(program)
        self._last = built, program
        if is_current is not None and not program.trace.texts and all(can_be_compared(a) for a in arguments):
            self._keep(built, program, is_current)
        return self._at_point(built, program)

    def _at_point(self, built: Function, program: Program) -> Any:
        values = [_float_input(a) for a in program.arguments if a.role == "traced"]
        try:
            result = built.at_any_cost(*values)
            if result is NotImplemented:
                wrt, stacked = self._wrt(program), self.kind == "jacobian"
                limits = limits_around(program, wrt, lambda y: self._outputs(y, wrt)[0], stack_results=stacked)
                if limits is not None:
                    if self.kind == "value_and_grad":
                        limits[0] = _value(program)
                    return pack(limits, built.layout)
                result = self._build(program, watch=False).at_any_cost(*values)
            if self.kind == "grad" and not program.output.shape and np.isnan(program.trace.value(program.output)):
                gradients = [result] if built.layout == 0 else result
                return pack(where_undefined(gradients), built.layout)
            return result
        except np.linalg.LinAlgError as error:
            raise no_derivative(program, error) from error

    def _keep(self, built: Function, program: Program, is_current: Callable[[], bool]) -> None:
        if self._is_current is not None and not self._is_current():
            self._known.clear()
            self._direct.clear()
        self._is_current = None if is_current is nothing_to_check else is_current
        self._known.insert(0, (built, program))
        del self._known[_MOST_PROGRAMS:]
        if takes_arguments_as_they_stand(program.arguments):
            direct = self._direct.setdefault(len(program.inputs), [])
            direct.insert(0, built)
            del direct[_MOST_PROGRAMS:]

    def _arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Argument]:
        arguments = bind(self.function, args, kwargs, symbolic=False)
        chosen = self._chosen([a.name for a in arguments])
        for a in arguments:
            if a.name in chosen and a.role == "static":
                raise no_number(a.name, a.value)
        return [promote(a) if a.name in chosen else a for a in arguments]

    def _chosen(self, names: Sequence[str]) -> tuple[str, ...]:
        """The names of the arguments to differentiate."""
        asked = tuple(self.argnums) if isinstance(self.argnums, (list, tuple)) else (self.argnums,)
        if not asked:
            raise ArgumentError("argnums is empty", fix="choose an argument")
        out = []
        for a in asked:
            if isinstance(a, int) and -len(names) <= a < len(names):
                out.append(names[a])
            elif isinstance(a, str) and a in names:
                out.append(a)
            else:
                raise ArgumentError(
                    f"there is no argument {a!r} to differentiate",
                    why=f"the arguments are {', '.join(names) or 'none'}",
                    fix="choose positions or names among them with argnums=",
                )
        return tuple(out)

    def _wrt(self, program: Program) -> list[Node]:
        return [program.inputs[n] for n in self._chosen([a.name for a in program.arguments])]

    def _build(self, program: Program, *, watch: bool = True) -> Function:
        wrt = self._wrt(program)
        outputs, layout = self._outputs(program.output, wrt)
        integers = {x: a.value for a in program.arguments if (x := program.inputs.get(a.name)) and a.kind != "float"}
        return build(
            outputs,
            list(program.inputs.values()),
            layout,
            branches=[
                *self._defined(program.output),
                *program.guards.items(),
                *((c.node, c.truth) for c in program.conditions),
            ],
            isolated=isolated_points(program, wrt) if watch else (),
            pinned=integers if program.trace.concretised else {},
            promoted=wrt,
            strict=bool(program.trace.by_math),
            name=self.__name__,
        )

    def _defined(self, y: Node) -> list[tuple[Node, bool]]:
        """The check that the function has a value, where its gradient would not show that it has none."""
        hides = self.kind == "grad" and not y.shape and any(n.op.name in _HIDE_NAN for n in ancestors([y]))
        return [(equal(y, y), True)] if hides and not equal(y, y).is_constant else []

    def _outputs(self, y: Node, wrt: Sequence[Node]) -> tuple[list[Node], Any]:
        """The nodes to compute, and how their values are packed into the result."""
        n = len(wrt)
        single = isinstance(self.argnums, (int, str))
        one: Any = 0 if single else tuple(range(n))
        match self.kind:
            case "grad":
                return list(reverse_mode(y, wrt)), one
            case "value_and_grad":
                return [y, *reverse_mode(y, wrt)], (0, 1 if single else tuple(range(1, n + 1)))
            case "jacobian":
                return list(jacobian_nodes(y, wrt)), one
            case "hessian":
                blocks = [b for row in hessian_nodes(y, wrt) for b in row]
                return blocks, 0 if single else tuple(tuple(range(i * n, i * n + n)) for i in range(n))

    def _inside(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The derivative within another trace: nodes of that trace, so that it can be differentiated again."""
        inner = trace_inside(self.function, args, kwargs, self._chosen, stack_results=self.kind == "jacobian")
        outputs, layout = self._outputs(inner.output, [inner.inputs[n] for n in self._chosen(list(inner.inputs))])
        return pack(inner.outside(outputs), layout)

    def __reduce__(self) -> tuple[Any, ...]:
        return Derivative, (self.function, self.argnums, self.kind)

    @property
    def source(self) -> str:
        """The generated NumPy program of the last signature (or of scalars, before the first call)."""
        return self._any_built()[0].source

    @property
    def op_count(self) -> int:
        """Operations of the generated program."""
        return self._any_built()[0].op_count

    @property
    def f_op_count(self) -> int:
        """Operations of the function itself."""
        program = self.program
        return build([program.output], list(program.inputs.values())).op_count

    @property
    def program(self) -> Program:
        """The traced function of the last signature."""
        return self._any_built()[1]

    def _any_built(self) -> tuple[Function, Program]:
        if self._last is None:
            arguments = bind(self.function, (), {}, symbolic=True)
            chosen = self._chosen([a.name for a in arguments])
            arguments = [promote(a) if a.name in chosen and a.is_numeric else a for a in arguments]
            program = trace(self.function, arguments, stack_results=self.kind == "jacobian")
            self._last = self._build(program), program
        return self._last


def _attempt(built: Function, values: Sequence[Any]) -> Any:
    try:
        return built.call(*values)
    except np.linalg.LinAlgError:
        return None


def jvp(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, ...]:
    """The value and the directional derivative: forward mode.

    >>> jvp(lambda x, y: x * y, (3.0, 4.0), (1.0, 0.0))
    (12.0, 4.0)
    """
    if not isinstance(primals, (list, tuple)) or not isinstance(tangents, (list, tuple)):
        raise ArgumentError("primals and tangents are tuples", fix="call it as jvp(f, (3.0,), (1.0,))")
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"{len(primals)} primals and {len(tangents)} tangents", fix="give a tangent for each primal"
        )
    if stack():
        inner = trace_inside(function, primals, {}, lambda names: names[: len(primals)], stack_results=True)
        y, inputs = inner.output, list(inner.inputs.values())[: len(primals)]
        seeds = _seeds("tangent", inputs, tangents)
        (out,) = forward_mode([y], dict(zip(inputs, seeds, strict=True)))
        value, tangent = inner.outside([y, out], dict(zip(seeds, map(as_outer, tangents), strict=True)))
        return value, tangent
    program = _program(function, primals)
    inputs = list(program.inputs.values())
    seeds = _seeds("tangent", inputs[: len(primals)], tangents)
    fixed = dict(zip(inputs, map(constant, tangents), strict=False))
    limits = limits_around(program, list(fixed), lambda y: forward_mode([y], fixed), stack_results=True)
    if limits is not None:
        return _value(program), limits[0]
    (out,) = forward_mode([program.output], dict(zip(inputs, seeds, strict=False)))
    return tuple(_run(program, [program.output, out], [*inputs, *seeds], tangents))


def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value and the pullback: a function from the output's cotangent to the arguments' cotangents.

    >>> value, pullback = vjp(lambda x, y: x * y, 3.0, 4.0)
    >>> value, pullback(1.0)
    (12.0, (4.0, 3.0))
    """
    if stack():
        inner = trace_inside(function, primals, {}, lambda names: names[: len(primals)], stack_results=True)
        y, inputs = inner.output, list(inner.inputs.values())[: len(primals)]

        def pullback_inside(g: Any) -> tuple[Any, ...]:
            (seed,) = _seeds("cotangent", [y], [g])
            return tuple(inner.outside(reverse_mode(y, inputs, seed), {seed: as_outer(g)}))

        return inner.outside([y])[0], pullback_inside
    program = _program(function, primals)
    inputs = list(program.inputs.values())
    wrt = inputs[: len(primals)]
    y = program.output

    def pullback(g: Any) -> tuple[Any, ...]:
        (seed,) = _seeds("cotangent", [y], [g])
        limits = limits_around(program, wrt, lambda y: reverse_mode(y, wrt, constant(g)), stack_results=True)
        if limits is not None:
            return tuple(limits)
        return tuple(_run(program, reverse_mode(y, wrt, seed), [*inputs, seed], [g]))

    return _value(program) if program.trace.nested else _run(program, [y], inputs, [])[0], pullback


def _program(function: Callable[..., Any], primals: Sequence[Any]) -> Program:
    bound = bind(function, tuple(primals), {}, symbolic=False)
    for a in bound[: len(primals)]:
        if a.role == "static":
            raise no_number(a.name, a.value)
    arguments = [promote(a) if i < len(primals) else a for i, a in enumerate(bound)]
    program = trace(function, arguments, stack_results=True)
    compare(program)
    return program


def _seeds(what: str, nodes: Sequence[Node], given: Sequence[Any]) -> list[Node]:
    """Variables for tangents or cotangents, after a look at the shapes of what is given for them."""
    for node, value in zip(nodes, given, strict=True):
        if type(value) is not Tracer and np.asarray(value).dtype.kind not in "fiub":
            shown = "None" if value is None else f"of type {type(value).__name__}"
            raise ArgumentError(f"the {what} is {shown}", fix=f"give it as a number or an array of shape {node.shape}")
        if np.shape(value) != node.shape:
            name = node.params.get("name", "the output")
            raise ArgumentError(
                f"the {what} of {name} has shape {np.shape(value)}",
                why=f"{name} has shape {node.shape}",
                fix="give it that shape",
            )
    return [variable(f"d{i}", n.shape) for i, n in enumerate(nodes)]


def _run(program: Program, outputs: Sequence[Node], inputs: Sequence[Node], seeds: Sequence[Any]) -> Any:
    values = [_float_input(a) for a in program.arguments if a.role == "traced"]
    try:
        return build(outputs, inputs, promoted=inputs).at_any_cost(*values, *seeds)
    except np.linalg.LinAlgError as error:
        raise no_derivative(program, error) from error


def _value(program: Program) -> Any:
    """The function's own value at the point, as floats."""
    value = np.array(plain(program.function, program.arguments, strict=program.trace.strict), dtype=float)
    return value if value.shape else float(value)


def _float_input(a: Argument) -> Any:
    return a.value if a.kind == "float" else a.plain()
