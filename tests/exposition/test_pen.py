"""The pen writes calls where their pieces have no names of their own."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import gradexplain as gx
from gradexplain.exposition.pen import Pen
from gradexplain.graph import variable
from gradexplain.primitive import NUMPY
from gradexplain.simplify.printing import latex
from gradexplain.simplify.written import text

X = variable("X", (2, 3))


@pytest.mark.parametrize(
    ("node", "shown", "tex"),
    [
        (NUMPY[np.mean](X), "mean(X)", r"\operatorname{mean}\left(X\right)"),
        (NUMPY[np.mean](X, axis=1), "mean(X, axis=1)", r"\operatorname{mean}_{\text{axis 1}}\left(X\right)"),
        (NUMPY[np.mean](X * X) * 2, "2*mean(X*X)", None),
        (NUMPY[np.sum](X, axis=0, keepdims=True), "sum(X, axis=0, keepdims=True)", None),
        (NUMPY[np.std](X), "std(X)", r"\operatorname{std}\left(X\right)"),
        (NUMPY[np.var](X, ddof=1), "var(X, ddof=1)", r"\operatorname{var}_{\text{ddof 1}}\left(X\right)"),
        (NUMPY[np.count_nonzero](X), "count_nonzero(X)", r"\operatorname{count\_nonzero}\left(X\right)"),
    ],
)
def test_calls(node, shown, tex):
    (written,) = Pen({}).write([node])
    assert text(written) == shown
    assert tex is None or latex(written) == tex


def test_a_piece_with_a_name_is_not_hidden():
    mean = NUMPY[np.mean](X)
    (total,) = (n for n in mean.inputs if n.inputs)
    assert [text(e) for e in Pen({total: "s"}).write([X, mean])] == ["X", "s/6"]
    later = Pen({})
    later.name(total, "s")
    assert text(later.write([X, mean])[1]) == "s/6"
    put = Pen({})
    put.put(total, sp.Symbol("t"))
    assert text(put.write([X, mean])[1]) == "t/6"
    assert text(Pen({mean: "m"}).open([mean])[0]) == "mean(X)"


def test_products_of_matrices_have_no_parentheses_between_commas():
    def f(x, A):
        return np.sum(np.tanh(x @ A) + np.maximum(x @ A, 0) + abs((x @ A) @ A))

    shown = text(gx.explain(f, x="n", A="n n").data.function)
    assert shown == "sum(tanh(x @ A) + max(0, x @ A) + abs((x @ A) @ A))"


def test_latex_tells_entries_and_settings_apart():
    def conv(x, k):
        return np.sum((k[0] * x[:-1] + k[1] * x[1:]) ** 2)

    e = gx.explain(conv, x=np.ones(12), k=np.ones(2))
    shown = latex(e.data.function)
    assert r"k_{\texttt{0}} x_{\texttt{:-1}}" in shown
    assert r"k_{\texttt{1}} x_{\texttt{1:}}" in shown
    assert e["x"].latex.count("(0, 1)") == e["x"].latex.count("(1, 0)") == 1
