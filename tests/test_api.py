"""What is asked for in many ways, and what is refused with a reason and a way out."""

import threading
import time

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import (
    ArgumentError,
    DomainError,
    FunctionError,
    GradexplainError,
    NoRuleError,
    NotTraceableError,
    ParseError,
    ReturnError,
)

ONES = np.ones(3)


def f(x, y):
    return x**2 * y


@pytest.mark.parametrize(
    ("wrt", "keys"),
    [(None, ["x", "y"]), ("y", ["y"]), (["y", "x"], ["y", "x"]), (0, ["x"]), (1, ["y"]), ((1, "x"), ["y", "x"])],
)
def test_what_to_differentiate_with_respect_to(wrt, keys):
    assert list(gx.explain(f, 1.5, 0.5, wrt=wrt).gradients) == keys


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((1.5, 0.5), {}), ((1.5,), {"y": 0.5}), ((), {"y": 0.5, "x": 1.5}), ((np.float64(1.5), np.array(0.5)), {})],
)
def test_points_are_given_as_calls_are(arguments, named):
    assert gx.explain(f, *arguments, **named).gradient_values == {"x": 1.5, "y": 2.25}


def test_defaults_are_constants_and_what_is_left_out_a_symbol():
    e = gx.explain(lambda x, k=3.0: k * x**2, 2.0)
    assert list(e.gradients) == ["x"]
    assert e["x"].text in ("2*k*x", "6*x")
    assert gx.explain(f)["x"].text == "2*x*y"
    assert gx.explain(lambda x, *, k=2.0: k * x * x, 3.0).gradient_values == {"x": 12.0}
    assert gx.explain(lambda x, n: x**n, x=2.0, n=3).gradient_values == {"x": 12.0}


def test_shapes_stand_for_arrays():
    e = gx.explain(lambda x: np.sum(x**2), x=(3,))
    assert e["x"].shape == (3,)
    assert e.value is None


def test_orders():
    assert [gx.explain("x**4", order=n)[",".join("x" * n)].text for n in (1, 2, 3, 4)] == [
        "4*x**3", "12*x**2", "24*x", "24",
    ]  # fmt: skip


def test_jacobians_and_hessians():
    e = gx.explain_jacobian(lambda x: np.array([x[0] * x[1], x[1] ** 2]), np.array([2.0, 3.0]))
    np.testing.assert_allclose(e.gradient_values["x"], [[3, 2], [0, 6]])
    e = gx.explain_jacobian(lambda x: (x[0], x[0] * x[1]), np.array([2.0, 3.0]))
    np.testing.assert_allclose(e.gradient_values["x"], [[1, 0], [3, 2]])
    e = gx.explain_hessian(f, 1.5, 0.5)
    assert {k: v.text for k, v in e.gradients.items()} == {"x,x": "2*y", "x,y": "2*x", "y,x": "2*x", "y,y": "0"}
    e = gx.explain_hessian(lambda w: np.sum(w**3), ONES)
    np.testing.assert_allclose(e.gradient_values["w,w"], 6 * np.eye(3))
    assert e["w"] is e["w,w"]


def test_check_and_why():
    assert gx.check(f, 1.5, 0.5).ok
    assert not gx.check(f, 1.5, 0.5, wrt="x", gradient=1.6)
    assert "y does not appear" in str(gx.why(lambda x, y: x, 1.0, 2.0))


# Each: what is called, the class of the error, and words for what is wrong and for what to do.
class Model:
    def __init__(self):
        self.w = 2.0


def is_none(x):
    x**2


def loops(x):
    while x > 0:
        x = x + 1
    return x


def many_branches(x):
    for k in range(40):
        if x > k:
            x = x + 1
    return x


MISTAKES = [
    (lambda: gx.explain(3.0), ArgumentError, "float", ""),
    (lambda: gx.grad(3.0), ArgumentError, "float", ""),
    (lambda: gx.explain(None), ArgumentError, "None", ""),
    (lambda: gx.grad(f)(), ArgumentError, "x", ""),
    (lambda: gx.grad(f)(1.0), ArgumentError, "y", ""),
    (lambda: gx.explain(f, 1.0, 2.0, 3.0), ArgumentError, "", ""),
    (lambda: gx.explain(f, z=3.0), ArgumentError, "z", ""),
    (lambda: gx.explain(f, 1.0, x=2.0), ArgumentError, "x", ""),
    (lambda: gx.explain(f, wrt="z"), ArgumentError, "no argument z", "wrt="),
    (lambda: gx.explain(f, wrt=7), ArgumentError, "no argument 7", "wrt="),
    (lambda: gx.explain(f, order=0), ArgumentError, "order=0", "1, 2"),
    (lambda: gx.explain(f, order=-1), ArgumentError, "order=-1", "1, 2"),
    (lambda: gx.explain(f, order=1.5), ArgumentError, "order=1.5", "1, 2"),
    (lambda: gx.explain(f, 1.0, 2.0, facts={"q": "sign"}), ArgumentError, "tells of q", "use x, y"),
    (lambda: gx.explain(f, 1.0, 2.0, facts={"x": "blue"}), ArgumentError, "x is blue", "symmetric"),
    (lambda: gx.explain(f, "m 1.5", 2.0), ArgumentError, "the shape", "or an array"),
    (lambda: gx.explain(lambda x: x**2, "hello world!"), ArgumentError, "", ""),
    (lambda: gx.explain(lambda x: x**2, np.nan), ArgumentError, "x is not finite", "x=3.0"),
    (lambda: gx.explain(lambda x: x**2, np.array([1.0, np.inf])), ArgumentError, "x is not finite", ""),
    (lambda: gx.explain(lambda x: x**2, 1j), GradexplainError, "complex", ""),
    (lambda: gx.explain(lambda x: x**2, {"a": 1}), ArgumentError, "dict", ""),
    (lambda: gx.explain(lambda x: x**2, np.array(["a"])), GradexplainError, "", ""),
    (lambda: gx.explain(lambda x: (x, x)), ReturnError, "tuple", "explain_jacobian"),
    (lambda: gx.explain(is_none), ReturnError, "None", "return"),
    (lambda: gx.explain(lambda x: "text"), ReturnError, "str", ""),
    (lambda: gx.explain(lambda x: x > 0), ReturnError, "truth", ""),
    (lambda: gx.explain(lambda x: [x]), ReturnError, "list", ""),
    (lambda: gx.explain(lambda x: x.foo(), 1.0), GradexplainError, "foo", ""),
    (lambda: gx.explain(lambda x: undefined_name * x, 1.0), FunctionError, "undefined_name", "point"),  # noqa: F821
    (lambda: gx.explain(lambda x: x / 0 * int("a"), 1.0), FunctionError, "invalid literal", ""),
    (lambda: gx.explain(lambda x: np.nextafter(x, 1) * x, 1.0), NoRuleError, "nextafter", ""),
    (lambda: gx.explain(lambda x: np.linalg.eig(x)[0][0], np.eye(2)), GradexplainError, "eig", ""),
    (lambda: gx.explain(lambda x: np.random.rand() * x, 1.0), GradexplainError, "different values", "argument"),
    (lambda: gx.explain(loops), GradexplainError, "", ""),
    (lambda: gx.explain(many_branches), ArgumentError, "every value", "point"),
    (lambda: gx.explain(lambda x: np.log(-1 - x**2)), DomainError, "no value at any", "point"),
    (lambda: gx.explain("sqrt(-1 - x**2)"), DomainError, "no value at any", "point"),
    (lambda: gx.explain("x +"), ParseError, "ends too early", ""),
    (lambda: gx.explain(""), ParseError, "empty", ""),
    (lambda: gx.explain("foo(x)"), ParseError, "unknown function foo", ""),
    (lambda: gx.explain("__import__('os').system('ls')"), ParseError, "'__import__' is not read", ""),
    (lambda: gx.explain("9**9**9*x"), ParseError, "4096 bits", ""),
    (lambda: gx.explain("x" * 100_000), ParseError, "", ""),
    (lambda: gx.explain("(" * 500 + "x" + ")" * 500), ParseError, "", ""),
    (lambda: gx.explain(lambda x: x * 2 ** (10**6)), FunctionError, "larger than any float", "scale"),
    (lambda: gx.explain(f, 1.0, 2.0).check(gradient="x"), ArgumentError, "str", "number"),
    (lambda: gx.explain(f, 1.0, 2.0).check(gradient={"x": 1.0}), ArgumentError, "nothing for y", "wrt="),
    (lambda: gx.explain(lambda x: np.sum(x), ONES).check(gradient=np.ones(2)), ArgumentError, "shape (2,)", "shape"),
    (lambda: gx.explain(Model()), ArgumentError, "Model", ""),
]


@pytest.mark.parametrize(("mistake", "kind", "what", "fix"), MISTAKES)
def test_mistakes_are_answered_soon_and_clearly(mistake, kind, what, fix):
    start = time.perf_counter()
    with pytest.raises(kind) as caught:
        mistake()
    assert time.perf_counter() - start < 5
    error = caught.value
    assert isinstance(error, GradexplainError)
    assert what in str(error)
    assert fix in str(error)
    assert "Traceback" not in str(error)
    assert error.fix or error.why


def test_errors_say_where():
    with pytest.raises(NotTraceableError) as caught:
        gx.explain(lambda x: complex(x).imag + x, 1.0)
    assert "test_api.py" in str(caught.value)
    assert "complex" in str(caught.value)


def test_explanations_are_made_in_any_thread():
    found = []
    threads = [threading.Thread(target=lambda k=k: found.append(str(gx.explain(f, 1.0 + k, 2.0)))) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == [str(gx.explain(f, 1.0 + k, 2.0)) for k in range(3)]


def test_arguments_are_not_changed():
    x = np.array([1.0, 2.0])

    def changes(x):
        x[0] = 5.0
        return np.sum(x**2)

    e = gx.explain(changes, x)
    np.testing.assert_array_equal(x, [1.0, 2.0])
    np.testing.assert_array_equal(e.gradient_values["x"], [0.0, 4.0])


@pytest.mark.parametrize("nothing", [[], ()])
def test_nothing_to_differentiate_with_respect_to(nothing):
    with pytest.raises(gx.errors.ArgumentError, match="wrt names nothing"):
        gx.explain("x**2", wrt=nothing)
