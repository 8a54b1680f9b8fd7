"""Whether a matrix form is the derivative: both are computed at points, and must agree there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradexplain.graph import Node
from gradexplain.lambdify import defined
from gradexplain.ops.special import SCIPY
from gradexplain.simplify.tensor import notation
from gradexplain.simplify.tensor.notation import Form, replaced, subforms
from gradexplain.simplify.tensor.sizes import Size
from gradexplain.simplify.tensor.source import numpy_source
from gradexplain.trace.run import Program

_TOLERANCE = 1e-7
_KEPT = ("onehot", "sign", "mask")  # facts that no small change of the entries leaves true


def points(program: Program, facts: Mapping[str, frozenset[str]]) -> Iterator[dict[str, Any]]:
    """Values of the arguments: the point itself, one beside it at which the facts are true as well, and two at which
    entries of both signs, and small ones, lead through other branches.
    """
    rng = np.random.default_rng(0)
    given = {n: a.value for a in program.arguments if (n := a.name) in program.inputs and a.is_numeric}
    whole = {}
    for name, node in program.inputs.items():
        whole[name] = given[name] if name in given else _settled(rng.uniform(0.3, 1.3, node.shape), facts.get(name))
    yield whole
    moved = {}
    for name, node in program.inputs.items():
        known = facts.get(name, frozenset())
        if node.kind != "float" or known & set(_KEPT):
            moved[name] = whole[name]
        else:
            moved[name] = _settled(np.asarray(whole[name]) * (1 + 0.1 * rng.uniform(-1, 1, node.shape)), known)
    yield moved
    free = [n for n, node in program.inputs.items() if node.kind == "float" and n not in given and not facts.get(n)]
    for size in (1.3, 0.4) if free else ():
        yield whole | {n: _settled(rng.uniform(-size, size, program.inputs[n].shape), None) for n in free}


def _settled(array: Any, known: frozenset[str] | None) -> Any:
    """An array for which the facts hold."""
    for fact in known or ():
        match fact:
            case "symmetric":
                array = (array + np.swapaxes(array, -1, -2)) / 2
            case "positive-definite":
                array = array + array.shape[-1] * np.eye(array.shape[-1]) if np.ndim(array) > 1 else array
            case "probability":
                array = array / np.sum(array, axis=-1, keepdims=True)
            case "onehot":
                array = np.eye(array.shape[-1])[np.argmax(array, axis=-1)]
            case "sign":
                array = np.where(array > np.mean(array), 1.0, -1.0)
            case "mask":
                array = np.where(array > np.mean(array), 1.0, 0.0)
    return array if np.shape(array) else float(array)


def function_of(form: Form, where: Sequence[tuple[str, Form]], arguments: Mapping[str, Node]) -> Callable[..., Any]:
    """A form as a function of the arguments; no name of the user's gets into the program that is run."""
    table = {n: f"a{k}" for k, n in enumerate(arguments)} | {n: f"v{k}" for k, (n, _) in enumerate(where)}
    lines = [f"    {table[n]} = {numpy_source(_renamed(f, table))}\n" for n, f in where]
    head = f"def form({', '.join(table[a] for a in arguments)}):\n"
    text = f"{head}{''.join(lines)}    return {numpy_source(_renamed(form, table))}\n"
    return defined("form", text, {"np": np, "scipy": SCIPY})


def _renamed(form: Form, table: Mapping[str, str]) -> Form:
    names = {p for p in subforms(form) if p.op == "name"}
    sizes = {p for p in subforms(form) if p.op == "size"}
    new = {p: notation.name(table[p.data], p.ndim) for p in names}
    return replaced(form, new | {p: Form("size", data=replace(p.data, source=_safe(p.data, table))) for p in sizes})


def _safe(size: Size, table: Mapping[str, str]) -> str:
    """A size in source that has no name of the user's."""
    name, axis = size.argument, size.axis
    return f"{table[name]}.size" if axis is None else f"{table[name]}.shape[{axis}]"


def agree(
    function: Callable[..., Any], reference: Callable[[dict[str, Any]], Any], at: Sequence[dict[str, Any]]
) -> bool:
    """Whether a form has the values of the derivative at all points at which that has one, and that is some point."""
    seen = False
    with np.errstate(all="ignore"):
        for point in at:
            want = np.asarray(reference(point), dtype=float)
            if not np.all(np.isfinite(want)) and seen:
                continue
            got = np.asarray(function(*point.values()))
            if got.shape != want.shape or got.dtype.kind not in "fiub":
                return False
            scale = np.max(np.abs(want), initial=0.0, where=np.isfinite(want))
            if not np.allclose(got, want, rtol=_TOLERANCE, atol=_TOLERANCE * max(scale, 1e-3), equal_nan=True):
                return False
            seen = seen or bool(np.all(np.isfinite(want)))
    return seen
