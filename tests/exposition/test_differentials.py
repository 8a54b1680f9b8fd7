"""Derivations by differentials: every line is compared with differences of the function along a direction."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.exposition.model import Differentials, Sweep
from gradexplain.simplify.tensor import differentials as lines_of


def least_squares(X, w, y):
    r = X @ w - y
    return np.mean(r**2)


def logistic(X, w, y):
    z = X @ w
    p = 1 / (1 + np.exp(-z))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def network(X, W1, W2, Y):
    H = np.tanh(X @ W1)
    E = H @ W2 - Y
    return np.sum(E**2) / len(X)


def trace_of_inverse(A, B):
    C = np.linalg.inv(A)
    return np.trace(C @ B)


def one_line(X, w):
    return np.sum((X @ w) ** 2) / X.shape[0]


def scale(a, X):
    S = a * X
    return np.sum(np.exp(S))


def named_twice(X, w):
    z = X @ w
    z = z * z
    return np.mean(z)


PROGRAMS = [
    (least_squares, {"X": "m n", "w": "n", "y": "m"}),
    (logistic, {"X": "m n", "w": "n", "y": "m"}),
    (network, {"X": "m n", "W1": "n k", "W2": "k c", "Y": "m c"}),
    (trace_of_inverse, {"A": "n n", "B": "n n"}),
    (one_line, {"X": "m n", "w": "n"}),
    (scale, {"a": 1.5, "X": "m n"}),
    (named_twice, {"X": "m n", "w": "n"}),
]
CASES = [pytest.param(f, given, v, id=f"{f.__name__}-{v}") for f, given in PROGRAMS for v in given]
OTHER_SIZES = {"m": 7, "n": 4, "k": 3, "c": 2}  # the letters must be right at sizes that were not traced


def at(given, rng):
    """A point for a signature."""
    shapes = {n: () if isinstance(s, float) else tuple(OTHER_SIZES[c] for c in s.split()) for n, s in given.items()}
    return {n: rng.uniform(0.2, 0.9, s) + (2 * np.eye(*s) if n in "AB" and s else 0) for n, s in shapes.items()}


def run(lines, point):
    """The names of a derivation with their values."""
    env = dict(point)
    for x in lines:
        env |= {n: eval(t, {"np": np}, env) for n, t, *_ in x.value.parts}
        env[x.name] = eval(x.value.numpy, {"np": np}, env)
    return env


@pytest.mark.parametrize(("function", "given", "variable"), CASES)
def test_every_line_agrees_with_differences(function, given, variable):
    record = gx.explain(function, **given).derivation(variable).data
    assert isinstance(record, Differentials)
    rng = np.random.default_rng(3)
    point = at(given, rng)
    direction, h = rng.uniform(-1, 1, point[variable].shape), 1e-6
    here, ahead, behind = (
        run(record.lines, point | {variable: point[variable] + k * h * direction}) for k in (0, 1, -1)
    )
    assert np.isclose(here[record.output], function(**point))
    changes = {f"d{n}": (ahead[n] - behind[n]) / (2 * h) for n in here}
    moving = [x for x in record.lines if x.differential is not None]
    assert moving[-1].name == record.output
    for x in moving:
        found = eval(x.differential.numpy, {"np": np}, here | changes)
        assert np.allclose(found, changes[f"d{x.name}"], rtol=1e-6, atol=1e-7), x.differential.text
    form, env = record.result, dict(point)
    for name, text in form.where_numpy.items():
        env[name] = eval(text, {"np": np}, env)
    assert np.isclose(np.sum(eval(form.numpy, {"np": np}, env) * direction), changes[f"d{record.output}"], rtol=1e-6)


def test_least_squares_as_it_is_read():
    text = str(gx.explain(least_squares, X="m n", w="n", y="m").derivation("w"))
    assert "w varies; X and y are held constant." in text
    lines = [" ".join(row.split()) for row in text.splitlines()]
    assert "dr = X @ dw" in lines
    assert "dleast_squares = 2*(dr @ r)/m" in lines


def test_what_does_not_vary_is_defined_but_has_no_line():
    record = gx.explain(network, X="m n", W1="n k", W2="k c", Y="m c").derivation("W2").data
    assert [(x.name, x.differential is not None) for x in record.lines] == [("H", False), ("E", True), ("y", True)]


def test_a_line_that_fails_its_check_is_not_shown(monkeypatch):
    monkeypatch.setattr(lines_of, "agree", lambda *_: False)
    e = gx.explain(least_squares, X="m n", w="n", y="m")
    assert isinstance(e.derivation("w").data, Sweep)


def test_the_reverse_sweep_stays():
    e = gx.explain(least_squares, X="m n", w="n", y="m")
    assert isinstance(e.derivation("w", style="reverse").data, Sweep)


def test_a_name_that_looks_like_a_differential_leads_to_the_sweep():
    def clash(w, dw):
        return np.sum(w * w * dw)

    assert isinstance(gx.explain(clash, w="n", dw="n").derivation("w").data, Sweep)


def test_every_format():
    found = gx.explain(logistic, X="m n", w="n", y="m").derivation("w")
    for width in (40, 80, 200):
        assert found.to_text(width).isascii()
    assert r"d z = X \, d w" in found.to_latex()
    assert r"\mathrm{dp}" not in found.to_latex()
    assert found.to_markdown()
    assert found.to_html()
    assert '"type": "Differentials"' in found.to_json()
