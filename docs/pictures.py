"""The pictures of the documentation: draws them into docs/pictures.

`python docs/pictures.py` brings them up to date after the looks have changed; a test compares them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import gradexplain as gx
from gradexplain.render.pictures.picture import Picture

FOLDER = Path(__file__).parent / "pictures"


def f(x):
    """The function of the page."""
    u = x**2
    v = np.sin(x)
    return u * v


def network(W, b, c, x):
    """A layer of two neurons, and a linear one."""
    h = np.tanh(W @ x + b)
    return c @ h


def rosenbrock(x, y):
    """A curved valley, wider than the usual one."""
    return (1 - x) ** 2 + 5 * (y - x**2) ** 2


def pictures() -> dict[str, Picture]:
    """Every picture by the name of its file."""
    e = gx.explain(f, x=3.0)
    W, b, c = np.array([[1.0, -1.0], [0.5, 2.0]]), np.zeros(2), np.array([1.0, -2.0])
    return {
        "graph.svg": e.picture(),
        "network.svg": gx.explain(network, W=W, b=b, c=c, x=np.array([0.5, 0.25]), wrt=["W", "b", "c"]).picture(),
        "tangent.svg": e.plot(secants=(2.0, 1.0)),
        "error.svg": e.error_plot(),
        "descent.svg": gx.descent(rosenbrock, (-1.0, 1.0), rate=0.04, steps=60),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        picture.save(FOLDER / name)
