"""Where closed forms differ from the traced program, or from the difference quotients of the plain function."""

import math
import random
from contextlib import suppress

import mpmath as mp
import numpy as np
import scipy
import sympy as sp

import gradexplain as gx
from gradexplain.evaluate import evaluate_exact
from gradexplain.graph import ancestors
from gradexplain.notation import FiniteSum
from gradexplain.simplify.numeric import value
from tests.simplify.plain_numbers import DIGITS, NoValueError, derivative, plain

SCALES = (0.5, 1, 1, 3, 3, 10, 50)
TRIES = 40


def candidates(names, seed, count):
    """Points of several sizes."""
    generator = random.Random(seed)
    for _ in range(count):
        scale = generator.choice(SCALES)
        yield {n: mp.mpf(round(generator.uniform(-scale, scale), 4)) for n in names}


def points(explanation, seed, count=5):
    """Points at which everything that the program computes is a number of moderate size."""
    program = explanation.whole
    order = ancestors([program.output])
    found = []
    for point in candidates(program.inputs, seed, 8 * count):
        values = evaluate_exact(order, {program.inputs[n]: v for n, v in point.items()})
        if all(isinstance(v, bool) or (mp.isfinite(v) and abs(v) < 1e15) for v in values):
            found.append(point)
    return found[:count]


def disagreements(explanation, seed=0):
    """Where the closed form, the raw form or their NumPy source differ from the derivative's exact values."""
    found = []
    with mp.workdps(DIGITS):
        for point in points(explanation, seed):
            values = {explanation.whole.inputs[n]: v for n, v in point.items()}
            for key, node in explanation._nodes.items():
                (exact,) = evaluate_exact([node], values)
                if mp.isfinite(exact) and abs(exact) < 1e30:
                    found += [(key, what, point) for what in _wrong(explanation[key], point, exact)]
    return found


def against_quotients(source, function, explanation, seed, count=5):
    """As `disagreements`, but with difference quotients of the plain function, and of the callable derivative too: the
    number of points, and what was wrong.
    """
    reference, names = plain(source), list(explanation.whole.inputs)
    program = (gx.grad if explanation.order == 1 else gx.hessian)(function, argnums=range(len(names)))
    compiled = {key: _compiled(form, names) for key, form in explanation.gradients.items()}
    compared, found = 0, []
    for point in candidates(names, seed, TRIES):
        numbers = _called(program, [float(v) for v in point.values()])
        quotients, lost = {}, set()
        for key, form in explanation.gradients.items():
            with suppress(NoValueError), mp.workdps(DIGITS):
                places = [names.index(n) for n in key.split(",")]
                quotients[key] = derivative(
                    reference, tuple(point.values()), [places.count(i) for i in range(len(names))]
                )
                number = numbers
                for place in places:
                    number = None if number is None else number[place]
                if _is_undefined(form, point) and (quotients[key] == 0 or (number is not None and np.isnan(number))):
                    lost.add(key)  # sqrt(x - max(x, 0)) in the half where nothing moves: 0/0, as autodiff has it
                if number is not None and np.isfinite(number) and not _near(number, quotients[key]):
                    found.append((key, f"callable {number} != {mp.nstr(quotients[key], 12)}", point))
        told = {k: exact for k, exact in quotients.items() if k not in lost and holds(explanation[k], point)}
        found += [
            (key, what, point)
            for key, exact in told.items()
            for what in _all_wrong(explanation[key], compiled[key], point, exact)
        ]
        compared += bool(told)
        if compared == count:
            break
    return compared, found


CONDITIONS = vars(mp) | {"abs": abs, "max": max, "min": min, "trunc": lambda x: mp.sign(x) * mp.floor(abs(x))}


def holds(form, point):
    """Whether the conditions that a form states hold at a point; those that are only counted, do."""
    with mp.workdps(DIGITS), suppress(SyntaxError, NameError, TypeError):
        return all(eval(c, CONDITIONS | point) for c in form.conditions if "more condition" not in c)
    return True


def _called(program, numbers):
    """The derivatives as floats; None where the function has no value in floats."""
    try:
        return program(*numbers)
    except gx.errors.GradexplainError:
        return None


def _all_wrong(form, compiled, point, exact):
    with mp.workdps(DIGITS):
        yield from _wrong(form, point, exact)
        with suppress(TypeError, NameError, ArithmeticError, ValueError):  # it can't compare complex numbers
            by_sympy = mp.mpmathify(compiled(*point.values()))
            if not _equal(by_sympy, exact):
                yield f"lambdified {mp.nstr(by_sympy, 12)} != {mp.nstr(exact, 12)}"


def _compiled(form, names):
    """What SymPy makes of the closed form with mpmath; what raises a TypeError where it makes nothing of it."""
    with suppress(TypeError, KeyError, gx.errors.ArgumentError):
        if not form.full.has(sp.Mod):  # SymPy's printer leaves out the parentheses of x*(y % 2)
            return sp.lambdify([sp.Symbol(n, real=True) for n in names], form.full, modules="mpmath")
    return None


def _equal(computed, exact):
    return bool(abs(computed - exact) <= mp.mpf(10) ** -12 * max(abs(exact), mp.mpf(10) ** -8))


def _near(computed, exact):
    """Whether a float is right; of what is huge, or too small for a float, nothing is said."""
    return math.isclose(computed, exact, rel_tol=1e-4, abs_tol=1e-6) or 0 < abs(exact) < 1e-300 or abs(exact) > 1e8


def _named(form, point):
    names = dict(point)
    for name, part in form.where.items():
        names[name] = value(part, names)
    return names


def _is_undefined(form, point):
    with mp.workdps(DIGITS):
        exact = value(form.expr, _named(form, point))
    return mp.isnan(exact) or math.isnan(numpy_value(form, {n: float(v) for n, v in point.items()}))


def _wrong(form, point, exact):
    names = _named(form, point)
    forms = [("closed form", form.expr, names), ("raw form", form.raw, names)]
    for what, expr, table in forms:
        computed = value(expr, table)
        if what == "raw form" and mp.isnan(computed):
            continue  # what autodiff computes, 0/0 and all
        if not _equal(computed, exact) and not _is_huge(expr, table):
            yield f"{what} {mp.nstr(computed, 12)} != {mp.nstr(exact, 12)}"
    floats = {n: float(v) for n, v in point.items()}
    computed = numpy_value(form, floats)
    if not _near(computed, exact) and not _leaves_the_floats(form, floats):
        yield f"NumPy source {computed} != {float(exact)}"


def _is_huge(expr, table):
    """Whether a part of an expression is an infinity: a number with thousands of digits."""
    return not expr.has(FiniteSum) and any(
        mp.isinf(value(part, table)) for part in sp.preorder_traversal(expr) if isinstance(part, sp.Expr)
    )


def _leaves_the_floats(form, floats):
    """Whether something on the way is too large or too small for a float."""
    try:
        numpy_value(form, floats, limits="raise")
    except FloatingPointError:
        return True
    return False


def numpy_value(form, point, limits="ignore"):
    """What the NumPy source of a form gives at a point."""
    namespace = {"np": np, "scipy": scipy, **{n: np.asarray(v, dtype=float)[()] for n, v in point.items()}}
    with np.errstate(all="ignore", over=limits, under=limits):
        for name, source in form.where_numpy.items():
            namespace[name] = eval(source, namespace)
        found = eval(form.numpy, namespace)
    return math.nan if np.iscomplexobj(found) else found


def explained(function, **options):
    """The explanation of a function; None where it has no value or is refused for a reason."""
    try:
        return gx.explain(function, **options)
    except gx.errors.GradexplainError:
        return None
