"""A Jupyter notebook of an explanation: what the first screen shows, as text, and cells that compute it again.

The sections of the screen are chapters here. Without the call (`rerun.call`) the notebook still has the derivative as
a NumPy function.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from gradexplain.language import say
from gradexplain.render import markdown
from gradexplain.render.blocks import Block, Document, Heading, Section

_TRY = """Something to try:

- change the point in the first cell, or leave it out, and run the cells again
- `print(e.derivation(style="reverse"))` shows what reverse mode does, `e.stepper()` goes through it step by step
- `gx.options(precision=12)` shows more digits"""


def notebook(screen: Document, title: str, call: str | None, source: str, arguments: Sequence[str] | None) -> str:
    """Return a notebook as JSON; ``source`` defines ``derivative``, and ``arguments`` are those of the call to it.

    >>> [cell["cell_type"] for cell in json.loads(notebook(Document(""), "x**2", None, "", None))["cells"]]
    ['markdown', 'code']
    """
    cells = list(_cells(screen, title, call, source, arguments))
    content = {
        "cells": [{"id": f"cell-{n}", **cell} for n, cell in enumerate(cells, 1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1) + "\n"


def _cells(
    screen: Document, title: str, call: str | None, source: str, arguments: Sequence[str] | None
) -> Iterator[dict[str, Any]]:
    first = tuple(block for block in screen.blocks if not isinstance(block, Section))
    yield _text(title, first)
    if call is not None:
        yield _code(call)
    for section in screen.blocks:
        if isinstance(section, Section):
            yield _text("", (Heading(section.title, 1), *section.blocks))
    yield _code("\n".join([source.rstrip(), *(["", "", f"derivative({', '.join(arguments)})"] if arguments else [])]))
    if call is not None:
        yield {"cell_type": "markdown", "metadata": {}, "source": _lines(say(_TRY))}


def _text(title: str, blocks: tuple[Block, ...]) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(markdown.render(Document(title, blocks)).strip())}


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": _lines(source)}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
