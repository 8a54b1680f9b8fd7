"""Kinks are stated without a point, where slopes say that there are any."""

from __future__ import annotations

import numpy as np
import pytest

import gradexplain as gx


def two_sides(x):
    return x**2 if x > 1 else 2 * x - 1


def corner(x):
    if x > 1:
        return 3 * x
    return x + 2


def step(x):
    return 1 + x if x > 2 else x


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (abs, ["not differentiable at x = 0: slopes -1 and 1, 0 is taken"]),
        (lambda x: np.abs(2 * x - 1), ["not differentiable at x = 1/2: slopes -2 and 2, 0 is taken"]),
        (lambda x: x * abs(x), []),
        (lambda x: abs(abs(x) - 1), ["not differentiable at x = -1: slopes -1 and 1, 0 is taken",
                                     "not differentiable at x = 0: slopes 1 and -1, 0 is taken",
                                     "not differentiable at x = 1: slopes -1 and 1, 0 is taken"]),
        (lambda x: np.maximum(x, 0), ["not differentiable at x = 0: slopes 0 and 1, 0 is taken"]),
        (lambda x: np.maximum(x, 0) ** 2, []),
        (lambda x: np.minimum(x, 1 - x), ["not differentiable at x = 1/2: slopes 1 and -1, 0 is taken"]),
        (lambda x: max(x, x**2), ["not differentiable at x = 0: slopes 0 and 1, 1 is taken",
                                  "not differentiable at x = 1: slopes 1 and 2, 1 is taken"]),
        (lambda x: np.clip(x, -1, 2), ["not differentiable at x = -1: slopes 0 and 1, 0 is taken",
                                       "not differentiable at x = 2: slopes 1 and 0, 0 is taken"]),
        (lambda x: np.sign(x), ["jumps at x = 0: there is no slope"]),
        (lambda x: np.heaviside(x, 0.5), ["jumps at x = 0: there is no slope"]),
        (two_sides, []),
        (corner, ["not differentiable at x = 1: slopes 1 and 3, 1 is taken"]),
        (step, ["jumps at x = 2: there is no slope"]),
        (lambda x: np.where(x > 0, x**2, -x), ["not differentiable at x = 0: slopes -1 and 0, -1 is taken"]),
        (lambda x: np.select([x < 0, x < 1], [-x, x**2], 2 * x - 1),
         ["not differentiable at x = 0: slopes -1 and 0, 0 is taken"]),
        (lambda x: np.floor(x) * x, ["floor(x) jumps at the integers"]),
        (lambda x: x % 2, ["x%2 jumps where a/b is an integer"]),
        (lambda x: np.sin(x), []),
        (lambda x, y: abs(x * y), []),
    ],
)  # fmt: skip
def test_kinks_of_a_function(function, expected):
    e = gx.explain(function)
    found = [f.text for f in e.why().data if f.kind == "kink"]
    assert found == expected
    assert all(text in e.to_text(width=200) for text in expected)
