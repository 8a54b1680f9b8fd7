"""The rewrites that a scalar formula is tried with: named rows, from cheap to dear. Each takes and gives an expression.

A row may be right only where its conditions hold (powers of positive bases, signs away from 0): every result is
compared with the program at many points before it is used, so a rule is free to be bold. To add one, add a row and a
line to its test table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import sympy as sp

from gradexplain.simplify.fractions import (
    by_functions,
    by_monomials,
    common_denominator,
    divided,
    expanded_denominator,
    has_no_squares,
    has_no_sum_below,
    is_no_fraction,
    is_no_long_sum,
    open_numerator,
    partial_fractions,
    squares,
)
from gradexplain.simplify.powers import (
    has_high_powers,
    has_no_powers_to_join,
    inverted_exponentials,
    joined_powers,
    logarithms,
    shared_powers,
)
from gradexplain.simplify.roots import circular_roots, has_no_roots, merged_roots, radicands
from gradexplain.simplify.signs import absorbed_signs, has_no_signs, magnitudes, signs
from gradexplain.simplify.trigonometry import (
    as_exponentials,
    has_no_squared_circles,
    has_no_tangents,
    hyperbolic,
    identities,
    is_not_circular,
    is_not_hyperbolic,
    pythagoras,
    ratios,
    tangents,
)


class Rule(NamedTuple):
    """A named rewrite; `most` is the number of operations up to which it is tried, `unless` what it can't cope with."""

    name: str
    apply: Callable[[Any], Any]
    most: int
    unless: Callable[[Any], bool] = lambda _: False

    def is_tried(self, expr: Any, size: int) -> bool:
        """Whether the rule can be expected to end soon on an expression of this size."""
        return size <= self.most and not self.unless(expr)


def common_factor(expr: Any) -> Any:
    """Numbers and symbols that all terms share, pulled out in front."""
    return sp.factor_terms(expr)


def shared_powers_and_angles(expr: Any) -> Any:
    """The power that all terms share pulled out, and an identity for what is left."""
    shared = shared_powers(expr)
    return expr if shared == expr else sp.trigsimp(shared)


RULES: tuple[Rule, ...] = (
    Rule("common factor", common_factor, 400),
    Rule("common power", shared_powers, 120),
    Rule("powers of one exponent", joined_powers, 120),
    Rule("signs", signs, 80, has_no_signs),
    Rule("signs and magnitudes", magnitudes, 80, has_no_signs),
    Rule("factors under the root", lambda e: signs(radicands(e)), 80, has_high_powers),
    Rule("sin**2 + cos**2 = 1", pythagoras, 60, has_no_squared_circles),
    Rule("roots of circular functions", circular_roots, 80, lambda e: has_no_roots(e) or not e.has(sp.sin, sp.cos)),
    Rule("roots merged", merged_roots, 120, has_no_roots),
    Rule("common power, trigonometric identity", shared_powers_and_angles, 30, is_not_circular),
    Rule("quotient of functions", ratios, 120, lambda e: not e.has(sp.sinh, sp.sin)),
    Rule("hyperbolic functions as exponentials", as_exponentials, 60, is_not_hyperbolic),
    Rule("hyperbolic identity", hyperbolic, 60, is_not_hyperbolic),
    Rule("common denominator", sp.together, 160, has_high_powers),
    Rule("factor", sp.factor, 120, has_high_powers),
    Rule("cancel", sp.cancel, 120, has_high_powers),
    Rule("common denominator, factor", common_denominator, 120, has_high_powers),
    Rule("sorted by functions", by_functions, 120, has_high_powers),
    Rule("expand", sp.expand, 60, has_high_powers),
    Rule("sorted by powers", by_monomials, 80, is_no_long_sum),
    Rule("complete the square", squares, 120, has_no_squares),
    Rule("partial fractions", partial_fractions, 60, is_no_fraction),
    Rule("expand the denominator", expanded_denominator, 60, has_no_sum_below),
    Rule("multiply out the numerator", open_numerator, 80, has_no_sum_below),
    Rule("division", divided, 80, has_no_sum_below),
    Rule("sign", absorbed_signs, 200, lambda e: not e.has(sp.Mul)),
    Rule("logarithm rules", logarithms, 60, lambda e: len(e.atoms(sp.log)) < 2),
    Rule("power rules", sp.powsimp, 120, has_no_powers_to_join),
    Rule("exponentials", inverted_exponentials, 80, has_high_powers),
    Rule("trigonometric identity", sp.trigsimp, 40, is_not_circular),
    Rule("tangents as quotients", tangents, 30, has_no_tangents),
    Rule("trigonometric identities", identities, 40, is_not_circular),
)
_FINISHING = (
    "sign",
    "roots merged",
    "complete the square",
    "quotient of functions",
    "exponentials",
    "logarithm rules",
    "powers of one exponent",
)
SPLITTING = ("partial fractions", "partial fractions, common factor", "division", "division, common factor")
FINISHING = tuple(rule for rule in RULES if rule.name in _FINISHING)  # tried on what the others gave
