"""Random scalar programs: expressions over all operations that a scalar program can hold, as NumPy, Python and SciPy
spell them, nested up to four deep, with local names, helper functions, loops and branches.
"""

import linecache
import math
import random
import re

import numpy as np
import scipy.special

NAMES = (
    ["x"],
    ["x"],
    ["x", "y"],
    ["x", "y"],
    ["S", "I"],
    ["E", "x"],
    ["d1", "x0"],
    ["a", "b", "x"],
    ["x", "beta", "k"],
)
NUMBERS = ("2", "3", "0.5", "1", "-1", "1/3", "np.pi", "math.sqrt(2)", "1.5", "-2", "4", "0.1", "np.pi/2", "10", "2.71")
ORDINARY = """
np.sin({0}) np.cos({0}) np.tan({0}) np.exp({0}) np.tanh({0}) abs({0}) np.sqrt({0}) np.log({0}) math.sin({0})
math.exp({0}) math.sqrt({0}) math.log({0}) ({0})**2 ({0})**3 ({0})**-2 ({0})**1.5 ({0})**0.5 ({0})**(1/3) 1/({0})
-({0}) 2**({0}) np.e**({0}) np.sqrt(({0})**2) np.log(({0})**2) (({0})**2)**1.5 (({0})**2)**(1/3) np.exp(-({0}))
np.exp(-({0})**2) np.sqrt(1-({0})**2) np.sqrt(1+({0})**2) np.sqrt(1-np.cos({0})) 1/(1+np.exp(-({0}))) np.arctan({0})
np.log(1+np.exp({0})) np.log(np.exp({0})) np.exp(np.log({0})) np.maximum({0},0) np.where({0}>0,{0},0)
"""  # what most programs are made of
NUMPY = """
sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt
square reciprocal absolute fabs sign floor ceil trunc fix rint round deg2rad rad2deg radians degrees sinc i0 positive
negative
"""
MATH = """
sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt fabs floor
ceil trunc degrees radians erf erfc gamma lgamma
"""
SPECIAL = "erf erfc erfinv gamma gammaln digamma expit logit log_expit entr ndtr i0 i1"
OTHERS = """
special.polygamma(1,{0}) special.iv(2,{0}) ({0})%2 ({0})//2 np.clip({0},-1,1) np.heaviside({0},0.5)
np.arcsin(np.sin({0})) np.arctan(np.tan({0})) np.arctan2(np.sin({0}),np.cos({0})) math.ldexp({0},2) np.ldexp({0},-1)
math.pow({0},3) math.log({0},2)
"""
ARITHMETIC = "({0})+({1}) ({0})-({1}) ({0})*({1}) ({0})/({1}) ({0})**({1})"
OF_TWO = """
abs({0})**({1}) ({0})**({1}-1) np.exp({0})**({1}) np.power({0},{1}) np.float_power({0},{1}) math.pow({0},{1})
np.maximum({0},{1}) np.minimum({0},{1}) np.fmax({0},{1}) np.fmin({0},{1}) max({0},{1}) min({0},{1})
np.arctan2({0},{1}) math.atan2({0},{1}) np.hypot({0},{1}) math.hypot({0},{1}) np.logaddexp({0},{1})
np.logaddexp2({0},{1}) np.log(({0})*({1})) np.log(({0})/({1})) np.sqrt(({0})*({1})) math.log({0},{1})
np.copysign({0},{1}) math.copysign({0},{1}) np.mod({0},{1}) ({0})%({1}) np.fmod({0},{1}) math.fmod({0},{1})
math.remainder({0},{1}) np.remainder({0},{1}) ({0})//({1}) np.floor_divide({0},{1}) np.heaviside({0},{1})
special.xlogy({0},{1}) special.xlog1py({0},{1}) special.beta({0},{1}) special.betaln({0},{1})
special.rel_entr({0},{1}) math.prod([{0},{1},2]) math.fsum([{0},{1},1]) helper({0})*({1}) helper({1})
"""
ONE = [
    *ORDINARY.split() * 2, *(f"np.{f}({{0}})" for f in NUMPY.split()), *(f"math.{f}({{0}})" for f in MATH.split()),
    *(f"special.{f}({{0}})" for f in SPECIAL.split()), *OTHERS.split(),
]  # fmt: skip
TWO = [*ARITHMETIC.split() * 4, *OF_TWO.split()]
BRANCHES = (
    "np.where({0} > {1}, {2}, {3})", "np.where(({0} > {1}) & ({2} < 1), {3}, {2})", "({2} if {0} > {1} else {3})",
    "np.where(({0} < {1}) | ({2} > 0.5), {3}, {2})", "({2} if {0} == 0 else {3})", "({2} if 0 < {0} < 2 else {1}*{3})",
    "np.select([{0} < {1}, {2} < 1], [{2}, {3}], {0})", "np.clip({0}, {1}, {2})",
    "({2} if {0} > 0 and {1} > 0 else {3})",
    "np.where(np.logical_or({0} <= 1, {1} > 2), {2}, {3})", "({3} if not {0} > 1 or {2} < 0 else {0})",
)  # fmt: skip
LOOPS = (
    ["{0} = 0.0", "for n in range(1, 4):", "    {0} += ({1})**n/n"],
    ["{0} = 1.0", "for n in range(3):", "    {0} = {0}*{2} + {1}"],
    ["{0} = {2}", "for _ in range(2):", "    {0} = {1}*(1 - {0})"],
    ["{0} = {2}", "n = 0", "while n < 3:", "    {0} = {0} + ({1})*n", "    n += 1"],
    ["{0} = math.prod([({1}) + n for n in range(3)])"],
    ["{0} = sum(({1})**n for n in range(4))"],
)


def expression(generator, names, depth):
    """An expression over some names."""
    if depth == 0:
        return generator.choice(names if generator.random() < 0.75 else NUMBERS)
    kind = generator.random()
    first = expression(generator, names, depth - 1)
    if not any(re.search(rf"\b{n}\b", first) for n in names):  # of numbers alone Python makes a number, or an error
        first = generator.choice(names)
    second = expression(generator, names, generator.randrange(depth))
    if kind < 0.48:
        return generator.choice(ONE).format(first)
    if kind < 0.92:
        return generator.choice(TWO).format(first, second)
    leaf = expression(generator, names, 0)
    return generator.choice(BRANCHES).format(second, leaf, first, expression(generator, names, 0))


def random_source(seed):
    """A function of one to three numbers: an expression, or some assignments, loops and branches before one."""
    generator = random.Random(seed)
    names = generator.choice(NAMES)
    known, lines = list(names), []
    for name in generator.choice([[], [], [], ["u"], ["u", "d1"], ["u", "v", "u"]]):
        if name not in names:
            lines += _assignment(generator, known, name)
            known += [name, name]
    lines.append(f"return {expression(generator, known, generator.choice([1, 2, 2, 3, 3, 4]))}")
    body = f"def f({', '.join(names)}):\n" + "".join(f"    {one}\n" for one in lines)
    if "helper(" not in body:
        return body
    inner, outer = (generator.choice(ONE) for _ in range(2))
    return f"def helper(t):\n    w = {inner.format('t')}\n    return {outer.format('t*w')}\n\n\n{body}"


def _assignment(generator, known, name):
    kind = generator.random()
    if kind < 0.2:
        return [f"if {known[0]} > {generator.choice(NUMBERS)}:",
                f"    {name} = {expression(generator, known, 1)}", "else:",
                f"    {name} = {expression(generator, known, 1)}"]  # fmt: skip
    if kind < 0.4:
        return [line.format(name, expression(generator, known, 1), known[0]) for line in generator.choice(LOOPS)]
    return [f"{name} = {expression(generator, known, 1)}"]


def function(source, number):
    """The function of a source text, which the tracer can read names from."""
    file = f"<random program {number}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace = {"np": np, "math": math, "special": scipy.special}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]
