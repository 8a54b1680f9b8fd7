"""The log of simplification: what was rewritten into what, by which rule, and how that is known to be right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gradexplain.simplify.proofs import is_proved


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One step from the raw derivative to the closed form: its rule, and the check that it passed.

    `where` has the names in `after` that `before` does without.
    """

    rule: str
    before: Any
    after: Any
    checked: str = ""
    where: tuple[tuple[str, Any], ...] = ()

    @property
    def evidence(self) -> str:
        """How the step is known to be right: "proved", if algebra shows it, else the check. Found when asked for.

        >>> import sympy as sp
        >>> x = sp.Symbol("x", real=True)
        >>> Rewrite("trigonometric identity", sp.sin(x) ** 2, 1 - sp.cos(x) ** 2, "checked at 7 points").evidence
        'proved'
        """
        return "proved" if is_proved(self.before, self.after, self.where) else self.checked
