"""Text of traced values: it may be shown, but it must not flow back into the result."""

import pytest

import gradexplain as gx
from gradexplain.errors import NotTraceableError


def by_str(x):
    return float(str(x)) ** 2 * x


def by_repr(x):
    return float(repr(x).removeprefix("np.float64(").removesuffix(")")) ** 2 * x


def by_format(x):
    return float(f"{x}") ** 2 * x


def by_percent(x):
    return float("%.17g" % x) ** 2 * x  # noqa: UP031


def rounded(x):
    return float(f"{x:.1f}") * x


@pytest.mark.parametrize("f", [by_str, by_repr, by_format, by_percent, rounded])
def test_text_that_flows_back_is_refused(f):
    with pytest.raises(NotTraceableError, match="the text of a traced value flows back") as caught:
        gx.grad(f)(3.0)
    assert caught.value.where.function == f.__name__


def test_text_that_is_shown_is_allowed(capsys):
    seen = []

    def f(x):
        print("x is", x)
        seen.append(f"{x:.2f} %g" % x)
        return x**3 if x > 0 else x

    grad = gx.grad(f)
    assert grad(3.0) == 27.0
    assert grad(-3.0) == 1.0
    assert set(capsys.readouterr().out.split()) >= {"x", "is", "3.0", "-3.0"}


def test_text_that_steers_is_followed_at_each_call():
    grad = gx.grad(lambda x: -x if str(x).startswith("-") else x**2)
    assert grad(3.0) == 6.0
    assert grad(-3.0) == -1.0
