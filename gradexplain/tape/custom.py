"""Derivatives that the user states: `custom_gradient`, `stop_gradient`, `grad_pass_through`, foreign functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradexplain.tape.dtypes import as_dtype
from gradexplain.tape.errors import OperandError
from gradexplain.tape.functions import cut, tensor
from gradexplain.tape.recording import Operation, state, tell
from gradexplain.tape.structures import flatten, mapped, pack
from gradexplain.tape.tensor import Operators, Tensor, as_array
from gradexplain.tape.variable import Variable


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same values, to which no derivative flows.

    >>> from gradexplain.tape import GradientTape, Variable
    >>> x = Variable(2.0)
    >>> with GradientTape() as tape:
    ...     y = x * stop_gradient(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(2.0)
    """
    return mapped(lambda t: cut(tensor(t), "stop_gradient"), input)


class _Watcher:
    """Hears which variables are read."""

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}

    def note(self, operation: Operation) -> None:
        pass

    def read(self, variable: Variable) -> None:
        if variable.trainable:
            self.variables.setdefault(id(variable), variable)


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a derivative of its own: `f` returns its result and `grad(dy)`, the derivative of each argument.

    Where `f` reads variables, `grad` has to take `variables=` and to return a pair: the derivatives of the arguments,
    and a list of those of the variables. The derivative of `grad` is the second derivative.

    >>> from gradexplain.tape import GradientTape, Variable
    >>> @custom_gradient
    ... def doubled(x):
    ...     return x * 1.0, lambda dy: 2.0 * dy
    >>> x = Variable(5.0)
    >>> with GradientTape() as tape:
    ...     y = doubled(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(2.0)
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        given = [tensor(a) if isinstance(a, Operators) or not callable(a) else a for a in flatten(list(args))]
        inputs = [t for t in given if isinstance(t, Tensor)]
        watcher = _Watcher()
        state.listeners.append(watcher)
        try:
            result, grad = f(*pack(list(args), given), **kwargs)
        finally:
            state.listeners = [x for x in state.listeners if x is not watcher]
        known = {id(v) for v in flatten(list(args)) if isinstance(v, Variable)}
        variables = [v for v in watcher.variables.values() if id(v) not in known]
        if variables and not _takes_variables(grad):
            raise OperandError(
                "this function uses variables, so its grad_fn must accept a 'variables' keyword argument",
                why=f"it reads {', '.join(v.name for v in variables)}",
                fix="write def grad(dy, variables=None), and return gradients of the arguments and of the variables",
            )
        results = [tensor(r) for r in flatten(result)]
        outputs = [Tensor(r.array) for r in results]
        if state.listeners:
            pull = _pull(grad, len(inputs), variables)
            operands = (*inputs, *[v.read() for v in variables])
            params = {"custom": True, "arguments": tuple(inspect.signature(f).parameters)}
            tell(Operation(getattr(f, "__name__", "f"), None, params, operands, tuple(outputs), pull=pull))
        return pack(result, outputs)

    return decorated


def _takes_variables(grad: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def _pull(grad: Callable[..., Any], count: int, variables: Sequence[Variable]) -> Any:
    def pull(operation: Operation, cotangents: Sequence[Any], wanted: Sequence[bool]) -> Sequence[Any]:
        given = [
            Tensor(np.zeros_like(o.array)) if g is None else g
            for g, o in zip(cotangents, operation.outputs, strict=True)
        ]
        of_variables: Sequence[Any] = ()
        if variables:
            handed, of_variables = grad(*given, variables=list(variables))
            of_variables = flatten(of_variables)
            if len(of_variables) != len(variables):
                raise OperandError(
                    f"grad_fn must return a gradient for {len(variables)} variables, and returned {len(of_variables)}",
                    fix="return (gradients of the arguments, gradients of the variables)",
                )
        else:
            handed = grad(*given)
        listed = flatten(handed)
        if len(listed) != count:
            raise OperandError(
                f"custom_gradient function expected to return {count} gradients, but returned {len(listed)} instead",
                why="every argument has a derivative",
                fix="return a tuple with one for each argument; None where there is none",
            )
        return [None if g is None else tensor(g) for g in (*listed, *of_variables)]

    return pull


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, but its derivative is that of the identity."""

    @custom_gradient
    def grad_pass_through(*args: Any, **kwargs: Any) -> Any:
        def grad(*cotangents: Any, variables: Any = None) -> Any:
            handed = cotangents[0] if len(cotangents) == 1 else cotangents
            return (handed, [None] * len(variables)) if variables is not None else handed

        return mapped(tensor, f(*args, **kwargs)), grad

    return grad_pass_through


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`: what TensorFlow computes twice to save memory is kept here."""
    return f


def py_function(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:
    """Calls a Python function on tensors; it is differentiated like any other."""
    results = func(*[tensor(x) for x in inp])
    return mapped(lambda r, t: tensor(r, None if isinstance(r, Operators) else t), results, Tout)


def numpy_function(
    func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """Calls a function of NumPy on arrays: it leaves the record, no derivative flows."""
    operands = [tensor(x) for x in inp]
    results = func(*[t.numpy() for t in operands])

    def wrapped(value: Any, dtype: Any) -> Tensor:
        result = Tensor(as_array(np.asarray(value).astype(as_dtype(dtype).plain))[()])
        if state.listeners:
            tell(Operation("numpy_function", None, {}, tuple(operands), (result,), flat=True))
        return result

    return mapped(wrapped, results, Tout) if isinstance(results, (list, tuple)) else wrapped(results, flatten(Tout)[0])
