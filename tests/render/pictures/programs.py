"""Functions to draw, from one line to a network of two layers, and one thousand operations."""

import numpy as np

import gradexplain as gx


def square(x):
    return x**2


def sketch(x):
    u = x**2
    v = np.sin(x)
    return u * v


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def squares(x):
    return x * x


def density(x, mu, sigma):
    z = (x - mu) / sigma
    return np.exp(-(z**2) / 2) / (sigma * np.sqrt(2 * np.pi))


def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def newton(a):
    x = 1.0
    for _ in range(5):
        x = (x + a / x) / 2
    return x


def least_squares(w, X, y):
    r = X @ w - y
    return np.mean(r**2)


def network(W1, b1, W2, b2, X, y):
    H = np.tanh(X @ W1 + b1)
    p = 1 / (1 + np.exp(-(H @ W2 + b2)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def swing(s):
    t = np.sin(s)
    return t * 0.5


def thousand(x):
    s = x
    for _ in range(330):
        t = swing(s)
        s = s + t
    return s


def gated(x, flag):
    return np.where(x > flag, x, x / 2)


def explained():
    """An explanation of each, by name."""
    draw = np.random.default_rng(0).normal
    X, y = draw(size=(5, 3)), np.array([0.0, 1.0, 0.0, 1.0, 1.0])
    weights = {"W1": draw(size=(3, 4)), "b1": np.zeros(4), "W2": draw(size=4), "b2": 0.1}
    return {
        "square": gx.explain(square, x=3.0),
        "sketch": gx.explain(sketch, x=3.0),
        "symbols": gx.explain(sketch),
        "sigmoid": gx.explain(sigmoid, x=0.5),
        "squares": gx.explain(squares, x=3.0),
        "density": gx.explain(density, x=1.0, mu=0.0, sigma=2.0),
        "rosenbrock": gx.explain(rosenbrock, x=-1.0, y=1.0),
        "newton": gx.explain(newton, a=2.0),
        "gated": gx.explain(gated, x=2.0, flag=1.0, wrt="x"),
        "unused": gx.explain(lambda x, y: x**2, x=3.0, y=2.0),
        "formula": gx.explain("x**2 * sin(x)"),
        "least squares": gx.explain(least_squares, w=np.zeros(2), X=draw(size=(3, 2)), y=np.ones(3), wrt="w"),
        "shapes": gx.explain(least_squares, w=(2,), X=(3, 2), y=(3,), wrt="w"),
        "network": gx.explain(network, **weights, X=X, y=y, wrt=list(weights)),
    }
