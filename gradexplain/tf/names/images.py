"""Images, numerical derivatives, and what is printed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gradexplain.graph import Node
from gradexplain.ops import arithmetic, elementary, reductions
from gradexplain.ops.indexing import item
from gradexplain.ops.statistics import average_over
from gradexplain.tape.functions import tensor
from gradexplain.tape.gradient import GradientTape
from gradexplain.tape.recording import nobody
from gradexplain.tape.tensor import Operators, constant
from gradexplain.tf.names.table import named, on_nodes


@on_nodes("image.total_variation", op="TotalVariation")
def total_variation(images: Node) -> Node:
    """The sum of the differences between neighbours."""
    rows = images.ndim - 3
    total: Any = 0
    for axis in (rows, rows + 1):
        ahead, behind = ((slice(None),) * axis + (s,) for s in (slice(1, None), slice(None, -1)))
        steps = arithmetic.absolute.record(arithmetic.sub.record(item(images, ahead), item(images, behind)))
        total = total + reductions.sum_over(steps, axis=tuple(range(rows, images.ndim)), keepdims=False)
    found: Node = total
    return found


@on_nodes("image.psnr", operands=2, op="PSNR")
def psnr(a: Node, b: Node, max_val: float) -> Node:
    """The peak signal-to-noise ratio of two images, in decibels."""
    error = elementary.square.record(arithmetic.sub.record(a, b))
    mean = average_over(error, tuple(range(a.ndim - 3, a.ndim)))
    return 20 * float(np.log10(max_val)) - (10 / float(np.log(10))) * elementary.log.record(mean)


@named("test.compute_gradient")
def compute_gradient(f: Callable[..., Any], x: Any, delta: Any = None) -> Any:
    """The Jacobians of a function with respect to its arguments: by the tape, and by difference quotients."""
    arguments = [tensor(v) for v in x]
    with GradientTape(persistent=True) as tape:
        tape.watch(arguments)
        y = f(*arguments)
    count = int(np.prod(y.shape, dtype=int))
    by_tape = [np.asarray(tape.jacobian(y, v, "zero")).reshape(count, -1) for v in arguments]
    step = float(delta) if delta is not None else 1 / 1024
    return by_tape, [_quotients(f, arguments, k, count, step) for k in range(len(arguments))]


def _quotients(f: Callable[..., Any], arguments: Any, k: int, count: int, step: float) -> Any:
    given = [np.array(v.array) for v in arguments]
    found = np.zeros((count, given[k].size), given[k].dtype)
    with nobody():
        for column, index in enumerate(np.ndindex(given[k].shape)):
            ends = []
            for side in (step, -step):
                moved = [np.array(v) for v in given]
                moved[k][index] += side
                ends.append(np.asarray(f(*map(constant, moved))).ravel())
            found[:, column] = (ends[0] - ends[1]) / (2 * step)
    return found


@named("print")
def print_values(*inputs: Any, end: str = "\n", **_: Any) -> None:
    """Prints the values of tensors."""
    shown = [str(np.asarray(tensor(v).array)) if isinstance(v, Operators) else str(v) for v in inputs]
    sys.stdout.write(" ".join(shown) + end)
