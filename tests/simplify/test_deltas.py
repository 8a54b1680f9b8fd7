"""Adjoints by the names of the textbooks: told by numbers, numbered like the values, never a name of the user's."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.simplify.tensor import deltas as module


def network(X, W1, b1, W2, b2, Y):
    Z1 = X @ W1 + b1
    H = np.maximum(Z1, 0)
    Z2 = H @ W2 + b2
    return np.sum((Z2 - Y) ** 2) / len(X)


def unnamed(X, W1, W2, Y):
    return np.sum((np.tanh(X @ W1) @ W2 - Y) ** 2) / 2


def least_squares(X, w, y):
    r = X @ w - y
    return np.mean(r**2)


LAYERS = {"X": "m n", "W1": "n h", "b1": "h", "W2": "h c", "b2": "c", "Y": "m c"}


def parts(e, key):
    return {n: " ".join(t.split()) for n, t, _ in e[key].shown_parts}


def test_a_network_has_the_deltas_of_its_layers():
    e = gx.explain(network, **LAYERS)
    assert e["W1"].text == "X.T @ delta1"
    assert parts(e, "W1")["delta1"] == "(Z1 > 0)*(delta2 @ W2.T)"
    assert e["b2"].text == "sum(delta2, axis=0)"
    assert e["W1"].texts.adjoints == (("delta2", "Z2"), ("delta1", "Z1"))
    assert r"\delta_{1}" in e["W1"].latex


def test_where_has_the_names_in_the_order_of_use():
    e = gx.explain(network, **LAYERS)
    found = {n: str(f) for n, f in e["W1"].where.items()}
    assert list(found) == list(e["W1"].where_numpy) == ["Z1", "H", "delta2", "delta1"]
    assert found["delta1"] == "(Z1 > 0)*(delta2 @ W2.T)"


def test_without_names_they_are_numbered_in_the_order_of_computation():
    e = gx.explain(unnamed, X="m n", W1="n h", W2="h c", Y="m c")
    assert [n for n in parts(e, "W1") if n.startswith("delta")] == ["delta2", "delta1"]
    assert [of for _, of in e["W1"].texts.adjoints] == ["", ""]


def test_one_needs_no_number():
    e = gx.explain(least_squares, X="m n", w="n", y="m")
    assert e["X"].text == "outer(delta, w)"


def test_the_names_are_those_of_the_right_values():
    rng = np.random.default_rng(0)
    sizes = {"m": 6, "n": 4, "h": 5, "c": 3}
    point = {n: rng.uniform(-1, 1, [sizes[c] for c in s.split()]) for n, s in LAYERS.items()}
    e = gx.explain(network, **LAYERS)
    env = {"np": np, **point}
    for name, text in e["W1"].where_numpy.items():
        env[name] = eval(text, env)

    def from_z1(Z1, W2, b2, Y):
        return np.sum((np.maximum(Z1, 0) @ W2 + b2 - Y) ** 2) / len(Z1)

    assert np.allclose(env["delta1"], gx.grad(from_z1)(env["Z1"], point["W2"], point["b2"], point["Y"]))


@pytest.mark.parametrize("name", ["delta", "delta1"])
def test_a_name_of_the_users_is_left_to_him(name):
    signature = {"X": "m n", "W1": "n h", "W2": "h c", "Y": "m c"}
    source = f"def g(X, W1, W2, {name}): return f(X, W1, W2, {name})"
    env = {"f": unnamed}
    exec(source, env)
    e = gx.explain(env["g"], **({k: v for k, v in signature.items() if k != "Y"} | {name: "m c"}))
    assert name not in e["W1"].where_numpy


def test_what_is_no_adjoint_keeps_its_letter(monkeypatch):
    monkeypatch.setattr(module, "_is_same", lambda *_: False)
    e = gx.explain(least_squares, X="m n", w="n", y="m")
    assert e["X"].text == "outer(s, w)"
