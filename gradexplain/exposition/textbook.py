"""Derivations as in a calculus book: the tree of rules that leads from a function to its derivative.

`Calculus` has applied the rules; here is decided which of them get a line, and what stands in it. Level "brief" is
silent about sums, constant multiples, and powers or functions of x or a*x + b; level "full" states every rule once and
refers to earlier steps for what was derived already. Long derivations keep their outermost and innermost steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import sympy as sp

from gradexplain.errors import ArgumentError
from gradexplain.exposition.calculus import Calculus
from gradexplain.exposition.model import CheckReport, Derivation, Detail, Inverse, Step
from gradexplain.exposition.naming import MOST_DEFINITIONS, is_own_name, names, output_name
from gradexplain.exposition.orders import Orders, Start
from gradexplain.exposition.outline import Entry, keep_first, preorder, shorten_chains
from gradexplain.exposition.pen import letter
from gradexplain.exposition.rewriting import rewrites
from gradexplain.exposition.rules import INVERSES, LOGARITHMIC, Rule
from gradexplain.exposition.series import Series, derive_series
from gradexplain.exposition.terms import plain_product, unfolded_product
from gradexplain.exposition.tidy import without_noise
from gradexplain.graph import VARIABLE, Node, ancestors, as_node, constant, depends_on, variable
from gradexplain.simplify.arrangement import TEXTBOOK
from gradexplain.simplify.form import functions_in
from gradexplain.simplify.parts import on_a_page
from gradexplain.trace.run import Program
from gradexplain.trace.source import place_of

MOST_STEPS = 40


def derive(
    program: Program,
    wrt: str,
    *,
    order: int = 1,
    detail: Detail = "brief",
    closed: Any = None,
    key: str = "",
    check: CheckReport | None = None,
    orders: Orders | None = None,
    known: frozenset[str] = frozenset(),
) -> Derivation:
    """The derivation of a derivative of a scalar program; its `root` is None where arrays are involved.

    `closed` has the closed form and how it came about, `check` its check at the point; a key such as "x,y" stands for
    derivatives one after the other, and `orders` has those of the orders before. Rules that are `known` are applied
    without a line.
    """
    if detail not in get_args(Detail):
        raise ArgumentError(f"there is no detail {detail!r}", fix=f"use {' or '.join(get_args(Detail))}")
    variables = tuple(key.split(",")) if "," in key else (wrt,) * order
    series = derive_series(program, wrt, closed.expr) if closed is not None and len(variables) == 1 else None
    if series is not None:
        return _of_series(program, wrt, detail, closed, series, check)
    orders = orders or Orders(program)
    plain, named = without_noise(program, names(program))
    start = Start(plain.output, named, calls=orders.start(()).calls)
    stage = _Stage(plain, start, variables[:1], detail, closed if len(variables) == 1 else None, None, known)
    if not stage.is_scalar:
        return stage.without_steps()
    for i in range(1, len(variables)):
        start = orders.start(variables[:i])
        stage.closed = start.form
        form = closed if i == len(variables) - 1 else None
        stage = _Stage(program, start, variables[: i + 1], detail, form, stage.derivation(), known)
    return replace(stage.derivation(), check=check)


def _of_series(
    program: Program, wrt: str, detail: Detail, closed: Any, series: Series, check: CheckReport | None
) -> Derivation:
    return Derivation(
        variable=wrt,
        order=1,
        detail=detail,
        function=series.function,
        constants=tuple(n for n in program.inputs if n != wrt),
        root=series.root,
        raw=series.root.after,
        rewrites=series.rewrites,
        result=closed.expr,
        conditions=closed.conditions,
        output=output_name(program.name, set(program.inputs)),
        variables=(wrt,),
        arrangement=closed.arrangement,
        check=check,
    )


def derive_node(
    program: Program,
    node: Node,
    wrt: str,
    named: Mapping[Node, str],
    detail: Detail,
    known: frozenset[str] = frozenset(),
) -> Derivation | None:
    """The derivation of any node of numbers; None where arrays are involved."""
    stage = _Stage(program, Start(node, named), (wrt,), detail, None, None, known)
    return stage.derivation() if stage.is_scalar else None


class _Stage:
    """One derivation: of the function, or of the derivative of the order before."""

    def __init__(
        self,
        program: Program,
        start: Start,
        variables: tuple[str, ...],
        detail: Detail,
        closed: Any,
        previous: Derivation | None,
        known: frozenset[str] = frozenset(),
    ) -> None:
        self.program, self.output, self.variables, self.detail = program, start.node, variables, detail
        self.named, self.closed, self.previous, self.known = start.named, closed, previous, known
        self.x = program.inputs[variables[-1]]
        varying = depends_on(ancestors([start.node]), [self.x])
        self.is_scalar = all(n.shape == () and n.op.family in ("elementwise", "leaf") for n in varying | {start.node})
        if self.is_scalar:
            self.calculus = Calculus(start.node, self.x, start.named, start.calls)
            self.pen = self.calculus.pen

    def derivation(self) -> Derivation:
        """The derivation with its steps."""
        (function,) = self.pen.open([self.output]) if self.output.inputs else self.pen.write([self.output])
        if self.output not in self.calculus.varying or self.output is self.x:
            root, entries = self._single_step(function)
        else:
            root, entries = self._steps()
        result = self.closed.expr if self.closed is not None else root.after
        shown = [function, *_formulas(root)]
        definitions = self._definitions(shown, {e.node for e in entries})
        found = self._record(function, root, result, definitions, sum(e.elided for e in entries))
        return replace(found, functions=functions_in([*shown, *(e for _, e in definitions)]))

    def without_steps(self) -> Derivation:
        """A record for array programs, which calculus books do not derive number by number."""
        from gradexplain.exposition.naming import formula

        result = self.closed.expr if self.closed is not None else sp.S.NaN
        return self._record(formula(self.program, self.named), None, result, (), 0)

    def _record(self, function: Any, root: Step | None, result: Any, definitions: Any, elided: int) -> Derivation:
        closed = self.closed
        return Derivation(
            variable=self.variables[-1],
            order=len(self.variables),
            detail=self.detail,
            function=function,
            constants=tuple(n for n in self.program.inputs if n != self.variables[-1]),
            root=root,
            raw=result if root is None else root.after,
            rewrites=() if closed is None or root is None else rewrites(self.program, self.calculus, closed),
            result=result,
            where=(*on_a_page(closed.where), *closed.functions) if closed is not None else (),
            names=definitions,
            elided=elided,
            known=self.known,
            conditions=self._conditions(),
            output=output_name(self.program.name, set(self.program.inputs)),
            variables=self.variables,
            previous=self.previous,
            arrangement=TEXTBOOK if closed is None else closed.arrangement,
        )

    def _conditions(self) -> tuple[str, ...]:
        """Those of the closed form; of a stage on the way to it, what its logarithms ask for."""
        if self.closed is not None or not self.is_scalar:
            return tuple(self.closed.conditions) if self.closed is not None else ()
        logarithms = [n for n, rule in self.calculus.rules.items() if rule.name == LOGARITHMIC]
        bases = self.pen.write([n.inputs[0] for n in logarithms[:4]])
        return tuple(dict.fromkeys(f"{sp.sstr(base, order='none')} > 0" for base in bases))

    def _single_step(self, function: Any) -> tuple[Step, list[Entry]]:
        (after,) = self.pen.write([self.calculus.slope])
        return Step("identity" if self.output is self.x else "constant rule", function, after, number=1), []

    def _steps(self) -> tuple[Step, list[Entry]]:
        """The tree of steps, and what it was made from."""
        root = self._tree()
        shorten_chains(root)
        keep_first(root, MOST_STEPS)
        entries = list(preorder(root))
        for number, entry in enumerate(entries, 1):
            entry.number = number
        for entry in entries:
            self._letters(entry.node)
        made: dict[int, Step] = {}
        for entry in reversed(entries):
            made[entry.number] = self._step(entry, tuple(made[c.number] for c in entry.children))
        return made[1], entries

    def _tree(self) -> Entry:
        """The steps that get a line, in reading order; what was derived before only where the level is full."""
        root = Entry(self.output)
        seen: dict[Node, Entry] = {}
        waiting = [(root, root)]
        while waiting:
            entry, parent = waiting.pop()
            entry.first = seen.get(entry.node)
            if entry is not root and (entry.first is None or self.detail == "full"):
                parent.children.append(entry)
            if entry.first is None:
                seen[entry.node] = entry
                waiting.extend((Entry(n), entry) for n in reversed(self._shown(entry.node)) if n is not entry.node)
        return root

    def _shown(self, node: Node) -> list[Node]:
        """The parts of a step that get a step: its operands, or what is inside of those that are passed in silence."""
        found: dict[Node, None] = {}
        passed: set[Node] = set()
        waiting = self.calculus.operands(node)[::-1]
        while waiting:
            n = waiting.pop()
            if not n.op.rule or n in passed or n in found:  # a variable
                continue
            if not self._is_silent(n):
                found[n] = None
            else:
                passed.add(n)
                waiting.extend(self.calculus.operands(n)[::-1])
        return list(found)

    def _is_silent(self, node: Node) -> bool:
        rule = self.calculus.rules[node]
        if self._names_slope(node):
            return False
        if rule.name in self.known:
            return True
        if self.detail == "full" or node in self.pen.named or rule.is_loud:
            return False
        return rule.is_quiet or all(self.calculus.is_linear(n) for n in self.calculus.operands(node))

    def _names_slope(self, node: Node) -> bool:
        """Whether formulas call the derivative of a node by a name that is made from its own."""
        return self.pen.named.get(self.calculus.slopes[node]) == f"{self.calculus.called(node)}'"

    def _letters(self, node: Node) -> None:
        rule = self.calculus.rules[node]
        if not rule.is_quiet:
            for n in self.calculus.operands(node):
                if n is not self.x:
                    self.calculus.letter(n)

    def _step(self, entry: Entry, substeps: tuple[Step, ...]) -> Step:
        node, rule = entry.node, self.calculus.rules[entry.node]
        (before,) = self.pen.open([node])
        slope = self.calculus.slopes[node]
        (after,) = self.pen.open([slope]) if self._names_slope(node) else self.pen.write([slope])
        name = self.named.get(node, "")
        return Step(
            rule.name,
            before,
            after,
            target="" if node is self.output else self.calculus.called(node),
            statement=self._statement(node, rule),
            bindings=() if rule.is_quiet or entry.first else self._bindings(rule),
            substeps=substeps,
            number=entry.number,
            name=name if name and is_own_name(name) else "",
            place=place_of(self.program.trace.sites.get(node)),
            reference=entry.first.number or None if entry.first else None,
            elided=entry.elided,
            applied=self._applied(rule, after) if self.detail == "full" and not entry.first else None,
            inverse=self._inverse(node) if self.detail == "full" and not entry.first else None,
        )

    def _applied(self, rule: Rule, after: Any) -> Any:
        """The rule with its operands and their derivatives put in as they are: x**2*3*cos(3*x)."""
        if rule.is_quiet:
            return None
        primes = [self.calculus.slopes[n] if n in self.calculus.varying else None for n in rule.operands]
        (applied,) = self.pen.write([rule.slope(rule.operands, primes, unfolded_product)])
        return None if applied == after else applied

    def _inverse(self, node: Node) -> Inverse | None:
        """Why the rule for an inverse function is as it is."""
        if node.op not in INVERSES:
            return None
        op, in_operand = INVERSES[node.op]
        (inner,) = node.inputs
        u = inner if inner is self.x else variable(self.calculus.letter(inner))
        w = variable(next(c for c in "wzst" if c not in (*self.program.inputs, u.params["name"])))
        made = op.record(w)
        partial = op.partials[0](made, w)  # type: ignore[misc]
        function, operand, slope, written = self.pen.write([made, u, as_node(partial), in_operand(u)])
        return Inverse(w.params["name"], function, operand, slope, written)

    def _statement(self, node: Node, rule: Rule) -> tuple[Any, Any] | None:
        """The rule on letters: what is differentiated, and what its derivative is."""
        letters: list[Node] = []
        primes: list[Node | None] = []
        general = iter([c for c in "fgh" if c not in self.program.inputs])
        for n in rule.operands:
            if n not in self.calculus.varying:
                held = self._held(rule, n)
                letters.append(variable(held) if held else n)
                primes.append(None)
            elif n is self.x and not (rule.is_quiet or rule.is_loud):
                letters.append(n)
                primes.append(constant(1))
            else:
                name = next(general, "") if rule.is_quiet else self.calculus.letter(n)
                if not name:
                    return None
                letters.append(variable(name))
                primes.append(variable(f"{name}'"))
        value = rule.value(*letters)
        (left,) = self.pen.open([value])
        (right,) = self.pen.write([rule.slope(letters, primes, plain_product)])
        return left, right

    def _held(self, rule: Rule, node: Node) -> str:
        """The letter for what is held constant, "" for a variable and where the program means something else by it."""
        return rule.held if node.op is not VARIABLE and rule.held not in self.program.inputs else ""

    def _bindings(self, rule: Rule) -> tuple[tuple[str, Any], ...]:
        """What the letters stand for, then their derivatives."""
        held = [n for n in rule.operands if n not in self.calculus.varying and self._held(rule, n)]
        lettered = list(dict.fromkeys(n for n in rule.operands if n in self.calculus.varying and n is not self.x))
        unnamed = [n for n in lettered if n not in self.pen.named]
        values = [(rule.held, e) for e in self.pen.write(held)]
        values += zip(map(self.calculus.letter, unnamed), self.pen.write(unnamed), strict=True)
        values = [(name, e) for name, e in values if e != letter(name)]
        primed = [n for n in dict.fromkeys(rule.operands) if n in lettered or (n is self.x and rule.is_loud)]
        slopes = self.pen.write([self.calculus.slopes[n] for n in primed])
        primes = [(f"{self.calculus.letter(n)}'", e) for n, e in zip(primed, slopes, strict=True)]
        return (*values, *((name, e) for name, e in primes if e != letter(name)))

    def _definitions(self, formulas: Sequence[Any], stepped: set[Node]) -> tuple[tuple[str, Any], ...]:
        """The named parts that the formulas use, directly or through others, in the order of computation."""
        nodes = {name: n for n, name in self.calculus.letters.items() if n not in stepped and n.op.rule}
        nodes |= {name: n for n, name in self.pen.named.items() if n.op.rule and not name.endswith("'")}
        inherited = dict(self.previous.names) if self.previous is not None else {}
        found: dict[Node, Any] = {}
        direct = list(dict.fromkeys(n for e in formulas for n in _names_in(e, nodes)))
        waiting = deque(direct)
        while waiting and len(found) <= MOST_DEFINITIONS:
            node = waiting.popleft()
            if node not in found and node is not self.output:
                (written,) = self.pen.open([node])
                found[node] = inherited.get(self.calculus.called(node), written)
                waiting.extend(_names_in(found[node], nodes))
        if len(found) > MOST_DEFINITIONS:  # steps say what they are about; here only what none of them is about
            found = {n: found[n] for n in direct if n in found and n not in stepped}
        return tuple((self.calculus.called(n), found[n]) for n in sorted(found, key=lambda n: n.index))


def _names_in(formula: Any, nodes: Mapping[str, Node]) -> list[Node]:
    """What a formula calls by name; letters of rules count only where their derivative is called u'."""
    names = sorted({s.name for s in formula.free_symbols})
    return [nodes[n.rstrip("'")] for n in names if n.rstrip("'") in nodes]


def _formulas(root: Step) -> list[Any]:
    found, waiting = [], [root]
    while waiting:
        step = waiting.pop()
        found += [step.before, step.after, *(e for _, e in step.bindings)]
        waiting.extend(step.substeps)
    return found
