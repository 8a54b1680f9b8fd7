"""Derivatives as NumPy callables: `grad`, `value_and_grad`, `jacobian`, `hessian`, `jvp`, `vjp`.

A callable traces its function at the first call of each signature and generates a program; later calls run that program.
A program holds for the branches that its trace took and for the outside values that it saw: it checks both and the
function is traced again where one has changed. Inside another traced function everything stays a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import update_wrapper
from typing import Any, Literal

import numpy as np

from gradexplain.autodiff import jvp as forward_mode
from gradexplain.autodiff import vjp as reverse_mode
from gradexplain.errors import ArgumentError
from gradexplain.graph import Node, as_node, constant, substitute, variable
from gradexplain.isolated import at_isolated_point, isolated_points
from gradexplain.lambdify import Function, build
from gradexplain.primitive import NUMPY
from gradexplain.trace.reach import Snapshot
from gradexplain.trace.run import Program, compare, explore, function_name, run, trace
from gradexplain.trace.signature import Argument, bind, promote
from gradexplain.trace.tracer import Trace, Tracer, stack

Kind = Literal["grad", "value_and_grad", "jacobian", "hessian"]
_MOST_PROGRAMS = 32  # programs kept for one signature: one for each path through the branches


def grad(function: Callable[..., Any], argnums: int | str | Sequence[int | str] = 0) -> Derivative:
    """The gradient function of `function`, by position (or name) of the arguments to differentiate.

    The gradient has the shape of its argument; of a result with several entries it is the gradient of their sum.

    >>> grad(lambda x: x**2)(3.0)
    6.0
    >>> grad(lambda w1, w2: 3*w1**2 + 2*w1*w2, argnums=(0, 1))(5.0, 3.0)
    (36.0, 10.0)
    """
    return Derivative(function, argnums, "grad")


def value_and_grad(function: Callable[..., Any], argnums: int | str | Sequence[int | str] = 0) -> Derivative:
    """As `grad`, with the value: `(f(x), gradient)`.

    >>> value_and_grad(lambda x: x**3)(5.0)
    (125.0, 75.0)
    """
    return Derivative(function, argnums, "value_and_grad")


def jacobian(function: Callable[..., Any], argnums: int | str | Sequence[int | str] = 0) -> Derivative:
    """The Jacobian function: the output's axes, then the argument's.

    >>> jacobian(lambda x: np.array([x[0]**2, np.sin(x[1])]))(np.array([1.0, 2.0, 3.0])).round(4)
    array([[ 2. ,  0. ,  0. ], [ 0. , -0.4161,  0. ]])
    """
    return Derivative(function, argnums, "jacobian")


def hessian(function: Callable[..., Any], argnums: int | str | Sequence[int | str] = 0) -> Derivative:
    """The Hessian function of a scalar function; blocks in a tuple of tuples for several arguments.

    >>> hessian(lambda x: x**3)(5.0)
    30.0
    """
    return Derivative(function, argnums, "hessian")


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A generated program with what its result must still be put through."""

    run: Function
    names: tuple[str, ...]
    finish: Callable[[Any], Any]
    program: Program
    outputs: tuple[Node, ...]


class Derivative:
    """A derivative of a function, as a callable. Built by `grad`, `jacobian`, …"""

    def __init__(self, function: Callable[..., Any], argnums: Any, kind: Kind) -> None:
        if not callable(function):
            bind(function, (), {}, symbolic=False)
        self.function, self.argnums, self.kind = function, argnums, kind
        self._compiled: dict[Any, list[_Compiled]] = {}
        self._snapshot: Snapshot | None = None
        self._last: _Compiled | None = None
        update_wrapper(self, function, updated=())
        self.__name__ = f"{kind}_of_{function_name(function)}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The derivative at a point; takes what the function takes."""
        if not kwargs and not stack():
            known = self._compiled.get(_signature(args))
            if known is not None and self._snapshot is not None and self._snapshot.is_current():
                for compiled in known:
                    result = compiled.run(*args)
                    if result is not None and result is not NotImplemented:
                        return compiled.finish(result)
        if stack():
            return self._inside(args, kwargs)
        return self._trace_and_call(args, kwargs)

    def _trace_and_call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        arguments = self._arguments(args, kwargs)
        snapshot = Snapshot.of(self.function)
        program = trace(self.function, arguments, stack_results=self.kind == "jacobian")
        compare(program)
        compiled = self._compile(program)
        self._last = compiled
        self._keep(args, kwargs, compiled, snapshot)
        values = [_float_input(a) for a in arguments if a.role == "traced"]
        result = compiled.run(*values)
        if result is NotImplemented:
            around = self._compile(explore(program, stack_results=self.kind == "jacobian"), watch=False)
            result = at_isolated_point(around.outputs, program.inputs, program.point)
            if result is None:
                result = self._compile(program, watch=False).run(*values)
        return compiled.finish(result)

    def _keep(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], compiled: _Compiled, snapshot: Snapshot) -> None:
        everything_given = not kwargs and len(args) == len(compiled.program.arguments)
        static = any(a.role == "static" for a in compiled.program.arguments)
        if not everything_given or static or compiled.program.trace.concretised or not snapshot.is_complete:
            return
        if self._snapshot is None or not self._snapshot.is_current():
            self._compiled.clear()
            self._snapshot = snapshot
        known = self._compiled.setdefault(_signature(args), [])
        known.insert(0, compiled)
        del known[_MOST_PROGRAMS:]

    def _arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Argument]:
        arguments = bind(self.function, args, kwargs, symbolic=False)
        chosen = self._chosen([a.name for a in arguments])
        for a in arguments:
            if a.name in chosen and a.role == "static":
                raise ArgumentError(
                    f"argument {a.name} is not a number or an array", fix="choose another with argnums="
                )
        return [promote(a) if a.name in chosen else a for a in arguments]

    def _chosen(self, names: Sequence[str]) -> tuple[str, ...]:
        """The names of the arguments to differentiate."""
        asked = (self.argnums,) if isinstance(self.argnums, (int, str)) else tuple(self.argnums)
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

    def _compile(self, program: Program, *, watch: bool = True) -> _Compiled:
        names = self._chosen([a.name for a in program.arguments])
        wrt = [program.inputs[n] for n in names]
        outputs, finish = self._outputs(program.output, wrt)
        inputs = list(program.inputs.values())
        isolated = isolated_points(program, wrt) if watch else ()
        branches = [(c.node, c.truth) for c in program.conditions]
        built = build(outputs, inputs, branches=branches, isolated=isolated, name=self.__name__)
        single = isinstance(self.argnums, (int, str))
        return _Compiled(built, names, lambda r: finish(r, single), program, tuple(outputs))

    def _outputs(self, y: Node, wrt: Sequence[Node]) -> tuple[list[Node], Callable[[Any, bool], Any]]:
        """The nodes to compute, and how their values become the result."""
        shapes = [x.shape for x in wrt]
        match self.kind:
            case "grad":
                return list(reverse_mode(y, wrt)), lambda r, single: _unpack(r, shapes, single)
            case "value_and_grad":
                return [y, *reverse_mode(y, wrt)], lambda r, single: (
                    _plain(r[0], y.shape),
                    _unpack(r[1:], shapes, single),
                )
            case "jacobian":
                return list(jacobian_nodes(y, wrt)), lambda r, single: _unpack(r, [y.shape + s for s in shapes], single)
            case "hessian":
                blocks = hessian_nodes(y, wrt)
                n = len(wrt)

                def finish(r: Any, single: bool) -> Any:
                    rows = [_unpack(r[i * n : (i + 1) * n], [shapes[i] + s for s in shapes], single) for i in range(n)]
                    return rows[0] if single else tuple(rows)

                return [b for row in blocks for b in row], finish

    def _inside(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The derivative within another trace: nodes of that trace, so that it can be differentiated again."""
        outer = stack()[-1]
        plain_args = [_Shape(a) if type(a) is Tracer else a for a in args]
        plain_kwargs = {k: _Shape(v) if type(v) is Tracer else v for k, v in kwargs.items()}
        arguments = [_unshape(a) for a in bind(self.function, plain_args, plain_kwargs, symbolic=False)]
        chosen = self._chosen([a.name for a in arguments])
        arguments = [promote(a) if a.name in chosen and a.kind != "float" else a for a in arguments]
        inputs = {a.name: variable(a.name, a.shape, a.kind) for a in arguments if a.role == "traced"}
        given = {
            a.name: a.value.node if type(a.value) is Tracer else as_node(a.value) for a in arguments if a.name in inputs
        }
        inner = Trace(function_name(self.function), outer.numeric, parent=outer)
        inner.binding = {inputs[n]: node for n, node in given.items()}
        y = run(self.function, arguments, inputs, inner, stack_results=self.kind == "jacobian")
        outputs, finish = self._outputs(y, [inputs[n] for n in chosen])
        results = [outer.wrap(n) for n in substitute(outputs, inner.binding)]
        return finish(results, isinstance(self.argnums, (int, str)))

    @property
    def source(self) -> str:
        """The generated NumPy program of the last signature (or of scalars, before the first call)."""
        return self._any_compiled().run.source

    @property
    def op_count(self) -> int:
        """Operations of the generated program."""
        return self._any_compiled().run.op_count

    @property
    def f_op_count(self) -> int:
        """Operations of the function itself."""
        program = self._any_compiled().program
        return build([program.output], list(program.inputs.values())).op_count

    @property
    def program(self) -> Program:
        """The traced function of the last signature."""
        return self._any_compiled().program

    def _any_compiled(self) -> _Compiled:
        if self._last is None:
            arguments = bind(self.function, (), {}, symbolic=True)
            chosen = self._chosen([a.name for a in arguments])
            arguments = [promote(a) if a.name in chosen and a.is_numeric else a for a in arguments]
            self._last = self._compile(trace(self.function, arguments, stack_results=self.kind == "jacobian"))
        return self._last


class _Shape:
    """Stands for a traced argument while the signature is bound."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer


def _unshape(a: Argument) -> Argument:
    if not isinstance(a.value, _Shape):
        return a
    tracer = a.value.tracer
    return replace(a, value=tracer, shape=tracer.shape, kind=tracer.node.kind, role="traced")


def jacobian_nodes(y: Node, wrt: Sequence[Node]) -> tuple[Node, ...]:
    """The Jacobians of y as nodes: one pullback for each entry of y, or one pushforward for each entry of x."""
    entries = sum(x.size for x in wrt)
    if y.size <= entries:
        rows = [reverse_mode(y, wrt, one_hot(i, y.shape)) for i in range(y.size)]
        return tuple(_assemble([r[k] for r in rows], y.shape + x.shape, x.shape) for k, x in enumerate(wrt))
    out = []
    for x in wrt:
        columns = [forward_mode([y], {x: one_hot(i, x.shape)})[0] for i in range(x.size)]
        out.append(_assemble(columns, y.shape + x.shape, y.shape, axis=-1))
    return tuple(out)


def one_hot(index: int, shape: tuple[int, ...]) -> Node:
    """A constant that is 1 at one entry and 0 elsewhere."""
    if shape == ():
        return constant(1)
    array = np.zeros(shape)
    array.flat[index] = 1.0
    return constant(array)


def _assemble(parts: Sequence[Node], shape: tuple[int, ...], part: tuple[int, ...], axis: int = 0) -> Node:
    if len(parts) == 1 and shape == part:
        return parts[0]
    if not parts:
        return constant(np.zeros(shape))
    joined: Node = NUMPY[np.reshape](NUMPY[np.stack](list(parts), axis=axis), shape)
    return joined


def hessian_nodes(y: Node, wrt: Sequence[Node]) -> list[tuple[Node, ...]]:
    """The blocks of the Hessian of the (sum of the) output, row by row."""
    return [jacobian_nodes(g, wrt) for g in reverse_mode(y, wrt)]


def jvp(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value and the directional derivative: forward mode.

    >>> jvp(lambda x, y: x * y, (3.0, 4.0), (1.0, 0.0))
    (12.0, 4.0)
    """
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"{len(primals)} primals and {len(tangents)} tangents", fix="give a tangent for each primal"
        )
    program = _program(function, primals)
    inputs = list(program.inputs.values())
    seeds = [variable(f"d{n}", x.shape) for n, x in program.inputs.items()]
    (out,) = forward_mode([program.output], dict(zip(inputs, seeds, strict=True)))
    for x, t, a in zip(inputs, tangents, program.arguments, strict=True):
        if np.shape(t) != x.shape:
            raise ArgumentError(
                f"the tangent of {a.name} has shape {np.shape(t)}",
                why=f"{a.name} has shape {x.shape}",
                fix="give it that shape",
            )
    values = [_float_input(a) for a in program.arguments]
    result = build([program.output, out], [*inputs, *seeds])(*values, *[_as_float(t) for t in tangents])
    return _plain(result[0], program.output.shape), _plain(result[1], program.output.shape)


def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value and the pullback: a function from the output's cotangent to the arguments' cotangents.

    >>> value, pullback = vjp(lambda x, y: x * y, 3.0, 4.0)
    >>> value, pullback(1.0)
    (12.0, (4.0, 3.0))
    """
    program = _program(function, primals)
    inputs = list(program.inputs.values())
    y = program.output
    seed = variable("g", y.shape)
    built = build(reverse_mode(y, inputs, seed), [*inputs, seed])
    values = [_float_input(a) for a in program.arguments]

    def pullback(g: Any) -> tuple[Any, ...]:
        if np.shape(g) != y.shape:
            raise ArgumentError(
                f"the cotangent has shape {np.shape(g)}",
                why=f"the output has shape {y.shape}",
                fix="give it that shape",
            )
        result: tuple[Any, ...] = _unpack(built(*values, _as_float(g)), [x.shape for x in inputs], False)
        return result

    return _plain(program.trace.value(y), y.shape), pullback


def _program(function: Callable[..., Any], primals: Sequence[Any]) -> Program:
    arguments = [promote(a) for a in bind(function, tuple(primals), {}, symbolic=False)][: len(primals)]
    program = trace(function, arguments, stack_results=True)
    compare(program)
    return program


def _signature(args: Sequence[Any]) -> Any:
    return tuple(
        [type(a) if type(a) is float else (type(a), getattr(a, "shape", None), getattr(a, "dtype", None)) for a in args]
    )


def _as_float(value: Any) -> Any:
    return value if type(value) is float else np.asarray(value, dtype=float) if np.ndim(value) else float(value)


def _float_input(a: Argument) -> Any:
    return a.plain() if a.kind != "float" else _as_float(a.value)


def _plain(value: Any, shape: tuple[int, ...]) -> Any:
    """A result as users get it: a float for a number, else a fresh array of the full shape."""
    if type(value) is Tracer:
        return value
    if shape == ():
        return float(value)
    return np.array(np.broadcast_to(value, shape), dtype=float)


def _unpack(results: Sequence[Any], shapes: Sequence[tuple[int, ...]], single: bool) -> Any:
    out = tuple(_plain(r, s) for r, s in zip(results, shapes, strict=True))
    return out[0] if single else out
