"""What a notebook front end gets: the same document in three types, of which it shows the one it prefers.

``text/plain`` is ASCII without colours, ``text/markdown`` is what JupyterLab, Colab and marimo typeset, ``text/latex``
is one formula, which VS Code prefers. An exception in a display method prints a traceback into the notebook and makes
its execution fail, so none leaves `mimebundle`: a format that fails is logged and left out.

To add a type: one more entry of `FORMATS`.
"""

import logging
from collections.abc import Callable

from gradexplain.render import latex, markdown, text
from gradexplain.render.blocks import Document

LOGGER = logging.getLogger(__name__)

FORMATS: dict[str, Callable[[Document], str]] = {
    "text/plain": lambda document: text.render(document),
    "text/markdown": lambda document: markdown.render(document),
    "text/latex": lambda document: latex.display(document),
}


def mimebundle(document: Document) -> dict[str, str]:
    """Return the document by MIME type; ``text/plain`` is always among them.

    >>> sorted(mimebundle(Document("y = x**2")))
    ['text/latex', 'text/markdown', 'text/plain']
    """
    bundle: dict[str, str] = {}
    for kind, render in FORMATS.items():
        try:
            bundle[kind] = render(document)
        except Exception:
            LOGGER.exception("could not write an explanation as %s", kind)
    bundle.setdefault("text/plain", "an explanation that could not be printed (see the log)")
    return bundle
