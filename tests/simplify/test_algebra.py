"""Sums of products are read and written as they stand, and looks differ where a reader sees a difference."""

import pytest
import sympy as sp

from gradexplain.render.formula import text
from gradexplain.simplify.algebra import UnreadableError, combined, in_all, look, read, shared, written
from gradexplain.simplify.matching import moves
from gradexplain.simplify.unevaluated import packed, replaced, unpacked

x, y, a = sp.symbols("x y a", real=True)


def raw(build):
    with sp.evaluate(False):
        return build()


FORMULAS = [
    raw(lambda: x * x), raw(lambda: 2 * (x + 1)), raw(lambda: x + 1 + x), raw(lambda: (x + 1) / (x - 1) ** 2),
    raw(lambda: sp.exp(-x) * sp.exp(x)), raw(lambda: sp.sqrt(x) * sp.sqrt(x)), raw(lambda: x ** (a - 1) * x),
    raw(lambda: -x / (2 * sp.sqrt(x + 1))), raw(lambda: sp.sin(x + x) ** 2), sp.Float("0.1") * x, sp.pi * x, sp.S.Zero,
    sp.sqrt(2) * x, 1 / x, sp.Piecewise((raw(lambda: x * x), x > 1), (y, True), evaluate=False),
]  # fmt: skip


@pytest.mark.parametrize("expr", FORMULAS, ids=text)
def test_formulas_survive_a_pickle_as_they_are_written(expr):
    back = unpacked(packed(expr))
    assert (back, text(back)) == (expr, text(expr))


@pytest.mark.parametrize("expr", FORMULAS[:-1], ids=text)
def test_what_is_read_can_be_written(expr):
    assert text(in_all(read(expr))) == text(expr)
    assert sp.simplify(in_all(combined(read(expr))[0]).doit() - expr.doit()) == 0


def test_what_is_no_sum_of_products_is_refused():
    for expr in (sp.Piecewise((x, x > 1), (y, True)), sp.nan, sp.zoo, sp.oo, raw(lambda: 1 / (x * 0))):
        with pytest.raises(UnreadableError):
            read(expr)
    assert moves(sp.nan, x) is None


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (raw(lambda: 1 + x), raw(lambda: x + 1), True),
        (raw(lambda: x * 2 * y), raw(lambda: 2 * (y * x)), True),
        (raw(lambda: (x / 2) / y), raw(lambda: x / (2 * y)), True),
        (raw(lambda: 1 / (x + 1) ** 2), raw(lambda: (1 + x) ** -2), True),
        (sp.Float("0.5"), sp.Rational(1, 2), True),
        (x > y, y < x, True),
        (raw(lambda: x * x), x**2, False),
        (raw(lambda: x + x), 2 * x, False),
        (raw(lambda: x / x), sp.S.One, False),
        (raw(lambda: (x**2) ** 2), x**4, False),
        (raw(lambda: 2 * (x + 1)), 2 * x + 2, False),
        (raw(lambda: sp.exp(x) ** 2), sp.exp(2 * x), False),
    ],
)
def test_looks(one, other, alike):
    assert (look(one) == look(other)) is alike


def test_common_factors_and_denominators():
    assert text(written(shared(read(raw(lambda: x**2 * y + x**3))))) == "x**2"
    assert text(written(shared(read(raw(lambda: 1 / x + 1 / x**2))))) == "1/x**2"


def test_parts_are_replaced_within_conditions():
    branches = sp.Piecewise((x, sp.Max(x, a) > 1), (y, True))
    assert replaced(branches, {x: y + 1}.get).free_symbols == {y, a}


def test_multiplying_out_has_an_end():
    """The budget is a number of terms; formulas whose product has more are left alone."""
    many = sp.Mul(*(sum(sp.symbols(f"a{i} b{i} c{i}"), sp.S.Zero) for i in range(9)), evaluate=False)
    assert moves(many, x) is None


def test_high_powers_are_not_multiplied_out():
    assert moves((x + 1) ** 400, x) is None
