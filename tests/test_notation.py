"""Operations on arrays as formulas: what a mark or a power applies to."""

import pytest
import sympy as sp

from gradexplain.escape import is_portable
from gradexplain.notation import ArrayOperation
from gradexplain.render import formula
from gradexplain.simplify import printing

A, B, x = (sp.Symbol(name, real=True) for name in ("A", "B", "x"))


def of(name, *operands):
    return ArrayOperation(name, {}, *operands)


@pytest.mark.parametrize(
    ("expr", "latex"),
    [
        (of("transpose", A), r"A^{\top}"),
        (of("transpose", of("inv", A)), r"\left(A^{-1}\right)^{\top}"),
        (of("transpose", of("matmul", A, B)), r"\left(A B\right)^{\top}"),
        (of("matmul", A, of("transpose", B)), r"A B^{\top}"),
        (of("transpose", A + B), r"\left(A + B\right)^{\top}"),
        (of("transpose", of("trace", A)), r"\operatorname{trace}\left(A\right)^{\top}"),
        (of("outer", of("matmul", A, x), of("matmul", B, x)), r"\left(A x\right) \left(B x\right)^{\top}"),
        (of("det", of("matmul", A, B)), r"\det \left(A B\right)"),
        (of("matmul", A, B) ** 2, r"\left(A B\right)^{2}"),
        (of("transpose", A) ** 2, r"\left(A^{\top}\right)^{2}"),
        (sp.sqrt(of("matmul", A, B)), r"\sqrt{A B}"),
    ],
)
def test_marks_and_powers_are_of_the_whole(expr, latex):
    assert formula.latex(expr) == latex
    assert printing.latex(expr) == latex
    assert is_portable(latex)


def test_an_adjoint_with_a_number_can_be_transposed():
    assert formula.latex(of("transpose", sp.Symbol("x_bar_1"))) == r"\left(\bar{x}^{(1)}\right)^{\top}"
