"""Closed forms of random programs are the difference quotients of the plain functions; `soak` tries many more."""

import mpmath as mp
import pytest

import gradexplain as gx
from gradexplain.autodiff import vjp
from gradexplain.graph import TABLE, ancestors
from gradexplain.simplify.printing import numpy_source, text
from gradexplain.symbolic import expressions
from tests.exposition.programs import traced
from tests.simplify.comparing import against_quotients, explained
from tests.simplify.plain_numbers import NoValueError, derivative, plain
from tests.simplify.random_programs import BRANCHES, ONE, TWO, function, random_source
from tests.simplify.soak import order_of

FIRST, COUNT, CHUNK = 0, 8, 4
TEMPLATES = [t for t in dict.fromkeys([*ONE, *TWO, *BRANCHES]) if "helper" not in t]
OPERANDS = ("abs(x)/2", "y", "x*y", "x")


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, CHUNK))
def test_random_programs(first):
    points = 0
    for seed in range(first, first + CHUNK):
        source = random_source(seed)
        program = function(source, seed)
        explanation = explained(program, order=order_of(seed))
        if explanation is not None:
            compared, wrong = against_quotients(source, program, explanation, seed)
            assert wrong == [], source
            points += compared
    assert points > 3 * CHUNK


FOUND = """
np.clip(x, y, x)*x ; np.clip(x, x, y)*x ; np.clip(x, x, x)*y ; np.clip(y, x, x)*y ; np.sqrt(np.sin(x)*np.clip(x, y, x))
np.clip(x, 2*y, y)*x ; np.fmax(x*y, x*y)*x ; np.fmin(x, x)**2 ; np.fmax(np.where(y > 0, y, x), y)*x ; y*math.lgamma(x)
special.betaln(x, y)*x ; special.gammaln(x)*special.digamma(x)**2 ; special.erfinv(x/10)*y
np.fmin(x, y)**1.5*np.floor(x)
np.where(y > 0, np.arctanh(x)**3 + np.arctanh(x)**2 + np.arctanh(x), x)**2*y ; np.minimum(x, y)*np.maximum(x, y)
np.where(x > y, np.sqrt(x - y)**3 + np.sqrt(x - y), x*y)*x ; np.arccosh(1/x if 0 < x < 1 else y*x)
"""


@pytest.mark.parametrize("body", [body.strip() for line in FOUND.strip().splitlines() for body in line.split(" ; ")])
def test_what_random_programs_found(body):
    source = f"def f(x, y):\n    return {body}\n"
    program = function(source, body)
    for order in (1, 2):
        explanation = gx.explain(program, order=order)
        compared, wrong = against_quotients(source, program, explanation, 1)
        assert wrong == []
        assert compared
        assert [n for form in explanation.gradients.values() for n in form.notes] == []
        assert "undefined" not in explanation.to_latex()


def one_operation(template):
    return f"def f(x, y):\n    return {template.format(*OPERANDS)}\n"


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_operation_can_be_shown(template):
    """SymPy's printer writes what it does not know as a comment and a name that is defined nowhere."""
    program = traced(function(one_operation(template), template), symbolic=True)
    for expr in expressions([program.output, *vjp(program.output, list(program.inputs.values()))]):
        assert "#" not in numpy_source(expr)
        assert "#" not in text(expr)


INNER = {  # rows that stand for no function that a program calls on numbers
    "as_number", "by_order", "next_lower", "isnan", "isinf", "isfinite", "signbit", "equal", "not_equal",
    "greater_equal", "less_equal", "sinc_derivative", "ratio", "clip", "logical_not",
}  # fmt: skip


def test_random_programs_are_made_of_all_scalar_operations():
    seen = set()
    for template in TEMPLATES:
        program = traced(function(one_operation(template), template), symbolic=True)
        seen |= {n.op.name for n in ancestors([program.output])}
    assert {r.name for r in TABLE.values() if r.family == "elementwise"} - INNER - seen == set()


@pytest.mark.parametrize(
    ("body", "point", "orders", "expected"),
    [
        ("x**2*y", (3, 2), (1, 0), 12),
        ("x**2*y", (3, 2), (1, 1), 6),
        ("np.where(x > 0, math.sin(x), np.nan if False else x)", (2, 1), (1, 0), "cos(2)"),
        ("special.expit(x)", (0, 1), (1, 0), 0.25),
        ("0.1*x", (1, 1), (1, 0), "mpf('0.1')"),
        ("(x if x > y else y)**2", (1, 2), (0, 1), 4),
    ],
)
def test_the_reference_is_right(body, point, orders, expected):
    found = derivative(plain(f"def f(x, y):\n    return {body}\n"), tuple(map(mp.mpf, point)), orders)
    with mp.workdps(50):
        exact = eval(expected, vars(mp)) if isinstance(expected, str) else expected
        assert mp.almosteq(found, exact, 1e-40)


@pytest.mark.parametrize(
    "body", ["np.log(-x)", "math.sqrt(-x)", "(-x)**0.5", "1/(x-x)", "np.floor(2)*x", "np.exp(x)**40"]
)
def test_where_there_is_no_value_nothing_is_compared(body):
    with pytest.raises(NoValueError):
        derivative(plain(f"def f(x):\n    return {body}\n"), (mp.mpf(2),), (1,))


def test_a_wrong_form_is_found():
    source = "def f(x):\n    return np.sin(x)*x\n"
    program = function(source, "right")
    other = gx.explain(function("def f(x):\n    return np.sin(x)*x + 1e-9*x\n", "wrong"))
    assert against_quotients(source, program, gx.explain(program), 0) == (5, [])
    assert len(against_quotients(source, program, other, 0)[1]) > 4
