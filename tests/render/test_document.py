"""The wording of explanations, as text, and that every format takes it."""

import math

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError
from gradexplain.exposition import sweeps, textbook
from gradexplain.exposition.model import CheckReport, CheckRow, Finding, Overview
from gradexplain.render import document, html, latex, markdown, text
from gradexplain.render.document import of
from gradexplain.render.formula import text as formula_text
from gradexplain.simplify.arrangement import TEXTBOOK
from tests.exposition import programs
from tests.exposition.programs import SCALAR, traced

details = ["brief", "full"]


def lines(record, width=80):
    return text.render(of(record), width=width).splitlines()[3:]


def test_a_product_as_a_teacher_writes_it():
    derivation = textbook.derive(traced(programs.product, symbolic=True), "x")
    assert lines(derivation) == [
        "  y = x**2*sin(x)",
        "",
        "  1  product rule   (u*v)' = u'*v + u*v'",
        "     u = x**2, u' = 2*x",
        "     v = sin(x), v' = cos(x)",
        "",
        "  dy/dx = 2*x*sin(x) + x**2*cos(x)",
    ]


def test_logarithmic_differentiation():
    derivation = textbook.derive(traced(programs.self_power, symbolic=True), "x")
    assert lines(derivation) == [
        "  y = x**x",
        "",
        "  1    logarithmic differentiation   (x**x)' = x**x*u'",
        "       u = x*log(x) is the logarithm of x**x",
        "  1.1    product rule                u' = log(x) + 1",
        "         v = log(x), v' = 1/x",
        "",
        "  dy/dx = x**x*(log(x) + 1)",
        "",
        "This holds for x > 0.",
    ]


def test_the_full_level_states_each_rule_once_and_refers_back():
    derivation = textbook.derive(traced(programs.quotient, symbolic=True), "x", detail="full")
    shown = "\n".join(lines(derivation))
    assert shown.count("(x**n)' = n*x**(n - 1)") == 1
    assert "power rule, as in 1.1.1" in shown


def test_the_names_of_the_program_are_used():
    shown = "\n".join(lines(textbook.derive(traced(programs.sigmoid, symbolic=True), "x")))
    assert "y = s*(1 - s)\n  where s = 1/(1 + exp(-x))" in shown
    assert "dy/dx = s'*(1 - s) - s*s'" in shown


def test_logarithms_in_full_say_why():
    shown = "\n".join(lines(textbook.derive(traced(programs.self_power, symbolic=True), "x", detail="full")))
    for part in ["the power rule needs a constant exponent", "condition: x > 0, so that the power is real",
                 "take logarithms: u = log(x**x) = x*log(x), by log(a**b) = b*log(a)",
                 "u' = 1*log(x) + x/x = log(x) + 1",
                 "the same by rewriting: x**x = exp(x*log(x)) and the chain rule"]:  # fmt: skip
        assert part in shown


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (math.asin, "both sides: cos(w)*w' = x', where cos(w) = sqrt(1 - x**2)"),
        (math.atan, "both sides: (1 + tan(w)**2)*w' = x', where 1 + tan(w)**2 = 1 + x**2"),
        (math.acosh, "both sides: sinh(w)*w' = x', where sinh(w) = sqrt(x**2 - 1)"),
    ],
)
def test_inverse_functions_in_full_say_why(function, said):
    derivations = [textbook.derive(traced(lambda x: function(x), symbolic=True), "x", detail=d) for d in details]
    brief, full = ("\n".join(lines(d)) for d in derivations)
    assert said in full
    assert "both sides" not in brief


def test_what_is_held_constant_is_said():
    shown = str(gx.explain("a*x**2 + sin(b*x)", wrt="x").derivation())
    assert "a and b are held constant." in shown
    assert "held constant" not in str(gx.explain("x**2").derivation())


def test_branches_are_one_rule_in_the_order_of_the_program():
    def pieces(x, a):
        if x < 0:
            return -x
        if a >= x:
            return x**2
        return 2 * x - 1

    shown = gx.explain(pieces, wrt="x").derivation().to_text(200)
    assert "(u if x < 0 else v if a >= x else w)' = u' if x < 0 else v' if a >= x else" in shown
    assert "dy/dx = -1 if x < 0 else 2*x if a >= x else 2" in shown
    assert shown.count("branch by branch") == 1


def test_a_branch_of_one_point_is_left_to_the_limit():
    def sinc(x):
        if x == 0:
            return 1.0
        return math.sin(x) / x

    assert "there the limit decides" in gx.explain(sinc).derivation().to_text(120)
    assert "limit decides" not in str(gx.explain("max(x, 2)").derivation())


@pytest.mark.parametrize("detail", details)
def test_known_rules_have_no_line(detail):
    e = gx.explain("x**2*sin(3*x)/(1 + x**2)")
    shown = str(e.derivation(detail=detail, known=("sum", "power", "constant-multiple", "chain rule")))
    assert "quotient rule" in shown
    assert "product rule" in shown
    assert not any(rule in shown for rule in ("sum rule", "power rule", "multiple rule", "chain rule"))
    all_known = str(e.derivation(detail=detail, known="quotient,product,sum,power,constant multiple,chain"))
    assert "rule" not in all_known
    assert "= x*(2*sin(3*x) + 3*x*(1 + x**2)*cos(3*x))/(1 + x**2)**2" in all_known


def test_rules_that_do_not_exist_can_not_be_known():
    with pytest.raises(ArgumentError, match=r"no rule 'pwoer' to know[\s\S]*sum, constant multiple, power, product"):
        gx.explain("x**2").derivation(known=("sum", "pwoer"))


def test_a_deep_nest_is_a_page():
    shown = lines(textbook.derive(traced(programs.nest, symbolic=True), "x"))
    assert len(shown) < 40
    assert any("... 291 more steps" in row for row in shown)


def test_second_derivatives_have_a_heading_each():
    shown = "\n".join(lines(textbook.derive(traced(programs.product, symbolic=True), "x", order=2)))
    assert (
        shown.index("First derivative")
        < shown.index("dy/dx = ")
        < shown.index("Second derivative")
        < shown.index("d^2y/dx^2 = ")
    )


def test_reverse_mode_of_the_textbook_example():
    shown = "\n".join(lines(sweeps.reverse(traced(lambda x: x**2, 3.0), ["x"])))
    assert "dy/dx = 2*x**(2 - 1) = 2*x = 6" in shown
    assert "The seed is y_bar = 1." in shown
    assert "\n  dy/dx = 6" in shown


def test_paths_and_costs_are_told_with_the_program_s_numbers():
    def f(x):
        u = x**2
        v = math.sin(x)
        return u * v

    e = gx.explain(f, x=3.0)
    shown = e.derivation(style="reverse").to_text(100)
    assert "paths into `x`: via `v` -8.90993, via `u` 0.84672, sum -8.06321" in shown
    assert "the function takes 3 operations, the sweep back 7 more, for which 2 values" in shown
    both = gx.explain(lambda x, y: x * math.sin(x * y), 2.0, 0.5).derivation(style="both").to_text(100)
    for part in ["Reverse mode\n----", "Forward mode\n----", "pass of x  pass of y", "reverse  1       7           2",
                 "forward  2       10          0", "Reverse mode wins."]:  # fmt: skip
        assert part in both


def test_modes_without_a_point_have_formulas():
    shown = str(gx.explain(lambda x, y: x * math.sin(x * y)).derivation(style="both"))
    assert "warning" not in shown
    assert "pass of" not in shown
    assert "v1_dot = x_dot*y + y_dot*x" in shown


@pytest.mark.parametrize("width", [40, 80, 200])
def test_modes_fit_the_page(width):
    shown = gx.explain(lambda x, y: x * math.sin(x * y), 2.0, 0.5).derivation(style="both").to_text(width)
    assert max(map(len, shown.splitlines())) <= width
    if width == 40:
        assert "  local derivative  dv1/dy = x = 2" in shown
        assert not any(row.rstrip() in ("name", "  value", "  line") for row in shown.splitlines())


def test_reverse_mode_of_arrays_says_what_the_seed_means():
    shown = " ".join(
        "\n".join(lines(sweeps.reverse(traced(programs.layer, np.ones((2, 3)), np.ones((3, 2))), ["A"]))).split()
    )
    assert "ones of shape (2, 2): this is the gradient of the sum of the entries." in shown
    assert "d sum(y)/dA = g @ B.T * cos(A)" in shown


@pytest.mark.parametrize("function", SCALAR)
@pytest.mark.parametrize("detail", ["brief", "full"])
def test_every_format_takes_every_derivation(function, detail):
    shown = of(textbook.derive(traced(function, symbolic=True), "x", detail=detail))
    for render in (text.render, markdown.render, latex.fragment, html.page):
        assert render(shown)


def test_latex_is_portable():
    from gradexplain.escape import is_portable
    from tests.render.sample import formulas

    for typed in ("x**2*sin(3*x)/(1 + x**2)", "x**x", "asin(x)*x", "(x**2 - 1)/(x**2 + 1)", "max(x, x**2)"):
        for formula in formulas(gx.explain(typed, order=2).derivation(detail="full").document):
            assert is_portable(formula.latex), formula
    for function in SCALAR:
        for formula in formulas(of(textbook.derive(traced(function, symbolic=True), "x"))):
            assert is_portable(formula.latex), formula


REPORT = CheckReport(True, (CheckRow("x", 6.0, 6.0, 1e-12, 1e-6, "pass"),), (("x", 3.0),))


class Form:
    text, latex, shown_parts, functions, conditions = "2*x", "2 x", (), (), ()
    arrangement = TEXTBOOK


def overview(**changes):
    program = traced(lambda x: x**2, 3.0)
    derivation = textbook.derive(program, "x")
    fields = {
        "name": "f", "title": "", "arguments": ("x",), "function": derivation.function, "shape": (), "kind": "gradient",
        "order": 1, "point": (("x", 3.0),), "value": 9.0, "forms": (("x", Form),), "values": (("x", 6.0),),
        "derivations": (derivation,), "check": REPORT,
    }  # fmt: skip
    return Overview(**(fields | changes))


def test_overview():
    assert text.render(of(overview())).splitlines() == [
        "f(x)",
        "====",
        "",
        "  y = x**2",
        "",
        "  dy/dx = 2*x    power rule",
        "",
        "at x = 3: y = 9, dy/dx = 6",
        "",
        "check x = 3: dy/dx = 6, difference quotient 6.000000 ok",
    ]


def test_a_failed_check_is_loud():
    row = CheckRow("x", 5.0, 6.0, 0.2, 1e-6, "fail", "off by 20 %")
    shown = text.render(of(overview(check=CheckReport(False, (row,), (("x", 3.0),)))))
    assert "error: check x = 3: dy/dx = 5, difference quotient 6.000000 fail: off by 20 %" in shown


def test_a_check_report():
    shown = text.render(of(REPORT))
    assert "The gradient passes at x = 3: 1 of 1 entries agree." in shown


def test_findings():
    shown = text.render(of((Finding("kink", "abs(x) has a kink here"),)))
    assert "warning: abs(x) has a kink here" in shown
    assert "Nothing out of the ordinary" in text.render(of(()))


@pytest.mark.parametrize(
    ("variables", "shown"),
    [(("x",), "dy/dx"), (("x", "x"), "d^2y/dx^2"), (("x", "z"), "d^2y/dxdz"), (("x", "x", "z"), "d^3y/dx^2dz")],
)
def test_names_of_derivatives(variables, shown):
    assert document.derivative_of("y", variables).text == shown


def test_formulas_keep_what_was_written():
    from gradexplain.exposition.naming import formula, names

    for function, shown in [
        (lambda x: x * x, "x*x"),
        (lambda x: 1 + x**2, "1 + x**2"),
        (lambda x: x - (x + 1), "x - (x + 1)"),
        (lambda x: (x + 1) / (x - 1) / x, "(x + 1)/((x - 1)*x)"),
        (lambda x: x / (2 * x), "x/(2*x)"),
        (lambda x: 2 * (x + 1), "2*(x + 1)"),
        (lambda x: -(x + 1) * 3, "-(x + 1)*3"),
        (lambda x: math.sqrt(x) ** 3, "sqrt(x)**3"),
        (lambda x: x**-2, "x**(-2)"),
        (lambda x: abs(x) + np.maximum(x, 2), "abs(x) + max(2, x)"),
        (lambda x: 0.1 * x, "x/10"),
    ]:
        program = traced(function, symbolic=True)
        assert formula_text(formula(program, names(program))) == shown


def test_the_delta_of_an_option_is_told_in_the_functions_of_the_program():
    shown = gx.explain(programs.black_scholes, 100.0).derivation("S").to_text(120)
    assert "y = S*cdf(d1) - K*exp(-r*T)*cdf(d2)" in shown.replace("price = ", "y = ")
    assert "cdf(z) = (1 + erf(z/sqrt(2)))/2" in shown
    assert "u = cdf(d1), u' = " in shown
    assert "= cdf(d1)" in shown
    assert "equal terms cancel" in shown
