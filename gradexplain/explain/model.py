"""The records of an explanation: frozen, comparable plain data, with SymPy expressions and nodes for all maths.

Builders (textbook, reverse, forward, verify) make them; `render.document` turns them into blocks. They know neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import sympy as sp

from gradexplain.errors import Place
from gradexplain.simplify.rewrite import Rewrite

Style = Literal["textbook", "reverse", "forward"]
Detail = Literal["brief", "full"]


@dataclass(frozen=True, slots=True)
class Step:
    """One rule of calculus: `before` is what is differentiated, `after` its derivative."""

    rule: str
    before: sp.Expr
    after: sp.Expr
    statement: str = ""
    bindings: tuple[tuple[str, sp.Expr], ...] = ()
    substeps: tuple[Step, ...] = ()
    name: str = ""
    place: Place | None = None
    reference: int | None = None  # the number of an earlier step that derived the same


@dataclass(frozen=True, slots=True)
class Derivation:
    """A derivation as in a calculus book: the function, the tree of rules, the raw result and the named rewrites."""

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
    elided: int = 0  # steps that were left out of a very long derivation
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TapeRow:
    """One operation of the tape: what was computed, from what, its local derivatives, and the adjoint of the result."""

    name: str
    operation: str
    rule: str
    inputs: tuple[str, ...]
    formula: sp.Expr
    value: Any
    locals: tuple[tuple[str, sp.Expr, Any], ...]  # (operand, local derivative or pullback, its value if entrywise)
    adjoint: str
    adjoint_formula: sp.Expr | None
    adjoint_value: Any
    place: Place | None


@dataclass(frozen=True, slots=True)
class PullbackRow:
    """One line of a reverse sweep: what a node hands to one operand, or the sum of what an operand was handed."""

    kind: Literal["seed", "pullback", "sum"]
    target: str
    source: str
    formula: sp.Expr
    value: Any
    rule: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class TangentRow:
    """One line of forward mode: a node's value and its tangent."""

    name: str
    formula: sp.Expr
    value: Any
    tangent: str
    tangent_formula: sp.Expr | None
    tangent_value: Any
    place: Place | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """A derivation as autodiff makes it, in reverse or in forward mode."""

    style: Literal["reverse", "forward"]
    wrt: tuple[str, ...]
    tape: tuple[TapeRow, ...]
    pullbacks: tuple[PullbackRow, ...]
    tangents: tuple[TangentRow, ...]
    results: tuple[tuple[str, sp.Expr, Any], ...]
    elided: int = 0


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
class Finding:
    """Something the reader should know about a derivative: a kink, a branch, an argument that is not used."""

    kind: Literal["branch", "kink", "unused", "constant", "undefined", "note", "limit"]
    text: str
    place: Place | None = None
