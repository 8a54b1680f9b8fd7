"""The derivation of a sum over an index, as books have it: term by term, then the sum of the derivatives.

Rule by rule, a loop of seven passes is a ladder of seven sum rules; the general term says it in one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mpmath as mp
import sympy as sp

from gradexplain.exposition.model import Step
from gradexplain.notation import FiniteSum
from gradexplain.simplify.numeric import UnknownFunctionError, value
from gradexplain.simplify.passes import as_terms, has_passes
from gradexplain.simplify.rewrite import Rewrite
from gradexplain.symbolic import symbol
from gradexplain.trace.run import Program

_POINTS = (0.7312, 1.4187, 2.3709)
_DIGITS = 40
_LONGEST = 12  # terms of a polynomial


class Series(NamedTuple):
    """A function as a sum over an index, the step that differentiates it, and what leads from there to the result."""

    function: Any
    root: Step
    rewrites: tuple[Rewrite, ...]


def derive_series(program: Program, variable: str, result: Any) -> Series | None:
    """The derivation term by term; None where the function is neither a sum over an index nor a plain polynomial."""
    if not has_passes(program) or not (result.has(FiniteSum) or result.is_polynomial()):
        return None
    function, x = as_terms(program), symbol(program.inputs[variable])
    if function is None or not (function.has(FiniteSum) or _is_plain(function)):
        return None
    slope: Any = sp.S.Zero
    steps: list[Step] = []
    for term in sp.Add.make_args(function):
        factor, series = term.as_independent(FiniteSum, as_Add=False)
        if not isinstance(series, FiniteSum):
            if term.has(FiniteSum):
                return None
            slope += sp.diff(term, x)
            continue
        if factor.has(x):
            return None
        general = sp.powsimp(sp.diff(series.function, x), combine="exp")
        before, after = in_reading_order(series.function), in_reading_order(general)
        steps.append(Step(_rule(series.function, x), before, after, number=len(steps) + 2))
        slope += factor * _summed(series, general, x)
    if slope.has(FiniteSum) != result.has(FiniteSum) or not _are_equal(slope, result):
        return None
    shown = in_reading_order(function)
    root = Step("sum rule, term by term", shown, in_reading_order(slope), substeps=tuple(steps), number=1)
    return Series(shown, root, (Rewrite(_renaming(slope, result), slope, result),) if slope != result else ())


def _is_plain(function: Any) -> bool:
    """Whether a function is a polynomial that fits on a line or two, as Horner's scheme and recursion give one."""
    return bool(function.is_polynomial()) and len(function.args) <= _LONGEST and sp.expand(function) == function


def in_reading_order(expr: Any) -> Any:
    """The expression as people write it: n - 1, which SymPy keeps as -1 + n, and one bar for x**(-n).

    >>> n, x = sp.symbols("n x")
    >>> in_reading_order(n - 1).args, in_reading_order(x ** (-n - 1)).args
    ((n, -1), (x**(n + 1), -1))
    """
    known: dict[Any, Any] = {}
    for node in sp.postorder_traversal(expr):
        if node.is_Add:
            known[node] = sp.Add(*(known[t] for t in node.as_ordered_terms()), evaluate=False)
        elif node.is_Mul:
            factors = sorted(node.args, key=sp.default_sort_key)
            known[node] = sp.Mul(*(known[f] for f in factors), evaluate=False)
        elif node.is_Pow and _is_below(node):
            power = sp.Pow(known[node.base], in_reading_order(-node.exp), evaluate=False)
            known[node] = sp.Pow(power, -1, evaluate=False)
        elif node.is_Pow:
            known[node] = sp.Pow(known[node.base], known[node.exp], evaluate=False)
        else:
            known[node] = node.func(*(known[a] for a in node.args)) if node.args else node
    return known[expr]


def _is_below(power: Any) -> bool:
    """Whether a power is written below a bar: all of its exponent is negative."""
    exponent = power.exp
    return exponent != -1 and all(t.as_coeff_Mul()[0] < 0 for t in sp.Add.make_args(exponent))


def _summed(series: FiniteSum, general: Any, x: Any) -> Any:
    """The sum of the derivatives, without those of constant terms at its ends."""
    passes = list(series.passes)
    while passes and not _at(series, passes[0]).has(x):
        del passes[0]
    while passes and not _at(series, passes[-1]).has(x):
        del passes[-1]
    passes = passes or list(series.passes)
    outside, inside = general.as_independent(series.index, as_Add=False)
    return outside * FiniteSum(inside, (series.index, passes[0], passes[-1]))


def _at(series: FiniteSum, i: int) -> Any:
    """The term of one pass."""
    return series.function.subs(series.index, i)


def _rule(term: Any, x: Any) -> str:
    """The rule by which the general term is differentiated."""
    _, varying = term.as_independent(x, as_Add=False)
    if varying.is_Mul:
        return "product rule"
    if varying.is_Pow and not varying.exp.has(x):
        return "power rule" if varying.base == x else "chain rule"
    if varying.is_Pow and not varying.base.has(x):
        return "exponential rule"
    return "derivative of the general term" if varying.is_Add or x in varying.args else "chain rule"


def _renaming(before: Any, after: Any) -> str:
    """What leads from the sum of the derivatives to the closed form."""
    if not before.has(FiniteSum):
        return "common factor"
    bounds = [sorted((s.passes[0], s.passes[-1]) for s in e.atoms(FiniteSum)) for e in (before, after)]
    return "terms simplified" if bounds[0] == bounds[1] else "index shifted, terms simplified"


def _are_equal(a: Any, b: Any) -> bool:
    names = sorted(s.name for s in a.free_symbols | b.free_symbols)
    with mp.workdps(_DIGITS):
        try:
            for at in _POINTS:
                point = {name: mp.mpf(at) + mp.mpf(i) / 7 for i, name in enumerate(names)}
                one, two = value(a, point), value(b, point)
                if not mp.almosteq(one, two, 1e-10):
                    return False
        except UnknownFunctionError:
            return False
    return True
