"""The cost of reverse and forward mode in words, with the program's own numbers."""

from __future__ import annotations

from collections.abc import Iterator

from gradexplain.exposition.model import Cost
from gradexplain.language import say
from gradexplain.render.blocks import Block, Paragraph, Table, line

_COUNTED = {
    "value": ("{count:,} value", "{count:,} values"),
    "operation": ("{count:,} operation", "{count:,} operations"),
    "input": ("{count:,} input", "{count:,} inputs"),
    "result": ("{count:,} result", "{count:,} results"),
    "sweep": ("{count:,} sweep", "{count:,} sweeps"),
}


def cost_words(cost: Cost, style: str) -> Iterator[Block]:
    """What a sweep cost, and how that compares."""
    if style == "reverse":
        kept = say("no value") if cost.kept == 0 else _counted(cost.kept, "value")
        sweep = "the sweep back {count:,} more, for which {kept} of the function must be kept"
        more = say(sweep, count=cost.reverse, kept=kept)
    else:
        passes = "the {passes:,} passes, one for each entry, {count:,} more; nothing must be kept"
        one = "the pass {count:,} more; nothing must be kept"
        more = say(one if cost.passes == 1 else passes, passes=cost.passes, count=cost.forward)
    whole = _counted(cost.function, "operation")
    sentence = "Cost: the function takes {operations}, {more}. {verdict}"
    yield Paragraph(line(say(sentence, operations=whole, more=more, verdict=verdict(cost))))


def cost_table(cost: Cost) -> Table:
    """Both modes beside each other."""
    reverse = (f"{cost.results:,}", f"{cost.results * cost.reverse:,}", f"{cost.kept:,}")
    forward = (f"{cost.passes:,}", f"{cost.forward:,}", "0")
    rows = ((say("reverse"), *reverse), (say("forward"), *forward))
    headers = (say("mode"), say("passes"), say("operations"), say("values kept"))
    return Table(headers, tuple(tuple(map(line, row)) for row in rows))


def verdict(cost: Cost) -> str:
    """Which mode is cheaper here, and why.

    >>> verdict(Cost(function=3, reverse=7, kept=2, forward=7, passes=1, results=1))
    'One input and one result: both modes need one pass, and forward mode need not keep anything.'
    """
    if cost.passes == cost.results == 1:
        return say("One input and one result: both modes need one pass, and forward mode need not keep anything.")
    inputs, results = _counted(cost.passes, "input"), _counted(cost.results, "result")
    if cost.results < cost.passes:
        reverse, forward = cost.results * cost.reverse, cost.forward
        back = say("a sweep back serves all inputs at once ({operations})", operations=_counted(reverse, "operation"))
        there = say(
            "forward mode has a pass for each input ({operations} in {passes:,} passes)",
            operations=_counted(forward, "operation"),
            passes=cost.passes,
        )
        end = say("Reverse mode wins." if reverse < forward else "With this few inputs forward mode is no worse.")
        sentence = "{inputs} and {results}: {first}, {second}. {end}"
        return say(sentence, inputs=inputs, results=results, first=back, second=there, end=end)
    if cost.results > cost.passes:
        there = say(
            "a forward pass serves all results at once ({operations})", operations=_counted(cost.forward, "operation")
        )
        back = say("reverse mode has a sweep for each result ({sweeps})", sweeps=_counted(cost.results, "sweep"))
        sentence = "{inputs} and {results}: {first}, {second}. {end}"
        return say(sentence, inputs=inputs, results=results, first=there, second=back, end=say("Forward mode wins."))
    sentence = "{inputs} and {results}: both modes need as many passes, and forward mode need not keep anything."
    return say(sentence, inputs=inputs, results=results)


def _counted(count: int, noun: str) -> str:
    return say(_COUNTED[noun][count != 1], count=count)
