"""Equations: one = outside of brackets; everything else is refused at the right column."""

from __future__ import annotations

import pytest

from gradexplain.errors import ParseError
from gradexplain.readers.equation import EquationFunction, is_equation


@pytest.mark.parametrize(
    ("text", "echo", "variables", "subtracts"),
    [
        ("x^2 + y^2 = 25", "x**2 + y**2 = 25", ("x", "y"), True),
        ("x y = 0", "x*y = 0", ("x", "y"), False),
        ("0 = x - y", "0 = x - y", ("x", "y"), True),
        ("y=2x", "y = 2*x", ("y", "x"), True),
        ("sin x = cos y", "sin(x) = cos(y)", ("x", "y"), True),
        ("(1 if x == y else 2)*z = y", "(1 if x == y else 2)*z = y", ("x", "y", "z"), True),
        ("x*y - 1", "x*y - 1", ("x", "y"), False),
    ],
)
def test_both_sides_are_read(text, echo, variables, subtracts):
    found = EquationFunction.read(text)
    assert (found.echo, found.reading.variables, found.subtracts) == (echo, variables, subtracts)


def test_the_value_is_the_left_side_minus_the_right_side():
    assert EquationFunction.read("x**2 = 3*y")(4.0, 2.0) == 10.0


def test_notes_of_both_sides_are_kept():
    assert EquationFunction.read("2x = 3^y").notes == ("'2x' was read as 2*x", "'^' was read as a power")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("x = 1", True), ("x == 1", False), ("1 if x <= y else 2", False), ("x != y", False), ("log(x, base=2)", False),
     ("(x:=1)", False), ("x:=1", False), ("x >= 2", False), ("f(x) = 2", True), ("", False)],
)  # fmt: skip
def test_what_an_equation_is(text, is_one):
    assert is_equation(text) is is_one


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("a = b = c", 6, "this is the second"),
        ("= 2", 0, "the left side of the equation is empty"),
        ("x + y =", 6, "the right side of the equation is empty"),
        ("2 = 1 + 1", 2, "an equation of numbers alone"),
        ("x = foo(y)", 4, "unknown function foo"),
        ("x +* 2 = y", 3, "'*' has no meaning"),
        ("x = y == 2", 6, "a condition is no number"),
        ("log(x, base=2) = 1", 11, "a named argument"),
        ("x = (y", 4, "never closed"),
        ("x = y\u202e", 5, "U+202E"),
        ("x" * 2000 + " = y", 40, "too long"),
    ],
)
def test_refusals_point_at_the_whole_text(text, column, words):
    with pytest.raises(ParseError) as caught:
        EquationFunction.read(text)
    assert words in str(caught.value)
    assert caught.value.column == column
    assert caught.value.text.startswith(text[:3])


def test_a_double_equals_sign_says_how_an_equation_is_written():
    with pytest.raises(ParseError, match="an equation has a single ="):
        EquationFunction.read("x**2 + y**2 == 25")


def test_a_product_of_letters_may_have_its_letters_on_the_other_side():
    assert EquationFunction.read("xy = x + y").echo == "x*y = x + y"
