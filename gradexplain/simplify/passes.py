"""Derivatives of programs that loop or recurse: the program is one sum of terms, each term is differentiated by itself.

Autodiff works backwards through the passes of a loop, and what it gives is nested as deep as there are passes. Term by
term the derivative is flat, as a person writes it, and what is alike in all passes can be seen (series.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath as mp
import sympy as sp

from gradexplain.graph import Node, ancestors
from gradexplain.language import Sentence
from gradexplain.numbers import exact_number
from gradexplain.ops.arithmetic import add, div, mul, neg, power, sub
from gradexplain.simplify.counting import operations
from gradexplain.simplify.numeric import of_real_numbers, value
from gradexplain.simplify.parts import extent
from gradexplain.simplify.rewrite import Rewrite
from gradexplain.simplify.sampling import DIGITS, Samples, sample, sample_widely
from gradexplain.simplify.scalar import cost, vocabulary
from gradexplain.simplify.series import rerolled
from gradexplain.simplify.watchdog import within
from gradexplain.symbolic import of_node, symbol, tree_size
from gradexplain.trace.run import Program

FEWEST = 5  # passes that are worth a look
_LONGEST = 4000  # operations of a program that is written as one sum
_MOST_TERMS = 400
_LONGEST_POLYNOMIAL = 400  # operations of one that is multiplied out
_LEGIBLE = 120  # operations of a derivative that is written out
_DEEPEST_TERM = 40  # operations within operations of a program that is written as one sum
_DEEPEST = 8  # operations within operations of one
_PREFERRED = 0.6  # of two forms of about one cost, the sum over an index says more
_ORDINARY = 0.85  # … and so does the polynomial in its ordinary form
_ROUNDING = 1e-10  # relative; of sums of terms whose decimals are rounded
_PATIENCE = 3.0  # seconds
_LETTERS = "knijm"
_SUMS = (add, sub, neg)


def has_passes(program: Program) -> bool:
    """Whether some place in the source computed several values, as loops and recursion do."""
    counts = Counter(site for site in program.trace.sites.values() if site is not None)
    return max(counts.values(), default=0) >= FEWEST


def index_letter(program: Program) -> str:
    """A name for the index: the program's own, if it counts with one of the usual letters."""
    codes = {site[0] for site in program.trace.sites.values() if site is not None}
    own = {name for code in codes for name in (*code.co_varnames, *code.co_cellvars)}
    taken = {a.name for a in program.arguments}
    free = [c for c in _LETTERS if c not in taken] or [f"{c}_" for c in _LETTERS if f"{c}_" not in taken]
    return next((c for c in free if c in own), free[0])


@dataclass(frozen=True, slots=True)
class Flat:
    """A derivative that was found term by term, as it was found (`raw`) and in its closed form."""

    raw: Any
    expr: Any
    rewrites: tuple[Rewrite, ...]


def derived_by_terms(variables: Sequence[str], gradient: Node, program: Program, *, is_long: bool) -> Flat | None:
    """The derivative as a sum over an index, or as a polynomial; one that is neither only where autodiff's `is_long`.

    None where it is neither, or does not agree with the program.
    """
    found = within(_PATIENCE, lambda: _differentiated(program, variables))
    if found is None:
        return None
    function, raw = found
    options = _options(raw, index_letter(program))
    if not options and not (is_long and operations(raw) <= _LEGIBLE and extent(raw, {})[0] <= _DEEPEST):
        return None
    known = {**vocabulary(function, raw), sp.factorial: 0.0}  # what sums over an index are written with
    rule, expr, _ = min(options, key=lambda option: option[2] * cost(option[1], known), default=("", raw, 1.0))
    if operations(expr) > _LEGIBLE:
        return None
    nodes = [gradient, program.output]
    samples = sample(nodes, program.inputs, program.point)
    samples = samples.joined(sample_widely(nodes, program.inputs, program.point))
    is_exact = samples.agrees(expr, 0)
    if not samples.points or not (is_exact or (_has_decimals(nodes) and _is_near(expr, samples))):
        return None
    evidence = f"checked at {len(samples.points)} points to {'20' if is_exact else '10'} digits"
    return Flat(raw, expr, (Rewrite(rule, raw, expr, evidence),) if expr != raw else ())


def _is_near(expr: Any, samples: Samples) -> bool:
    """Whether an expression has the program's values but for the rounding of decimals."""
    with mp.workdps(DIGITS):
        pairs = zip(samples.points, samples.values, strict=True)
        return all(mp.almosteq(value(expr, point), exact[0], _ROUNDING) for point, exact in pairs)


def _has_decimals(nodes: Sequence[Node]) -> bool:
    """Whether a number of the program, or one made of its numbers, is rounded."""
    constants = (n.data for n in ancestors(nodes) if n.is_constant)
    return any(exact_number(c).form == "float" for c in constants)


def as_terms(program: Program) -> Any:
    """The program itself as one sum of terms, rolled up where they are alike; None where it can't be written so.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: sum(x**k for k in range(9))
    >>> as_terms(trace(f, bind(f, (), {}, symbolic=True)))
    Sum(x**k, (k, 0, 8))
    """
    return _rolled_up(program.output, index_letter(program))


@lru_cache(maxsize=4)  # the derivation of each derivative asks
def _rolled_up(output: Node, letter: str) -> Any:
    found = within(_PATIENCE, lambda: _as_sum(output))
    return None if found is None else within(_PATIENCE, lambda: rerolled(found, letter))


def _options(raw: Any, letter: str) -> list[tuple[str, Any, float]]:
    """Closed forms, each with the rewrite that it comes from and what its cost is multiplied by."""
    is_polynomial = raw.is_polynomial() and operations(raw) <= _LONGEST_POLYNOMIAL
    rolled = within(_PATIENCE, lambda: rerolled(raw, letter))
    if rolled is not None and rolled != raw:
        rule = Sentence("sum over {letter} re-rolled", letter=letter)
        options: list[tuple[str, Any, float]] = [(rule, rolled, _PREFERRED)]
    elif is_polynomial:
        options = [("expand", within(_PATIENCE, lambda: sp.expand(raw)), _ORDINARY)]
    else:
        return []
    if is_polynomial:
        options.append(("factor", within(_PATIENCE, lambda: sp.factor(raw)), 1.0))
    return [option for option in options if option[1] is not None]


def _differentiated(program: Program, variables: Sequence[str]) -> tuple[Any, Any] | None:
    """The program as a sum of terms, and its derivative term by term; None where that is not for SymPy to do."""
    function = raw = _as_sum(program.output)
    for name in variables:
        if raw is None or name not in program.inputs:
            return None
        raw = _slope(raw, symbol(program.inputs[name]))
    return None if raw is None or raw.has(sp.Derivative, sp.Subs) else (function, raw)


def _slope(expr: Any, x: Any) -> Any:
    """The derivative of a sum, what does not vary left aside: SymPy carries it through the product rule."""
    parts = []
    for term in sp.Add.make_args(expr):
        outside, inside = term.as_independent(x, as_Add=False)
        parts += [outside * slope for slope in sp.Add.make_args(sp.diff(inside, x))]
    return sp.Add(*parts)


@lru_cache(maxsize=4)  # each derivative of a program asks, and so does its derivation
def _as_sum(output: Node) -> Any:
    order = ancestors([output])
    if any(n.op.kinks or n.kind == "bool" or n.shape for n in order):
        return None
    is_long = tree_size(output) > _LONGEST
    if is_long and not (len(order) <= _LONGEST and all(map(_collects, order))):
        return None
    function = _flat(output, order, only_collected=is_long)
    return None if function is None or function.has(sp.Derivative, sp.Subs) else function


def _collects(node: Node) -> bool:
    """Whether SymPy may collect like terms in what an operation gives, so that sharing does not make it long."""
    by_number = node.op in (div, power) and node.inputs[1].is_constant
    return not node.inputs or by_number or node.op in (mul, *_SUMS)


def _is_collected(expr: Any) -> bool:
    """Whether no term has a sum for a factor."""
    factors = (f for term in sp.Add.make_args(expr) for f in sp.Mul.make_args(term))
    return not any(f.as_base_exp()[0].is_Add for f in factors)


def _flat(output: Node, order: Sequence[Node], *, only_collected: bool) -> Any:
    """A node as one sum of terms; sums are multiplied by single terms, not by each other."""
    uses = Counter(n for node in order for n in node.inputs)
    table: dict[Node, Any] = {}
    depths: dict[Any, int] = {}
    inside = {n for node in order if node.op in _SUMS for n in node.inputs if n.op in _SUMS and uses[n] == 1}
    for node in order:
        if node in inside:
            continue
        if node.op in _SUMS:
            expr = sp.Add(*[sign * table[term] for sign, term in _terms(node, inside)])
        else:
            expr = of_node(node, [table[n] for n in node.inputs])
            if node.op is mul and sum(f.is_Add for f in expr.args if expr.is_Mul) == 1:
                expr = sp.expand_mul(expr, deep=False)
        if len(expr.args) > _MOST_TERMS or (only_collected and not _is_collected(expr)):
            return None
        if _depth(expr, depths) > _DEEPEST_TERM:  # SymPy recurses
            return None
        table[node] = expr
    return of_real_numbers(table[output])


def _depth(expr: Any, known: dict[Any, int]) -> int:
    """How deep an expression is; `known` has the depths of those before."""
    waiting = [expr]
    while waiting:
        missing = [a for a in waiting[-1].args if a not in known]
        if missing:
            waiting.extend(missing)
        else:
            node = waiting.pop()
            known[node] = 1 + max((known[a] for a in node.args), default=0)
    return known[expr]


def _terms(node: Node, inside: set[Node]) -> Iterator[tuple[int, Node]]:
    """The terms of a sum with their signs, those of the sums inside it included."""
    waiting = [(1, node)]
    while waiting:
        sign, n = waiting.pop()
        if n is node or n in inside:
            signs = (-sign,) if n.op is neg else (sign, -sign if n.op is sub else sign)
            waiting.extend(zip(signs, n.inputs, strict=True))
        else:
            yield sign, n
