"""Runs of a function: once (`trace`), plainly beside it (`compare`), or along every path through it (`explore`).

Exploring calls the user's function once for each further path, with planned answers at its branches; the paths are
joined into one graph.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace

from gradexplain.errors import GradexplainError, ReturnError
from gradexplain.graph import Node, as_node
from gradexplain.language import Sentence
from gradexplain.ops.ordering import where
from gradexplain.trace.calling import apply, function_name, plain
from gradexplain.trace.program import Program, begin, compare, make_inputs, run, trace
from gradexplain.trace.running import Condition
from gradexplain.trace.source import place_of

__all__ = ["Program", "apply", "begin", "compare", "explore", "function_name", "make_inputs", "plain", "run", "trace"]
MOST_PATHS = 32


def explore(program: Program, *, stack_results: bool = False) -> Program:
    """The same function along every path, joined by `where` at each branch.

    A path on which the function raises or returns nothing is left out: there is no value there. Too many paths leave
    the program as it is, with the reason in `limits`.
    """
    if program.trace.handled:
        return replace(program, limits=(Sentence("an exception steers {name} at this point", name=program.name),))
    if not program.conditions:
        return replace(program, explored=True)
    first = tuple(c.truth for c in program.conditions)
    paths: dict[tuple[bool, ...], tuple[list[Condition], Node | None]] = {
        first: (program.trace.conditions, program.output)
    }
    waiting = [(*first[:i], not first[i]) for i in range(len(first))]
    limits: list[str] = []
    while waiting:
        if len(paths) >= MOST_PATHS:
            return replace(program, limits=(_too_many(program),))
        planned = waiting.pop()
        conditions, output, limit = _follow(program, planned, stack_results)
        if limit:
            return replace(program, limits=(limit,))
        taken = tuple(c.truth for c in conditions)
        if taken in paths or taken[: len(planned)] != planned:
            continue
        paths[taken] = (conditions, output)
        waiting += [(*taken[:i], not taken[i]) for i in range(len(planned), len(taken))]
    joined = _join(list(paths.values()), 0)
    assert joined is not None
    return replace(program, output=joined, explored=True, limits=tuple(limits))


def _too_many(program: Program) -> str:
    """Which branch makes the paths so many, and how often it is met on the path that was taken."""
    lines = Counter(p.line for c in program.conditions if (p := place_of(c.site)) is not None)
    line, times = max(lines.items(), key=lambda pair: pair[1], default=(0, 0))
    sentence = "{name} has more than {count} paths through its branches"
    if line:
        once = "{name} has more than {count} paths through its branches: the branch in line {line} is met {times} time"
        often = (
            "{name} has more than {count} paths through its branches: the branch in line {line} is met {times} times"
        )
        sentence = often if times > 1 else once
    return Sentence(sentence, name=program.name, count=MOST_PATHS, line=line, times=times)


def _follow(
    program: Program, planned: tuple[bool, ...], stack_results: bool
) -> tuple[list[Condition], Node | None, str]:
    """One more path: its conditions, what it returns (None: nothing), and the reason if exploring must stop."""
    running = begin(program.function, program.arguments, program.inputs, planned)
    output, limit = None, ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            output = run(program.function, program.arguments, program.inputs, running, stack_results=stack_results)
    except ReturnError:
        pass
    except GradexplainError as error:
        # The user's own exception means that the function has no value there; anything else is a limit of ours.
        limit = "" if error.__cause__ is not None else error.what
    return running.conditions, output, limit


def _join(paths: list[tuple[list[Condition], Node | None]], depth: int) -> Node | None:
    """The decision tree of the paths as nested `where`; depth is bounded by the number of decisions on a path."""
    if len(paths) == 1:
        return paths[0][1]
    with_node = next((c for c, output in paths if output is not None and len(c) > depth), None)
    yes = _join_side(paths, depth, truth=True)
    no = _join_side(paths, depth, truth=False)
    if yes is None or no is None or with_node is None:
        return no if yes is None else yes
    yes, no = as_node(yes), as_node(no)
    if yes.shape != no.shape:
        raise ReturnError(
            f"the branches return arrays of different shapes, {yes.shape} and {no.shape}",
            why="one formula can't have both",
            fix="give a point: the path taken there is explained",
        )
    return where(with_node[depth].node, yes, no)


def _join_side(paths: list[tuple[list[Condition], Node | None]], depth: int, *, truth: bool) -> Node | None:
    side = [p for p in paths if len(p[0]) > depth and p[0][depth].truth is truth]
    return _join(side, depth + 1) if side else None
