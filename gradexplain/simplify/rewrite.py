"""The log of simplification: what was rewritten into what, by which rule, and how that is known to be right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from gradexplain.simplify.unevaluated import packed, unpacked


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One step from the raw derivative to the closed form, and how it is known to be right.

    `terms` are what the rule is about: what cancels, the factor that is pulled out, a product and the sum over which it
    is distributed, the two sides of an identity, a name and what it stands for.
    """

    rule: str
    before: sp.Expr
    after: sp.Expr
    evidence: str = ""
    terms: tuple[sp.Expr, ...] = ()

    def __reduce__(self) -> tuple[Callable[..., Rewrite], tuple[Any, ...]]:
        return _unpickled, (self.rule, *map(packed, (self.before, self.after, self.evidence, *self.terms)))


def _unpickled(rule: str, *parts: Any) -> Rewrite:
    before, after, evidence, *terms = map(unpacked, parts)
    return Rewrite(rule, before, after, evidence, tuple(terms))
