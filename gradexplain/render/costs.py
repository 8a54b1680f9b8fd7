"""The cost of reverse and forward mode in words, with the program's own numbers."""

from __future__ import annotations

from collections.abc import Iterator

from gradexplain.exposition.model import Cost
from gradexplain.render.blocks import Block, Paragraph, Table, line


def cost_words(cost: Cost, style: str) -> Iterator[Block]:
    """What a sweep cost, and how that compares."""
    if style == "reverse":
        kept = "no value" if cost.kept == 0 else _counted(cost.kept, "value")
        more = f"the sweep back {cost.reverse:,} more, for which {kept} of the function must be kept"
    else:
        passes = "the pass" if cost.passes == 1 else f"the {cost.passes:,} passes, one for each entry,"
        more = f"{passes} {cost.forward:,} more; nothing must be kept"
    yield Paragraph(line(f"Cost: the function takes {_counted(cost.function, 'operation')}, {more}. {verdict(cost)}"))


def cost_table(cost: Cost) -> Table:
    """Both modes beside each other."""
    reverse = (f"{cost.results:,}", f"{cost.results * cost.reverse:,}", f"{cost.kept:,}")
    forward = (f"{cost.passes:,}", f"{cost.forward:,}", "0")
    rows = (("reverse", *reverse), ("forward", *forward))
    headers = ("mode", "passes", "operations", "values kept")
    return Table(headers, tuple(tuple(map(line, row)) for row in rows))


def verdict(cost: Cost) -> str:
    """Which mode is cheaper here, and why.

    >>> verdict(Cost(function=3, reverse=7, kept=2, forward=7, passes=1, results=1))
    'One input and one result: both modes need one pass, and forward mode need not keep anything.'
    """
    if cost.passes == cost.results == 1:
        return "One input and one result: both modes need one pass, and forward mode need not keep anything."
    inputs, results = _counted(cost.passes, "input"), _counted(cost.results, "result")
    if cost.results < cost.passes:
        reverse, forward = cost.results * cost.reverse, cost.forward
        sweeps = f"a sweep back serves all inputs at once ({_counted(reverse, 'operation')})"
        passes = f"forward mode has a pass for each input ({_counted(forward, 'operation')} in {cost.passes:,} passes)"
        end = "Reverse mode wins." if reverse < forward else "With this few inputs forward mode is no worse."
        return f"{inputs} and {results}: {sweeps}, {passes}. {end}"
    if cost.results > cost.passes:
        passes = f"a forward pass serves all results at once ({_counted(cost.forward, 'operation')})"
        sweeps = f"reverse mode has a sweep for each result ({_counted(cost.results, 'sweep')})"
        return f"{inputs} and {results}: {passes}, {sweeps}. Forward mode wins."
    return f"{inputs} and {results}: both modes need as many passes, and forward mode need not keep anything."


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
