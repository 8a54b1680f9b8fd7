"""Random scalar programs, and the points at which their closed forms differ from the traced program's derivative."""

import linecache
import math
import random

import mpmath as mp
import numpy as np

import gradexplain as gx
from gradexplain.evaluate import evaluate_exact
from gradexplain.graph import ancestors
from gradexplain.simplify.numeric import value

NAMES = (["x"], ["x", "y"], ["S", "I"], ["E", "x"], ["d1", "x0"])
NUMBERS = ("2", "3", "0.5", "1", "-1", "1/3", "np.pi", "math.sqrt(2)", "1.5", "-2", "4", "0.1", "np.pi/2", "10", "2.71")
OF_ONE = (
    "np.sin({0}) np.cos({0}) np.tan({0}) np.exp({0}) np.tanh({0}) abs({0}) np.sign({0}) np.sqrt({0}) np.log({0}) "
    "({0})**2 ({0})**3 ({0})**-2 ({0})**1.5 ({0})**0.5 ({0})**(1/3) 1/({0}) -({0}) 2**({0}) ({0})%2 "
    "np.sqrt(({0})**2) np.log(({0})**2) (({0})**2)**1.5 (({0})**2)**(1/3) np.cbrt({0}) np.floor({0}) np.ceil({0}) "
    "np.maximum({0},0) np.clip({0},-1,1) np.heaviside({0},0.5) np.where({0}>0,{0},0) np.arctan({0}) "
    "np.arccos({0}) np.arcsin(np.sin({0})) np.arctan(np.tan({0})) np.arctan2(np.sin({0}),np.cos({0})) "
    "np.sqrt(1-({0})**2) np.sqrt(1-np.cos({0})) 1/(1+np.exp(-({0}))) np.log1p({0}) np.log(np.exp({0})) "
    "np.exp(np.log({0})) np.cosh({0}) np.arcsinh({0}) math.erf({0})"
)
OF_TWO = (
    "({0})+({1}) ({0})-({1}) ({0})*({1}) ({0})/({1}) ({0})**({1}) abs({0})**({1}) np.maximum({0},{1}) "
    "np.minimum({0},{1}) np.arctan2({0},{1}) np.hypot({0},{1}) np.logaddexp({0},{1}) np.log(({0})*({1})) "
    "np.log(({0})/({1})) np.sqrt(({0})*({1})) np.copysign({0},{1}) np.mod({0},{1})"
)
ONE, TWO = OF_ONE.split(), OF_TWO.split()
BRANCHES = (
    "np.where({0} > {1}, {2}, {3})", "np.where(({0} > {1}) & ({2} < 1), {3}, {2})", "({2} if {0} > {1} else {3})",
    "np.where(({0} < {1}) | ({2} > 0.5), {3}, {2})", "({2} if {0} == 0 else {3})", "({2} if 0 < {0} < 2 else {1}*{3})",
)  # fmt: skip


def expression(generator, names, depth):
    """An expression over some names."""
    if depth == 0:
        return generator.choice(names if generator.random() < 0.72 else NUMBERS)
    kind = generator.random()
    first = expression(generator, names, depth - 1)
    second = expression(generator, names, generator.randrange(depth))
    if kind < 0.44:
        return generator.choice(ONE).format(first)
    if kind < 0.9:
        return generator.choice(TWO).format(first, second)
    leaf = expression(generator, names, 0)
    return generator.choice(BRANCHES).format(second, leaf, first, expression(generator, names, 0))


def random_source(seed):
    """A function of one or two numbers: an expression, or some assignments and branches before one."""
    generator = random.Random(seed)
    names = generator.choice(NAMES)
    known, lines = list(names), []
    for name in generator.choice([[], [], [], ["u"], ["u", "d1"], ["u", "v", "u"]]):
        if name in names:
            continue
        if generator.random() < 0.2:
            lines += [f"if {known[0]} > {generator.choice(NUMBERS)}:"]
            lines += [f"    {name} = {expression(generator, known, 1)}", "else:"]
            lines += [f"    {name} = {expression(generator, known, 1)}"]
        else:
            lines.append(f"{name} = {expression(generator, known, 1)}")
        known += [name, name]
    lines.append(f"return {expression(generator, known, generator.choice([1, 2, 2, 3]))}")
    return f"def f({', '.join(names)}):\n" + "".join(f"    {one}\n" for one in lines)


def function(source, number):
    """The function of a source text, which the tracer can read names from."""
    file = f"<random program {number}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace = {"np": np, "math": math}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


def points(explanation, seed, count=5):
    """Points at which everything that the program computes is a number of moderate size."""
    generator = random.Random(seed)
    program = explanation.whole
    order = ancestors([program.output])
    found = []
    for _ in range(8 * count):
        scale = generator.choice([0.5, 1, 1, 3, 3, 10, 50])
        point = {n: mp.mpf(round(generator.uniform(-scale, scale), 4)) for n in program.inputs}
        values = evaluate_exact(order, {program.inputs[n]: v for n, v in point.items()})
        if all(isinstance(v, bool) or (mp.isfinite(v) and abs(v) < 1e15) for v in values):
            found.append(point)
    return found[:count]


def disagreements(explanation, seed=0):
    """Where the closed form, the raw form or their NumPy source differ from the derivative's exact values."""
    found = []
    with mp.workdps(50):
        for point in points(explanation, seed):
            values = {explanation.whole.inputs[n]: v for n, v in point.items()}
            for key, node in explanation._nodes.items():
                (exact,) = evaluate_exact([node], values)
                if mp.isfinite(exact) and abs(exact) < 1e30:
                    found += [(key, what, point) for what in _wrong(explanation[key], point, exact)]
    return found


def _wrong(form, point, exact):
    names = dict(point)
    for name, part in form.where.items():
        names[name] = value(part, names)
    forms = [("closed form", form.expr, names), ("in full", form.full, point), ("raw form", form.raw, names)]
    for what, expr, table in forms:
        computed = value(expr, table)
        if not abs(computed - exact) <= mp.mpf(10) ** -12 * max(abs(exact), mp.mpf(10) ** -8):
            yield f"{what} {mp.nstr(computed, 12)} != {mp.nstr(exact, 12)}"
    computed = numpy_value(form, {n: float(v) for n, v in point.items()})
    if not math.isclose(computed, exact, rel_tol=1e-4, abs_tol=1e-6) and abs(exact) < 1e8:
        yield f"NumPy source {computed} != {float(exact)}"


def numpy_value(form, point):
    """What the NumPy source of a form gives at a point."""
    import scipy

    namespace = {"np": np, "scipy": scipy, **{n: np.asarray(v, dtype=float)[()] for n, v in point.items()}}
    with np.errstate(all="ignore"):
        for name, source in form.where_numpy.items():
            namespace[name] = eval(source, namespace)
        return eval(form.numpy, namespace)


def explained(seed, **options):
    """The explanation of a random program; None where it has no value or is refused for a reason."""
    try:
        return gx.explain(function(random_source(seed), seed), **options)
    except gx.errors.GradexplainError:
        return None
