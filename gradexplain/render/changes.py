r"""What a rewrite changed, marked in the formula after it: underlined in every format, so that no colour is needed.

Both formulas are compared as they are written, terms with terms and factors with factors; what the first does not have
is marked. A term that only went away leaves nothing to mark: the words of the step name it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gradexplain.escape import is_portable
from gradexplain.render.blocks import Formula
from gradexplain.render.formula import formula
from gradexplain.simplify.written import AS_WRITTEN, text

_LARGEST_SHARE = 0.75  # of a formula: where more than this changed, a mark would tell nothing
_DEEPEST = 12
Range = tuple[int, int]


def marked(before: Any, after: Any, shown: Formula, written: Callable[[Any], Formula] = formula) -> Formula:
    r"""The formula `shown` of `after`, with marks on what `before` does not have.

    >>> import sympy as sp
    >>> a, b, x = sp.symbols("a b x")
    >>> found = marked(x * a + x * b + sp.sin(x), x * (a + b) + sp.sin(x), formula(x * (a + b) + sp.sin(x)))
    >>> [found.text[i:j] for i, j in found.marks], found.latex
    (['x*(a + b)'], '\\underline{x \\left(a + b\\right)} + \\sin{\\left(x \\right)}')
    """
    parts = [written(part) for part in _changed(before, after)]
    placed = [_place(p.text, shown.text) for p in parts]
    lost = [p.text for p, place in zip(parts, placed, strict=True) if place is None]
    ranges = _merged(shown.text, [_led(lost, r, shown.text) for r in placed if r is not None])
    if not ranges or sum(j - i for i, j in ranges) > _LARGEST_SHARE * len(shown.text):
        return shown
    latex = shown.latex
    for part in parts:
        bare = part.latex.removeprefix("-").strip()
        underlined = latex.replace(bare, rf"\underline{{{bare}}}")
        if latex.count(bare) == 1 and is_portable(underlined) and "&" not in bare:
            latex = underlined
    return replace(shown, latex=latex, marks=tuple(ranges))


def spans(lines: Sequence[str], whole: str, marks: Sequence[Range]) -> list[list[Range]]:
    """The marks of a formula in each of the last lines, which it was broken into; none in the lines before.

    >>> spans(["title", "a +", "b*c"], "a + b*c", [(2, 7)])
    [[], [(2, 3)], [(0, 3)]]
    """
    found: list[list[Range]] = [[] for _ in lines]
    rest = whole.rstrip()
    for n in range(len(lines) - 1, -1, -1):
        if not rest or not lines[n] or not rest.endswith(lines[n]):
            break
        at = len(rest) - len(lines[n])
        inside = [(max(i - at, 0), min(j - at, len(lines[n]))) for i, j in marks]
        found[n] = [(i, j) for i, j in inside if i < j]
        rest = rest[:at].rstrip()
    return found


def _changed(before: Any, after: Any, depth: int = 0) -> list[Any]:
    """The parts of the second expression that the first does not have."""
    if _key(before) == _key(after):
        return []
    if depth < _DEEPEST and before.is_Add and after.is_Add:
        return _unmatched(AS_WRITTEN.terms(before), AS_WRITTEN.terms(after), after, depth)
    if depth < _DEEPEST and (after.is_Mul or after.is_Pow) and (before.is_Mul or before.is_Pow or before.is_Add):
        old, new = AS_WRITTEN.fraction(before), AS_WRITTEN.fraction(after)
        above = _unmatched(_powers(old.above), _powers(new.above), None, depth)
        below = _unmatched(_powers(old.below), _powers(new.below), None, depth)
        return above + below
    if depth < _DEEPEST and after.args and type(before) is type(after) and len(before.args) == len(after.args):
        return [p for b, a in zip(before.args, after.args, strict=True) for p in _changed(b, a, depth + 1)]
    return [after]


def _unmatched(old: Sequence[Any], new: Sequence[Any], whole: Any, depth: int) -> list[Any]:
    """The new parts that are no old ones; what is in one new part only is looked for inside it."""
    known, fresh = Counter(map(_key, old)), []
    for part in new:
        if known[_key(part)]:
            known[_key(part)] -= 1
        else:
            fresh.append(part)
    gone = Counter(map(_key, old)) - Counter(map(_key, new))
    if len(fresh) == 1 and gone.total() == 1:
        (left,) = (p for p in old if _key(p) in gone)
        return _changed(left, fresh[0], depth + 1)
    return [whole] if whole is not None and len(fresh) == len(new) else fresh


def _powers(factors: Sequence[tuple[Any, Any]]) -> list[Any]:
    return [
        base if exponent == 1 else type(base**exponent)(base, exponent, evaluate=False) for base, exponent in factors
    ]


def _key(expr: Any) -> str:
    return text(expr)


def _place(part: str, whole: str) -> Range | None:
    """Where a part stands in a formula, if only there."""
    bare = part.removeprefix("-")
    before, after = (r"(?<![\w.])" if bare[:1].isalnum() else ""), (r"(?![\w.(]|\*\*)" if bare[-1:].isalnum() else "")
    found = list(re.finditer(f"{before}{re.escape(bare)}{after}", whole))
    return found[0].span() if len(found) == 1 else None


def _led(factors: Sequence[str], found: Range, whole: str) -> Range:
    """A range and the changed factors right in front of it: x occurs in many places, but x*(a + b) in one."""
    start, end = found
    leads = [f for f in factors if whole[:start].endswith(f"{f}*")]
    return (start - len(leads[0]) - 1, end) if leads else found


def _merged(whole: str, ranges: Sequence[Range]) -> list[Range]:
    """The ranges in order, joined where only an operator or a parenthesis is between them."""
    out: list[Range] = []
    for start, end in sorted(ranges):
        if out and (start <= out[-1][1] or not re.search(r"\w", whole[out[-1][1] : start])):
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out
