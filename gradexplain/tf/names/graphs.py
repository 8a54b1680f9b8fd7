"""`tf.function`: calls the Python function; and `tf.gradients`, `tf.hessians`, which exist inside of one only."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradexplain.tape.backward import cotangents, ones_like
from gradexplain.tape.errors import TapeError
from gradexplain.tape.functions import tensor
from gradexplain.tape.gradient import GradientTape
from gradexplain.tape.recording import Operation, state
from gradexplain.tape.requests import UnconnectedGradients
from gradexplain.tape.structures import flatten, mapped
from gradexplain.tape.tensor import Tensor
from gradexplain.tape.variable import Variable
from gradexplain.tf.names.table import named


class Ledger:
    """Everything that happens while a function runs, watched or not."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.versions: dict[int, tuple[Variable, list[Tensor]]] = {}

    def note(self, operation: Operation) -> None:
        self.operations.append(operation)

    def read(self, variable: Variable) -> None:
        versions = self.versions.setdefault(id(variable), (variable, []))[1]
        if not any(v is variable.current for v in versions):
            versions.append(variable.current)

    def of(self, source: Any) -> list[Tensor]:
        """The tensors that a source stands for."""
        return (
            self.versions.get(id(source), (source, [source.current]))[1] if isinstance(source, Variable) else [source]
        )


_ledgers: list[Ledger] = []


@contextmanager
def inside() -> Iterator[Ledger]:
    """Within this block, a function runs that has a graph of its own."""
    ledger = Ledger()
    _ledgers.append(ledger)
    state.depth += 1
    state.listeners.append(ledger)
    try:
        yield ledger
    finally:
        state.listeners = [x for x in state.listeners if x is not ledger]
        state.depth -= 1
        _ledgers.pop()


class Function:
    """A Python function under `tf.function`: it is called as it is, so that every step can be explained."""

    def __init__(self, python_function: Callable[..., Any]) -> None:
        self.python_function = python_function
        functools.update_wrapper(self, python_function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with inside():
            return mapped(_as_result, self.python_function(*args, **kwargs))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else Function(functools.partial(self.python_function, instance))

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The function for these arguments, whose graph lists its operations."""
        from gradexplain.tf.names.concrete import ConcreteFunction

        return ConcreteFunction(self, args, kwargs)


def _as_result(value: Any) -> Any:
    return tensor(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


@named("function")
def function(func: Callable[..., Any] | None = None, *_: Any, **options: Any) -> Any:
    """Marks a function as one graph. Here it runs as Python does, with the same values and derivatives."""
    return Function if func is None else Function(func)


def _ledger(name: str) -> Ledger:
    if not _ledgers:
        raise TapeError(
            f"tf.{name} is not supported when eager execution is enabled: use tf.GradientTape instead",
            why="it differentiates a graph, and there is one inside a tf.function only",
            fix="record with tf.GradientTape, or decorate the function with @tf.function",
        )
    return _ledgers[-1]


@named("gradients")
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The derivatives of the sum of ys with respect to each of xs, as a list."""
    ledger = _ledger("gradients")
    tape = GradientTape(persistent=True)
    tape._usable = True
    tape._depth = state.depth
    stopped = {t.serial for s in flatten(stop_gradients or []) for t in ledger.of(s)}
    tape.operations = [op for op in ledger.operations if not any(o.serial in stopped for o in op.outputs)]
    tape.style = "gradients"
    tape.variables = {key: (v, list(versions)) for key, (v, versions) in ledger.versions.items()}
    tape.tracked = {t.serial for x in flatten(xs) for t in ledger.of(x)}
    found: list[Any] = flatten(tape.gradient(ys, flatten(xs), _filled(grad_ys, ys), unconnected_gradients))
    return found


def _filled(grad_ys: Any, ys: Any) -> Any:
    """Where no cotangent is given for a target, it is ones."""
    if grad_ys is None:
        return None
    return [ones_like(tensor(y)) if g is None else g for g, y in zip(flatten(grad_ys), flatten(ys), strict=True)]


@named("hessians")
def hessians(ys: Any, xs: Any, *_: Any, **__: Any) -> list[Any]:
    """The second derivatives of the sum of ys with respect to each of xs."""
    from gradexplain.tape.gradient import assembled, unit_seeds

    found = []
    for x in flatten(xs):
        (g,) = gradients(ys, x)
        ledger = _ledger("hessians")
        rows = [_row(ledger, g, seed, x) for seed in unit_seeds(g)]
        found.append(assembled(rows, x, (*g.shape, *x.shape)))
    return found


def _row(ledger: Ledger, g: Tensor, seed: Tensor, x: Any) -> Any:
    from gradexplain.tape.backward import zeros_like

    versions = ledger.of(x)
    adjoints = cotangents(tuple(ledger.operations), [(g, seed)], versions)
    parts = [adjoints[v.serial] for v in versions if v.serial in adjoints]
    return parts[0] if parts else zeros_like(x)


@named("config.run_functions_eagerly")
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Functions run eagerly anyway."""


@named("executing_eagerly")
def executing_eagerly() -> bool:
    """Whether operations are carried out at once: not inside a tf.function."""
    return not _ledgers
