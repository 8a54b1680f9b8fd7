"""The formula of a derivative that the user states: what the function in a `custom_gradient` hands back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradexplain.errors import GradexplainError
from gradexplain.exposition.findings.subject import plain
from gradexplain.lambdify import expression
from gradexplain.tape.program import Builder
from gradexplain.tape.recording import Operation, nobody, state
from gradexplain.tape.tensor import Tensor

_LONGEST = 100


class _Listener:
    """Notes the operations of a gradient function."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def note(self, operation: Operation) -> None:
        self.operations.append(operation)

    def read(self, variable: Any) -> None:
        pass


def stated(operation: Operation, everything: Sequence[Operation]) -> dict[str, str]:
    """For each operand of a function with a custom gradient the formula of what comes back to it, `dy` being given.

    `everything` is what happened in the block, where the gradient function may have values from. A formula that is too
    long to be read, or that is no formula, is left out.

    >>> from gradexplain import tf
    >>> @tf.custom_gradient
    ... def tripled(x):
    ...     return x * 1.0, lambda dy: 3.0 * dy * tf.cos(x)
    >>> x = tf.Variable(1.0)
    >>> with tf.GradientTape() as tape:
    ...     y = tripled(x)
    >>> stated(tape.operations[-1], tape.operations)
    {'x': '3*dy*cos(x)'}
    """
    listener = _Listener()
    seeds = [Tensor(np.ones_like(o.array)) for o in operation.outputs]
    with nobody():
        state.listeners = [listener]
        assert operation.pull is not None
        handed = operation.pull(operation, seeds, (True,) * len(operation.inputs))
    builder = Builder([*everything, *listener.operations], {})
    arguments = operation.params["arguments"]
    is_each = len(arguments) == len(operation.inputs)
    names = arguments if is_each else [f"x{i}" for i, _ in enumerate(operation.inputs, 1)]
    taken = [builder.source(t, name) for t, name in zip(operation.inputs, names, strict=True)]
    for i, seed in enumerate(seeds, 1):
        builder.source(seed, "dy" if len(seeds) == 1 else f"dy{i}")
    found = {}
    for name, result in zip(taken, handed, strict=True):
        text = "" if result is None else _text(builder, result)
        if 0 < len(text) <= _LONGEST:
            found[name] = text
    return found


def _text(builder: Builder, result: Tensor) -> str:
    try:
        node = builder.node(result)
    except GradexplainError:
        return ""
    return plain(expression(node, {x: name for name, x in builder.inputs.items()}))
