"""`options`: each setting where it shows, blocks that end, variables of the environment, and values that are none."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import ArgumentError
from gradexplain.settings import Options, current, from_environment


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
    for name in Options.__dataclass_fields__:
        monkeypatch.delenv(f"GRADEXPLAIN_{name.upper()}", raising=False)
    with gx.options():
        yield


def explained():
    return gx.explain("x**2/3", x=1)


def test_settings_hold_until_they_are_changed():
    gx.options(precision=3)
    gx.options(width=50)
    assert (current().precision, current().width) == (3, 50)


def test_a_block_ends_as_it_began():
    gx.options(precision=3)
    with gx.options(precision=9, unicode=True) as inside:
        assert (inside.precision, inside.unicode) == (9, True)
        with gx.options(precision=2):
            assert current().precision == 2
        assert current().precision == 9
    assert current() == Options(precision=3)


def test_a_block_ends_after_an_exception_too():
    with pytest.raises(KeyError), gx.options(width=30):
        raise KeyError
    assert current().width == 80


def test_without_arguments_the_options_are_shown():
    assert "precision=6" in repr(gx.options())


def test_precision_is_that_of_all_numbers():
    with gx.options(precision=3):
        assert "at x = 1: y = 0.333, dy/dx = 0.667" in explained().to_text()
        assert "= 0.333\n" in explained()._repr_mimebundle_()["text/markdown"]
        assert "difference quotient 0.6667 " in explained().to_text()
    with gx.options(precision=12):
        assert "y = 0.333333333333," in explained().to_text()


def test_width_and_unicode_are_those_of_text():
    with gx.options(width=40, unicode=True):
        assert max(map(len, str(explained()).splitlines())) <= 40
        assert "x²" in str(explained())
        assert "x**2" in explained().to_text(unicode=False)
        assert explained()._repr_mimebundle_()["text/plain"].isascii()


def test_theme_is_that_of_pages():
    assert "prefers-color-scheme: dark" in explained().to_html()
    for theme in ("light", "dark"):
        with gx.options(theme=theme):
            page = explained().to_html()
            assert f"color-scheme: {theme};" in page
            assert "prefers-color-scheme" not in page


def test_derivatives_may_wear_primes():
    with gx.options(notation="lagrange"):
        assert "y' = 2*x/3" in explained().to_text()
        assert "y'' = 2/3" in gx.explain("x**2/3", order=2).to_text()
        assert "y^(4) = 24" in gx.explain("x**4", order=4).to_text()
        assert "y^{(4)} &= 24" in gx.explain("x**4", order=4).to_latex()
        assert "df/dx = y" in gx.explain("x*y").to_text()  # which of the two would the prime be?
    assert "dy/dx = 2*x/3" in explained().to_text()


def test_arrays_may_have_the_signs_of_mathematics():
    e = gx.explain(lambda w, X, y: np.sum((X @ w - y) ** 2), w=np.ones(2), X=np.ones((3, 2)), y=np.ones(3), wrt="w")
    with gx.options(notation="mathematics", unicode=True):
        assert "2·Xᵀ (X w - y)" in str(e)
    with gx.options(notation="mathematics", unicode=False):
        assert "2*X.T @ (X @ w - y)" in str(e)


def test_notations_of_both_kinds_go_together():
    with gx.options(notation="mathematics, lagrange") as now:
        assert (now.primes, now.transposes) == (True, True)
    with gx.options(notation=("python",)) as now:
        assert now.notation == ("leibniz", "python")


def test_the_environment_is_asked_where_nothing_was_set(monkeypatch):
    monkeypatch.setenv("GRADEXPLAIN_PRECISION", "4")
    monkeypatch.setenv("GRADEXPLAIN_UNICODE", "yes")
    monkeypatch.setenv("GRADEXPLAIN_WIDTH", "")
    assert current() == Options(precision=4, unicode=True)
    gx.options(precision=8)
    assert current().precision == 8


# fmt: off
MISTAKES = [
    ({"precision": 0},               "whole number from 1 to 17"),
    ({"precision": 2.5},             "whole number from 1 to 17"),
    ({"precision": True},            "whole number from 1 to 17"),
    ({"width": 5},                   "whole number from 20 to 1000"),
    ({"width": "wide"},              "whole number from 20 to 1000"),
    ({"unicode": "maybe"},           "True or False"),
    ({"unicode": 3},                 "True or False"),
    ({"theme": "sepia"},             "auto or light or dark"),
    ({"language": "tlh"},            "use en or zh"),
    ({"notation": "newton"},         "leibniz, lagrange, python, mathematics"),
    ({"notation": "leibniz lagrange"}, "use either lagrange or leibniz"),
    ({"notation": ""},               "leibniz, lagrange, python, mathematics"),
    ({"notation": 3},                "see the values of notation"),
]
# fmt: on


@pytest.mark.parametrize(("asked", "fix"), MISTAKES)
def test_a_value_that_is_none_is_an_error_and_changes_nothing(asked, fix):
    with pytest.raises(ArgumentError) as caught:
        gx.options(**{"precision": 3, **asked})
    (name,) = asked
    assert f"{name}={asked[name]!r} is no setting" in str(caught.value)
    assert fix in str(caught.value)
    assert current() == Options()


def test_an_error_in_the_environment_names_the_variable():
    with pytest.raises(ArgumentError, match="GRADEXPLAIN_THEME='blue' is no setting"):
        from_environment({"GRADEXPLAIN_THEME": "blue"})
