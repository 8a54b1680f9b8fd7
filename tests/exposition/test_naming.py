"""Nodes are called what the user calls them."""

import numpy as np

from gradexplain.exposition import naming
from gradexplain.render.formula import text
from tests.exposition import programs
from tests.exposition.programs import traced


def names_of(function, *args):
    return list(naming.names(traced(function, *args)).values())


def test_locals_name_their_values():
    assert names_of(programs.sigmoid, 1.0) == ["x", "v1", "v2", "v3", "s", "v4", "y"]


def test_loops_number_their_names():
    assert names_of(programs.squares, 1.0) == ["x", "y1", "y2", "y3"]


def test_names_of_the_program_are_skipped():
    def f(x, v1):
        v2 = x * v1
        return np.sin(v2 + 1) * 2

    assert names_of(f, 1.0, 2.0) == ["x", "v1", "v2", "v3", "v4", "y"]


def test_the_result_is_named_after_the_function_where_y_is_taken():
    def loss(x, y):
        return x * y + 1

    assert names_of(loss, 1.0, 2.0)[-1] == "loss"
    assert names_of(lambda x, y: x * y, 1.0, 2.0)[-1] == "f"


def test_silent_broadcasts_are_called_like_their_operand():
    def f(w, b):
        z = w + b
        return np.sum(z)

    program = traced(f, np.ones(3), 2.0)
    names = naming.names(program)
    assert list(names.values()) == ["w", "b", "b", "z", "y"]
    assert text(naming.formula(program, names)) == "sum(w + b)"


def test_long_formulas_are_written_in_names():
    program = traced(programs.chain, 1.0)
    names = naming.names(program)
    assert "y499" in text(naming.formula(program, names))
    assert 0 < len(naming.definitions(program, names)) <= naming.MOST_DEFINITIONS


def test_names_are_unique():
    def helper(t):
        y = t * 2
        return y  # noqa: RET504 (the name is what is tested)

    def f(x):
        y = helper(x)
        y1 = helper(y) + helper(x * 3)
        return y1 * y

    found = names_of(f, 1.0)
    assert len(set(found)) == len(found)


def test_wide_formulas_of_arrays_are_written_in_the_users_names():
    def network(Z, Y, W, b):
        scores = Z @ W + b
        E = np.exp(scores - np.max(scores, axis=1, keepdims=True))
        P = E / np.sum(E, axis=1, keepdims=True)
        return -np.sum(Y * np.log(P))

    program = traced(network, np.ones((3, 2)), np.ones((3, 4)), np.ones((2, 4)), np.ones(4))
    names = naming.names(program)
    assert text(naming.formula(program, names)) == "-sum(Y*log(P))"
    assert {n: text(e) for n, e in naming.definitions(program, names)} == {
        "scores": "Z @ W + b",
        "E": "exp(scores - max(scores, axis=1, keepdims=True))",
        "P": "E/sum(E, axis=1, keepdims=True)",
    }


def test_what_fits_in_a_line_is_written_out():
    def loss(X, w, y):
        residual = X @ w - y
        return np.mean(residual**2)

    program = traced(loss, np.ones((3, 2)), np.ones(2), np.ones(3))
    names = naming.names(program)
    assert text(naming.formula(program, names)) == "mean((X @ w - y)**2)"
    assert naming.definitions(program, names) == ()
