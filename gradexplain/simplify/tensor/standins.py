"""Formulas for arrays whose sizes were given by letters: traced at a stand-in for each, they must hold at all sizes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import count

from gradexplain.errors import GradexplainError
from gradexplain.simplify.form import ClosedForm, Gradients
from gradexplain.trace.run import Program, explore, trace

Elsewhere = Mapping[str, tuple[int, Program | None]]  # by letter: the stand-in, and the program at another size


def elsewhere(program: Program) -> Elsewhere:
    """The program with another size for each letter, one at a time; None where it does not run with that."""
    sizes = {c: n for a in program.arguments for c, n in zip(a.letters, a.shape, strict=False) if not c.isdigit()}
    taken = {n for a in program.arguments for n in a.shape}
    out = {}
    for letter, size in sizes.items():
        other = next(n for n in count(size + 2) if n not in taken)
        shapes = {
            a.name: tuple(other if c == letter else n for c, n in zip(a.letters, a.shape, strict=True))
            for a in program.arguments
            if letter in a.letters
        }
        out[letter] = (size, retraced(program, shapes))
    return out


def bound(others: Elsewhere, holds: Callable[[Program], bool]) -> tuple[str, ...]:
    """What has to be said of a formula that does not hold at all sizes: `n = 5` for each letter that it is bound to."""
    return _stated(others, [c for c, (_, other) in others.items() if other is None or not holds(other)])


def _stated(others: Elsewhere, differ: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{c} = {others[c][0]}" for c in differ)


def with_sizes(
    forms: Mapping[str, ClosedForm], program: Program, again: Callable[[Program], Gradients]
) -> dict[str, ClosedForm]:
    """Formulas that are written out, entry by entry or as programs, with the sizes at which they are these ones."""
    written_out = [key for key, form in forms.items() if form.level in ("element-wise", "program")]
    if not written_out:
        return dict(forms)
    others = elsewhere(program)
    known = {c: again(other) for c, (_, other) in others.items() if other is not None}
    out = dict(forms)
    for key in written_out:
        differ = [c for c in others if c not in known or known[c][key].texts != forms[key].texts]
        out[key] = replace(forms[key], conditions=(*forms[key].conditions, *_stated(others, differ)))
    return out


def retraced(program: Program, shapes: Mapping[str, tuple[int, ...]]) -> Program | None:
    """The program traced with arrays of other shapes, without letters; None where it does not run with them."""
    arguments = [
        replace(a, value=None, shape=shapes[a.name], letters=()) if a.name in shapes else replace(a, letters=())
        for a in program.arguments
    ]
    is_array = bool(program.output.shape)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = trace(program.function, arguments, stack_results=is_array)
            return explore(found, stack_results=is_array) if program.explored else found
    except GradexplainError:
        return None
