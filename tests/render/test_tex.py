"""The TeX of explanations: in the language that all front ends know, whole explanations through KaTeX and MathJax."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradexplain as gx
from gradexplain import escape

from .sample import SAMPLE, formulas

ENGINES = Path(__file__).with_name("tex_engines.js")


def layers(W1: Any, W2: Any, x: Any) -> Any:
    hidden = np.tanh(W1 @ x)
    return np.sum((W2 @ hidden) ** 2)


def piecewise(x: Any) -> Any:
    if 0 < x <= 1 and x != 0.5:
        return x**2
    return np.sqrt(abs(x)) if x < 0 else np.floor(x) + x


def series(x: Any) -> Any:
    total, term = 1.0, 1.0
    for n in range(1, 12):
        term = term * x / n
        total += term
    return total


TYPED = (
    "x**2*sin(x)", "x**x", "exp(-x**2/(2*sigma**2))/sqrt(2*pi*sigma**2)", "log(abs(x), 10)", "max(x, y, 3)", "x!",
    "sqrt(x)/cbrt(x)", "atan2(y, x)", "gamma(x) + erf(x)", "asinh(x)*acosh(x)", "sec(x)*csc(x)*cot(x)", "floor(x)*x",
    "x**2 + y**2 = 25", "log2(x) + log1p(x)", "learning_rate*x**2", "1e-7*x + 2.5e8*x**2", "sign(x)*x", "theta1*x_max",
)  # fmt: skip


def explanations() -> Iterator[Any]:
    for typed in TYPED:
        try:
            e = gx.explain(typed)
        except gx.GradexplainError:
            continue
        yield e
    yield gx.explain("x**2*sin(x)", x=1e-9)
    yield gx.explain("x**3", x=2, order=3)
    yield gx.explain(piecewise)
    yield gx.explain(piecewise, x=0.3)
    yield gx.explain(series)
    yield gx.explain(layers, np.ones((3, 2)), np.ones((2, 3)), np.array([1.0, 2.0]))
    yield gx.explain_jacobian(lambda x: np.array([x[0] ** 2, np.sin(x[1])]), np.array([1.0, 2.0]))
    yield gx.explain_hessian(lambda w: np.sum(np.exp(w)), np.array([1.0, 2.0]))


@cache
def written() -> tuple[list[str], list[str]]:
    """The formulas of the explanations, and what is shown as one formula in `text/latex`."""
    found: dict[str, None] = {}
    displays: dict[str, None] = {}
    for e in explanations():
        styles = (e.derivation(style=style) for style in ("textbook", "reverse", "forward"))
        for shown in (e, *styles, e.derivation(detail="full"), e.check(), e.why(), e.stepper()):
            for document in (shown.document, shown.screen):
                found |= {formula.latex: None for formula in formulas(document)}
            display = shown._repr_mimebundle_().get("text/latex", "")
            displays |= dict.fromkeys(re.findall(r"\$\$\n(.*?)\n\$\$", display, re.DOTALL))
    return list(found), list(displays)


def test_every_formula_is_portable() -> None:
    found, displays = written()
    assert len(found) > 400
    assert [latex for latex in [*found, *displays] if not escape.is_portable(latex)] == []


def test_engines_know_every_formula() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    found, displays = written()
    ours = [*found, *displays, *(escape.formula_latex(f.latex, f.text) for f in formulas(SAMPLE))]
    done = subprocess.run([node, str(ENGINES)], input=json.dumps(ours), capture_output=True, text=True, env=os.environ)
    if "Cannot find module" in done.stderr:
        pytest.skip("katex and mathjax-full are not installed: npm install them, and set NODE_PATH")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize("n", range(4))
def test_documents_compile(n: int, tmp_path: Path) -> None:
    latex = shutil.which("pdflatex")
    if latex is None:
        pytest.skip("pdflatex is not installed")
    e = (
        lambda: gx.explain("x**2*sin(x)/(1 + x)", x=3),
        lambda: gx.explain(layers, np.ones((3, 2)), np.ones((2, 3)), np.array([1.0, 2.0])),
        lambda: gx.explain(piecewise, x=0.3).derivation(style="reverse"),
        lambda: gx.explain("x**2 + y**2 = 25", order=2),
    )[n]()
    e.save(tmp_path / "e.tex")
    command = [
        latex,
        "-interaction=nonstopmode",
        "-halt-on-error",
        f"-output-directory={tmp_path}",
        str(tmp_path / "e.tex"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if "not found" in done.stdout:
        pytest.skip("amsmath is not installed")
    assert done.returncode == 0, done.stdout[-1500:]
    assert (tmp_path / "e.pdf").stat().st_size > 10_000
