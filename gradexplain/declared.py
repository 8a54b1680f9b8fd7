"""What is declared of arrays: facts, and which symmetric matrices are varied as such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError
from gradexplain.trace.run import Program

_FACTS = ("symmetric", "positive-definite", "onehot", "probability", "sign", "mask", "positive")
_OF_SQUARE_MATRICES = {"symmetric", "positive-definite"}


def declared(facts: Mapping[str, Any], structured: str | Sequence[str], program: Program) -> dict[str, frozenset[str]]:
    """What is known of each argument; raises `ArgumentError` for names and facts that there are not."""
    known = _facts(facts, [a.name for a in program.arguments])
    for name, found in known.items():
        shape = program.inputs[name].shape if name in program.inputs else ()
        for fact in sorted(found & _OF_SQUARE_MATRICES):
            if shape[-1:] != shape[-2:-1]:
                raise ArgumentError(
                    f"facts= says that {name} is {fact}, and it has shape {shape}",
                    why=f"only a square matrix can be {fact}",
                    fix=f"leave {name} out of facts=",
                )
    for name in _structured(structured, program):
        known[name] = known.get(name, frozenset()) | {"symmetric", "structured"}
    return known


def _facts(facts: Mapping[str, Any], names: Sequence[str]) -> dict[str, frozenset[str]]:
    """What is known of each argument."""
    known = {n: frozenset([v] if isinstance(v, str) else v) for n, v in facts.items()}
    for name, found in known.items():
        if name not in names:
            raise ArgumentError(f"facts= tells of {name}, which is no argument", fix=f"use {', '.join(names)}")
        for fact in found - {*_FACTS}:
            raise ArgumentError(
                f"facts= says that {name} is {fact}", why="that fact is not known", fix=f"use {', '.join(_FACTS)}"
            )
    return known


def _structured(structured: str | Sequence[str], program: Program) -> Iterator[str]:
    """The names of structured arguments, which are square matrices, and symmetric where they have numbers."""
    if not isinstance(structured, Iterable):
        raise ArgumentError(f"structured={structured!r} names no argument", fix='give names, as in structured=("S",)')
    for name in (structured,) if isinstance(structured, str) else structured:
        node = program.inputs.get(name)
        if node is None:
            known = ", ".join(program.inputs) or "none"
            raise ArgumentError(
                f"structured= names {name}, which is no argument of the function",
                why=f"the arguments are {known}",
                fix='name symmetric matrices among them, as in structured=("S",)',
            )
        if node.ndim != 2 or node.shape[0] != node.shape[1]:
            raise ArgumentError(
                f"structured= names {name}, which has shape {node.shape}",
                why="only a square matrix can be symmetric",
                fix=f"leave {name} out of structured=",
            )
        value = program.trace.value(node)
        if value is not None and not np.allclose(value, np.transpose(value)):
            raise ArgumentError(
                f"structured= names {name}, which is not symmetric",
                why=f"{name} differs from {name}.T by up to {np.max(np.abs(value - np.transpose(value))):.3g}",
                fix=f"give ({name} + {name}.T)/2, or leave {name} out of structured=",
            )
        yield name
