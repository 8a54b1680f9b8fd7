"""The way from a raw derivative to its closed form in small named steps, each compared with the one before.

`path` looks for it among the moves of the algebra of fractions (`matching.py`), with a few identities
(`identities.py`) where these do not suffice. Where no small steps are found there is one, named by the rewrite that
gave the closed form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, overload

import sympy as sp

from gradexplain.simplify.algebra import Product, Sum, UnreadableError, canonical, in_all, look, read, written
from gradexplain.simplify.counting import operations
from gradexplain.simplify.identities import IDENTITIES, Identity, angles_of, opened
from gradexplain.simplify.matching import ARITHMETIC, LIKE_TERMS, Move, moves
from gradexplain.simplify.parts import extent
from gradexplain.simplify.rewrite import NAMES, Rewrite
from gradexplain.simplify.sampling import Samples
from gradexplain.simplify.unevaluated import replaced
from gradexplain.simplify.watchdog import FAILURES, within

_LONGEST, _DEEPEST = 150, 60  # operations, and parts within parts, of a formula that is taken apart
_MOST_IDENTITIES = 3  # at once
_MOST_TRIES = 2400  # operations of the formulas that identities are tried on, over all tries
_MOST_TERMS = 12  # of a sum in which equal terms are looked for
_HIGHEST = 100  # power of a number: SymPy works them out
_ENOUGH = 3  # points
_PATIENCE = 8.0  # seconds, should a call of SymPy's slip through these budgets
SUBSTITUTE, EQUAL, SWAP, SIGN = "substitute", "equal terms", "swap the branches", "move the minus sign"


def path(
    before: Any,
    after: Any,
    samples: Samples,
    *,
    rule: str = "simplify",
    where: Mapping[str, Any],
    kept: Collection[str] = (),
) -> tuple[Rewrite, ...]:
    """The rewrites from one formula to another; none if they look the same or could not be compared in value.

    `where` has the names in either formula, `kept` those that need not be put in; `rule` is what the only step is
    called where no small ones are found.

    >>> x = sp.Symbol("x", real=True)
    >>> samples = Samples(({"x": 0.5}, {"x": 1.5}, {"x": 2.5}), ())
    >>> [r.rule for r in path(x * sp.sin(x) - x, x * (sp.sin(x) - 1), samples, where={})]
    ['common factor']
    """
    reference = samples.named(where).of(before)
    if before == after or len(reference.points) < _ENOUGH or not reference.agrees(after, 0):
        return ()
    if is_small(before) and is_small(after):
        if look(before) == look(after):
            return ()
        small = within(_PATIENCE, lambda: _small_difference(before, after))
        if small:
            return _rewrites(before, [Move(small, after)], reference)
        found = within(_PATIENCE, lambda: _first_way(before, after, where, reference, set(kept)))
        if found:
            return _rewrites(before, found, reference)
    return _rewrites(before, [Move(rule, after)], reference)


def _small_difference(before: Any, after: Any) -> str:
    """What makes formulas of the same terms differ, if it is no step of algebra: -(x - a) for a - x, or numbers."""
    if Counter(_kept(before)) != Counter(_kept(after)):
        return ""
    one, two = _evaluated(before), _evaluated(after)
    return ARITHMETIC if one == two else SIGN if sp.signsimp(one) == sp.signsimp(two) else ""


def _kept(expr: Any) -> Iterator[Any]:
    """What moving a minus leaves alone: the symbols of a formula, and the terms of its sums by their number."""
    for node in sp.preorder_traversal(expr):
        if node.is_Symbol:
            yield node
        elif node.is_Add:
            yield from ("term" for term in node.args if not term.is_Add)


def _evaluated(expr: Any) -> Any:
    known: dict[Any, Any] = {}
    for node in sp.postorder_traversal(expr):
        known[node] = node.func(*(known[a] for a in node.args)) if node.args else node
    return known[expr]


def _first_way(
    before: Any, after: Any, where: Mapping[str, Any], reference: Samples, kept: set[str]
) -> list[Move] | None:
    """The first way whose every step has the values of the formula before; None where there is none or SymPy fails."""
    used = {s.name for s in after.free_symbols}
    choices = [used] if used >= kept else [used | kept, used]
    try:
        ways = (way for names in choices for way in _ways(before, after, where, reference, names))
        return next((way for way in ways if all(reference.agrees(move.after, 0) for move in way)), None)
    except FAILURES:
        return None


def one_step(
    rule: str, before: Any, after: Any, samples: Samples, where: Mapping[str, Any], terms: tuple[Any, ...] = ()
) -> tuple[Rewrite, ...]:
    """The one step from a formula to another by a rule that is known; none if it could not be compared in value."""
    reference = samples.named(where).of(before)
    if len(reference.points) < _ENOUGH or not reference.agrees(after, 0):
        return ()
    return _rewrites(before, [Move(rule, after, terms)], reference)


class Path(Sequence[Rewrite]):
    """Rewrites that are looked for only when someone looks at them.

    >>> path = Path(lambda: (Rewrite("factor", sp.S.One, sp.S.One),))
    >>> len(path), path[0].rule
    (1, 'factor')
    """

    def __init__(self, find: Callable[[], Sequence[Rewrite]]) -> None:
        self._find = find

    @cached_property
    def _found(self) -> tuple[Rewrite, ...]:
        return tuple(self._find())

    @overload
    def __getitem__(self, index: int) -> Rewrite: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Rewrite, ...]: ...
    def __getitem__(self, index: int | slice) -> Rewrite | tuple[Rewrite, ...]:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Path, tuple)) and self._found == tuple(other)

    def __hash__(self) -> int:
        return hash(self._found)

    def __repr__(self) -> str:
        return repr(self._found)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return tuple, (self._found,)


def is_small(expr: Any) -> bool:
    """Whether a formula is short enough to be taken apart."""
    deep, long = extent(expr, {})
    numbers = [p.exp for p in expr.atoms(sp.Pow) if p.base.is_Number and p.exp.is_Number]
    return deep <= _DEEPEST and long <= _LONGEST and all(abs(n) <= _HIGHEST for n in numbers)


def _rewrites(before: Any, found: Sequence[Move], reference: Samples) -> tuple[Rewrite, ...]:
    evidence = f"checked at {len(reference.points)} points to 20 digits"
    out = []
    for move in found:
        terms = move.terms if move.rule != LIKE_TERMS or _add_up(move.terms, reference) else ()
        out.append(Rewrite(move.rule, before, move.after, evidence, terms))
        before = move.after
    return tuple(out)


def _add_up(terms: Sequence[Any], reference: Samples) -> bool:
    """Whether the sides of equations are equal: what cancels elsewhere may be missing on one of them."""
    return all(reference.of(a).agrees(b, 0) for a, b in zip(terms[::2], terms[1::2], strict=True))


def _ways(
    before: Any, after: Any, where: Mapping[str, Any], reference: Samples, kept: set[str]
) -> Iterator[list[Move]]:
    """Step by step from one formula to the other, the plainest way first."""
    if isinstance(before, sp.Piecewise) and isinstance(after, sp.Piecewise):
        found = next(_branches(before, after, where, reference, kept), None)
        if found is not None:
            yield found
            return
    start, start_names = without_names(before, kept, where)
    lead = [Move(SUBSTITUTE, start, start_names)] if start_names else []
    if lead and look(start) == look(after):
        yield [Move(SUBSTITUTE, after, start_names)]
        return
    missing = [n for n in where if n in {s.name for s in after.free_symbols - start.free_symbols}]
    for named, terms in _in_names(start, missing, where):
        for found in _algebra(named, after):
            yield [*lead, *_arriving([Move(NAMES, named, terms)], found, after)]
    if missing:
        full, terms = without_names(after, set(), {n: where[n] for n in where if n in missing})
        for found in _algebra(start, full):
            yield [*lead, *found, Move(NAMES, after, terms)]
        yield [*lead, Move(NAMES, after, terms)]
        return
    plain = moves(start, after)
    if plain is not None:
        yield [*lead, *plain]
        return
    for move in _without_equal_terms(start, reference):
        for found in _algebra(move.after, after):
            yield [*lead, *_arriving([move], found, after)]
    for found in _by_identities(start, after):
        yield [*lead, *found]


def _branches(
    before: Any, after: Any, where: Mapping[str, Any], reference: Samples, kept: set[str]
) -> Iterator[list[Move]]:
    """Branch by branch, where both formulas have the same ones; each step holds on both sides of its condition."""
    goals, wanted = zip(*after.args, strict=True)
    lead, before = _with_conditions(before, list(map(look, wanted)))
    if before is None:
        return
    pieces, conditions = (list(part) for part in zip(*before.args, strict=True))
    out = list(lead)
    for i, goal in enumerate(goals):
        found = next(_ways(pieces[i], goal, where, reference, kept), None) if look(pieces[i]) != look(goal) else []
        own = reference.of(pieces[i])
        if found is None or (found and len(own.points) < _ENOUGH) or not all(own.agrees(m.after, 0) for m in found):
            return
        for move in found:
            pieces[i] = move.after
            whole = sp.Piecewise(*zip(pieces, conditions, strict=True), evaluate=False)
            out.append(Move(move.rule, whole, move.terms))
    if out:
        yield [*out[:-1], out[-1]._replace(after=after)]


def _with_conditions(expr: Any, wanted: list[Any]) -> tuple[list[Move], Any]:
    """The formula with its conditions as wanted: as they are, or two branches in the other order; else None."""
    if [look(c) for _, c in expr.args] == wanted:
        return [], expr
    if len(expr.args) == 2 and expr.args[1][1] == sp.true:
        (a, condition), (b, _) = expr.args
        swapped = sp.Piecewise((b, sp.Not(condition)), (a, True), evaluate=False)
        if [look(c) for _, c in swapped.args] == wanted:
            return [Move(SWAP, swapped)], swapped
    return [], None


def _without_equal_terms(expr: Any, reference: Samples) -> Iterator[Move]:
    """A sum without two terms that cancel, though not to the eye: their values are opposite everywhere."""
    try:
        terms = [t for term in (read(expr) if expr.is_Add else ()) for t in _opened(term)]
    except UnreadableError:
        return
    if not 2 <= len(terms) <= _MOST_TERMS:
        return
    for a, b in combinations(terms, 2):
        opposite, values = written(Product(-b.number, b.powers)), reference.of(written(a))
        if len(values.points) >= _ENOUGH and values.agrees(opposite, 0):
            left = [t for t in terms if t is not a and t is not b]
            yield Move(EQUAL, in_all(left), (written(a), opposite))


def _opened(term: Product) -> list[Product]:
    """The terms of a sum in parentheses with a number before it."""
    (base, exponent), *others = term.powers.items() or [(None, 0)]
    if others or exponent != 1 or not isinstance(base, Sum):
        return [term]
    return [Product(term.number * t.number, t.powers) for t in base.terms]


def _arriving(lead: list[Move], found: list[Move], after: Any) -> list[Move]:
    """Steps before those that were found; if there were none, the last of them leads to the formula asked for."""
    return [*lead, *found] if found else [*lead[:-1], lead[-1]._replace(after=after)]


def without_names(expr: Any, kept: set[str], where: Mapping[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """The formula with all names but some put in; and those, a name and what it stands for in turns.

    The formula as it is where SymPy cannot write it so: it refuses to compare what has no value, as 1/0 < 2.
    """
    opened, terms = expr, []
    for name in reversed(list(where)):
        symbol = sp.Symbol(name, real=True)
        if name not in kept and opened.has(symbol):
            try:
                opened = replaced(opened, {symbol: where[name]}.get)
            except FAILURES:
                return expr, ()
            terms += [symbol, where[name]]
    return opened, tuple(terms)


def _in_names(expr: Any, missing: Sequence[str], where: Mapping[str, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The formula in terms of names: what they stand for is replaced, then also what follows from it."""
    for is_solved in (False, True) if missing else ():
        terms: list[Any] = []
        found = expr
        for name in reversed(missing):
            known, solved = _equivalents(sp.Symbol(name, real=True), where[name])
            for table in (known, solved) if is_solved else (known,):
                found = replaced(found, _named_by(table))
            terms += [sp.Symbol(name, real=True), where[name]]
        if found is not expr:
            yield found, tuple(terms)


def _named_by(table: Mapping[Any, Any]) -> Callable[[Any], Any]:
    return lambda part: table.get(canonical(part))


def _equivalents(name: Any, definition: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """What equals the name or 1 over it, and what follows: 1 + exp(-x) is 1/s for s = 1/(1 + exp(-x)), and exp(-x) is
    1/s - 1.
    """
    part, equal = canonical(definition), name
    known, solved = {part: equal}, {}
    if part.is_Pow and part.exp == -1:
        part, equal = part.base, 1 / name
        known[part] = equal
    if part.is_Add and len(part.args) == 2 and part.args[0].is_Number:
        number, rest = part.args
        factor, rest = rest.as_coeff_Mul()
        solved[rest] = (equal - number) / factor
    return known, solved


def _algebra(before: Any, after: Any) -> Iterator[list[Move]]:
    """By the algebra of fractions, alone or with identities on the way down from either formula."""
    plain = moves(before, after)
    if plain is not None:
        yield plain
    else:
        yield from _by_identities(before, after)


def _by_identities(before: Any, after: Any) -> Iterator[list[Move]]:
    """With one identity, or two or three together."""
    ours, theirs = angles_of(before), angles_of(after)
    rows = [i for i in IDENTITIES if opened(before, [i], theirs).uses or opened(after, [i], ours).uses]
    tries, size = 0, operations(before) + operations(after)
    for count in range(1, _MOST_IDENTITIES + 1):
        for chosen in combinations(rows, count):
            tries += size
            if tries > _MOST_TRIES:
                return
            found = _with_identities(before, after, chosen, ours, theirs)
            if found is not None:
                yield found
                return


def _with_identities(
    before: Any, after: Any, chosen: Sequence[Identity], ours: set[Any], theirs: set[Any]
) -> list[Move] | None:
    start, goal = opened(before, chosen, theirs), opened(after, chosen, ours)
    between = moves(start.expr, goal.expr)
    if between is None:
        return None
    found = [Move(_names_of(start.uses), start.expr, _terms_of(start.uses))] if start.uses else []
    found += between
    if goal.uses:
        found.append(Move(_names_of(goal.uses), after, _terms_of(goal.uses)))
    else:
        found[-1] = found[-1]._replace(after=after)
    return found


def _names_of(uses: Sequence[tuple[str, Any, Any]]) -> str:
    return ", ".join(dict.fromkeys(name for name, _, _ in uses))


def _terms_of(uses: Sequence[tuple[str, Any, Any]]) -> tuple[Any, ...]:
    return tuple(side for pair in dict.fromkeys((a, b) for _, a, b in uses) for side in pair)
