"""Functions for the tests of explanations, and how to trace them."""

import math

import numpy as np

from gradexplain.trace.run import Program, explore, trace
from gradexplain.trace.signature import bind


def traced(function, *args, symbolic=False, **kwargs) -> Program:
    program = trace(function, bind(function, args, kwargs, symbolic=symbolic))
    return explore(program) if symbolic and program.conditions else program


def product(x):
    return x**2 * np.sin(x)


def quotient(x):
    return x**2 * np.sin(3 * x) / (1 + x**2)


def self_power(x):
    return x**x


def sigmoid(x):
    s = 1 / (1 + np.exp(-x))
    return s * (1 - s)


def squares(x):
    y = x
    for _ in range(3):
        y = y * y
    return y


def branches(x):
    if x > 0.5:
        return x**2 * np.exp(x)
    return np.sin(-x)


def cdf(z):
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


def black_scholes(S, K=100.0, r=0.05, sigma=0.2, T=1.0):
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    price = S * cdf(d1) - K * math.exp(-r * T) * cdf(d2)
    return price  # noqa: RET504 (the name is what is tested)


def nest(x, depth=300):
    for _ in range(depth):
        x = np.sin(x)
    return x


def chain(x, length=500):
    y = x
    for _ in range(length):
        y = np.tanh(y) * 1.1 + x
    return y


def layer(A, B):
    return np.sin(A) @ B


def mean_square(X, w, t):
    return np.mean((X @ w - t) ** 2)


SCALAR = (
    product, quotient, self_power, sigmoid, squares, branches,
    lambda x: x,
    lambda x: x * x,
    lambda x: 3 * x - 7,
    lambda x: -x,
    lambda x: 4.0,
    lambda x: x**2,
    lambda x: x**-2,
    lambda x: (2 * x + 1) ** 3,
    lambda x: (x**2 + 1) ** 0.5,
    lambda x: 2**x,
    lambda x: 2 ** (x**2),
    lambda x: 1 / x,
    lambda x: 5 / (x**2 + 1),
    lambda x: (x + 1) / 3,
    lambda x: x * x * x * np.exp(x),
    lambda x: x * (np.sin(x) * np.cos(x)) * 2,
    lambda x: np.sin(x) - x * np.cos(x) + np.exp(-(x**2)) - 1,
    lambda x: np.sin(x) ** np.cos(x),
    lambda x: np.exp(np.sin(np.log(x))),
    lambda x: np.sqrt(x) * np.sqrt(x),
    lambda x: np.tanh(x) + np.arctan(x) + np.log1p(x),
    lambda x: np.hypot(x, x**2),
    lambda x: np.arctan2(np.sin(x), x),
    lambda x: abs(np.sin(x)) * x,
    lambda x: np.maximum(x, x**2),
    lambda x: np.where(x > 1, x**2, np.where(x > 0.8, x * 3, 1 / x)),
    lambda x: np.logaddexp(x, 2 * x),
    lambda x: math.erf(x) / math.gamma(x),
    lambda x: np.floor(x) * x,
    lambda x: x / (1 + x / (1 + x / (1 + x))),
    lambda x: nest(x, 12),
    lambda x: chain(x, 6),
    lambda x: np.exp(x) / (np.exp(x) + np.exp(2 * x) + np.exp(x * x)),
)  # fmt: skip
