"""The plain function on numbers of many digits: a reference that knows nothing of the program's rules or expressions.

The source text of a function runs on `Real` numbers, with `math`, `np` and `special` spelled in mpmath; decimals are
read as they are typed. Its derivatives are mpmath's difference quotients. What is no real number is nan, as in NumPy;
in `math` it is an error, and there is no value. Points at which something is infinite or huge are left out.
"""

import ast
import operator
from types import SimpleNamespace

import mpmath as mp

HUGE = mp.mpf(10) ** 9
DIGITS = 50
MANY_DIGITS = 700


class NoValueError(Exception):
    """The function can't be compared at this point."""


class Real:
    """A real number of mpmath's current precision, or nan."""

    def __init__(self, number):
        self.mpf = number

    def __index__(self):
        if self.mpf != int(self.mpf):
            raise TypeError(f"{self.mpf} is no whole number")
        return int(self.mpf)

    def __abs__(self):
        return real(abs(self.mpf))

    def __neg__(self):
        return real(-self.mpf)

    def __pos__(self):
        return self


def number(x):
    """What is inside a Real; other numbers as they are."""
    return x.mpf if isinstance(x, Real) else mp.mpf(x)


def real(x):
    """A Real; complex numbers are nan."""
    if isinstance(x, mp.mpc):
        x = x.real if x.imag == 0 else mp.nan
    if mp.isinf(x) or abs(x) > HUGE:
        raise NoValueError
    return Real(mp.mpf(x))


def lifted(function):
    """A function of mpmath's numbers on Reals; nan where there is a nan, or no value."""

    def on_reals(*args):
        numbers = [number(a) for a in args]
        if any(mp.isnan(a) for a in numbers):
            return Real(mp.nan)
        try:
            return real(function(*numbers))
        except ZeroDivisionError as error:
            raise NoValueError from error
        except (ValueError, TypeError, mp.libmp.NoConvergence):
            return Real(mp.nan)

    return on_reals


def strict(function):
    """As a function of Python's `math`: an error where it has no value."""

    def on_reals(*args):
        result = lifted(function)(*args)
        if mp.isnan(result.mpf):
            raise NoValueError
        return result

    return on_reals


def power(a, b):
    if a == 0 and b < 0:
        raise NoValueError
    return a ** int(b) if b == int(b) else a**b


def whole(rounding, a):
    """A rounded number; at a jump, or within rounding of it, there is nothing to compare."""
    jump = a + mp.mpf(0.5) if rounding is mp.nint else a
    if abs(jump - mp.nint(jump)) < mp.mpf(10) ** -20:
        raise NoValueError
    return rounding(a)


def floor(a):
    return whole(mp.floor, a)


def floor_mod(a, b):
    return a - b * floor(a / b)


def trunc(a):
    return mp.sign(a) * floor(abs(a))


def sign(a):
    if a == 0:
        raise NoValueError
    return mp.sign(a)


def nint(a):
    return whole(mp.nint, a)


def atan2(a, b):
    if a == 0 and b == 0:
        raise NoValueError
    return mp.atan2(a, b)


def fmod(a, b):
    return a - b * trunc(a / b)


def copysign(a, b):
    if b == 0:
        raise NoValueError
    return abs(a) * mp.sign(b)


def logaddexp(a, b):
    return mp.log(mp.exp(a) + mp.exp(b))


def erfinv(y):
    return within(y, -1, 1, mp.erfinv)


def inside(x, low, high, function):
    """The function where low <= x <= high."""
    return function(x) if low <= x <= high else mp.nan


def within(x, low, high, function):
    """As `inside`; there is nothing to compare at the bounds, which have no slope."""
    if x in (low, high):
        raise NoValueError
    return inside(x, low, high, function)


for name, function in {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "pow": power,
    "mod": floor_mod, "floordiv": lambda a, b: floor(a / b),
}.items():  # fmt: skip
    function = (strict if name == "pow" else lifted)(function)  # Python's power of a negative number is complex
    setattr(Real, f"__{name}__", lambda a, b, f=function: f(a, b))
    setattr(Real, f"__r{name}__", lambda a, b, f=function: f(b, a))
for name, function in {n: getattr(operator, n) for n in ("lt", "le", "gt", "ge", "eq", "ne")}.items():
    setattr(Real, f"__{name}__", lambda a, b, f=function: f(number(a), number(b)))

ELEMENTARY = {
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh,
    "asin": lambda x: within(x, -1, 1, mp.asin), "acos": lambda x: within(x, -1, 1, mp.acos), "atan": mp.atan,
    "asinh": mp.asinh, "acosh": lambda x: within(x, 1, mp.inf, mp.acosh),
    "atanh": lambda x: within(x, -1, 1, mp.atanh),
    "exp": mp.exp, "exp2": lambda x: mp.mpf(2) ** x, "expm1": mp.expm1, "log": mp.log, "log2": lambda x: mp.log(x, 2),
    "log10": mp.log10, "log1p": lambda x: inside(x, -1, mp.inf, lambda x: mp.log(1 + x)), "sqrt": mp.sqrt,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "fabs": abs, "floor": floor, "ceil": lambda a: whole(mp.ceil, a),
    "trunc": trunc,
    "degrees": lambda x: 180 * x / mp.pi, "radians": lambda x: mp.pi * x / 180, "hypot": mp.hypot, "fmod": fmod,
    "copysign": copysign,
}  # fmt: skip
SPECIAL = {
    "erf": mp.erf, "erfc": mp.erfc, "erfinv": erfinv, "gamma": mp.gamma, "gammaln": lambda x: mp.log(abs(mp.gamma(x))),
    "digamma": mp.digamma, "beta": mp.beta, "expit": lambda x: 1 / (1 + mp.exp(-x)),
    "betaln": lambda a, b: mp.log(abs(mp.beta(a, b))), "logit": lambda x: mp.log(x / (1 - x)),
    "log_expit": lambda x: -mp.log(1 + mp.exp(-x)), "entr": lambda x: inside(x, 0, mp.inf, lambda x: -x * mp.log(x)),
    "ndtr": mp.ncdf, "polygamma": lambda n, x: mp.polygamma(int(n), x), "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x), "iv": lambda n, x: mp.besseli(int(n), x), "xlogy": lambda x, y: x * mp.log(y),
    "xlog1py": lambda x, y: x * mp.log(1 + y),
    "rel_entr": lambda x, y: inside(x, 0, mp.inf, lambda x: x * mp.log(x / y)),
}  # fmt: skip
RENAMED = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
           "arctanh": "atanh", "absolute": "fabs", "fix": "trunc", "deg2rad": "radians",
           "rad2deg": "degrees"}  # fmt: skip
NUMPY = ELEMENTARY | {
    **{name: ELEMENTARY[other] for name, other in RENAMED.items()},
    "square": lambda x: x * x, "reciprocal": lambda x: 1 / x, "sign": sign, "rint": nint, "round": nint,
    "sinc": mp.sincpi, "i0": SPECIAL["i0"], "power": power, "float_power": power, "maximum": max, "minimum": min,
    "arctan2": atan2, "logaddexp": logaddexp, "mod": floor_mod, "remainder": floor_mod,
    "logaddexp2": lambda a, b: mp.log(mp.mpf(2) ** a + mp.mpf(2) ** b, 2), "floor_divide": lambda a, b: floor(a / b),
    "heaviside": lambda x, at: (1 + sign(x)) / 2, "positive": lambda x: x, "negative": lambda x: -x,
    "clip": lambda x, low, high: min(max(x, low), high), "ldexp": lambda x, n: x * 2 ** int(n),
}  # fmt: skip
MATH = ELEMENTARY | {
    "erf": mp.erf, "erfc": mp.erfc, "gamma": mp.gamma, "lgamma": SPECIAL["gammaln"], "pow": power, "atan2": atan2,
    "remainder": lambda a, b: a - b * nint(a / b), "fma": lambda a, b, c: a * b + c, "ldexp": NUMPY["ldexp"],
    "log": lambda x, *base: mp.log(x) / mp.log(*base) if base else mp.log(x), "hypot": lambda *a: mp.norm(a),
}  # fmt: skip


def larger(sign):
    """np.fmax and np.fmin: nan is left out."""

    def choose(a, b):
        numbers = [x for x in (number(a), number(b)) if not mp.isnan(x)]
        return real(sign * max(sign * x for x in numbers)) if numbers else Real(mp.nan)

    return choose


def select(conditions, choices, default=0):
    return next((c for condition, c in zip(conditions, choices, strict=True) if condition), default)


def modules():
    """`math`, `np` and `special` on Reals, and how a typed number is read."""
    with mp.workdps(3 * DIGITS):
        constants = {"pi": Real(+mp.pi), "e": Real(+mp.e), "nan": Real(mp.nan)}
    choosing = {"where": lambda condition, a, b: a if condition else b, "select": select,
                "fmax": larger(1), "fmin": larger(-1), "logical_and": lambda a, b: a and b,
                "logical_or": lambda a, b: a or b, "logical_not": lambda a: not a}  # fmt: skip
    return {
        "np": SimpleNamespace(**constants, **{n: lifted(f) for n, f in NUMPY.items()}, **choosing),
        "math": SimpleNamespace(**constants, prod=prod, fsum=sum, **{n: strict(f) for n, f in MATH.items()}),
        "special": SimpleNamespace(**{n: lifted(f) for n, f in SPECIAL.items()}),
        "Real": lambda text: Real(mp.mpf(text)),
    }


def prod(factors):
    result = Real(mp.mpf(1))
    for f in factors:
        result = result * f
    return result


class _Typed(ast.NodeTransformer):
    """Numbers as Reals of the decimals that were typed."""

    def visit_Constant(self, node):
        if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            text = ast.Constant(repr(node.value))
            return ast.copy_location(ast.Call(ast.Name("Real", ast.Load()), [text], []), node)
        return node


def plain(source):
    """The function `f` of a source text, from mpmath's numbers to mpmath's numbers."""
    tree = ast.fix_missing_locations(_Typed().visit(ast.parse(source)))
    code = compile(tree, "<plain function>", "exec")

    namespace = modules()
    exec(code, namespace)

    def function(*numbers):
        try:
            return number(namespace["f"](*(real(x) for x in numbers)))
        except (ZeroDivisionError, OverflowError) as error:
            raise NoValueError from error

    return function


def derivative(function, point, orders):
    """The difference quotient of some orders at a point; NoValueError where the function is no number around it, or
    the quotient depends on the last digits that a float has.
    """
    found = []
    with mp.workdps(DIGITS):
        for shift in (0, mp.mpf(10) ** -13):
            at = tuple(x * (1 + shift) + shift * 10**-3 for x in point)
            if not mp.isfinite(function(*at)) or not _has_all_digits(function, at):
                raise NoValueError
            found.append(mp.diff(function, at if len(at) > 1 else at[0], orders if len(at) > 1 else orders[0]))
    exact, near = found
    if not mp.isfinite(exact) or abs(exact - near) > mp.mpf(10) ** -9 * max(abs(exact), 1):
        raise NoValueError
    return exact


def _has_all_digits(function, at):
    """Whether the value is the same with many more digits: 1 - tanh(200) is no zero."""
    value = function(*at)
    with mp.workdps(MANY_DIGITS):
        precise = function(*at)
    return abs(value - precise) <= mp.mpf(10) ** -9 * abs(precise)
