"""The MIME bundle: all types, and none of the renderers' exceptions."""

import logging
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

import gradexplain as gx
from gradexplain.render import bundle, document, latex, markdown, text

FUNCTIONS: list[Any] = [
    "x**2*sin(x)",
    "exp(-x**2)/(1 + x)",
    lambda x: x if x > 0 else -x,
    lambda x: np.sum(np.tanh(x) ** 2),
    "x**2 + y**2 = 25",
]
KINDS = ["text/plain", "text/markdown", "text/latex"]


def broken(*args: object, **kwargs: object) -> str:
    raise RecursionError("a printer that fails")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_bundle_has_text_markdown_and_latex(function: Any) -> None:
    e = gx.explain(function)
    for shown in (e, e.check(), e.why(), e.derivation(), e.derivation(style="reverse"), e.derivation(style="forward")):
        assert list(shown._repr_mimebundle_()) == KINDS
        assert "\x1b" not in shown._repr_mimebundle_()["text/plain"]
        assert shown._repr_mimebundle_()["text/plain"].isascii()


def test_a_format_that_fails_is_logged_and_left_out(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle.LOGGER, "disabled", False)  # the linter of imports disables what loggers it finds
    with caplog.at_level(logging.ERROR, logger="gradexplain"):
        assert bundle.mimebundle({"text/plain": lambda: "2*x", "text/markdown": broken}) == {"text/plain": "2*x"}
    told = [record.getMessage() for record in caplog.records if record.name == bundle.LOGGER.name]
    assert told == ["could not write an explanation as text/markdown"]


def test_html_and_latex_alone_are_there_for_who_asks() -> None:
    e = gx.explain(lambda x: x**2, 3.0)
    assert e._repr_html_() == e.to_html()
    assert e._repr_latex_() == e._repr_mimebundle_()["text/latex"]


def test_alone_they_do_not_raise_either(monkeypatch: pytest.MonkeyPatch) -> None:
    e = gx.explain("x**2")
    monkeypatch.setattr(latex, "display", broken)
    assert e._repr_latex_() == bundle.UNPRINTABLE


def test_notebooks_get_no_html_beside_the_bundle() -> None:
    pytest.importorskip("IPython")
    from IPython.testing.globalipapp import get_ipython, start_ipython

    shell = start_ipython() or get_ipython()
    e = gx.explain(lambda x: x**2, 3.0)
    assert list(shell.display_formatter.format(e)[0]) == KINDS
    assert "text/html" in shell.display_formatter.format(e.picture())[0]
    assert "text/html" in shell.display_formatter.format(e.stepper())[0]


def test_there_is_plain_text_even_if_everything_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    e = gx.explain("x**2")
    for module, name in ((text, "render"), (markdown, "render"), (latex, "display")):
        monkeypatch.setattr(module, name, broken)
    assert e._repr_mimebundle_() == {"text/plain": bundle.UNPRINTABLE}


def test_the_wording_may_fail_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    e = gx.explain("x**2")
    monkeypatch.setattr(document, "of", broken)
    assert set(e._repr_mimebundle_()) == {"text/plain", "text/markdown"}  # the screen has a wording of its own


# SymPy's methods of printing, and our own: any of them may meet what it can't print.
_METHODS = [
    (kind, name)
    for kind in (StrPrinter, LatexPrinter)
    for name in ("_print_Symbol", "_print_Integer", "_print_Function", "_print_Pow", "doprint", "_print")
    if hasattr(kind, name)
]


@given(st.sampled_from(_METHODS), st.sampled_from(FUNCTIONS))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_rendering_raises_when_a_printer_does(method: tuple[Any, str], function: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        e = gx.explain(function)
        _ = e.data
        patch.setattr(*method, broken)
        for write in (e.to_text, e.to_markdown, e.to_latex, e.to_html, e.to_json, e._repr_mimebundle_, e.__rich__):
            assert write()
        assert str(e)
        assert list(e._repr_mimebundle_()) == KINDS


def test_what_can_not_be_printed_stands_as_sympy_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    e = gx.explain("x**2", x=3)
    monkeypatch.setattr(LatexPrinter, "doprint", broken)
    markdown = e._repr_mimebundle_()["text/markdown"]
    assert r"\text{2*x}" in markdown
    assert str(sp.Symbol("x")) == "x"
