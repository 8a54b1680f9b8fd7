"""Where a formula holds: the domains that the rows of the table state, in terms of the arguments.

What a row states is where it is tested; whether a program needs it is decided by its values: a condition that a point
with a value and a derivative does without is none. What remains is put together and simplified by `ranges`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

from gradexplain.autodiff import vjp
from gradexplain.evaluate import evaluate, evaluate_exact
from gradexplain.graph import Node, Primitive, ancestors, constant, make, variable
from gradexplain.language import Sentence
from gradexplain.ops import special
from gradexplain.ops.arithmetic import mul, power, xlogy
from gradexplain.ops.elementary import log
from gradexplain.ops.ordering import maximum, minimum, not_equal, where
from gradexplain.ops.selection import fmax, fmin
from gradexplain.simplify.numeric import UnknownFunctionError, value
from gradexplain.simplify.powers import has_high_powers
from gradexplain.simplify.ranges import Range, Ranges, nonzero, positive, within_one
from gradexplain.simplify.sampling import evaluated_widely
from gradexplain.symbolic import expressions
from gradexplain.trace.run import Program

MOST_CONDITIONS = 8
_LONGEST = 16  # operations of an expression that a condition is stated on,
_LONGEST_NEEDED = 60  # also where the formula is another function than the program without it
_LARGEST = 2000  # operations of a program that is looked at
_ENOUGH = 8  # points without a value that a condition within a branch has to explain
_TRIES = 3
_DIGITS = 30
_LARGEST_VALUE = 1e10  # beyond, a value next to a root is that of a pole
_STARTS = (0.4, 1.3, -1.1, 2.6)


@dataclass(frozen=True, slots=True)
class _Need:
    """A row's condition on the value of a node; `guarded` if the node is computed within a branch alone, `long` if its
    expression is.
    """

    node: Node
    condition: str
    guarded: bool
    long: bool = False


_AS_READ: Mapping[Primitive, Callable[..., Node]] = {
    fmax: maximum,
    fmin: minimum,
    xlogy: lambda x, y: mul(x, log(y)),
    special.xlog1py: lambda x, y: mul(x, log(1 + y)),
}

# How a row's condition reads on numbers, and on expressions. Those that are not here are of whole numbers.
_HOLDS: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], tuple[Range, ...]]]] = {
    "x > 0": (lambda v: v > 0, positive),
    "x > 1": (lambda v: v > 1, lambda e: positive(e - 1)),
    "x > -1": (lambda v: v > -1, lambda e: positive(e + 1)),
    "-1 < x < 1": (lambda v: abs(v) < 1, within_one),
    "x != 0": (lambda v: v != 0, nonzero),
    "cos(x) != 0": (lambda v: np.cos(v) != 0, lambda e: nonzero(sp.cos(e))),
}


def conditions(program: Program, gradient: Node, nonzero: Sequence[Node] = ()) -> tuple[str, ...]:
    """Where a derivative of a program of numbers holds: conditions on its arguments; `nonzero` may not be 0 either.

    >>> from gradexplain.autodiff import vjp
    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: 1 / x + (x**2 + 1) ** 0.5
    >>> program = trace(f, bind(f, (), {}, symbolic=True))
    >>> conditions(program, vjp(program.output, list(program.inputs.values()))[0])
    ('x != 0',)
    """
    found: tuple[str, ...] = ()
    for node in (program.output, gradient):  # the derivative adds to the conditions of the program only in odd cases
        order = ancestors([node])
        if not found and len(order) <= _LARGEST:
            needs = [*_needs(order, node), *(_Need(n, "x != 0", False) for n in nonzero)]
            found = _simplified(_necessary(needs, program, gradient), program, gradient)
    return found


def _simplified(needs: Sequence[_Need], program: Program, gradient: Node) -> tuple[str, ...]:
    kept = {r: None for need in needs for r in _ranges(need) if _is_missed(r, need, program, gradient)}
    stated = [shown for shown, _ in Ranges(list(kept)).relations]
    if len(stated) <= MOST_CONDITIONS:
        return tuple(stated)
    return (
        *stated[: MOST_CONDITIONS - 1],
        Sentence("{count} more conditions", count=len(stated) - MOST_CONDITIONS + 1),
    )


def _ranges(need: _Need) -> tuple[Range, ...]:
    (expr,) = expressions([need.node])
    if has_high_powers(expr) or expr.has(sp.Piecewise, sp.nan, sp.zoo, sp.I):
        return ()
    return _HOLDS[need.condition][1](expr)


def _needs(order: Sequence[Node], output: Node) -> Iterator[_Need]:
    """What the rows of a program ask of their operands, in the order of computation; each once."""
    sizes: dict[Node, int] = {}
    for node in order:
        sizes[node] = min(bool(node.inputs) + sum(sizes[n] for n in node.inputs), _LARGEST)
    always = _always_computed(output)
    seen: set[tuple[Node, str]] = set()
    for node in order:
        for i, x in enumerate(node.inputs):
            condition = _condition(node, i)
            if condition not in _HOLDS or (x, condition) in seen:
                continue
            seen.add((x, condition))
            if not x.is_constant and x.shape == () and sizes[x] <= _LONGEST_NEEDED:
                yield _Need(x, condition, node not in always, sizes[x] > _LONGEST)


def _always_computed(output: Node) -> set[Node]:
    """The nodes whose value the output takes on every branch."""
    seen = {output}
    waiting = [output]
    while waiting:
        node = waiting.pop()
        new = [n for n in (() if node.op is where else node.inputs) if n not in seen]
        seen.update(new)
        waiting += new
    return seen


def _condition(node: Node, operand: int) -> str:
    """The row's condition on an operand, over the name x; of a power, what its exponent asks for."""
    if node.op is power:
        exponent = node.inputs[1]
        if operand == 1 or exponent.kind == "int":
            return ""
        if exponent.is_constant and isinstance(exponent.data, int):
            return "x != 0" if exponent.data < 0 else ""
        return "x > 0"
    domains = node.op.domains
    found = domains[min(operand, len(domains) - 1)].condition if domains else ""
    return found if found != "x != 0" or _fails_at_zero(node.op, operand) else ""


@lru_cache(maxsize=256)
def _fails_at_zero(op: Primitive, operand: int) -> bool:
    """Whether an operation or its slope has no value where an operand is 0: some rows have a convention there."""
    inputs = [variable(f"x{i}") for i in range(len(op.domains) if len(op.domains) > 1 else len(op.partials))]
    y = op.record(*inputs)
    values: dict[Node, Any] = {x: 0.0 if i == operand else 0.7312 for i, x in enumerate(inputs)}
    found = evaluate([y, *vjp(y, inputs)], values)
    return not all(np.isfinite(v) for v in found)


def _necessary(needs: Sequence[_Need], program: Program, gradient: Node) -> list[_Need]:
    """Those that every sample point with a value and a derivative satisfies; within branches, also those without."""
    if not needs:
        return []
    program_values = [program.output, gradient]
    formula_values = _as_read(program_values)
    found = evaluated_widely(
        [*program_values, *formula_values, *(need.node for need in needs)], program.inputs, program.point
    )
    valued, defined = np.isfinite(found[0]), np.isfinite(found[0]) & np.isfinite(found[1])
    differs = (valued & (found[0] != found[2])) | (defined & (found[1] != found[3]))
    kept = []
    for need, operand in zip(needs, found[4:], strict=True):
        with np.errstate(all="ignore"):
            holds = _HOLDS[need.condition][0](operand) & np.isfinite(operand)
        violated = ~holds & np.isfinite(operand)
        if np.any(differs & ~holds):
            kept.append(need)
            continue
        if (
            need.long
            or np.any(defined & ~holds)
            or (need.guarded and "!=" not in need.condition and violated.sum() < _ENOUGH)
        ):
            continue
        kept.append(need)
    return kept


def _as_read(outputs: Sequence[Node]) -> list[Node]:
    """The outputs as a formula has them, in which nothing is undefined: np.fmax leaves nan out, but the larger of two
    numbers knows of none, and a comparison with nan, which is false in a program, is no condition.
    """
    new: dict[Node, Node] = {}
    for node in ancestors(outputs):
        inputs = tuple(new[n] for n in node.inputs)
        if node.op in _AS_READ:
            new[node] = _AS_READ[node.op](*inputs)
        elif node.op is not_equal and inputs[0] is inputs[1]:
            new[node] = constant(False)
        else:
            new[node] = node if inputs == node.inputs else make(node.op, inputs, node.params)
        if node.op is where:
            for x in _compared(inputs[0]):
                new[node] = where(not_equal(x, x), np.nan, new[node])
    return [new[n] for n in outputs]


def _compared(condition: Node) -> list[Node]:
    """The numbers that a condition compares."""
    bools = [n for n in ancestors([condition]) if n.kind == "bool"]
    numbers = [x for n in bools for x in n.inputs if x.kind == "float" and x.inputs and x.shape == ()]
    return list(dict.fromkeys(numbers))


def _is_missed(r: Range, need: _Need, program: Program, gradient: Node) -> bool:
    """Whether the program has no value or no derivative at the points that are left out.

    A divisor that is 0 leaves none, even where it cancels; of other operations the values tell (1/tan(x) goes on where
    tan(x) has a pole), and within a branch they tell always.
    """
    if not r.points:
        return True
    if r.subject.is_Symbol:
        return all(_has_no_value({r.subject.name: p}, program, gradient) for p in r.points)
    if need.guarded:
        return False
    return need.condition == "x != 0" or not any(_goes_on(r.subject - p, program, gradient) for p in r.points)


def _goes_on(expr: Any, program: Program, gradient: Node) -> bool:
    """Whether the program has a value and a derivative next to a point where an expression is 0."""
    x, *others = sorted(expr.free_symbols, key=lambda s: str(s.name))
    with mp.workdps(_DIGITS):
        point = {s.name: mp.mpf(0.7 + 0.3 * i) for i, s in enumerate(others)}
        for start in _STARTS:
            try:
                root = mp.findroot(partial(_at, expr, x.name, point), start)
            except (ValueError, ArithmeticError, TypeError, UnknownFunctionError):
                continue
            return not _has_no_value({**point, x.name: root}, program, gradient)
    return False


def _at(expr: Any, name: str, point: Mapping[str, Any], t: Any) -> Any:
    return value(expr, {**point, name: t})


def _has_no_value(at: Mapping[str, Any], program: Program, gradient: Node) -> bool:
    """Whether there is no value or no derivative at values of some variables, whatever the others are."""
    generator = random.Random(1)
    with mp.workdps(_DIGITS):
        for _ in range(_TRIES):
            point = {n: mp.mpf(generator.uniform(0.3, 2.5)) for n in program.inputs}
            point |= {n: mp.mpf(sp.N(v, _DIGITS)) if isinstance(v, sp.Expr) else v for n, v in at.items()}
            values = {x: point[n] if x.kind == "float" else program.point.get(n, 1) for n, x in program.inputs.items()}
            try:
                found = evaluate_exact([program.output, gradient], values)
            except (TypeError, ValueError, ArithmeticError):
                continue
            if all(isinstance(v, (mp.mpf, int)) and abs(v) < _LARGEST_VALUE for v in found):
                return False
    return True
