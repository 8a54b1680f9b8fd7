"""How one formula becomes another by the algebra of fractions: common denominator, distribute, cancel, factor.

Both formulas are brought over one denominator and multiplied out, but only as far as it takes until they agree: sums
that both contain stay closed. What had to be opened on the way down from the first formula is a step forward, what had
to be opened on the way down from the second is a step back: there, a factor is pulled out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

import sympy as sp

from gradexplain.simplify.algebra import (
    ONE,
    Atom,
    Base,
    Key,
    Product,
    Sum,
    UnreadableError,
    closed,
    combined,
    in_all,
    look,
    powers,
    read,
    shared,
    sums_within,
    written,
)
from gradexplain.simplify.opening import Side, TooLongError, meet
from gradexplain.simplify.unevaluated import replaced

COMMON_DENOMINATOR, DISTRIBUTE, MULTIPLY_OUT = "common denominator", "distribute", "multiply out"
CANCEL, LIKE_TERMS, COMMON_FACTOR, FACTOR = "cancel", "like terms", "common factor", "factor"
REDUCE, EXTEND, SPLIT = "cancel in the fraction", "extend the fraction", "split the fraction"
POWERS, ARITHMETIC = "power rules", "arithmetic"
_NAMED = 3  # terms that are listed in a step


class Move(NamedTuple):
    """A formula, by which rule it came from the one before, and what the rule is about."""

    rule: str
    after: Any
    terms: tuple[Any, ...] = ()


def moves(before: Any, after: Any) -> list[Move] | None:
    """The steps from one formula to the other, None where the algebra of fractions does not lead there.

    >>> x = sp.Symbol("x")
    >>> [(m.rule, m.terms) for m in moves((x + 1) * x - x, x**2)]
    [('distribute', (x, x + 1)), ('cancel', (x,))]
    """
    if look(before) == look(after):
        return []
    try:
        found = list(_Passage(before, after).moves())
    except (UnreadableError, TooLongError):
        return None
    return found if found and found[-1].after is after else None


def _is_exponential(base: Base) -> bool:
    return isinstance(base, Atom) and isinstance(base.expr, sp.exp)


def _part(product: Product, wanted: Callable[[Base, Any], bool]) -> Product:
    return Product(sp.S.One, {b: e for b, e in product.powers.items() if wanted(b, e)})


class _Passage:
    """From `before` to `after`: the formula as it stands, and how to go on from it."""

    def __init__(self, before: Any, after: Any) -> None:
        self.now, self.after = before, after
        self.target = read(after)
        self.kept = set(sums_within(self.target))

    def moves(self, *, is_last_try: bool = False) -> Iterator[Move]:
        """The steps; the last one arrives, unless there is no way."""
        yield from self._tidy()
        yield from self._to(COMMON_DENOMINATOR, self._one_fraction(self.now, is_outermost=True))
        yield from self._joined()
        terms = read(self.now)
        common = shared([*terms, *self.target])
        if len(self.target) > 1 and len(terms) > 1:
            common = ONE
        elif not self.target:
            common = _part(common, lambda b, e: e < 0)
        front = _part(common, lambda b, e: isinstance(b, Sum) or (e < 0 and not _is_exponential(b)))
        inverse = front.power(-1)
        unopened = [inverse.times(t) for t in terms]
        left, right = Side(unopened), Side([inverse.times(t) for t in self.target])
        if self.now is self.after or not meet(left, right):
            return
        lacks = any(e < 0 and all(t.powers.get(b, 0) > e for t in terms) for b, e in front.powers.items())
        if lacks and not is_last_try:
            yield from self._to(MULTIPLY_OUT, replaced(self.now, self._multiplied_out))
            yield from self.moves(is_last_try=True)
            return
        if not lacks:
            outside = _part(front, lambda b, e: e > 0)
            if outside.powers and left.openings:
                yield from self._to(COMMON_FACTOR, written(front, among=unopened), (written(outside),))
            yield from self._opened(front, left)
            yield from self._combined(front, left)
            yield from self._factored(front)
        if self.now is not self.after:
            yield self._extension(terms) if lacks else self._arrival(front, right)

    def _to(self, rule: str, expr: Any, terms: tuple[Any, ...] = ()) -> Iterator[Move]:
        """A step, unless it changes nothing that a reader sees."""
        seen = look(expr)
        if seen != look(self.now):
            self.now = self.after if seen == look(self.after) else expr
            yield Move(rule, self.now, terms)

    def _one_fraction(self, expr: Any, *, is_outermost: bool = False) -> Any:
        """Sums of fractions as single fractions, from the innermost on; sums that the other formula has stay."""
        if expr.is_Mul or (expr.is_Pow and expr.exp.is_Integer):
            args = [self._one_fraction(a) for a in expr.args]
            changed = any(a is not b for a, b in zip(args, expr.args, strict=True))
            return expr.func(*args, evaluate=False) if changed else expr
        if not expr.is_Add:
            return expr
        inner = sp.Add(*map(self._one_fraction, expr.args), evaluate=False)
        terms = read(inner)
        if len(self.target) > 1 if is_outermost else Sum(terms, expr) in self.kept:
            return expr
        below = _part(shared(terms), lambda b, e: e < 0 and not _is_exponential(b))
        number = sp.ilcm(1, *(t.number.q for t in terms))
        if not below.powers and (number == 1 or is_outermost):
            return expr
        above = [below.power(-1).times(t) for t in terms]
        above = [Product(t.number * number, t.powers) for t in above] if number > 1 else above
        return written(Product(sp.S.One / number, below.powers), among=above)

    def _multiplied_out(self, part: Any) -> Any:
        """A sum that the other formula lacks, without sums inside; a number that all its terms share in front."""
        if not part.is_Add:
            return None
        terms = read(part)
        if Sum(terms, part) in self.kept:
            return None
        side = Side(terms)
        while any(opened := [b for t in side.terms for b in t.product.sums if b not in self.kept]):
            side.open(opened[0])
        left, _ = combined(side.products)
        content = sp.gcd_list([t.number for t in left]) if left else sp.S.One
        if content == 1:
            return None if len(side.terms) == len(terms) else in_all(side.products)
        return written(Product(content, {}), among=[Product(t.number / content, t.powers) for t in left])

    def _joined(self) -> Iterator[Move]:
        """Without the factors that numerator and denominator share, like powers joined."""
        if self.now.is_Add:
            return
        above: dict[Base, Any] = {}
        below: dict[Base, Any] = {}
        for base, exponent in powers(self.now):
            for b, e in closed(base).powers.items() if exponent.is_Rational else ():
                side = above if e * exponent > 0 else below
                side[b] = side.get(b, 0) + abs(e * exponent)
        both = {b: min(above[b], below[b]) for b in above if b in below and not _is_exponential(b)}
        product = closed(self.now)
        plain = written(Product(product.number, product.powers))
        if both:
            yield from self._to(REDUCE, plain, (written(Product(1, both)),))
        else:
            yield from self._to(POWERS if product.powers else ARITHMETIC, plain)

    def _tidied(self, expr: Any, found: list[Product]) -> Any:
        """Like terms added up in sums that the other formula does not have."""
        if expr.is_Mul or expr.is_Add or (expr.is_Pow and expr.exp.is_Integer):
            args = [self._tidied(a, found) for a in expr.args]
            if any(a is not b for a, b in zip(args, expr.args, strict=True)):
                expr = expr.func(*args, evaluate=False)
        if not expr.is_Add:
            return expr
        terms = read(expr)
        left, joined = combined(terms)
        if not joined or Sum(terms, expr) in self.kept:
            return expr
        found += joined
        return in_all(left)

    def _tidy(self) -> Iterator[Move]:
        joined: list[Product] = []
        expr = self._tidied(self.now, joined)
        expr = sp.S.Zero if closed(expr).number == 0 else expr
        numbers = {p.key: sum((q.number for q in joined if q.key == p.key), sp.S.Zero) for p in joined}
        yield from self._added_up(expr, joined, [key for key, number in numbers.items() if number == 0])

    def _added_up(self, expr: Any, joined: Sequence[Product], cancelled: Collection[Key]) -> Iterator[Move]:
        gone = dict.fromkeys(written(Product(abs(p.number), p.powers)) for p in joined if p.key in cancelled)
        if gone:
            yield from self._to(CANCEL, expr, tuple(gone) if len(gone) <= _NAMED else ())
        else:
            keys = dict.fromkeys(p.key for p in joined)
            same = [p for p in joined if p.key == next(iter(keys), None)]
            terms = (in_all(same), *map(written, combined(same)[0])) if len(keys) == 1 else ()
            yield from self._to(LIKE_TERMS, expr, terms)

    def _opened(self, front: Product, side: Side) -> Iterator[Move]:
        """Multiplied out as far as necessary."""
        wholes = {id(o.whole): o.whole for o in side.openings}
        last = [o for o in wholes.values() if o.is_shown]
        shown = [Product(p.number, p.powers) if any(map(_is_exponential, p.powers)) else p for p in side.products]
        expr = written(front, among=shown)
        if len(last) == 1 and last[0].cofactor.powers:
            yield from self._to(DISTRIBUTE, expr, (written(last[0].cofactor), last[0].base.shown))
        else:
            products = [written(o.cofactor.times(Product(sp.S.One, {o.base: sp.S.One}))) for o in last]
            yield from self._to(MULTIPLY_OUT, expr, tuple(products) if len(products) <= _NAMED else ())

    def _combined(self, front: Product, side: Side) -> Iterator[Move]:
        """Like terms added up."""
        left, joined = combined(side.products)
        keys = {p.key for p in left}
        expr = written(front, among=left) if left else sp.S.Zero
        yield from self._added_up(expr, joined, {p.key for p in joined} - keys)

    def _factored(self, front: Product) -> Iterator[Move]:
        """The numerator in factors, where one of them is about to be cancelled."""
        spare = self._spare(front)
        if len(self.target) == 1 and spare.powers:
            numerator = front.power(-1).times(self.target[0])
            expr = sp.Mul(written(Product(numerator.number, numerator.powers)), written(front), evaluate=False)
            yield from self._to(COMMON_FACTOR, expr, (written(spare),))

    def _spare(self, front: Product) -> Product:
        """What is in the denominator and has to go."""
        goal = self.target[0] if len(self.target) == 1 else ONE
        return Product(
            sp.S.One,
            {
                b: goal.powers.get(b, sp.S.Zero) - e
                for b, e in front.powers.items()
                if e < 0 and goal.powers.get(b, sp.S.Zero) > e
            },
        )

    def _arrival(self, front: Product, right: Side) -> Move:
        """The last step, to the formula that was asked for."""
        below = _part(front, lambda b, e: e < 0).power(-1)
        if len(self.target) > 1:
            return Move(SPLIT if below.powers else LIKE_TERMS, self.after, (written(below),) if below.powers else ())
        spare = self._spare(front)
        if spare.powers:
            return Move(REDUCE, self.after, (written(spare),))
        (goal,) = self.target
        opened = {o.base for o in right.openings}
        sums = [b for b in goal.sums if b in opened]
        factor = Product(
            goal.number,
            {
                b: e
                for b, e in goal.powers.items()
                if b not in sums and (e > front.powers.get(b, 0) >= 0 or _is_exponential(b))
            },
        )
        if len(sums) == 1 and goal.powers[sums[0]] == 1 and not factor.is_one:
            return Move(COMMON_FACTOR, self.after, (written(factor),))
        return Move(FACTOR, self.after, tuple(s.shown for s in sums)) if sums else Move(ARITHMETIC, self.after)

    def _extension(self, terms: Sequence[Product]) -> Move:
        """Numerator and denominator multiplied by the same, or divided."""
        if len(terms) == len(self.target) == 1:
            ours, theirs = terms[0].powers, self.target[0].powers
            gone: dict[Base, Any] = {b: e for b, e in ours.items() if isinstance(b, Sum) and e > 0 and b not in theirs}
            if gone:
                return Move(REDUCE, self.after, (written(Product(sp.S.One, gone)),))
            exponentials = [b for b in {**ours, **theirs} if _is_exponential(b)]
            by = Product(sp.S.One, {b: theirs.get(b, 0) - ours.get(b, 0) for b in exponentials})
            return Move(EXTEND, self.after, () if by.is_one else (written(by),))
        return Move(EXTEND, self.after)
