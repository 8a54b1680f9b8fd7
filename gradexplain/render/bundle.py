"""What a notebook front end gets: one explanation in several types, of which it shows the one that it prefers.

``text/plain`` is ASCII without colours, ``text/markdown`` is what JupyterLab, Colab and marimo typeset, ``text/latex``
is one formula, which VS Code prefers. An exception in a display method prints a traceback into the notebook and makes
its execution fail, so none leaves `mimebundle`: a type that fails is logged and left out.
"""

import logging
from collections.abc import Callable, Mapping

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
