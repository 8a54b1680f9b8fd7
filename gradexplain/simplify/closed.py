"""The closed form of a gradient: `ClosedForm`, what users get, and how it is made from a gradient graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from gradexplain.errors import ArgumentError
from gradexplain.escape import math_text
from gradexplain.graph import Node, ancestors, as_node
from gradexplain.isolated import at_isolated_point
from gradexplain.lambdify import Writer
from gradexplain.numbers import exact_number
from gradexplain.simplify import reading
from gradexplain.simplify.arrangement import TEXTBOOK, Arrangement
from gradexplain.simplify.conditions import conditions
from gradexplain.simplify.counting import operations
from gradexplain.simplify.entrywise import entries, is_suitable, source_names
from gradexplain.simplify.fingerprints import refined
from gradexplain.simplify.fractions import decimals
from gradexplain.simplify.naming import Naming, namings, needed, written
from gradexplain.simplify.numeric import of_real_numbers, rounded, substituted
from gradexplain.simplify.orthant import for_positive
from gradexplain.simplify.parts import GAP, Parts, extent, on_a_page
from gradexplain.simplify.passes import derived_by_terms, has_passes
from gradexplain.simplify.printing import latex, numpy_source, text
from gradexplain.simplify.rewrite import Rewrite
from gradexplain.simplify.sampling import Samples, sample, sample_widely
from gradexplain.simplify.scalar import Vocabulary, cost, simplified, vocabulary
from gradexplain.simplify.tangents import by_tangents
from gradexplain.simplify.unevaluated import packed, unpacked
from gradexplain.symbolic import expressions, symbol, tree_size
from gradexplain.trace.run import Program
from gradexplain.userfunctions import UserFunction, written_out

MOST_WRITTEN_OUT = 400  # operations of a formula that is written out; longer ones are named in parts
_MOST_IN_NAMES = 60  # operations of a formula in names whose parts are long
_MOST_NODES = 400  # of a graph that is evaluated at points for that
_LOOK = 1.5  # operations that a call saves, or else the reader is better off without it
_LONGEST_DEFINITION = 12  # operations of a function of the user's that is shown with the formula
_RECURRENCE = 3  # named parts from which on derivatives of their own are tried for them,
_AT_A_GLANCE = 25  # if the formula has more operations than this
_SMALL = 4  # operations of a shared part that is worth a name
_MOST_CHECKED = 300  # parts of a formula that is evaluated at points
_LONGEST = 20_000  # operations of a formula in which all names are written out
_HOPELESS, _SHORT = 3, 12  # a start so many times as long as the best form, and longer, is not simplified
_DEEPEST = 80  # functions within functions: SymPy recurses on them


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """A derivative as a formula: `expr` over the arguments and the names in `where`."""

    key: str
    expr: Any
    where: Mapping[str, Any]
    raw: Any
    rewrites: Sequence[Rewrite] = ()
    conditions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    source: tuple[str, Mapping[str, str]] | None = None  # NumPy text, where it was not made from `expr`
    shown: str = ""  # plain text, where it is neither
    arrangement: Arrangement = field(default=TEXTBOOK, repr=False)  # how sums and products are written

    @property
    def numpy(self) -> str:
        """The formula as NumPy source over the arguments, `np` and the names in `where_numpy`."""
        if self.source:
            return self.source[0]
        return numpy_source(written_out(self.expr), arrangement=self.arrangement)

    @property
    def where_numpy(self) -> Mapping[str, str]:
        """The named parts as NumPy source; a name may use earlier ones."""
        if self.source:
            return self.source[1]
        return {n: numpy_source(written_out(e), arrangement=self.arrangement) for n, e in self.where.items()}

    @property
    def text(self) -> str:
        """The formula as plain text, without the left-hand side."""
        if self.shown:
            return self.shown
        return self.source[0].replace("np.", "") if self.source else text(self.expr, self.arrangement)

    @property
    def shown_parts(self) -> tuple[tuple[str, str, str], ...]:
        """The named parts that fit on a page: name, text, LaTeX (empty where there is none)."""
        if self.source:
            parts = [(n, t.replace("np.", "")) for n, t in on_a_page(self.source[1])]
            return tuple((n, t, "" if n == GAP else math_text(t, "texttt")) for n, t in parts)
        found = on_a_page(self.where)
        return tuple((n, *((e, "") if n == GAP else self.written(e))) for n, e in found)

    def written(self, expr: Any) -> tuple[str, str]:
        """Text and LaTeX of an expression, in the order of the formula."""
        return text(expr, self.arrangement), latex(expr, self.arrangement)

    @property
    def functions(self) -> tuple[tuple[Any, Any], ...]:
        """The user's functions that the formula calls, with what they compute if that is short."""
        calls = {f for e in (self.expr, *self._parts()) for f in e.atoms(UserFunction)}
        found = {f.func(*f.parameters): sp.factor_terms(rounded(f.body)) for f in calls}
        short = [f for f, body in found.items() if operations(body) <= _LONGEST_DEFINITION]
        return tuple((f, found[f]) for f in sorted(short, key=str))

    def _parts(self) -> tuple[Any, ...]:
        return () if isinstance(self.where, Parts) else tuple(self.where.values())

    @property
    def latex(self) -> str:
        """The formula in LaTeX, without the left-hand side; NumPy text in typewriter where it has named parts."""
        return math_text(self.text, "texttt") if self.source and self.source[1] else latex(self.expr, self.arrangement)

    @property
    def full(self) -> Any:
        """The formula in the arguments alone; raises `ArgumentError` where that is too long for SymPy."""
        deep, long = extent(self.expr, self.where)
        if self.where and (deep > _DEEPEST or long > _LONGEST):
            raise ArgumentError(
                "the derivative is too long for one SymPy expression",
                why=f"its {len(self.where)} named parts lie one within the other",
                fix="use .expr and .where (or .numpy and .where_numpy), or python() of the explanation",
            )
        table: dict[Any, Any] = {}
        for name, definition in self.where.items():
            table[sp.Symbol(name, real=True)] = substituted(written_out(definition), table)
        return of_real_numbers(rounded(substituted(written_out(self.expr), table)))

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpickled, ({f.name: getattr(self, f.name) for f in fields(self)} | {"raw": packed(self.raw)},)


def _unpickled(state: dict[str, Any]) -> ClosedForm:
    return ClosedForm(**(state | {"raw": unpacked(state["raw"])}))


def arrangement(program: Program, names: Mapping[Node, str]) -> Arrangement:
    """The order in which the formulas of a program are written."""
    return reading.arrangement(program.output, [n.given for n in namings(program, names)])


def closed_form(
    key: str, gradient: Node, program: Program, names: Mapping[Node, str], arranged: Arrangement = TEXTBOOK
) -> ClosedForm:
    """The closed form of a derivative: a formula of numbers, entries of small arrays, else the program for it."""
    if gradient.shape == () and all(x.shape == () for x in ancestors([gradient, program.output])):
        wide = sample_widely([gradient, program.output], program.inputs, program.point)
        found = scalar_form(key, gradient, program, names, wide)
        stated = (*found.conditions, *conditions(program, gradient))
        return replace(found, conditions=tuple(dict.fromkeys(stated)), arrangement=arranged)
    if is_suitable(program, gradient):
        form = entry_form(key, gradient, program)
        if form is not None:
            return form
    return array_form(key, gradient, program, names)


def entry_form(key: str, gradient: Node, program: Program) -> ClosedForm | None:
    """The derivative of a small array as the array of its entries' closed forms."""
    found = entries(program, gradient)
    if found is None:
        return None
    numbers, nodes = found
    arranged = arrangement(numbers, {})
    forms: Any = np.empty(gradient.shape, dtype=object)
    for index in np.ndindex(gradient.shape):
        node = as_node(np.asarray(nodes)[index])
        if tree_size(node) > MOST_WRITTEN_OUT:
            return None
        wide = sample_widely([node, numbers.output], numbers.inputs, numbers.point)
        forms[index] = replace(scalar_form(key, node, numbers, {}, wide), arrangement=arranged)
    if any(f.where for f in forms.flat):
        return None
    expr = sp.Array([f.expr for f in forms.flat], gradient.shape) if gradient.shape else forms.item().expr
    raw = sp.Array([f.raw for f in forms.flat], gradient.shape) if gradient.shape else forms.item().raw
    rewrites = tuple(dict.fromkeys(r for f in forms.flat for r in f.rewrites))
    notes = tuple(dict.fromkeys(n for f in forms.flat for n in f.notes))
    source = _nested([numpy_source(f.expr, source_names(program), arranged) for f in forms.flat], gradient.shape)
    shown = _nested([f.text for f in forms.flat], gradient.shape)
    numpy_text = f"np.array({source})" if gradient.shape else source
    return ClosedForm(key, expr, {}, raw, rewrites, (), notes, gradient.shape, (numpy_text, {}), shown, arranged)


def _nested(texts: list[str], shape: tuple[int, ...]) -> str:
    """Entries as nested brackets."""
    for size in reversed(shape):
        texts = [f"[{', '.join(texts[i : i + size])}]" for i in range(0, len(texts), size)]
    return texts[0]


def scalar_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str], wide: Samples) -> ClosedForm:
    """The closed form of a scalar derivative of a scalar program: the cheapest of the checked candidates."""
    is_long = tree_size(gradient) > MOST_WRITTEN_OUT
    flat = derived_by_terms(key.split(","), gradient, program, is_long=is_long) if has_passes(program) else None
    if flat is not None:
        return _rounded(ClosedForm(key, flat.expr, {}, flat.raw, flat.rewrites))
    if is_long:
        found = _form_in_names(key, gradient, program, names) or _tangent_form(key, gradient, program, names)
        return named_form(key, gradient, program, names) if found is None else _rounded(found)
    found = _cheapest_form(key, gradient, program, names, wide)
    if len(found.where) >= _RECURRENCE and operations(found.expr) > _AT_A_GLANCE:
        found = min((found, _tangent_form(key, gradient, program, names) or found), key=_written_length)
    return found if isinstance(found.where, Parts) else _rounded(found)


def _rounded(found: ClosedForm) -> ClosedForm:
    where = {n: rounded(e) for n, e in found.where.items()}
    return replace(found, expr=rounded(found.expr), where=where, raw=rounded(found.raw))


def _written_length(form: ClosedForm) -> int:
    return operations(form.expr) + sum(operations(e) for e in form.where.values())


def _tangent_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm | None:
    """A recurrence in terms of the program's named values and their derivatives."""
    found = by_tangents(key, program, names) if key in program.inputs else None
    if found is None:
        return None
    expr, where = found
    samples = sample([gradient, program.output], program.inputs, program.point)
    if not samples.points or not samples.agrees(expr, 0, tuple(where.items())):
        return None
    return ClosedForm(key, rounded(expr), {n: rounded(e) for n, e in where.items()}, rounded(expr))


def _cheapest_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str], wide: Samples) -> ClosedForm:
    near = sample([gradient, program.output], program.inputs, program.point)
    samples = near.joined(wide)
    raw = written(gradient)
    if raw is None:
        return named_form(key, gradient, program, names)
    choices = namings(program, names)
    known = _vocabulary(program, raw) | dict.fromkeys((f for n in choices for f in n.functions), 0.0)
    healed = _heal(raw, gradient, program)
    if healed is not raw:
        expr, rewrites, notes = simplified(healed, samples, 0, known, {})
        rewrites = (Rewrite("limit at an isolated point", raw, healed, "both sides agree to 12 digits"), *rewrites)
        return ClosedForm(key, expr, {}, raw, rewrites, notes=(*notes, *_evidence(samples, expr)))
    starts: list[tuple[float, int, _Start]] = []
    for naming in choices:
        offered = naming.definitions()
        if offered is None:
            continue
        prices: Vocabulary = {**known, **_prices(naming, offered)}
        found = refined(gradient, program.output, program.inputs, near, naming.parts)
        for node in dict.fromkeys((found, gradient)):
            expr = written(node, naming.given) if tree_size(node, naming.given) <= MOST_WRITTEN_OUT else None
            if expr is not None:
                starts.append((cost(expr, prices), len(starts), _Start(expr, offered, prices)))
    best, lowest = ClosedForm(key, raw, {}, raw, notes=_evidence(samples, raw)), math.inf
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
            prices[sp.Symbol(name, real=True)] = 0.5 if name.isalpha() else 0.9
    return prices


def _form_in_names(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm | None:
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
    expr, rewrites, notes = simplified(start.expr, samples, 0, start.prices, start.offered)
    expr = decimals(expr)
    where = needed(expr, start.offered)
    if samples.points and not samples.agrees(expr, 0, tuple(where.items())):
        return None
    if start.expr != raw:
        named = tuple(needed(start.expr, start.offered).items())
        used = [*(n for n, _ in named), *_functions_in(start.expr)]
        rule = "in terms of " + ", ".join(used) if used else "identity"
        rewrites = (Rewrite(rule, raw, start.expr, _checked(samples, start.expr, named), where=named), *rewrites)
    return ClosedForm(
        key, expr, where, raw, rewrites, notes=(*notes, *(() if samples.points else _evidence(samples, expr)))
    )


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


def _evidence(samples: Samples, expr: Any, where: tuple[tuple[str, Any], ...] = ()) -> tuple[str, ...]:
    if not samples.points:
        return ("no point was found at which the formula could be checked",)
    if not samples.agrees(expr, 0, where):
        return ("the formula could not be confirmed at all sample points",)
    return ()


def _heal(raw: Any, gradient: Node, program: Program) -> Any:
    """At a point that a branch asks for by `==`, the derivative is the limit of the derivative around it."""
    asked = sorted(raw.atoms(sp.Eq, sp.Ne), key=sp.default_sort_key)
    free = raw.free_symbols
    if not asked or len(free) != 1 or len(program.inputs) != 1:
        return raw
    (x,) = free
    if any(x not in c.args for c in asked):  # ceil(x) == 0 holds on an interval
        return raw
    around = raw.xreplace({c: sp.false if isinstance(c, sp.Eq) else sp.true for c in asked})
    pieces = []
    for point in dict.fromkeys(c.rhs if c.lhs == x else c.lhs for c in asked if x in c.args):
        if not point.is_Number:
            return raw
        limits = at_isolated_point([gradient], program.inputs, {x.name: float(point)}, or_nan=True)
        if limits is None:
            return raw
        if math.isnan(limits[0]):
            if around.subs(x, point).is_finite:
                return raw
            continue
        limit = _recognised(limits[0])
        if around.subs(x, point) != limit:
            pieces.append((limit, sp.Eq(x, point)))
    return sp.Piecewise(*pieces, (around, True)) if pieces else around


def _recognised(limit: float) -> Any:
    """A limit as a small fraction where it is one to all digits of a float, else as it is."""
    near = Fraction(limit).limit_denominator(1000)
    return exact_number(near if abs(near - limit) < 1e-14 * max(1.0, abs(limit)) else limit).sympy()


def named_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm:
    """A long formula in parts: shared nodes get names, the program's own where it has them."""
    parts = Parts()
    taken = set(names.values()) | set(program.inputs)
    uses = _uses(gradient)
    sizes: dict[Node, int] = {}
    count = 0
    for node in ancestors([gradient]):
        sizes[node] = bool(node.inputs) + sum(1 if n in parts.symbols else sizes[n] for n in node.inputs)
        if node is gradient or not node.inputs or node.kind == "bool":
            continue
        if (uses[node] > 1 and sizes[node] >= 2) or sizes[node] > 12 * _SMALL:
            name = names.get(node)
            while name is None or name in parts:
                count += 1
                name = None if f"d{count}" in taken else f"d{count}"
            parts.add(name, node)
    expr = parts.written(gradient)
    notes = _sampled_evidence(gradient, program, expr, parts)
    return ClosedForm(key, rounded(expr), parts, rounded(expr), notes=notes)


def _sampled_evidence(gradient: Node, program: Program, expr: Any, parts: Parts) -> tuple[str, ...]:
    if len(parts) > _MOST_CHECKED:
        return ()  # written node by node, and each name stands for its node: there is nothing that could differ
    samples = sample([gradient, program.output], program.inputs, program.point)
    return _evidence(samples, expr, tuple((name, parts.written(node)) for node, name in parts.nodes()))


def _uses(gradient: Node) -> dict[Node, int]:
    uses: dict[Node, int] = {}
    for node in ancestors([gradient]):
        for n in node.inputs:
            uses[n] = uses.get(n, 0) + 1
    return uses


def array_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm:
    """The derivative of an array program as the named program that computes it: the last rung of the ladder."""
    inputs = {x: n for n, x in program.inputs.items()}
    writer = Writer(dict(inputs), inline_arrays=True, prefix="d")
    (result,) = writer.write([gradient])
    where = dict(s.split(" = ", 1) for s in writer.statements)
    text_form = str(result)
    symbols = {x: symbol(x) for x in program.inputs.values()}
    expr = expressions([gradient], symbols)[0] if tree_size(gradient) <= MOST_WRITTEN_OUT else sp.Symbol(text_form)
    expr = rounded(expr)
    return ClosedForm(key, expr, {}, expr, shape=gradient.shape, source=(text_form, where))
