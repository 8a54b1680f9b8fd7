"""The records of an explanation: frozen, comparable plain data, with SymPy expressions and nodes for all maths.

Builders (textbook, reverse, forward, verify) make them; `render.document` turns them into blocks. They know neither.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import sympy as sp

from gradexplain.errors import Place
from gradexplain.exposition.picture import ComputationGraph
from gradexplain.simplify.arrangement import TEXTBOOK, Arrangement
from gradexplain.simplify.form import ClosedForm, Written
from gradexplain.simplify.rewrite import Rewrite

Style = Literal["textbook", "reverse", "forward", "both"]
Detail = Literal["brief", "full"]

MOST_DERIVATIONS = 3  # derivations within an overview


@dataclass(frozen=True, slots=True)
class Inverse:
    """Why an inverse function has its derivative: `value` = asin(u) is `function`(value) = u, differentiated.

    `slope` is the derivative of the function at the value, `in_operand` the same in terms of u.
    """

    value: str
    function: sp.Expr
    operand: sp.Expr
    slope: sp.Expr
    in_operand: sp.Expr


@dataclass(frozen=True, slots=True)
class Step:
    """One rule of calculus: `before` is what is differentiated, `after` its derivative.

    `statement` is the rule on letters (what is differentiated, its derivative), `bindings` are what the letters stand
    for: first the letters, then their derivatives (`u'`).
    """

    rule: str
    before: sp.Expr
    after: sp.Expr
    target: str = ""  # the letter or name that `before` goes by, "" if it has none
    statement: tuple[sp.Expr, sp.Expr] | None = None
    bindings: tuple[tuple[str, sp.Expr], ...] = ()
    substeps: tuple[Step, ...] = ()
    number: int = 0  # from 1, in reading order
    name: str = ""  # the name that the user gave to the value
    place: Place | None = None
    reference: int | None = None  # the number of an earlier step that derived the same
    elided: int = 0  # steps left out between this one and its substeps
    applied: sp.Expr | None = None  # the rule with what its letters stand for, before any arithmetic
    inverse: Inverse | None = None  # of inverse functions, where the level is full


@dataclass(frozen=True, slots=True)
class Derivation:
    """A derivation as in a calculus book: the function, the tree of rules, the raw result and the named rewrites.

    Formulas are over the variables and the names in `names` (a name may use earlier ones); a name with a prime is the
    derivative of that name, derived in a step of its own. `function` and `raw` are written as the program has them.
    """

    variable: str
    order: int
    detail: Detail
    function: sp.Expr
    constants: tuple[str, ...]  # variables that are held constant
    root: Step | None
    raw: sp.Expr
    rewrites: tuple[Rewrite, ...]
    result: sp.Expr
    where: tuple[tuple[str, sp.Expr], ...] = ()
    names: tuple[tuple[str, sp.Expr], ...] = ()
    functions: tuple[tuple[sp.Expr, sp.Expr], ...] = ()  # the user's that the formulas call, and what they compute
    elided: int = 0  # steps that were left out of a very long derivation
    known: frozenset[str] = frozenset()  # rules that are applied without a word
    conditions: tuple[str, ...] = ()
    output: str = "y"
    variables: tuple[str, ...] = ()  # of all orders so far: ("x", "x") for the second derivative
    previous: Derivation | None = None  # the derivation of the order before
    arrangement: Arrangement = field(default=TEXTBOOK, repr=False)  # how the result is written
    check: CheckReport | None = None  # at the point, if there is one


@dataclass(frozen=True, slots=True)
class Entrywise:
    """The gradient of a small array, entry by entry: one derivation for each of the first entries."""

    variable: str
    shape: tuple[int, ...]
    derivations: tuple[Derivation, ...]


@dataclass(frozen=True, slots=True)
class DifferentialLine:
    """The differential of a statement over the names before it, and that of the result after it was put in.

    `gathered` has a coefficient for each differential that is left, () where they were not found; `delta` is what the
    last of them is called, if it has a name.
    """

    name: str
    differential: Written
    rules: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    gathered: tuple[tuple[str, Written], ...] = ()
    delta: tuple[str, Written] | None = None


@dataclass(frozen=True, slots=True)
class Differentials:
    """A derivation by differentials: the statements in order, and the derivative that is read off in the end."""

    variable: str
    output: str
    constants: tuple[str, ...]  # arguments that are held constant
    values: tuple[tuple[str, sp.Expr], ...]  # the statements as they were written, the result last
    sizes: tuple[tuple[str, str], ...]  # what the letters for sizes in them stand for
    shapes: tuple[tuple[str, tuple[int, ...]], ...]  # of what varies: the variable first, the result last
    lines: tuple[DifferentialLine, ...]
    result: ClosedForm
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AlongSymmetric:
    """The derivative along symmetric matrices: a derivation for independent entries, and those of a pair added."""

    variable: str
    output: str
    independent: Entrywise | Differentials | Sweep
    result: ClosedForm


@dataclass(frozen=True, slots=True)
class ImplicitDerivation:
    """How the derivative of a variable comes about that an equation makes depend on another.

    First order: both sides `differentiated`, the terms with y' `collected` on the left, `solved` for y'. Higher orders:
    the derivative of the order before `differentiated`, and y' put in (`solved`). `sides` are the rules on the way;
    `y'` is a symbol with a prime in its name.
    """

    dependent: str
    variables: tuple[str, ...]
    detail: Detail
    constants: tuple[str, ...]  # variables that are held constant
    equation: tuple[sp.Expr, sp.Expr]
    sides: tuple[Derivation, ...]
    differentiated: tuple[sp.Expr, ...]
    collected: tuple[sp.Expr, ...]
    solved: sp.Expr
    rewrites: tuple[Rewrite, ...]
    result: sp.Expr
    where: tuple[tuple[str, sp.Expr], ...] = ()
    conditions: tuple[str, ...] = ()
    previous: ImplicitDerivation | None = None  # the derivation of the order before
    arrangement: Arrangement = field(default=TEXTBOOK, repr=False)  # how the result is written

    @property
    def output(self) -> str:
        """What is differentiated."""
        return self.dependent


@dataclass(frozen=True, slots=True)
class Local:
    """What an operation does to the adjoint of its result for one operand.

    `formula` is the local derivative of an entrywise operation, else the whole pullback; `applied` is the rule before
    its numbers are worked out (`2*x**(2 - 1)`), None where that is the same.
    """

    operand: str
    formula: sp.Expr
    value: Any = None
    applied: sp.Expr | None = None
    is_partial: bool = True


@dataclass(frozen=True, slots=True)
class TapeRow:
    """One operation of the tape: what was computed, from what, its local derivatives, and the adjoint of the result."""

    number: int  # from 1 in the order of computation; a jump means rows that were left out
    name: str
    operation: str
    rule: str
    inputs: tuple[str, ...]
    formula: sp.Expr
    value: Any
    locals: tuple[Local, ...]
    adjoint: str
    adjoint_formula: sp.Expr | None
    adjoint_value: Any
    place: Place | None


@dataclass(frozen=True, slots=True)
class PullbackRow:
    """One line of a reverse sweep: what a node hands to one operand, or the sum of what an operand was handed."""

    number: int
    kind: Literal["seed", "pullback", "sum"]
    target: str
    source: str  # the node that hands it on
    formula: sp.Expr
    value: Any
    rule: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class TangentRow:
    """One line of forward mode: a node's value and its tangent."""

    number: int
    name: str
    formula: sp.Expr
    value: Any
    tangent: str
    tangent_formula: sp.Expr | None  # None: the tangent is 0
    tangent_value: Any
    place: Place | None
    tangent_values: tuple[Any, ...] = ()  # one for each pass, where there are several


@dataclass(frozen=True, slots=True)
class Cost:
    """What it costs to have all derivatives; operations on arrays count once, values kept by their entries.

    Reverse mode has one sweep for all inputs, but keeps the values of the function until it comes to them; forward mode
    keeps nothing, but needs as many passes as there are entries to differentiate with respect to.
    """

    function: int
    reverse: int
    kept: int
    forward: int
    passes: int
    results: int  # entries of the result, each of which has a gradient of its own


@dataclass(frozen=True, slots=True)
class Sweep:
    """A derivation as autodiff makes it, in reverse or in forward mode."""

    style: Literal["reverse", "forward"]
    wrt: tuple[str, ...]
    output: str
    shape: tuple[int, ...]
    tape: tuple[TapeRow, ...]
    pullbacks: tuple[PullbackRow, ...]
    tangents: tuple[TangentRow, ...]
    results: tuple[tuple[str, sp.Expr | None, Any], ...]  # over the seed and the names; None: too long for a line
    elided: int = 0  # operations that have no row
    passes: tuple[str, ...] = ()  # of forward mode: the inputs that have a pass each, () for one in all directions
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class Modes:
    """Reverse and forward mode of the same program, beside each other."""

    reverse: Sweep
    forward: Sweep


@dataclass(frozen=True, slots=True)
class Walk:
    """A reverse sweep to be gone through step by step, beside the lines of the function and their numbers."""

    name: str
    point: tuple[tuple[str, Any], ...]
    sweep: Sweep
    lines: tuple[tuple[int, str], ...]
    file: str = ""


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One entry of a gradient that was compared with difference quotients."""

    name: str
    claimed: float
    quotient: float | None
    error: float | None
    step: float | None
    verdict: Literal["pass", "fail", "inconclusive"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The verdict of a check, with a row for each entry that was looked at; true if nothing failed."""

    ok: bool
    rows: tuple[CheckRow, ...]
    point: tuple[tuple[str, Any], ...]
    notes: tuple[str, ...] = ()
    entries: int = 0  # entries of the gradient; fewer rows mean a sample

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True, slots=True)
class Waypoint:
    """One value on the way from an argument to the result; `factor` is its slope in the value before it.

    A factor of an array is the least and the greatest slope of its entries. With `skipped`, so many values of a long
    way stand here.
    """

    text: str
    value: Any = None
    factor: Any = None
    place: Place | None = None
    is_culprit: bool = False
    skipped: int = 0


FindingKind = Literal[
    "branch", "kink", "unused", "constant", "zero", "undefined", "size", "accuracy", "meaning", "note", "limit"
]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the reader should know about a derivative: a kink, a branch, an argument that is not used.

    `code` is the name of its cause in `exposition.causes`; the codes do not change. `argument` is the one whose
    derivative it is about, "" if it is about all. `path` leads from the argument over
    the operation that cuts or poisons the derivative to the result, as far as there is one; `factor` says what that
    operation multiplies with, `ruled_out` what was looked at and is not the cause, and `fix` what to do.
    """

    kind: FindingKind
    text: str
    place: Place | None = None
    code: str = ""
    argument: str = ""
    path: tuple[Waypoint, ...] = ()
    factor: str = ""
    ruled_out: tuple[str, ...] = ()
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything that the rendering of an explanation shows."""

    name: str
    title: str  # the text that the user typed, if it was text
    arguments: tuple[str, ...]
    function: sp.Expr
    shape: tuple[int, ...]
    kind: str  # gradient | jacobian | hessian
    order: int
    point: tuple[tuple[str, Any], ...]
    value: Any
    forms: tuple[tuple[str, Any], ...]  # key and ClosedForm
    values: tuple[tuple[str, Any], ...]
    findings: tuple[Finding, ...] = ()
    derivations: tuple[Derivation | ImplicitDerivation | Sweep | Differentials | None, ...] = ()  # None: none found
    tape: tuple[TapeRow, ...] = ()
    check: CheckReport | None = None
    notes: tuple[str, ...] = ()
    where: tuple[tuple[str, sp.Expr], ...] = ()  # names in `function`
    graph: ComputationGraph | None = None  # of a program that fits in a picture
    equation: tuple[sp.Expr, sp.Expr] | None = None  # the two sides, where a variable is differentiated along a curve
