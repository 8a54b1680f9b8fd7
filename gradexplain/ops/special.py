"""Rows for special functions: error functions, the gamma family, logistic functions, log-sum-exp, sinc, Bessel.

SciPy computes the values of arrays if it is installed; without it they are computed entry by entry by `math` or mpmath.
Nothing here imports SciPy before a value is needed. `SPECIAL` holds the functions of `scipy.special` on nodes by name,
`SCIPY` is what the name `scipy` stands for in generated programs.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np

from gradexplain.errors import ArgumentError, NoRuleError
from gradexplain.graph import Domain, Node, Primitive, as_node, is_scalar_constant, operators
from gradexplain.ops.arithmetic import POSITIVE, xlogy
from gradexplain.ops.elementary import ABOVE_MINUS_ONE, UNIT, cbrt, exp, exp2, expm1, log, log1p, logaddexp
from gradexplain.ops.reductions import REDUCTION_SAMPLES, spread, sum_over
from gradexplain.primitive import POSTFIX, PRODUCT, SUM, Code, call, elementwise, general, numpy_function
from gradexplain.shapes import Axes, Shape, broadcast, normal_axes, reduced

_FAR_LEFT = -1000
ROOT_PI = math.sqrt(math.pi)


# Values


@functools.cache
def _scipy_special() -> Any:
    return importlib.import_module("scipy.special") if importlib.util.find_spec("scipy") else None


@functools.cache
def _mpmath() -> Any:
    """A context of our own, so that no other thread sees its precision change."""
    context = mpmath.mp.clone()
    context.prec = 60
    return context


# What `scipy.special.<name>` is in generated programs: it works without SciPy too.
_VALUES: dict[str, Callable[..., Any]] = {}


def _entrywise(name: str, scalar: Callable[..., Any] | None = None, at_pole: float = math.nan) -> Callable[..., Any]:
    """SciPy's function. Single numbers go to `math` if it has the function; without SciPy every entry goes there, or to mpmath."""

    def number(*xs: Any) -> float:
        function = scalar or getattr(_mpmath(), name)
        try:
            result = function(*map(float, xs))
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan if any(map(math.isnan, map(float, xs))) else at_pole
        return math.nan if hasattr(result, "_mpc_") else float(result)

    def value(*xs: Any) -> Any:
        if scalar is not None and all(np.ndim(x) == 0 for x in xs):
            return np.float64(number(*xs))
        special = _scipy_special()
        return getattr(special, name)(*xs) if special else np.vectorize(number, otypes=[float])(*xs)[()]

    _VALUES[name] = value
    return value


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _expit(x: Any) -> Any:
    return 1 / (1 + np.exp(np.negative(x)))


def _expit_text(x: Code) -> Code:
    return Code(f"1/(1 + np.exp(-{x.at(PRODUCT)}))", PRODUCT)


def _xlog1py(x: Any, y: Any) -> Any:
    return np.where(np.equal(x, 0), 0.0, x * np.log1p(np.where(np.equal(x, 0), 1.0, y)))[()]


def _xlog1py_text(x: Code, y: Code) -> Code:
    return Code(f"np.where({x.at(SUM)} == 0, 0.0, {x.at(PRODUCT)}*np.log1p(np.where({x.at(SUM)} == 0, 1.0, {y})))")


def _rel_entr(x: float, y: float) -> float:
    """Infinite where x or y is negative, though the quotient of two negative numbers has a logarithm."""
    return x * math.log(x / y) if x > 0 and y > 0 else 0.0 if x == 0 and y >= 0 else math.inf


def _exact_rel_entr(mp: Any, x: Any, y: Any) -> Any:
    return x * mp.log(x / y) if x > 0 and y > 0 else mp.mpf(0) if x == 0 and y >= 0 else mp.inf


def exact_polygamma(mp: Any, n: Any, x: Any) -> Any:
    """Far to the left by reflection (DLMF 5.15.6): mpmath would take a step for each of the poles on the way."""
    if x > _FAR_LEFT or not n:
        return mp.polygamma(n, x)
    return -mp.pi * mp.diff(lambda t: mp.cot(mp.pi * t), x, int(n)) + (-1) ** int(n) * mp.polygamma(n, 1 - x)


def _polygamma(n: Any, x: Any) -> Any:
    """SciPy's, but for the far left, where it takes a step for each pole, too."""
    far = np.isfinite(x) & (x < _FAR_LEFT)
    near = _NEAR_POLYGAMMA(n, np.where(far, 1.0, x))
    return np.where(far, _FAR_POLYGAMMA(n, np.where(far, x, -0.5)), near)[()] if np.any(far) else near


def _far_polygamma(n: float, x: float) -> float:
    return math.nan if float(x).is_integer() else float(exact_polygamma(_mpmath(), int(n), _mpmath().mpf(float(x))))


_FAR_POLYGAMMA = np.vectorize(_far_polygamma, otypes=[float])
_NEAR_POLYGAMMA = _entrywise("polygamma")


# The error functions and the gamma family

ANY_ORDER = Domain(1, 1, "n = 0, 1, 2, …")
erfc: Primitive
digamma: Primitive
polygamma: Primitive
expit: Primitive

# fmt: off
erf    = elementwise("erf",    _entrywise("erf",    math.erf),  "erf",  lambda y, x: 2 * exp(-(x**2)) / ROOT_PI,    rule="error function rule", math="erf", numpy=call("scipy.special.erf"))
erfc   = elementwise("erfc",   _entrywise("erfc",   math.erfc), "erfc", lambda y, x: -(2 * exp(-(x**2)) / ROOT_PI), rule="error function rule", math="erfc", numpy=call("scipy.special.erfc"))
erfinv = elementwise("erfinv", _entrywise("erfinv"), "erfinv", lambda y, x: ROOT_PI * exp(y**2) / 2, rule="inverse error function rule",
                     domain=UNIT, numpy=call("scipy.special.erfinv"))

gamma     = elementwise("gamma",  _entrywise("gamma", math.gamma),     "gamma", lambda y, x: y * digamma(x), rule="gamma rule", math="gamma", domain=POSITIVE, numpy=call("scipy.special.gamma"))
lgamma    = elementwise("lgamma", _entrywise("gammaln", math.lgamma, math.inf),  "loggamma", lambda y, x: digamma(x),  rule="log-gamma rule", math="lgamma", domain=POSITIVE, numpy=call("scipy.special.gammaln"),
                        exact=lambda mp, x: mp.re(mp.loggamma(x)))
digamma   = elementwise("digamma", _entrywise("digamma"), "digamma", lambda y, x: polygamma(1, x), rule="polygamma rule", domain=POSITIVE, numpy=call("scipy.special.digamma"))
polygamma = elementwise("polygamma", _polygamma, "polygamma", None, lambda y, n, x: polygamma(n + 1, x), rule="polygamma rule",
                        exact=exact_polygamma, domain=(ANY_ORDER, POSITIVE), numpy=call("scipy.special.polygamma"))
beta      = elementwise("beta", _entrywise("beta"), "beta", lambda y, a, b: y * (digamma(a) - digamma(a + b)), lambda y, a, b: y * (digamma(b) - digamma(a + b)),
                        rule="beta rule", domain=POSITIVE, numpy=call("scipy.special.beta"))
betaln    = elementwise("betaln", _entrywise("betaln", _log_beta), lambda sp, a, b: sp.log(sp.Abs(sp.beta(a, b))), lambda y, a, b: digamma(a) - digamma(a + b), lambda y, a, b: digamma(b) - digamma(a + b),
                        exact=lambda mp, a, b: mp.log(mp.fabs(mp.beta(a, b))), rule="beta rule", domain=POSITIVE, numpy=call("scipy.special.betaln"))

# The slope of the logistic function is y*(1 - y); written so, it does not cancel for large x.
expit     = elementwise("expit", _expit, lambda sp, x: 1 / (1 + sp.exp(-x)), lambda y, x: y * expit(-x), rule="logistic rule",
                        exact=lambda mp, x: 1 / (1 + mp.exp(-x)), numpy=_expit_text)
xlog1py   = elementwise("xlog1py", _xlog1py, lambda sp, x, y: x * sp.log(1 + y), lambda z, x, y: log1p(y), lambda z, x, y: x / (1 + y), rule="product rule",
                        exact=lambda mp, x, y: mp.mpf(0) if x == 0 else x * mp.log1p(y), domain=(Domain(), ABOVE_MINUS_ONE), numpy=_xlog1py_text)
rel_entr  = elementwise("rel_entr", _entrywise("rel_entr", _rel_entr), lambda sp, x, y: x * sp.log(x / y), lambda z, x, y: log(x / y) + 1, lambda z, x, y: -x / y, rule="product rule",
                        exact=_exact_rel_entr, domain=POSITIVE, numpy=call("scipy.special.rel_entr"))
# fmt: on


def logit(p: Any) -> Node:
    """log(p/(1 - p)), the inverse of the logistic function."""
    return log(p / (1 - as_node(p)))


operators.update(expit=expit)  # the slopes of logaddexp, whose row comes first


def log_expit(x: Any) -> Node:
    """The logarithm of the logistic function."""
    return -logaddexp(0, -as_node(x))


def entr(x: Any) -> Node:
    """-x*log(x), for x >= 0."""
    return -xlogy(x, x)


def kl_div(x: Any, y: Any) -> Node:
    """x*log(x/y) - x + y, for x >= 0 and y > 0."""
    return rel_entr(x, y) - as_node(x) + as_node(y)


def ndtr(x: Any) -> Node:
    """The distribution function of the standard normal distribution."""
    return erfc(-as_node(x) / math.sqrt(2)) / 2


SCIPY = SimpleNamespace(special=SimpleNamespace(**_VALUES))


# Log-sum-exp and softmax


def _logsumexp(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    reduce: Any = np.logaddexp.reduce
    for a in reversed(axis):
        x = reduce(x, axis=a, keepdims=keepdims)
    return x


def _logsumexp_exact(mp: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    sums = np.sum(np.frompyfunc(mp.exp, 1, 1)(x), axis=axis, keepdims=keepdims)
    return np.frompyfunc(mp.log, 1, 1)(sums)


def _logsumexp_text(x: Code, *, axis: Axes, keepdims: bool) -> Code:
    for a in reversed(axis):
        x = Code(f"np.logaddexp.reduce({x}, axis={a}{', keepdims=True' if keepdims else ''})", POSTFIX)
    return x


def _logsumexp_shape(x: Shape, *, axis: Axes, keepdims: bool) -> Shape:
    return reduced(x, axis, keepdims)


def _logsumexp_pullback(g: Node, y: Node, x: Node, *, axis: Axes, keepdims: bool) -> Node:
    return spread(g, x, axis, keepdims) * exp(x - spread(y, x, axis, keepdims))


log_sum_exp = general(
    "logsumexp",
    _logsumexp,
    _logsumexp_shape,
    _logsumexp_pullback,
    rule="log-sum-exp rule",
    numpy=_logsumexp_text,
    exact=_logsumexp_exact,
    fold=lambda x, *, axis, keepdims: None if axis else x,
    samples=REDUCTION_SAMPLES,
)


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Node:
    """`scipy.special.logsumexp`: the logarithm of the sum of (weighted) exponentials."""
    if return_sign:
        raise NoRuleError(
            "logsumexp with return_sign=True has no derivative rule",
            why="the sign is a second result, which jumps",
            fix="leave return_sign out, or write np.log(np.abs(np.sum(b*np.exp(a))))",
        )
    x = as_node(a)
    if b is None:
        return log_sum_exp(x, axis=normal_axes(axis, x.ndim), keepdims=bool(keepdims))
    x = operators["broadcast_to"](x, broadcast(x.shape, as_node(b).shape))
    axes = normal_axes(axis, x.ndim)
    whole = log_sum_exp(x, axis=axes, keepdims=True)
    weighted = sum_over(as_node(b) * exp(x - spread(whole, x, axes, True)), axis=axes, keepdims=bool(keepdims))
    return log(weighted) + log_sum_exp(x, axis=axes, keepdims=bool(keepdims))


def log_softmax(x: Any, axis: Any = None) -> Node:
    """`scipy.special.log_softmax`: x less the log-sum-exp of x."""
    node = as_node(x)
    return node - log_sum_exp(node, axis=normal_axes(axis, node.ndim), keepdims=True)


def softmax(x: Any, axis: Any = None) -> Node:
    """`scipy.special.softmax`: exponentials that add up to 1."""
    return exp(log_softmax(x, axis))


# sinc and its derivatives: with u = pi*x the n-th one is pi**n times the integral of t**n * cos(u*t + n*pi/2) from 0 to 1.
# Near 0 it is computed from its power series, elsewhere from u*f[n] + n*f[n-1] = sin(u + n*pi/2) (by Leibniz' rule), which
# would cancel near 0.

_SERIES_BELOW = 0.5  # in x
_TERMS = 12
_WAVES = ("np.sin", "np.cos", "-np.sin", "-np.cos")  # the n-th derivative of the sine


def _sinc_series(order: int) -> list[float]:
    """The coefficients of x**odd times a polynomial in x**2, highest first (as np.polyval takes them)."""
    first = (order + 1) // 2
    powers = [2 * k - order for k in range(first, first + _TERMS)]
    return [
        (-1) ** ((p + order) // 2) * math.pi ** (p + order) / (math.factorial(p) * (p + order + 1))
        for p in reversed(powers)
    ]


def _whole_order(n: Any, function: str) -> int:
    order = np.asarray(n)
    if order.ndim or order != np.floor(order) or order < 0:
        what = f"the order of {function} must be a whole number from 0, not {n}"
        raise ArgumentError(what, fix="call it once for every order")
    return int(order)


def _sinc_derivative(n: Any, x: Any) -> Any:
    order, x = _whole_order(n, "a derivative of sinc"), np.asarray(x, dtype=float)
    near = 0.0 + x ** (order % 2) * np.polyval(_sinc_series(order), x**2)  # 0.0 +: not -0.0
    away = np.where(np.abs(x) < _SERIES_BELOW, 1.0, x)
    far = np.sinc(away)
    for k in range(1, order + 1):
        wave = (np.sin, np.cos)[k % 2](np.pi * away) * (-1) ** (k // 2)
        far = (np.pi ** (k - 1) * wave - k * far) / away
    return np.where(np.abs(x) < _SERIES_BELOW, near, far)[()]


def _sinc_derivative_text(n: Code, x: Code) -> Code:
    order, x1 = int(float(n)), x.at(PRODUCT + 1)
    series = f"0.0 + {x1}*" * (order % 2) + f"np.polyval({_sinc_series(order)}, {x.at(POSTFIX)}**2)"
    far, away = f"np.sinc({x})", f"np.where(np.abs({x}) < {_SERIES_BELOW}, 1.0, {x})"  # never divides by 0
    for k in range(1, order + 1):
        wave = f"{_WAVES[k % 4]}(np.pi*{x1})"
        scaled = {1: wave, 2: f"np.pi*{wave}"}.get(k, f"np.pi**{k - 1}*{wave}")
        far = f"({scaled} - {'' if k == 1 else f'{k}*'}{far})/{away}"
    return Code(f"np.where(np.abs({x}) < {_SERIES_BELOW}, {series}, {far})")


def _sinc_derivative_exact(mp: Any, n: Any, x: Any) -> Any:
    order, u = int(n), mp.pi * x
    if abs(u) < 40:
        with mp.extradps(20 + int(abs(u))):
            terms = (_sinc_term(mp, order, p, u) for p in range(order % 2, mp.mp.dps + 4 * int(abs(u)), 2))
            return mp.pi**order * sum(terms)
    value = mp.sin(u) / u
    for k in range(1, order + 1):
        value = (mp.sin(u + k * mp.pi / 2) - k * value) / u
    return mp.pi**order * value


def _sinc_term(mp: Any, order: int, power: int, u: Any) -> Any:
    return (-1) ** ((power + order) // 2) * u**power / (mp.factorial(power) * (power + order + 1))


def _sinc_derivative_symbol(sp: Any, n: Any, x: Any) -> Any:
    u = sp.Dummy("u", real=True)
    with sp.evaluate(True):  # it differentiates: what it is asked for is the derivative, not how to get there
        derivative = sp.diff(sp.sin(sp.pi * u) / (sp.pi * u), u, int(n))
    return derivative.subs(u, x)


# The modified Bessel functions I_n: the mean of exp(x*cos(t))*cos(n*t) over a period, here over 256 equidistant points,
# which is exact to rounding for |x| < 700, where they overflow (Trefethen & Weideman 2014). Half of the exponential has
# the wrong parity and is left out, so that nothing cancels near 0 for n = 1.


def _besseli(n: Any, x: Any) -> Any:
    order = _whole_order(n, "a Bessel function")
    angle = np.arange(256) * np.pi / 128
    half = np.sinh if order % 2 else np.cosh
    return half(np.multiply.outer(x, np.cos(angle))) @ np.cos(order * angle) / 256


def _besseli_text(n: Code, x: Code) -> Code:
    order, angle = int(float(n)), "np.arange(256)*np.pi/128"
    half = "np.sinh" if order % 2 else "np.cosh"
    turn = angle if order == 1 else f"{order}*{angle}"
    return Code(f"{half}(np.multiply.outer({x}, np.cos({angle}))) @ np.cos({turn})/256", PRODUCT)


def _fold_besseli(n: Node, x: Node) -> Node | None:
    if is_scalar_constant(n, 0):
        return i0(x)
    return besseli(1, x) if is_scalar_constant(n, -1) else None


besseli: Primitive
sinc_derivative: Primitive

# fmt: off
sinc = elementwise("sinc", np.sinc, lambda sp, x: sp.sin(sp.pi * x) / (sp.pi * x), lambda y, x: sinc_derivative(1, x), rule="quotient rule",
                   exact="sincpi", kinks="x = 0: continued by 1")
sinc_derivative = elementwise("sinc_derivative", _sinc_derivative, _sinc_derivative_symbol, None, lambda y, n, x: sinc_derivative(n + 1, x), rule="quotient rule",
                              exact=_sinc_derivative_exact, numpy=_sinc_derivative_text, domain=(ANY_ORDER, Domain()), kinks="x = 0: continued by the limit")
i0 = elementwise("i0", np.i0, lambda sp, x: sp.besseli(0, x), lambda y, x: besseli(1, x), rule="Bessel rule",
                 exact=lambda mp, x: mp.besseli(0, x))
besseli = elementwise("besseli", _besseli, "besseli", None, lambda y, n, x: (besseli(n - 1, x) + besseli(n + 1, x)) / 2, rule="Bessel rule",
                      numpy=_besseli_text, fold=_fold_besseli, domain=(ANY_ORDER, Domain()))
# fmt: on

numpy_function(np.sinc)(sinc)
numpy_function(np.i0)(i0)

# fmt: off
SPECIAL: dict[str, Callable[..., Any]] = {
    "erf": erf, "erfc": erfc, "erfinv": erfinv,
    "gamma": gamma, "gammaln": lgamma, "loggamma": lgamma, "digamma": digamma, "psi": digamma, "polygamma": polygamma,
    "beta": beta, "betaln": betaln, "expit": expit, "logit": logit, "log_expit": log_expit,
    "xlogy": xlogy, "xlog1py": xlog1py, "entr": entr, "rel_entr": rel_entr, "kl_div": kl_div, "ndtr": ndtr,
    "logsumexp": logsumexp, "log_softmax": log_softmax, "softmax": softmax,
    "i0": i0, "i1": lambda x: besseli(1, x), "iv": besseli, "sinc": sinc,
    "cbrt": cbrt, "exp2": exp2, "expm1": expm1, "log1p": log1p,
}
# fmt: on
