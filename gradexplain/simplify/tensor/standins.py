"""Formulas for arrays whose sizes were given by letters: traced at a stand-in for each, they must hold at all sizes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from gradexplain.errors import GradexplainError
from gradexplain.simplify.form import ClosedForm, Gradients
from gradexplain.trace.run import Program, explore, trace

Elsewhere = Mapping[str, tuple[int, Mapping[int, Program]]]  # by letter: the stand-in; by other size: the program there
_SIZES = (1, 2, 3, 4, 8, 13)  # small ones, where a program may go another way; odd and even ones; larger ones
_FEW_SIZES = (2, 8)


def elsewhere(program: Program, sizes: Sequence[int] = _SIZES) -> Elsewhere:
    """The program with other sizes for each letter, one letter at a time, where it runs with them."""
    known = {c: n for a in program.arguments for c, n in zip(a.letters, a.shape, strict=False) if not c.isdigit()}
    return {letter: (size, dict(_resized(program, letter, sizes))) for letter, size in known.items()}


def _resized(program: Program, letter: str, sizes: Sequence[int]) -> Iterator[tuple[int, Program]]:
    for size in sizes:
        shapes = {
            a.name: tuple(size if c == letter else n for c, n in zip(a.letters, a.shape, strict=True))
            for a in program.arguments
            if letter in a.letters
        }
        other = retraced(program, shapes)
        if other is not None:
            yield size, other


def bound(others: Elsewhere, holds: Callable[[Program], bool | None]) -> tuple[str, ...]:
    """What is to be said of a formula that does not hold at all sizes: `n > 1`, or `n = 5`, the stand-in itself."""
    found = (_stated(c, here, {n: holds(p) for n, p in programs.items()}) for c, (here, programs) in others.items())
    return tuple(filter(None, found))


def _stated(letter: str, here: int, holds: Mapping[int, bool | None]) -> str:
    """The sizes at which a formula holds, of which some were tried beside the one at which it was found.

    >>> _stated("n", 5, {1: False, 2: True, 8: True}), _stated("n", 5, {2: False, 8: False}), _stated("n", 5, {8: True})
    ('n > 1', 'n = 5', '')
    """
    wrong = [n for n, right in holds.items() if right is False]
    right = [here, *(n for n, found in holds.items() if found)]
    if not wrong and len(right) > 1:
        return ""
    wrong = wrong or [here]
    return f"{letter} > {max(wrong)}" if len(right) > 1 and max(wrong) < min(right) else f"{letter} = {here}"


def with_sizes(
    forms: Mapping[str, ClosedForm], program: Program, again: Callable[[Program], Gradients]
) -> dict[str, ClosedForm]:
    """Formulas that are written out, entry by entry or as programs, with the sizes at which they are these ones."""
    written_out = [key for key, form in forms.items() if form.level in ("element-wise", "program")]
    if not written_out or not any(a.letters for a in program.arguments):
        return dict(forms)
    others = elsewhere(program, _FEW_SIZES)
    known = {id(other): again(other) for _, programs in others.values() for other in programs.values()}
    out = dict(forms)
    for key in written_out:
        stated = bound(others, lambda other, key=key: known[id(other)][key].texts == forms[key].texts)  # type: ignore[misc]
        out[key] = replace(forms[key], conditions=(*forms[key].conditions, *stated))
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
