"""The cheapest form of a scalar derivative: where simplification starts from, with the program's names and without, and
what is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp

from gradexplain.graph import Node, ancestors
from gradexplain.isolated import at_isolated_point
from gradexplain.language import Sentence
from gradexplain.numbers import exact_number
from gradexplain.simplify.counting import operations
from gradexplain.simplify.fingerprints import refined
from gradexplain.simplify.form import ClosedForm
from gradexplain.simplify.fractions import constants, decimals, with_constants
from gradexplain.simplify.naming import Naming, namings, needed, written
from gradexplain.simplify.numeric import rounded
from gradexplain.simplify.orthant import for_positive
from gradexplain.simplify.printing import text
from gradexplain.simplify.rewrite import LIMIT, Rewrite
from gradexplain.simplify.sampling import Samples, sample
from gradexplain.simplify.scalar import Vocabulary, cost, simplified, vocabulary
from gradexplain.simplify.tangents import by_tangents
from gradexplain.symbolic import tree_size
from gradexplain.trace.run import Program
from gradexplain.userfunctions import UserFunction

MOST_WRITTEN_OUT = 400  # operations of a formula that is written out; longer ones are named in parts
_MOST_IN_NAMES = 60  # operations of a formula in names whose parts are long
_MOST_NODES = 400  # of a graph that is evaluated at points for that
_PLAIN = 1  # operation of one variable, as in x**2 and sin(x)
_LOOK = 1.5  # operations that a call saves, or else the reader is better off without it
_HOPELESS, _SHORT = 2, 12  # a start so many times as long as the best form, and longer, is not simplified


def cheapest_form(
    key: str, gradient: Node, program: Program, names: Mapping[Node, str], wide: Samples
) -> ClosedForm | None:
    """The cheapest of the checked candidates, at points nearby and those given; None where SymPy comes to no end."""
    near = sample([gradient, program.output], program.inputs, program.point)
    samples = near.joined(wide)
    raw = written(gradient)
    if raw is None:
        return None
    samples = samples.as_regular_as(raw)
    choices = namings(program, names)
    known = _vocabulary(program, raw) | dict.fromkeys((f for n in choices for f in n.functions), 0.0)
    healed, excluded = _heal(raw, gradient, program)
    if healed is not raw:
        expr, rewrites, notes = simplified(healed, samples, 0, known, {})
        if not excluded:
            rewrites = (Rewrite(LIMIT, raw, healed, "both sides agree to 12 digits"), *rewrites)
        return ClosedForm(key, expr, {}, raw, rewrites, excluded, notes=(*notes, *evidence_of(samples, expr)))
    starts: list[tuple[float, int, _Start]] = []
    for naming in choices:
        offered = naming.definitions()
        if offered is None:
            continue
        prices: Vocabulary = {**known, **_prices(naming, offered)}
        found = refined(gradient, program.output, program.inputs, near, naming.parts)
        for node in dict.fromkeys((found, gradient)):
            expr = written(node, naming.given) if tree_size(node, naming.given) <= MOST_WRITTEN_OUT else None
            if expr is not None and all(expr != other.expr for _, _, other in starts):
                starts.append((cost(expr, prices), len(starts), _Start(expr, offered, prices)))
    best, lowest = ClosedForm(key, raw, {}, raw, notes=evidence_of(samples, raw)), math.inf
    for price, _, start in sorted(starts, key=lambda s: s[:2]):
        if price > _HOPELESS * lowest + _SHORT:
            break
        form = _simplest(key, start, samples, raw)
        if form is not None and cost(form.expr, start.prices) < lowest:
            best, lowest = form, cost(form.expr, start.prices)
    better = for_positive(best.expr, best.where, key.split(","), gradient, program, known)
    if better is None:
        return best
    expr, rewrites, assumed = better
    return replace(best, expr=decimals(expr), rewrites=(*best.rewrites, *rewrites), conditions=assumed)


class _Start(NamedTuple):
    """What simplification starts from: the gradient as a formula over some of the program's names, what all of these
    stand for, and what things cost.
    """

    expr: Any
    offered: dict[str, Any]
    prices: Vocabulary


def _prices(naming: Naming, offered: Mapping[str, Any]) -> dict[Any, float]:
    """Names that stand in the source cost the look that it takes to find them, others what they stand for."""
    prices: dict[Any, float] = dict.fromkeys(naming.functions, _LOOK)
    for name, definition in offered.items():
        if name in naming.indexed:
            inner = sum(prices.get(s, 0.0) for s in definition.free_symbols)
            prices[sp.Symbol(name, real=True)] = 1.0 + operations(definition) + inner
        else:
            look = 0.5 if name.isalpha() else 0.9
            plain = operations(definition) <= _PLAIN and len(definition.free_symbols) == 1  # read faster than looked up
            prices[sp.Symbol(name, real=True)] = look + operations(definition) if plain else look
    return prices


def form_in_names(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm | None:
    """A derivative that is long only when the program's names are written out; None where names do not help."""
    naming = namings(program, names)[-1]
    if not naming.given or len(ancestors([gradient])) > _MOST_NODES:
        return None
    samples = sample([gradient, program.output], program.inputs, program.point)
    node = refined(gradient, program.output, program.inputs, samples, naming.parts)
    expr = written(node, naming.given) if tree_size(node, naming.given) <= _MOST_IN_NAMES else None
    offered = None if expr is None else naming.definitions()
    where = None if offered is None else needed(expr, offered)
    if where is None or not samples.points or not samples.agrees(expr, 0, tuple(where.items())):
        return None
    return ClosedForm(key, expr, where, expr)


def _simplest(key: str, start: _Start, samples: Samples, raw: Any) -> ClosedForm | None:
    """A start simplified and checked."""
    expr, rewrites, notes = _shortest(start, samples)
    where = needed(expr, start.offered)
    if samples.points and not samples.agrees(expr, 0, tuple(where.items())):
        return None
    if start.expr != raw:
        named = tuple(needed(start.expr, start.offered).items())
        used = [*(n for n, _ in named), *_functions_in(start.expr)]
        rule = Sentence("in terms of {equations}", equations=", ".join(used)) if used else "identity"
        rewrites = (Rewrite(rule, raw, start.expr, _checked(samples, start.expr, named), where=named), *rewrites)
    return ClosedForm(
        key, expr, where, raw, rewrites, notes=(*notes, *(() if samples.points else evidence_of(samples, expr)))
    )


def _shortest(start: _Start, samples: Samples) -> tuple[Any, tuple[Rewrite, ...], tuple[str, ...]]:
    """The cheapest form of a start: with its decimal numbers as fractions, or each as a whole."""
    expr, rewrites, notes = simplified(start.expr, samples, 0, start.prices, start.offered)
    expr = decimals(expr)
    opaque, numbers = constants(start.expr)
    if numbers:
        whole, steps, more = simplified(opaque, samples, 0, start.prices, start.offered, numbers)
        whole = decimals(with_constants(whole, numbers))
        if cost(whole, start.prices) < cost(expr, start.prices):
            back = (
                replace(s, before=with_constants(s.before, numbers), after=with_constants(s.after, numbers))
                for s in steps
            )
            return whole, tuple(back), more
    return expr, rewrites, notes


def _checked(samples: Samples, expr: Any, where: tuple[tuple[str, Any], ...]) -> str:
    digits = next((d for d in (40, 20) if samples.agrees(expr, 0, where, d)), 0)
    return f"checked at {len(samples.points)} points to {digits} digits" if samples.points and digits else ""


def _functions_in(expr: Any) -> list[str]:
    """The names of the user's functions that a formula calls."""
    return sorted({f.func.__name__ for f in expr.atoms(UserFunction)})


def _vocabulary(program: Program, raw: Any) -> dict[Any, float]:
    is_small = tree_size(program.output) <= MOST_WRITTEN_OUT
    whole = written(program.output) if is_small else None
    return dict(vocabulary(raw if whole is None else whole, raw))


def evidence_of(samples: Samples, expr: Any, where: tuple[tuple[str, Any], ...] = ()) -> tuple[str, ...]:
    """What has to be said of a formula that no sample point confirms."""
    if not samples.points:
        return ("no point was found at which the formula could be checked",)
    if not samples.agrees(expr, 0, where):
        return ("the formula could not be confirmed at all sample points",)
    return ()


def _heal(raw: Any, gradient: Node, program: Program) -> tuple[Any, tuple[str, ...]]:
    """At a point that a branch asks for by `==`, the derivative is the limit of the derivative around it; and the
    points at which there is none.
    """
    asked = sorted(raw.atoms(sp.Eq, sp.Ne), key=sp.default_sort_key)
    free = raw.free_symbols
    if not asked or len(free) != 1 or len(program.inputs) != 1:
        return raw, ()
    (x,) = free
    if any(x not in c.args for c in asked):  # ceil(x) == 0 holds on an interval
        return raw, ()
    around = raw.xreplace({c: sp.false if isinstance(c, sp.Eq) else sp.true for c in asked})
    pieces, excluded = [], []
    for point in dict.fromkeys(c.rhs if c.lhs == x else c.lhs for c in asked if x in c.args):
        if not point.is_Number:
            return raw, ()
        limits = at_isolated_point([gradient], program.inputs, {x.name: float(point)}, or_nan=True)
        if limits is None:
            return raw, ()
        if math.isnan(limits[0]):
            excluded.append(f"{x.name} != {text(point)}")
            continue
        limit = _recognised(limits[0])
        if _at(around, x, point) != limit:
            pieces.append((limit, sp.Eq(x, point)))
    return sp.Piecewise(*pieces, (around, True)) if pieces else around, tuple(excluded)


def _at(expr: Any, x: Any, point: Any) -> Any:
    """An expression at a point; None where it has no value there, which SymPy refuses to compare."""
    try:
        return expr.subs(x, point)
    except TypeError:
        return None


def _recognised(limit: float) -> Any:
    """A limit as a small fraction where it is one to all digits of a float, else as it is."""
    near = Fraction(limit).limit_denominator(1000)
    return exact_number(near if abs(near - limit) < 1e-14 * max(1.0, abs(limit)) else limit).sympy()


def tangent_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm | None:
    """A recurrence in terms of the program's named values and their derivatives."""
    found = by_tangents(key, program, names) if key in program.inputs else None
    if found is None:
        return None
    expr, where = found
    samples = sample([gradient, program.output], program.inputs, program.point)
    if not samples.points or not samples.agrees(expr, 0, tuple(where.items())):
        return None
    return ClosedForm(key, rounded(expr), {n: rounded(e) for n, e in where.items()}, rounded(expr))
