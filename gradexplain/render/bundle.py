"""What a notebook front end gets: one explanation in several types, of which it shows the one that it prefers.

``text/plain`` is ASCII without colours, ``text/markdown`` is what JupyterLab, Colab and marimo typeset, ``text/latex``
is one formula, which VS Code prefers. An exception in a display method prints a traceback into the notebook and makes
its execution fail, so none leaves `mimebundle`: a type that fails is logged and left out.
"""

import logging
import sys
from collections.abc import Callable, Mapping
from typing import Any

LOGGER = logging.getLogger(__name__)
UNPRINTABLE = "an explanation that could not be printed (see the log)"


def mimebundle(writers: Mapping[str, Callable[[], str]]) -> dict[str, str]:
    """Return what each writer writes, by MIME type; ``text/plain`` is always among them.

    >>> mimebundle({"text/plain": lambda: "2*x", "text/latex": lambda: "$2 x$"})
    {'text/plain': '2*x', 'text/latex': '$2 x$'}
    """
    bundle: dict[str, str] = {}
    for kind, write in writers.items():
        try:
            bundle[kind] = write()
        except Exception:
            LOGGER.exception("could not write an explanation as %s", kind)
    bundle.setdefault("text/plain", UNPRINTABLE)
    return bundle


def written(kind: str, write: Callable[[], str]) -> str:
    """Return what one writer writes, or in its place that it could not.

    >>> written("text/latex", lambda: "$2 x$")
    '$2 x$'
    """
    return mimebundle({kind: write}).get(kind, UNPRINTABLE)


def is_all(shown: type) -> None:
    """Tell IPython that a bundle is all there is: beside it, it would ask for HTML too, and notebooks prefer that.

    MathML does not survive in the output of a notebook that somebody else ran; Markdown does.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type(shown, _nothing)


def _nothing(_: object) -> None:
    """What IPython adds to a bundle."""
