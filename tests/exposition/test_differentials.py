"""Derivations by differentials: every line is compared with differences of the function along a direction."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.exposition.model import Differentials, Sweep
from gradexplain.simplify.tensor import statements
from gradexplain.simplify.written import text


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


def residual(X, W, v, y):
    Z = X @ W
    H = X + np.tanh(Z)
    r = H @ v - y
    return r @ r + np.sum(Z**2)


def softmax(X, W, Y):
    Z = X @ W
    E = np.exp(Z - Z.max(axis=1, keepdims=True))
    P = E / E.sum(axis=1, keepdims=True)
    return -np.sum(Y * np.log(P)) / len(X)


def ridge(X, w, y, lam):
    r = X @ w - y
    return r @ r + lam * np.linalg.norm(w)


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
    (residual, {"X": "m n", "W": "n n", "v": "n", "y": "m"}),
    (softmax, {"X": "m n", "W": "n k", "Y": "m k"}),
    (ridge, {"X": "m n", "w": "n", "y": "m", "lam": 0.3}),
    (scale, {"a": 1.5, "X": "m n"}),
    (named_twice, {"X": "m n", "w": "n"}),
]
CASES = [pytest.param(f, given, v, id=f"{f.__name__}-{v}") for f, given in PROGRAMS for v in given]
OTHER_SIZES = {"m": 7, "n": 4, "k": 3, "c": 2}  # the letters must be right at sizes that were not traced


def at(given, rng):
    """A point for a signature."""
    shapes = {n: () if isinstance(s, float) else tuple(OTHER_SIZES[c] for c in s.split()) for n, s in given.items()}
    return {n: rng.uniform(0.2, 0.9, s) + (2 * np.eye(*s) if n in "AB" and s else 0) for n, s in shapes.items()}


def run(record, point):
    """The names of a derivation with their values, as the page has them."""
    env = dict(point)
    env |= {letter: eval(of, {}, env) for letter, of in record.sizes}
    for name, value in record.values:
        env[name] = eval(text(value).replace("linalg.", "np.linalg."), vars(np) | vars(np.linalg) | {"np": np}, env)
    return env


@pytest.mark.parametrize(("function", "given", "variable"), CASES)
def test_every_line_agrees_with_differences(function, given, variable):
    record = gx.explain(function, **given).derivation(variable).data
    assert isinstance(record, Differentials)
    rng = np.random.default_rng(3)
    point = at(given, rng)
    direction, h = rng.uniform(-1, 1, point[variable].shape), 1e-6
    here, ahead, behind = (run(record, point | {variable: point[variable] + k * h * direction}) for k in (0, 1, -1))
    assert np.isclose(here[record.output], function(**point))
    changes = {f"d{n}": (ahead[n] - behind[n]) / (2 * h) for n, _ in record.values} | {f"d{variable}": direction}
    assert record.lines[-1].name == record.output
    env = {**here, "np": np}
    for x in reversed(record.lines):
        found = eval(x.differential.numpy, {}, env | changes)
        assert np.allclose(found, changes[f"d{x.name}"], rtol=1e-6, atol=1e-7), x.differential.text
        if x.delta is not None:
            env[x.delta[0]] = eval(x.delta[1].numpy, {}, env)
        if x.gathered:
            total = sum(np.sum(eval(form.numpy, {}, env) * changes[f"d{n}"]) for n, form in x.gathered)
            assert np.isclose(total, changes[f"d{record.output}"], rtol=1e-6), x.gathered
    assert all(x.gathered for x in record.lines)
    form, env = record.result, {**point, "np": np}
    for name, source in form.where_numpy.items():
        env[name] = eval(source, env)
    assert np.isclose(np.sum(eval(form.numpy, env) * direction), changes[f"d{record.output}"], rtol=1e-6)


def test_least_squares_as_it_is_read():
    shown = str(gx.explain(least_squares, X="m n", w="n", y="m").derivation("w"))
    assert "w varies; X and y are held constant." in shown
    lines = [" ".join(row.split()) for row in shown.splitlines()]
    assert "dr = X @ dw" in lines
    assert "dleast_squares = delta @ dr" in lines
    assert "delta = 2*r/m" in lines
    assert "dleast_squares = (X.T @ delta) @ dw" in lines


def shown(function, variable, **given):
    found = str(gx.explain(function, **given).derivation(variable))
    return [" ".join(row.split()) for row in found.splitlines()]


def test_a_sigmoid_is_differentiated_in_its_own_name():
    lines = shown(logistic, "w", X="m n", w="n", y="m")
    assert "dp = (1 - p)*p*dz" in lines
    assert "dlogistic = ((p - y)/m) @ dz" in lines


def test_a_network_is_gone_through_backwards_with_its_deltas():
    lines = shown(network, "W1", X="m n", W1="n k", W2="k c", Y="m c")
    steps = [
        "dy = sum(delta2*dE)",
        "delta2 = 2*E/m",
        "dE = dH @ W2",
        "dy = sum((delta2 @ W2.T)*dH)",
        "dH = (1 - H**2)*(X @ dW1)",
        "dy = sum((X.T @ delta1)*dW1)",
        "delta1 = (1 - H**2)*(delta2 @ W2.T)",
        "dy/dW1 = X.T @ delta1",
    ]
    assert [line for line in lines if line in steps] == steps


def test_several_differentials_may_be_left():
    lines = shown(ridge, "w", X="m n", w="n", y="m", lam=0.3)
    assert "dridge = (2*r) @ dr + (lam*w/norm(w)) @ dw" in lines


def test_a_largest_entry_is_taken_to_be_alone():
    lines = " ".join(shown(softmax, "W", X="m n", W="n k", Y="m k"))
    assert "dE = E*(dZ - sum((Z == max(Z, axis=1, keepdims=True))*dZ, axis=1, keepdims=True))" in lines
    assert "dP = (dE - P*sum(dE, axis=1, keepdims=True))/ sum(E, axis=1, keepdims=True)" in lines


def test_the_overview_has_the_steps():
    e = gx.explain(network, X="m n", W1="n k", W2="k c", Y="m c")
    for text_of_it in (str(e), e.to_markdown(), e.screen.blocks.__repr__()):
        assert "dH = (1 - H**2)*(X @ dW1)" in text_of_it or r"d W_{1}" in text_of_it
    assert 'The steps are those of `derivation("Y")`.' in str(e)


def test_what_does_not_vary_is_defined_but_has_no_line():
    record = gx.explain(network, X="m n", W1="n k", W2="k c", Y="m c").derivation("W2").data
    assert [n for n, _ in record.values] == ["H", "E", "y"]
    assert [x.name for x in record.lines] == ["E", "y"]


def test_a_line_that_fails_its_check_is_not_shown(monkeypatch):
    monkeypatch.setattr(statements, "agree", lambda *_: False)
    e = gx.explain(least_squares, X="m n", w="n", y="m")
    assert isinstance(e.derivation("w").data, Sweep)


def test_the_reverse_sweep_stays():
    e = gx.explain(least_squares, X="m n", w="n", y="m")
    assert isinstance(e.derivation("w", style="reverse").data, Sweep)


def test_a_letter_for_a_size_is_never_a_value():
    def f(X, w):
        m = X @ w
        return np.sum(m**2) / len(X)

    for given in ({"X": "m n", "w": "n"}, {"X": np.ones((5, 3)), "w": np.ones(3)}):
        e = gx.explain(f, **given)
        assert all("m/m" not in t for t in (e["X"].text, *e["X"].where_numpy.values(), str(e)))
    assert isinstance(gx.explain(f, X="m n", w="n").derivation("w").data, Sweep)
    assert isinstance(gx.explain(f, X=np.ones((5, 3)), w=np.ones(3)).derivation("w").data, Differentials)


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


def relu_network(X, W, v):
    Z = X @ W
    H = np.maximum(Z, 0)
    return np.sum(H @ v)


def test_kinks_conditions_and_the_layout_are_told():
    relu = shown(relu_network, "W", X="m n", W="n k", v="k")
    assert "max(0, Z) has kinks (a = b: each operand has half, a constant has all)" in " ".join(relu)
    norm = shown(ridge, "w", X="m n", w="n", y="m", lam=0.3)
    assert "This holds for norm(w) != 0." in norm
    assert "no entries are assumed to tie in max(Z, axis=1" in " ".join(shown(softmax, "W", X="m n", W="n k", Y="m k"))
    assert "layout: a gradient has the shape of its argument" in norm
    assert "layout: a gradient has the shape of its argument" not in shown(ridge, "lam", X="m n", w="n", y="m", lam=0.3)


def half_squared_norm(x, c):
    n = np.linalg.norm(x - c)
    return n**2 / 2


def test_what_a_line_needs_is_said_though_the_result_does_not():
    lines = shown(half_squared_norm, "x", x="n", c="n")
    assert any("dn = (x - c) @ dx/n" in line for line in lines)
    assert "dy/dx = x - c" in [line.replace("dhalf_squared_norm", "dy") for line in lines]
    assert "This holds for norm(x - c) != 0." in lines
