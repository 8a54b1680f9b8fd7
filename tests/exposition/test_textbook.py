"""Derivations are right at every step, say what a book would say, and never become a wall of text."""

import math

import mpmath as mp
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.evaluate import evaluate
from gradexplain.exposition import textbook
from gradexplain.exposition.orders import Orders
from gradexplain.render.formula import text
from gradexplain.simplify import printing
from tests.exposition import programs
from tests.exposition.programs import SCALAR, traced

POINTS = (0.37, 0.83, 1.71)


def steps_of(root):
    waiting = [root]
    while waiting:
        step = waiting.pop(0)
        yield step
        waiting = [*step.substeps, *waiting]


class Meaning:
    """Numbers for the formulas of a derivation: names by their definitions, primes by difference quotients."""

    def __init__(self, derivation, point):
        self.point = point
        self.x = derivation.variable
        self.definitions = {}
        for step in steps_of(derivation.root):
            self.definitions |= {n: e for n, e in step.bindings if not n.endswith("'")}
            if step.target:
                self.definitions.setdefault(step.target, step.before)
        self.definitions |= dict(derivation.names)

    def value(self, expr, x):
        free = sorted(expr.free_symbols, key=lambda s: s.name)
        return sp.lambdify(free, expr, "mpmath")(*[self.symbol(s.name, x) for s in free])

    def symbol(self, name, x):
        if name == self.x:
            return x
        if name.endswith("'"):
            return self.slope(self.definitions.get(name[:-1], sp.Symbol(name[:-1])), x)
        if name in self.definitions:
            return self.value(self.definitions[name], x)
        return mp.mpf(self.point[name])

    def slope(self, expr, x):
        return mp.diff(lambda t: self.value(expr, t), x, h=mp.mpf(10) ** -15)


@pytest.mark.parametrize("detail", ["brief", "full"])
@pytest.mark.parametrize("function", SCALAR)
def test_every_step_is_the_derivative_of_what_it_starts_from(function, detail):
    derivation = textbook.derive(traced(function, symbolic=True), "x", detail=detail)
    with mp.workdps(30):
        for x in POINTS:
            meaning = Meaning(derivation, {})
            for step in steps_of(derivation.root):
                assert mp.almosteq(meaning.value(step.after, x), meaning.slope(step.before, x), 1e-9, 1e-9), step
                for name, expr in step.bindings:
                    if name.endswith("'"):
                        assert mp.almosteq(meaning.value(expr, x), meaning.symbol(name, x), 1e-9, 1e-9), (name, expr)


@pytest.mark.parametrize("function", SCALAR)
def test_the_graph_of_the_derivation_is_the_gradient(function):
    from gradexplain.autodiff import vjp

    program = traced(function, symbolic=True)
    x = program.inputs["x"]
    ours, reverse = Orders(program).calculus(["x"]).slope, vjp(program.output, [x])[0]
    for at in POINTS:
        a, b = evaluate([ours, reverse], {x: at})
        assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def test_black_scholes_is_told_in_its_own_names():
    program = traced(programs.black_scholes, 100.0)
    derivation = textbook.derive(program, "S")
    assert [n for n, _ in derivation.names] == ["d1", "d2"]
    meaning = Meaning(derivation, program.point)
    with mp.workdps(30):
        for step in steps_of(derivation.root):
            assert mp.almosteq(
                meaning.value(step.after, mp.mpf(90)), meaning.slope(step.before, mp.mpf(90)), 1e-9, 1e-9
            )


@pytest.mark.parametrize(
    ("function", "rule"),
    [
        (lambda x: x * x, "product rule"),
        (lambda x: x**2, "power rule"),
        (lambda x: 3 * x, "constant multiple rule"),
        (lambda x: x / 3, "constant multiple rule"),
        (lambda x: 3 / x, "reciprocal rule"),
        (lambda x: x / (x + 1), "quotient rule"),
        (lambda x: 2**x, "exponential rule"),
        (lambda x: x**x, "logarithmic differentiation"),
        (lambda x: math.sin(x), "sine rule"),
        (lambda x: math.sin(x * x), "chain rule"),
        (lambda x: (x * x + 1) ** 3, "power and chain rule"),
        (lambda x: x + x**2 - 1, "sum rule"),
        (lambda x: x - x**2, "difference rule"),
        (lambda x: -x, "constant multiple rule"),
        (lambda x: x, "identity"),
        (lambda x: 7.0, "constant rule"),
    ],
)
def test_rules_are_named_after_what_depends_on_the_variable(function, rule):
    assert textbook.derive(traced(function, symbolic=True), "x").root.rule == rule


@pytest.mark.parametrize(
    ("function", "before", "after"),
    [
        (lambda x: x**2 * math.sin(x), "u*v", "u'*v + u*v'"),
        (lambda x: math.sin(x) / x, "u/x", "(u'*x - u*x')/x**2"),
        (lambda x: math.sin(x**2), "sin(u)", "cos(u)*u'"),
        (lambda x: x**3, "x**n", "n*x**(n - 1)"),
        (lambda x: math.exp(x) + math.sin(x), "f + g", "f' + g'"),
        (lambda x: 3 / x, "3/x", "-3*x'/x**2"),
    ],
)
def test_statements_follow_from_the_rows(function, before, after):
    left, right = textbook.derive(traced(function, symbolic=True), "x").root.statement
    assert (text(left), text(right)) == (before, after)


def test_brief_is_silent_about_what_is_obvious():
    root = textbook.derive(traced(programs.quotient, symbolic=True), "x").root
    assert [s.rule for s in steps_of(root)] == ["quotient rule", "product rule"]
    assert [(n, text(e)) for n, e in root.bindings] == [
        ("u", "x**2*sin(3*x)"),
        ("v", "1 + x**2"),
        ("u'", "2*x*sin(3*x) + 3*x**2*cos(3*x)"),
        ("v'", "2*x"),
    ]


def test_full_refers_to_what_was_derived_before():
    root = textbook.derive(traced(programs.quotient, symbolic=True), "x", detail="full").root
    assert [s.rule for s in steps_of(root)] == [
        "quotient rule", "product rule", "power rule", "chain rule", "constant multiple rule", "sum rule", "power rule",
    ]  # fmt: skip
    numbers = {s.number: s for s in steps_of(root)}
    assert numbers[7].reference == 3


def test_logarithmic_differentiation_states_its_condition():
    derivation = textbook.derive(traced(programs.self_power, symbolic=True), "x")
    assert derivation.conditions == ("x > 0",)
    assert text(derivation.raw) == "x**x*(log(x) + 1)"


def test_long_chains_keep_their_ends():
    derivation = textbook.derive(traced(programs.nest, symbolic=True), "x")
    shown = list(steps_of(derivation.root))
    assert (len(shown), derivation.elided) == (9, 291)
    assert all(sp.count_ops(e) < 200 for s in shown for e in (s.before, s.after))


def test_long_programs_keep_forty_steps():
    derivation = textbook.derive(traced(programs.chain, 1.0), "x", detail="full")
    shown = list(steps_of(derivation.root))
    assert len(shown) <= textbook.MOST_STEPS
    assert len(shown) + derivation.elided > 1000
    assert len(derivation.names) <= 12


def test_wide_programs_keep_forty_steps():
    derivation = textbook.derive(
        traced(lambda x: sum(math.sin(k * x) * math.exp(x / k) for k in range(1, 100)), symbolic=True), "x"
    )
    assert len(list(steps_of(derivation.root))) <= textbook.MOST_STEPS
    assert derivation.elided > 0


def test_doubling_three_hundred_times_is_no_explosion():
    def doubled(x):
        for _ in range(300):
            x = x + x
        return x

    assert len(str(textbook.derive(traced(doubled, symbolic=True), "x").root)) < 20_000


def test_orders_are_derived_one_after_the_other():
    second = textbook.derive(traced(programs.product, symbolic=True), "x", order=2)
    assert (second.order, second.variables, second.previous.order) == (2, ("x", "x"), 1)
    x = sp.Symbol("x", real=True)
    assert sp.simplify(second.raw.doit() - sp.diff(x**2 * sp.sin(x), x, 2)) == 0


def test_the_next_order_goes_on_from_the_simplified_line():
    third = gx.explain("x**2*sin(3*x)/(1 + x**2)", order=3).derivation().data
    second = third.previous
    first = second.previous
    assert first.rewrites
    assert text(second.function) == printing.text(first.result, first.arrangement)
    assert text(third.function) == printing.text(second.result, second.arrangement)


@pytest.mark.parametrize("function", ["x*sin(x)*exp(x)", "exp(sin(x**2))", "x**x", "1/(1 + exp(-x))"])
def test_the_name_of_the_result_stands_for_nothing_else(function):
    stage = gx.explain(function, order=3).derivation().data
    while stage is not None:
        names = {n for s in steps_of(stage.root) for n, _ in (*s.bindings, (s.target, None))} | set(dict(stage.names))
        assert not {"y", "y'"} & names
        stage = stage.previous


def test_mixed_derivatives():
    mixed = textbook.derive(traced(lambda x, y: x * math.sin(x * y), symbolic=True), "x", order=2, key="x,y")
    x, y = sp.symbols("x y", real=True)
    assert sp.simplify(mixed.raw.doit() - sp.diff(x * sp.sin(x * y), x, y)) == 0


def test_arrays_have_no_textbook_steps():
    import numpy as np

    derivation = textbook.derive(traced(programs.layer, np.ones((2, 3)), np.ones((3, 2))), "A")
    assert derivation.root is None


def test_names_of_the_program_are_not_taken_for_letters():
    root = textbook.derive(traced(lambda x, u: x**2 * math.sin(x) * u, symbolic=True), "x").root
    names = {n for s in steps_of(root) for n, _ in s.bindings}
    assert "u" not in names


def test_same_program_same_derivation():
    a, b = (textbook.derive(traced(programs.sigmoid, symbolic=True), "x", detail="full") for _ in range(2))
    assert a == b
