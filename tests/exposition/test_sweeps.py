"""Tapes and sweeps: what autodiff did, with formulas that evaluate to their numbers."""

import numpy as np
import pytest
import sympy as sp

from gradexplain import autodiff
from gradexplain.evaluate import evaluate
from gradexplain.exposition import sweeps
from gradexplain.render.formula import text
from tests.exposition import programs
from tests.exposition.programs import traced

RNG = np.random.default_rng(0)
POINTWISE = [programs.product, programs.quotient, programs.sigmoid, programs.squares, programs.self_power]


def number(expr, values):
    free = sorted(expr.free_symbols, key=lambda s: s.name)
    return float(sp.lambdify(free, expr, "mpmath")(*[values[s.name] for s in free]))


@pytest.mark.parametrize("function", POINTWISE)
def test_reverse_formulas_evaluate_to_their_numbers(function):
    sweep = sweeps.reverse(traced(function, 0.7), ["x"])
    values = {r.name: r.value for r in sweep.tape}
    for row in sweep.pullbacks:
        assert number(row.formula, values) == pytest.approx(row.value, rel=1e-12)
        values[row.target] = row.value
    assert values["x_bar"] == pytest.approx(sweep.results[0][2])


@pytest.mark.parametrize("function", POINTWISE)
def test_forward_formulas_evaluate_to_their_numbers(function):
    sweep = sweeps.forward(traced(function, 0.7), ["x"])
    values = {r.name: r.value for r in sweep.tangents}
    for row in sweep.tangents:
        assert number(row.tangent_formula, values) == pytest.approx(row.tangent_value, rel=1e-12)
        values[row.tangent] = row.tangent_value
    assert sweep.results[0][2] == pytest.approx(sweeps.reverse(traced(function, 0.7), ["x"]).results[0][2])


@pytest.mark.parametrize("function", POINTWISE)
def test_local_derivatives_evaluate_to_their_numbers(function):
    rows = sweeps.tape(traced(function, 0.7), ["x"])
    values = {r.name: r.value for r in rows}
    for row in rows:
        for local in row.locals:
            assert number(local.formula, values) == pytest.approx(local.value)
            assert local.applied is None or number(local.applied, values) == pytest.approx(local.value)


def test_the_power_rule_is_shown_as_applied():
    sweep = sweeps.reverse(traced(lambda x: x**2, 3.0), ["x"])
    (local,) = sweep.tape[1].locals
    assert (text(local.applied), text(local.formula), local.value) == ("2*x**(2 - 1)", "2*x", 6.0)
    seed, handed = sweep.pullbacks
    assert (seed.kind, seed.target, text(seed.formula)) == ("seed", "y_bar", "1")
    assert (handed.kind, handed.target, float(handed.value)) == ("pullback", "x_bar", 6.0)
    assert sorted(text(handed.formula).split("*")) == ["2", "x", "y_bar"]
    assert sorted(text(sweep.results[0][1]).split("*")) == ["2", "g", "x"]


def test_paths_are_added_up_in_a_line_of_their_own():
    sweep = sweeps.reverse(traced(programs.sigmoid, 0.7), ["x"])
    assert [(r.kind, text(r.formula)) for r in sweep.pullbacks if r.target.startswith("s_bar")] == [
        ("pullback", "y_bar*v4"),
        ("pullback", "-v4_bar"),
        ("sum", "s_bar_1 + s_bar_2"),
    ]


def test_matrix_products_read_naturally():
    A, B = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 2))
    sweep = sweeps.reverse(traced(programs.layer, A, B), ["A", "B"])
    (_, of_A, value_A), (_, of_B, value_B) = sweep.results
    assert text(of_A) == "g @ B.T * cos(A)"
    assert text(of_B) == "sin(A).T @ g"
    assert value_A == pytest.approx(np.ones((2, 2)) @ B.T * np.cos(A))
    assert value_B == pytest.approx(np.sin(A).T @ np.ones((2, 2)))
    assert [text(r.formula) for r in sweep.pullbacks] == ["1", "y_bar @ B.T", "v1.T @ y_bar", "v1_bar*cos(A)"]


def test_silent_broadcasts_have_no_row():
    def f(w, b):
        return np.sum((w + b) ** 2)

    sweep = sweeps.reverse(traced(f, np.array([1.0, 2.0]), 0.5), ["w", "b"])
    assert [r.name for r in sweep.tape] == ["w", "b", "v1", "v2", "y"]
    assert next(r for r in sweep.pullbacks if r.target == "b_bar").value == pytest.approx(8.0)
    assert {n: v for n, _, v in sweep.results}["b"] == pytest.approx(8.0)


def test_gradients_agree_with_autodiff():
    X, w, t = RNG.normal(size=(5, 3)), RNG.normal(size=3), RNG.normal(size=5)
    program = traced(programs.mean_square, X, w, t)
    sweep = sweeps.reverse(program, ["w", "X"])
    wanted = autodiff.vjp(program.output, [program.inputs["w"], program.inputs["X"]])
    for (_, _, value), node in zip(sweep.results, wanted, strict=True):
        assert value == pytest.approx(evaluate([node], dict(program.trace.values))[0])


def test_without_a_point_there_are_formulas_only():
    program = traced(programs.sigmoid, symbolic=True)
    sweep = sweeps.reverse(program, ["x"])
    assert all(r.value is None for r in sweep.pullbacks)
    assert all(r.tangent_value is None for r in sweeps.forward(program, ["x"]).tangents)


def test_long_programs_leave_out_the_middle():
    sweep = sweeps.reverse(traced(programs.chain, 1.0), ["x"])
    assert len(sweep.tape) == sweeps.FIRST + sweeps.LAST
    assert sweep.elided == 1501 - len(sweep.tape)
    assert sweep.results[0][1] is None
    assert len(text(next(r for r in sweep.pullbacks if r.kind == "sum").formula)) < 80
    assert max(b.number - a.number for a, b in zip(sweep.tape, sweep.tape[1:], strict=False)) == sweep.elided + 1


def test_a_result_without_influence_has_no_sweep():
    program = traced(lambda x, z: x * 2, 1.0, 2.0)
    sweep = sweeps.reverse(program, ["z"])
    assert (sweep.pullbacks, float(sweep.results[0][2])) == ((), 0.0)
    assert sweeps.forward(program, ["z"]).results[0][1] is None


def test_constants_beside_variables_refine_the_rule():
    rows = sweeps.tape(traced(lambda x: 2 * x + 3 / x, 1.0), ["x"])
    assert [r.rule for r in rows[1:]] == ["constant multiple rule", "reciprocal rule", "sum rule"]


def test_numbers_have_a_forward_pass_each():
    program = traced(lambda x, y: x * np.sin(x * y), 2.0, 0.5)
    sweep = sweeps.forward(program, ["x", "y"])
    gradients = {n: v for n, _, v in sweeps.reverse(program, ["x", "y"]).results}
    assert sweep.passes == ("x", "y")
    assert {n: v for n, _, v in sweep.results} == pytest.approx(gradients)
    assert [r.tangent_values for r in sweep.tangents[:2]] == [(1.0, 0.0), (0.0, 1.0)]
    for r in sweep.tangents:
        assert sum(r.tangent_values) == pytest.approx(r.tangent_value)


def test_costs_are_those_of_the_lines():
    program = traced(lambda x: x**2 * np.sin(x), 3.0)
    reverse, forward = sweeps.both(program, ["x"]).reverse, sweeps.both(program, ["x"]).forward
    assert reverse.cost == forward.cost
    assert (reverse.cost.function, reverse.cost.kept, reverse.cost.passes, reverse.cost.results) == (3, 2, 1, 1)
    assert (reverse.cost.reverse, reverse.cost.forward) == (7, 7)


def test_reverse_mode_does_not_grow_with_the_inputs():
    def f(w):
        return np.sum(np.tanh(w) ** 2)

    few, many = (sweeps.reverse(traced(f, np.ones(n)), ["w"]).cost for n in (2, 200))
    assert few.reverse == many.reverse
    assert many.forward == 100 * few.forward
    assert (few.passes, many.passes) == (2, 200)
    assert many.kept == 100 * few.kept
