"""What holds for every derivation: steps are derivatives in value, rewrites equalities, and nothing stands twice."""

from __future__ import annotations

import mpmath as mp
import sympy as sp

from gradexplain.exposition.model import Derivation
from gradexplain.render.formula import text
from gradexplain.simplify import printing
from gradexplain.simplify.numeric import value

DIGITS = 40
WIDTHS = (40, 80, 200)


def stages(derivation):
    while derivation is not None:
        yield derivation
        derivation = derivation.previous


def steps_of(root):
    waiting = [root] if root is not None else []
    while waiting:
        step = waiting.pop(0)
        yield step
        waiting = [*step.substeps, *waiting]


class Meaning:
    """Numbers for the formulas of one stage: names by their definitions, primes by difference quotients."""

    def __init__(self, derivation: Derivation, point):
        self.point = {n: mp.mpf(v) for n, v in point.items()}
        self.x = derivation.variable
        self.definitions = {}
        for step in steps_of(derivation.root):
            self.definitions |= {n: e for n, e in step.bindings if not n.endswith("'")}
            if step.target:
                self.definitions.setdefault(step.target, step.before)
        self.definitions |= dict(derivation.names)
        for name, expr in derivation.where:
            if isinstance(name, str) and not isinstance(expr, str):
                self.definitions.setdefault(name, expr)
        for rewrite in derivation.rewrites:
            self.definitions |= {n: e for n, e in rewrite.where if n not in self.definitions}

    def value(self, expr, x=None):
        x = self.point[self.x] if x is None else x
        return value(expr, {s.name: self.symbol(s.name, x) for s in expr.free_symbols})

    def symbol(self, name, x):
        if name == self.x:
            return x
        if name.endswith("'"):
            return self.slope(self.definitions.get(name[:-1], sp.Symbol(name[:-1], real=True)), x)
        if name in self.definitions:
            return self.value(self.definitions[name], x)
        return self.point[name]

    def slope(self, expr, x=None):
        x = self.point[self.x] if x is None else x
        return mp.diff(lambda t: self.value(expr, t), x, h=mp.mpf(10) ** -15)


def are_close(a, b):
    if not (mp.isfinite(a) and mp.isfinite(b)):
        return mp.isnan(a) == mp.isnan(b)
    return mp.almosteq(a, b, 1e-8, 1e-9)


def checked(derivation, points):
    """The number of statements that were compared at the points, and those that are wrong."""
    count, wrong = 0, []
    for stage in stages(derivation):
        claims = []
        for step in steps_of(stage.root):
            claims.append((step.rule, step.before, step.after, True))
            claims += [("applied", step.applied, step.after, False)] if step.applied is not None else []
            claims += [
                (f"{step.rule}: {n}", sp.Symbol(n, real=True), e, False) for n, e in step.bindings if n[-1] == "'"
            ]
        claims += [(r.rule, r.before, r.after, False) for r in stage.rewrites]
        for name, before, after, differentiates in claims:
            count += 1
            for point in points:
                with mp.workdps(DIGITS):
                    meaning = Meaning(stage, point)
                    expected = meaning.slope(before) if differentiates else meaning.value(before)
                    found = meaning.value(after)
                if not are_close(expected, found):
                    wrong.append((name, str(before), str(after), point, float(expected.real), float(found.real)))
                    break
    return count, wrong


def faults(derivation):
    """What should not be in a derivation, in words; none if it is in order."""
    found = []
    for stage in stages(derivation):
        root = stage.root
        if root is None:
            continue
        if text(root.after) != text(stage.raw):
            found.append("the first step does not end in the raw derivative")
        if stage.rewrites and stage.rewrites[-1].after != stage.result:
            found.append("the rewrites do not end in the result")
        if stage.rewrites and text(stage.rewrites[0].before) != text(stage.raw):
            found.append("the rewrites do not start from the raw derivative")
        for one, following in zip(stage.rewrites, stage.rewrites[1:], strict=False):
            if one.after != following.before:
                found.append(f"{following.rule} does not go on from {one.rule}")
        for rewrite in stage.rewrites:
            last = rewrite is stage.rewrites[-1]
            after = printing.text(rewrite.after, stage.arrangement) if last else text(rewrite.after)
            if text(rewrite.before) == after:
                found.append(f"{rewrite.rule} changes nothing: {after}")
        derived = [(text(s.before), text(s.after)) for s in steps_of(root) if s.reference is None]
        found += [f"{a} is derived twice" for a, b in set(derived) if derived.count((a, b)) > 1]
        for step in steps_of(root):
            if step.reference is not None and step.reference >= step.number:
                found.append(f"step {step.number} refers to a later one")
    return found
