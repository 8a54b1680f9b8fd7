"""The rules that a reader says they know: derivations apply these without a word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from gradexplain.errors import ArgumentError
from gradexplain.exposition.rules import (
    BRANCHES,
    DIFFERENCE,
    LOGARITHMIC,
    MULTIPLE,
    POWER,
    POWER_AND_CHAIN,
    PRODUCT,
    QUOTIENT,
    RECIPROCAL,
    SUM,
)
from gradexplain.ops import TABLE

CHAIN, EXPONENTIAL = "chain rule", "exponential rule"
_NAMES: dict[str, tuple[str, ...]] = {
    "constant": ("constant rule",),
    "identity": ("identity",),
    "sum": (SUM, DIFFERENCE),
    "constant multiple": (MULTIPLE,),
    "power": (POWER,),
    "product": (PRODUCT,),
    "quotient": (QUOTIENT, RECIPROCAL),
    "chain": (CHAIN,),
    "exponential": (EXPONENTIAL,),
    "logarithmic": (LOGARITHMIC,),
    "branch": (BRANCHES,),
}


@cache
def rule_names() -> tuple[str, ...]:
    """The names that `known=` takes: the rules of calculus, then those for functions, then "table" for all of these."""
    return (*_NAMES, *(n for n in _of_functions() if n not in _NAMES), "table")


def known_rules(names: str | Sequence[str]) -> frozenset[str]:
    """The rules behind names such as "sum" or "constant-multiple rule". Raises `ArgumentError` for unknown ones.

    >>> sorted(known_rules(["sum", "chain rule"]))
    ['chain rule', 'difference rule', 'sum rule']
    """
    if not isinstance(names, (str, Iterable)):
        raise ArgumentError(f"known={names!r} names no rules", fix='give names, as in known=("sum", "power")')
    listed = names.split(",") if isinstance(names, str) else names
    found: set[str] = set()
    for name in listed:
        plain = " ".join(str(name).lower().replace("-", " ").replace("_", " ").split()).removesuffix(" rule")
        if plain == "table":
            found.update(_of_functions().values())
        elif plain in _NAMES:
            found.update(_NAMES[plain])
        elif plain in _of_functions():
            found.add(_of_functions()[plain])
        else:
            raise ArgumentError(
                f"there is no rule {str(name).strip()!r} to know",
                why=f"the rules are {', '.join(rule_names())}",
                fix='name some of them, as in known=("sum", "power")',
            )
    if {POWER, CHAIN} <= found:
        found.add(POWER_AND_CHAIN)
    return frozenset(found)


@cache
def _of_functions() -> dict[str, str]:
    """The rules of the table of derivatives for functions of one number, without the word "rule"."""
    rules = {op.rule for op in TABLE.values() if op.family == "elementwise" and len(op.partials) == 1 and op.rule}
    return {
        rule.removesuffix(" rule").lower().replace("-", " "): rule
        for rule in sorted(rules - {MULTIPLE, POWER, PRODUCT})
    }
