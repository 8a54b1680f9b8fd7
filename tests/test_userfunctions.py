"""The user's functions in formulas: as good as their definitions, whatever they are called."""

import copy
import math
import pickle

import pytest
import sympy as sp

from gradexplain.userfunctions import user_function, written_out

X, D = sp.symbols("x d", real=True)
CDF = (1 + sp.erf(X / sp.sqrt(2))) / 2
PHI = user_function("Phi", [X], CDF)


def phi_of(number):
    return (1 + math.erf(number / math.sqrt(2))) / 2


def test_functions_of_one_name_and_one_definition_are_equal():
    same, other = user_function("Phi", [X], CDF), user_function("Phi", [X], X**2)
    assert PHI(D) == same(D)
    assert hash(PHI(D)) == hash(same(D))
    assert PHI(D) - same(D) == 0
    assert PHI(D) != other(D)
    assert PHI(D) != user_function("Psi", [X], CDF)(D)


def test_calls_come_out_of_pickles_and_copies():
    expr = D * PHI(PHI(D)) ** 2 + sp.exp(PHI(-D))
    assert pickle.loads(pickle.dumps(expr)) == expr
    assert copy.deepcopy(expr) == expr
    assert pickle.loads(pickle.dumps(PHI)) == PHI


def test_calls_have_numbers():
    assert float(PHI(2)) == pytest.approx(phi_of(2))
    assert PHI(0.5) == pytest.approx(phi_of(0.5))
    exact = sp.N(PHI(D).subs(D, sp.Rational(1, 3)), 30)
    assert abs(exact - sp.N(CDF.subs(X, sp.Rational(1, 3)), 40)) < sp.Float("1e-29", 30)
    assert PHI(D).subs(D, sp.Float("0.25", 30)).evalf(25) == pytest.approx(phi_of(0.25))


def test_calls_count_as_one_operation():
    assert sp.count_ops(PHI(D)) == 1
    assert sp.count_ops(PHI(2 * D)) == 2


def test_calls_have_derivatives():
    assert sp.simplify(PHI(D**2).diff(D) - CDF.subs(X, D**2).diff(D)) == 0
    gauss = user_function("gauss", [X, sp.Integer(1)], sp.exp(-((X - 1) ** 2)))
    assert gauss(D, 1).diff(D) == sp.exp(-((X - 1) ** 2)).diff(X).subs(X, D)


@pytest.mark.parametrize("modules", ["math", "mpmath", "numpy", "sympy"])
def test_lambdify_knows_them(modules):
    f = sp.lambdify(D, PHI(D) ** 2 + PHI(PHI(D)), modules)
    assert float(f(0.7)) == pytest.approx(phi_of(0.7) ** 2 + phi_of(phi_of(0.7)))


def test_definitions_take_their_place():
    assert written_out(PHI(D) + PHI(PHI(D))) == CDF.subs(X, D) + CDF.subs(X, CDF.subs(X, D))
    assert PHI(PHI(D)).doit() == CDF.subs(X, CDF.subs(X, D))
    assert sp.expand_func(PHI(D)) == CDF.subs(X, D)


def test_parameters_are_put_in_all_at_once():
    y = sp.Symbol("y", real=True)
    swapped = user_function("minus", [X, y], X - y)(y, X)
    assert swapped.doit() == y - X


@pytest.mark.parametrize("name", ["Phi", "gamma", "Add", "Symbol", "zeta", "f_2", "läuft", "Abs", "list", "_frac"])
def test_names_mean_nothing_to_printers(name):
    call = user_function(name, [X], X**2)(D)
    assert str(call) == f"{name}(d)"
    assert sp.lambdify(D, call)(3.0) == 9.0
    assert r"\left(d\right)" in sp.latex(call)
    assert "^{2}" in sp.latex(call**2)


def test_latex_names_are_escaped():
    assert sp.latex(PHI(D)) == r"\Phi\left(d\right)"
    assert sp.latex(user_function("soft_plus", [X], X)(D)) == r"\mathrm{soft\_plus}\left(d\right)"
