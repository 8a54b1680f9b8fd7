"""The log of simplification: what was rewritten into what, by which rule, and how that is known to be right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradexplain.simplify.proofs import is_proved
from gradexplain.simplify.unevaluated import packed, unpacked

LIMIT = "limit at an isolated point"  # the rule that comes before all others
NAMES, WRITTEN_OUT = "in terms of", "names written out"  # formulas over names that the program has, and back


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One step from the raw derivative to the closed form: its rule, and the check that it passed.

    `terms` are what the rule is about: what cancels, the factor that is pulled out, a product and the sum over which it
    is distributed, the two sides of an identity, a name and what it stands for. `where` has the names in `after` that
    `before` does without.
    """

    rule: str
    before: Any
    after: Any
    checked: str = ""
    terms: tuple[Any, ...] = ()
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

    def __reduce__(self) -> tuple[Callable[..., Rewrite], tuple[Any, ...]]:
        parts = (packed(self.before), packed(self.after), tuple(map(packed, self.terms)))
        return _unpickled, (self.rule, self.checked, self.where, *parts)


def _unpickled(rule: str, checked: str, where: Any, before: Any, after: Any, terms: Any) -> Rewrite:
    return Rewrite(rule, unpacked(before), unpacked(after), checked, tuple(map(unpacked, terms)), where)
