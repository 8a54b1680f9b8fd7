"""The first screen of a notebook: the answer before everything else, and nothing left out."""

import re

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.render import markdown, screen
from gradexplain.render.blocks import Equation, Section


def f(x):
    u = x**2
    v = np.sin(x)
    return u * v


def shown(e):
    return e._repr_mimebundle_()["text/markdown"]


def titles(document):
    return [block.title[0].text for block in document.blocks if isinstance(block, Section)]


def test_the_answer_with_its_number_comes_first():
    lines = [line for line in shown(gx.explain(f, x=3.0)).split("\n") if line]
    assert lines[0] == "<strong>f(x)</strong> at x = 3"
    assert lines[2] == r"y = x^{2} \sin{\left(x \right)} = 1.27008"
    assert lines[5].startswith(r"\frac{d y}{d x} = x \left(2 \sin")
    assert lines[5].endswith("= -8.06321")


def test_everything_else_is_folded():
    document = gx.explain(f, x=3.0).screen
    assert titles(document) == ["Steps", "Autodiff", "Graph", "Check", "LaTeX to copy"]
    assert not any(block.open for block in document.blocks if isinstance(block, Section))
    assert shown(gx.explain(f, x=3.0)).count("<details>") == 5


def test_a_section_without_content_is_left_out():
    without_a_point, of_arrays = gx.explain(f), gx.explain(lambda w: np.sum(w**2), w=np.ones(3))
    assert titles(without_a_point.screen) == ["Steps", "Graph", "Check", "LaTeX to copy"]  # no tape with numbers
    assert titles(of_arrays.screen) == ["Steps", "Autodiff", "Graph", "Check", "LaTeX to copy"]


def test_warnings_stand_on_the_first_screen():
    text = shown(gx.explain(lambda x, y: x**2, 1.0, 2.0))
    assert "**warning**: y does not appear" in text.partition("<details>")[0]


def test_a_derivative_that_is_a_number_is_not_said_twice():
    equations = [block for block in gx.explain("6*x", x=1).screen.blocks if isinstance(block, Equation)]
    assert equations[1].formula.text == "dy/dx = 6"


def test_small_arrays_are_shown_and_large_ones_summed_up():
    small = shown(gx.explain(lambda w: np.sum(w**2), w=np.array([1.0, 2.0])))
    assert r"= \begin{bmatrix}2 & 4\end{bmatrix}" in small
    large = shown(gx.explain(lambda w: np.sum(w**2), w=np.ones(50)))
    assert r"is of shape (50,): 2 .. 2, mean 2" in large


def test_several_derivatives_have_a_line_each():
    text = shown(gx.explain("x*y", x=2, y=5))
    assert r"\frac{\partial f}{\partial x} = y = 5" in text.partition("<details>")[0]
    assert r"\frac{\partial f}{\partial y} = x = 2" in text.partition("<details>")[0]


def test_a_definition_that_derivatives_share_is_shown_once():
    def loss(X, w, y):
        return np.mean((X @ w - y) ** 2)

    head = shown(gx.explain(loss, X="m n", w="n", y="m")).split("<details>")[0]
    assert head.count(r"\delta = ") == 1
    assert head.count("m = ") == 1


def test_typed_text_is_shown_as_it_was_read():
    assert shown(gx.explain("x^2 y", x=2, y=1)).startswith("`x**2*y` at x = 2, y = 1")


def test_equations_have_no_value_of_their_own():
    lines = shown(gx.explain("x**2 + y**2 = 25", x=3, y=4))
    assert "x^{2} + y^{2} = 25\n" in lines
    assert "= -0.75" in lines


@pytest.mark.parametrize("order", [1, 2])
def test_the_latex_to_copy_is_that_of_the_answer(order):
    e = gx.explain(f, order=order)
    (copied,) = re.findall(r"```latex\n(.*?)\n```", shown(e), re.DOTALL)
    assert copied.endswith(f"= {next(iter(e.gradients.values())).latex}")


def test_other_records_have_their_ordinary_document():
    check = gx.explain(f, x=3.0).check()
    assert screen.of(check.data) == check.document
    assert check._repr_mimebundle_()["text/markdown"] == markdown.render(check.document)
