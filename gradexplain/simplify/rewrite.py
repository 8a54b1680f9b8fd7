"""The log of simplification: what was rewritten into what, by which rule, and how that is known to be right."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp


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
