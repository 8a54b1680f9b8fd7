"""Sizes by letters: a formula holds at every size, or says at which it holds."""

import numpy as np
import pytest

import gradexplain as gx
from tests.simplify.comparing import numpy_value

PROGRAMS = [
    (lambda X: np.sum(X[0] * X[-1]), {"X": "m n"}),
    (lambda X: np.sum(X[1:] * X[:-1]), {"X": "m n"}),
    (lambda x: np.sum(x[:3] ** 2), {"x": "n"}),
    (lambda x: np.sum(x[::2] ** 2), {"x": "n"}),
    (lambda x, y: np.sum(np.concatenate([x, y]) ** 3), {"x": "n", "y": "m"}),
    (lambda x: np.sum(np.where(np.arange(len(x)) < 2, x, 0) ** 2), {"x": "n"}),
    (lambda x: np.sum(x.reshape(5) ** 2), {"x": "n"}),
    (lambda x: np.mean(x**2) if x[0] > 0 else np.sum(x), {"x": "n"}),
    (lambda x: x[0] * x[1], {"x": "n"}),
    (lambda x: np.prod(x), {"x": "n"}),
    (lambda X, w, y: np.mean((X @ w - y) ** 2), {"X": "m n", "w": "n", "y": "m"}),
    (lambda X: np.sum(X.mean(axis=0) ** 2), {"X": "m n"}),
    (lambda x: np.var(x), {"x": "n"}),
    (lambda X: np.trace(X @ X), {"X": "n n"}),
    (lambda x, a: np.sum(np.cumsum(x) * a), {"x": "n", "a": "n"}),
    (lambda x: np.sum(np.outer(x, np.arange(len(x)))), {"x": "n"}),
    (lambda X: np.sum(X[:, 0] ** 2), {"X": "m n"}),
    (lambda X: np.sum(np.log(np.sum(np.exp(X), axis=1))), {"X": "m n"}),
    (lambda x: np.mean(np.sin(np.maximum(-x, 0))), {"x": "n"}),
    (lambda S: np.mean(np.clip(np.min(-S, axis=1), -0.5, 0.7)), {"S": "n n"}),
    (lambda X: -np.mean((X > 0.8) * X), {"X": "m n"}),
    (lambda x: x[len(x) - 1] ** 2, {"x": "n"}),
]  # fmt: skip


def arrays(letters, sizes):
    rng = np.random.default_rng(5)
    return {name: rng.uniform(0.4, 1.6, [sizes[c] for c in text.split()]) for name, text in letters.items()}


@pytest.mark.parametrize(("f", "letters"), PROGRAMS)
def test_a_formula_holds_at_all_sizes_that_it_does_not_name(f, letters):
    e = gx.explain(f, **letters)
    assert e.check()
    for key, form in e.gradients.items():
        stated = dict(c.split(" = ") for c in form.conditions if " = " in c)
        sizes = {"m": int(stated.get("m", 9)), "n": int(stated.get("n", 10))}
        given = arrays(letters, sizes)
        want = gx.explain(f, **given).gradient_values[key]
        np.testing.assert_allclose(numpy_value(form, given), want, rtol=1e-9, atol=1e-12)


def bound(f, **letters):
    return {key: form.conditions for key, form in gx.explain(f, **letters).gradients.items()}


def test_the_sizes_that_a_formula_is_bound_to_are_said():
    assert bound(PROGRAMS[0][0], X="m n") == {"X": ("m = 5",)}
    joined = lambda x, y: np.sum(np.concatenate([x, y])[2:7] ** 2)  # noqa: E731
    assert bound(joined, x="n", y="m") == {"x": ("n = 5",), "y": ("n = 5", "m = 3")}
    assert "This holds for n = 5." in str(gx.explain(PROGRAMS[5][0], x="n"))
    assert bound(PROGRAMS[10][0], X="m n", w="n", y="m") == {"X": (), "w": (), "y": ()}


OTHER_WAYS = [
    (lambda x: np.sum(x**2) if len(x) > 2 else np.sum(x**3), "n > 2"),
    (lambda x: np.sum((x[:-1] if len(x) > 1 else x) ** 2), "n > 1"),
    (lambda x: np.sum(x**2) * max(len(x), 4), "n > 3"),
    (lambda x: np.sum(x**2) if len(x) % 2 else np.sum(x**3), "n = 5"),
    (lambda x: np.sum(x**2) * min(len(x), 10), "n = 5"),
    (lambda x: np.sum(x**2) * len(x).bit_length(), "n = 5"),
    (lambda x: np.sum(x**2) * int(np.sqrt(len(x))), "n = 5"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "stated"), OTHER_WAYS)
def test_a_program_that_goes_another_way_at_other_sizes_says_where_its_formula_holds(f, stated):
    assert bound(f, x="n") == {"x": (stated,)}


def test_a_matrix_that_is_singular_at_other_sizes_says_nothing_of_them():
    stated = bound(lambda X: np.sum(np.linalg.inv(X.T @ X)), X="m n")
    assert stated == {"X": ("det(X.T @ X) != 0",)}


def test_pushforwards_say_their_sizes_too():
    assert gx.explain_jvp(lambda x: x[len(x) - 1] ** 2, x="n")["dy"].conditions == ("n = 5",)
    assert gx.explain_jvp(lambda S: S.T.ravel(), S="n n")["dy"].conditions == ("n = 5",)
    assert gx.explain_jvp(lambda X, w: X @ w, X="m n", w="n")["dy"].conditions == ()


@pytest.mark.parametrize(("letter", "why"), [("n", "an argument has that name"), ("lambda", "Python keeps that name")])
def test_a_size_has_a_name_of_its_own(letter, why):
    with pytest.raises(gx.errors.ArgumentError, match=f"called {letter}(.|\n)*{why}"):
        gx.explain(lambda x, n: np.mean(x) * n, x=letter, n=2.0)


def test_what_is_written_out_is_bound_to_its_size():
    assert bound(PROGRAMS[7][0], x="n") == {"x": ("n = 5",)}
    jacobian = gx.explain_jacobian(lambda x: np.cumprod(x), x="n")
    assert jacobian["x"].conditions == ("n = 5",)


def test_arrays_that_are_given_have_their_sizes():
    assert bound(PROGRAMS[2][0], x=np.ones(4)) == {"x": ()}


def test_formulas_without_a_point_are_checked_at_random_arrays():
    e = gx.explain(PROGRAMS[10][0], X="m n", w="n", y="m")
    assert len(e.check().data.rows) == 3
    assert "entries agree with difference quotients" in str(e)
