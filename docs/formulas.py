"""A Sphinx extension that writes formulas as MathML, as the pages of this package do.

Sphinx's own way, MathJax, is a program that readers load from the network, and images need a TeX system.
"""

from __future__ import annotations

from typing import Any

from gradexplain.render.mathml import mathml


def inline(translator: Any, node: Any) -> None:
    """A formula in a line of text."""
    _write(translator, node, "{}")


def block(translator: Any, node: Any) -> None:
    """A formula that stands by itself; a long one can be scrolled."""
    _write(translator, node, '<div class="formula">{}</div>\n')


def _write(translator: Any, node: Any, frame: str) -> None:
    from docutils.nodes import SkipNode
    from sphinx.util import logging

    formula = mathml(node.astext(), display=frame != "{}")
    if formula is None:
        logging.getLogger(__name__).warning("no MathML for %s", node.astext(), location=node)
        formula = translator.encode(node.astext())
    translator.body.append(frame.format(formula))
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Registers the renderer under the name that `conf.py` chooses."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
