"""Formulas by a printer that may fail."""

import logging
from typing import Any

from sympy.printing.latex import LatexPrinter

from gradexplain.escape import math_text

LOGGER = logging.getLogger(__name__)


def printed(printer: Any, expr: Any) -> str:
    """An expression by a printer of SymPy's. Formulas are for people, and a page with one formula less helps them more
    than an exception: where the printer fails, the reason goes to the log, and there stands what SymPy calls the thing.

    >>> import sympy as sp
    >>> printed(LatexPrinter(), sp.Symbol("x") / 2)
    '\\\\frac{x}{2}'
    """
    try:
        return str(printer.doprint(expr))
    except Exception:
        LOGGER.exception("could not print a formula")
    try:
        text = str(expr)
    except Exception:
        text = f"<{type(expr).__name__}>"
    return math_text(text) if isinstance(printer, LatexPrinter) else text
