"""The closed form of a gradient: `ClosedForm`, what users get, and how it is made from a gradient graph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from gradexplain.errors import ArgumentError
from gradexplain.escape import math_text
from gradexplain.graph import Node, ancestors, as_node
from gradexplain.isolated import at_isolated_point
from gradexplain.lambdify import Writer
from gradexplain.numbers import exact_number
from gradexplain.simplify.conditions import conditions
from gradexplain.simplify.entrywise import entries, is_suitable, source_names
from gradexplain.simplify.fingerprints import refined
from gradexplain.simplify.numeric import of_real_numbers, rounded, substituted
from gradexplain.simplify.parts import GAP, Parts, extent, on_a_page
from gradexplain.simplify.printing import latex, numpy_source, text
from gradexplain.simplify.rewrite import Rewrite
from gradexplain.simplify.rules import decimals
from gradexplain.simplify.sampling import Samples, sample, sample_widely
from gradexplain.simplify.scalar import Vocabulary, cost, simplified, vocabulary
from gradexplain.simplify.watchdog import within
from gradexplain.symbolic import expressions, symbol, tree_size
from gradexplain.trace.run import Program
from gradexplain.trace.source import name_of

MOST_WRITTEN_OUT = 400  # operations of a formula that is written out; longer ones are named in parts
_SMALL = 4  # operations of a shared part that is worth a name
_MOST_CHECKED = 300  # parts of a formula that is evaluated at points
_PATIENCE = 3.0  # seconds for building an expression of at most MOST_WRITTEN_OUT operations
_LONGEST = 20_000  # operations of a formula in which all names are written out
_DEEPEST = 80  # functions within functions: SymPy recurses on them


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """A derivative as a formula: `expr` over the arguments and the names in `where`."""

    key: str
    expr: Any
    where: Mapping[str, Any]
    raw: Any
    rewrites: tuple[Rewrite, ...] = ()
    conditions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    source: tuple[str, Mapping[str, str]] | None = None  # NumPy text, where it was not made from `expr`
    shown: str = ""  # plain text, where it is neither

    @property
    def numpy(self) -> str:
        """The formula as NumPy source over the arguments, `np` and the names in `where_numpy`."""
        return self.source[0] if self.source else numpy_source(self.expr)

    @property
    def where_numpy(self) -> Mapping[str, str]:
        """The named parts as NumPy source; a name may use earlier ones."""
        return self.source[1] if self.source else {n: numpy_source(e) for n, e in self.where.items()}

    @property
    def text(self) -> str:
        """The formula as plain text, without the left-hand side."""
        if self.shown:
            return self.shown
        return self.source[0].replace("np.", "") if self.source else text(self.expr)

    @property
    def shown_parts(self) -> tuple[tuple[str, str, str], ...]:
        """The named parts that fit on a page: name, text, LaTeX (empty where there is none)."""
        if self.source:
            parts = [(n, t.replace("np.", "")) for n, t in on_a_page(self.source[1])]
            return tuple((n, t, "" if n == GAP else math_text(t, "texttt")) for n, t in parts)
        return tuple((n, e, "") if n == GAP else (n, text(e), latex(e)) for n, e in on_a_page(self.where))

    @property
    def latex(self) -> str:
        """The formula in LaTeX, without the left-hand side; NumPy text in typewriter where it has named parts."""
        return math_text(self.text, "texttt") if self.source and self.source[1] else latex(self.expr)

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
            table[sp.Symbol(name, real=True)] = substituted(definition, table)
        return of_real_numbers(substituted(self.expr, table))

    def __str__(self) -> str:
        return self.text


def closed_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm:
    """The closed form of a derivative: a formula of numbers, entries of small arrays, else the program for it."""
    if gradient.shape == () and all(x.shape == () for x in ancestors([gradient, program.output])):
        return replace(scalar_form(key, gradient, program, names), conditions=conditions(program, gradient))
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
    forms: Any = np.empty(gradient.shape, dtype=object)
    for index in np.ndindex(gradient.shape):
        node = as_node(np.asarray(nodes)[index])
        if tree_size(node) > MOST_WRITTEN_OUT:
            return None
        forms[index] = scalar_form(key, node, numbers, {})
    if any(f.where for f in forms.flat):
        return None
    expr = sp.Array([f.expr for f in forms.flat], gradient.shape) if gradient.shape else forms.item().expr
    raw = sp.Array([f.raw for f in forms.flat], gradient.shape) if gradient.shape else forms.item().raw
    rewrites = tuple(dict.fromkeys(r for f in forms.flat for r in f.rewrites))
    notes = tuple(dict.fromkeys(n for f in forms.flat for n in f.notes))
    source = _nested([numpy_source(f.expr, source_names(program)) for f in forms.flat], gradient.shape)
    shown = _nested([f.text for f in forms.flat], gradient.shape)
    numpy_text = f"np.array({source})" if gradient.shape else source
    return ClosedForm(key, expr, {}, raw, rewrites, (), notes, gradient.shape, (numpy_text, {}), shown)


def _nested(texts: list[str], shape: tuple[int, ...]) -> str:
    """Entries as nested brackets."""
    for size in reversed(shape):
        texts = [f"[{', '.join(texts[i : i + size])}]" for i in range(0, len(texts), size)]
    return texts[0]


def scalar_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm:
    """The closed form of a scalar derivative of a scalar program: the cheapest of the checked candidates."""
    if tree_size(gradient) > MOST_WRITTEN_OUT:
        return named_form(key, gradient, program, names)
    found = _cheapest_form(key, gradient, program, names)
    where = {n: rounded(e) for n, e in found.where.items()}
    return replace(found, expr=rounded(found.expr), where=where, raw=rounded(found.raw))


def _cheapest_form(key: str, gradient: Node, program: Program, names: Mapping[Node, str]) -> ClosedForm:
    near = sample([gradient, program.output], program.inputs, program.point)
    samples = near.joined(sample_widely([gradient, program.output], program.inputs, program.point))
    raw = _written(gradient)
    if raw is None:
        return named_form(key, gradient, program, names)
    known = _vocabulary(program, raw)
    healed = _heal(raw, gradient, program)
    if healed is not raw:
        expr, rewrites, notes = simplified(healed, samples, 0, known)
        rewrites = (Rewrite("limit at an isolated point", raw, healed, "both sides agree to 12 digits"), *rewrites)
        return ClosedForm(key, expr, {}, raw, rewrites, notes=(*notes, *_evidence(samples, expr)))
    best: ClosedForm | None = None
    for given in _namings(program, names):
        for candidate in dict.fromkeys((refined(gradient, program.output, program.inputs, near, given), gradient)):
            form = _candidate(key, candidate, gradient, given, samples, known, raw)
            if form is not None and (best is None or _price(form, known) < _price(best, known)):
                best = form
    return best or ClosedForm(key, raw, {}, raw, notes=_evidence(samples, raw))


def _candidate(
    key: str, node: Node, gradient: Node, given: Mapping[Node, Any], samples: Samples, known: Vocabulary, raw: Any
) -> ClosedForm | None:
    """One candidate graph, over some of the program's names, simplified and checked."""
    if tree_size(node, given) > MOST_WRITTEN_OUT:
        return None
    start = _written(node, given)
    where = None if start is None else _definitions(start, given)
    if where is None:
        return None
    expr, rewrites, notes = simplified(start, samples, 0, known, tuple(where.items()))
    expr = decimals(expr)
    where = {n: where[n] for n in _needed(expr, where)}
    if samples.points and not samples.agrees(expr, 0, tuple(where.items())):
        return None
    if node is not gradient and start != raw:
        rule = "identity" if not where else "in terms of " + ", ".join(where)
        rewrites = (Rewrite(rule, raw, start, f"checked at {len(samples.points)} points to 40 digits"), *rewrites)
    return ClosedForm(
        key, expr, where, raw, rewrites, notes=(*notes, *(() if samples.points else _evidence(samples, expr)))
    )


def _price(form: ClosedForm, known: Vocabulary) -> float:
    """The program's own names are free but for the look that it takes to find them."""
    return cost(form.expr, known) + sum(0.5 if name.isalpha() else 0.9 for name in form.where)


def _namings(program: Program, names: Mapping[Node, str]) -> list[dict[Node, Any]]:
    """The choices of named parts: none, or what the program itself gave a name."""
    order = [n for n in ancestors([program.output]) if n.inputs and n.kind == "float" and n in names]
    own = {n: sp.Symbol(names[n], real=True) for n in order if name_of(program.trace.sites.get(n))}
    return [{}, own] if own else [{}]


def _definitions(expr: Any, given: Mapping[Node, Any]) -> dict[str, Any] | None:
    """What the names in a formula stand for, in terms of the arguments and of earlier names."""
    table: dict[str, Any] = {}
    for node in sorted(given, key=lambda n: n.index):
        earlier = {n: s for n, s in given.items() if n.index < node.index}
        table[given[node].name] = _written(node, earlier)
    if None in table.values():
        return None
    return _needed(expr, table)


def _written(node: Node, given: Mapping[Node, Any] | None = None) -> Any:
    """A node as an expression, None where SymPy does not come to an end: it evaluates as it builds, and may loop."""
    expr = within(_PATIENCE, lambda: expressions([node], given)[0])
    return None if expr is None else of_real_numbers(expr)


def _vocabulary(program: Program, raw: Any) -> Vocabulary:
    is_small = tree_size(program.output) <= MOST_WRITTEN_OUT
    written = _written(program.output) if is_small else None
    return vocabulary(raw if written is None else written, raw)


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


def _needed(expr: Any, where: dict[str, Any]) -> dict[str, Any]:
    """The definitions that the formula uses, directly or through others."""
    wanted = {s.name for s in expr.free_symbols}
    kept: dict[str, Any] = {}
    for name in reversed(where):
        if name in wanted:
            kept[name] = where[name]
            wanted |= {s.name for s in where[name].free_symbols}
    return dict(reversed(kept.items()))


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
