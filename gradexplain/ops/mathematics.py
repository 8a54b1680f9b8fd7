"""Python's `math` module on nodes: `MATH` holds its differentiable functions by name, with their own signatures.

As in `math`, operands are numbers; an array is refused with the name of NumPy's function. What is not here is in
`UNSUPPORTED` with the reason.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from gradexplain.errors import ArgumentError
from gradexplain.graph import Node, Primitive, as_node
from gradexplain.ops import elementary, ordering, special
from gradexplain.ops.arithmetic import absolute, power
from gradexplain.ops.elementary import copysign, degrees, isfinite, isinf, isnan, ldexp, modf, radians
from gradexplain.ops.ordering import less_equal, logical_and, logical_or, maximum, rint


def log(x: Any, base: Any = None) -> Node:
    """The natural logarithm, or that to a base."""
    return elementary.log(x) if base is None else elementary.log(x) / elementary.log(base)


def hypot(*coordinates: Any) -> Node:
    """The length of a vector; its derivative at the origin is 0."""
    if len(coordinates) < 2:
        return absolute(coordinates[0]) if coordinates else as_node(0.0)
    return functools.reduce(elementary.hypot, map(as_node, coordinates))


def dist(p: Iterable[Any], q: Iterable[Any]) -> Node:
    """The distance of two points."""
    return hypot(*(as_node(a) - b for a, b in _pairs("dist", p, q)))


def sumprod(p: Iterable[Any], q: Iterable[Any]) -> Node:
    """The sum of the products of two sequences."""
    return fsum(as_node(a) * b for a, b in _pairs("sumprod", p, q))


def _pairs(function: str, p: Iterable[Any], q: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    first, second = list(p), list(q)
    if len(first) != len(second):
        raise ArgumentError(
            f"math.{function} takes two sequences of one length, not of {len(first)} and {len(second)} numbers",
            fix="shorten one of them",
        )
    return zip(first, second, strict=True)


def prod(iterable: Iterable[Any], *, start: Any = 1) -> Node:
    """The product of numbers."""
    product = as_node(start)
    for x in iterable:
        product = product * as_node(x)
    return product


def fsum(seq: Iterable[Any]) -> Node:
    """The sum of numbers."""
    total = as_node(0)
    for x in seq:
        total = total + as_node(x)
    return total


def fma(x: Any, y: Any, z: Any) -> Node:
    """x*y + z."""
    return as_node(x) * as_node(y) + as_node(z)


def remainder(x: Any, y: Any) -> Node:
    """The remainder of least size, x - n*y with the whole number n nearest to x/y."""
    return as_node(x) - as_node(y) * rint(as_node(x) / as_node(y))


def isclose(a: Any, b: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Node:
    """A condition: whether two numbers are close."""
    bound = maximum(rel_tol * maximum(absolute(a), absolute(b)), abs_tol)
    near = logical_and(less_equal(absolute(as_node(a) - b), bound), isfinite(as_node(a) - b))
    return logical_or(ordering.equal(a, b), near)


# fmt: off
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    # exponentials, logarithms, roots
    "exp": elementary.exp, "exp2": elementary.exp2, "expm1": elementary.expm1,
    "log": log, "log2": elementary.log2, "log10": elementary.log10, "log1p": elementary.log1p,
    "sqrt": elementary.sqrt, "cbrt": elementary.cbrt, "pow": power, "ldexp": ldexp,
    # angles
    "sin": elementary.sin, "cos": elementary.cos, "tan": elementary.tan, "degrees": degrees, "radians": radians,
    "asin": elementary.arcsin, "acos": elementary.arccos, "atan": elementary.arctan, "atan2": elementary.arctan2,
    # hyperbolic functions
    "sinh": elementary.sinh, "cosh": elementary.cosh, "tanh": elementary.tanh,
    "asinh": elementary.arcsinh, "acosh": elementary.arccosh, "atanh": elementary.arctanh,
    # special functions
    "erf": special.erf, "erfc": special.erfc, "gamma": special.gamma, "lgamma": special.lgamma,
    # several numbers
    "hypot": hypot, "fma": fma,
    # rounding, signs, remainders
    "fabs": absolute, "copysign": copysign, "floor": ordering.floor, "ceil": ordering.ceil, "trunc": ordering.trunc,
    "fmod": ordering.fmod, "remainder": remainder, "modf": modf,
    # conditions
    "isnan": isnan, "isinf": isinf, "isfinite": isfinite, "isclose": isclose,
}
_OF_SEQUENCES: dict[str, Callable[..., Any]] = {"dist": dist, "prod": prod, "fsum": fsum, "sumprod": sumprod}

UNSUPPORTED: dict[str, str] = {
    "comb": "it counts, for whole numbers only", "factorial": "it counts, for whole numbers only: take math.gamma(x + 1)",
    "perm": "it counts, for whole numbers only", "gcd": "it divides whole numbers", "lcm": "it divides whole numbers",
    "isqrt": "it is the root of a whole number, rounded: take math.sqrt",
    "frexp": "its exponent is a whole number that jumps", "nextafter": "it steps to a neighbouring float",
    "ulp": "it is the distance to a neighbouring float",
}
# fmt: on


def _of_numbers(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, refusing arrays as `math` does; rows are applied as they stand."""
    apply = function.record if isinstance(function, Primitive) else function

    @functools.wraps(apply)
    def checked(*args: Any, **named: Any) -> Any:
        for x in args:
            if isinstance(x, (list, tuple)) or (isinstance(x, Node) and x.shape != ()):
                shape = x.shape if isinstance(x, Node) else (len(x),)
                raise ArgumentError(
                    f"math.{name} takes numbers, not an array of shape {shape}",
                    why="Python's math module knows no arrays",
                    fix="use NumPy's function, for instance np.sqrt(x) for math.sqrt(x)",
                )
        return apply(*args, **named)

    return checked


MATH: dict[str, Callable[..., Any]] = {name: _of_numbers(name, f) for name, f in _FUNCTIONS.items()} | _OF_SEQUENCES
