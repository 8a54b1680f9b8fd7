"""`math`, buffers and SciPy wherever a program keeps them; and that nothing of it is left behind."""

import contextlib
import functools
import math
import statistics
import sys
import threading
from math import cos as cosine
from math import fsum
from types import ModuleType

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import NoRuleError
from gradexplain.trace.patches import Patches
from gradexplain.trace.reach import slots
from gradexplain.trace.stand_ins import StandIn

from . import M, V, check_gradient, collector

PROGRAMS, at = collector()
TABLE = {"sin": math.sin, "others": [math.cos, (np.exp, math.tanh)]}
helpers = ModuleType("helpers")
exec("from math import sin\nimport math\ndef half(t): return sin(t)/2 + math.exp(t)", vars(helpers))
nameless = {}
exec("from math import sin\ndef f(t): return sin(t)", nameless)


class Model:
    rule = math.sin
    fixed = staticmethod(math.cos)
    scale = 3.0

    def __init__(self):
        self.link = math.exp

    def method(self, x):
        return math.sin(self.scale * x) + self.link(x) + self.fixed(x) + self.rule(x) + Model.rule(x) + self.weight

    def __call__(self, x):
        return math.log(x) * self.scale

    @classmethod
    def of_class(cls, x):
        return math.sin(x) * cls.scale

    @property
    def weight(self):
        return 4.0


class Slotted:
    __slots__ = ("rule",)

    def __init__(self):
        self.rule = math.sqrt


def closure():
    rule = math.sin
    return lambda x: rule(x) * 2.5


def decorated(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args) * 2

    return wrapper


@functools.cache
def cached(x):
    return math.sin(x) * x


@at(0.7)
def from_import(x):
    return cosine(x) + fsum([x, x * x]) + fsum(t for t in [x, 1.0])


@at(0.7)
def import_inside(x):
    from math import sin, tanh

    def nested(t):
        import math as m

        return m.exp(t) * sin(t)

    return nested(tanh(x))


@at(0.7)
def default_argument(x, rule=math.tanh, power=2):
    return rule(x) ** power


@at(0.7)
def keyword_only(x, *, a=2.0, rule=math.cos):
    return rule(a * x)


@at(0.7)
def in_containers(x):
    return TABLE["sin"](x) * TABLE["others"][0](x) * TABLE["others"][1][1](x)


@at(0.7)
def in_helper_module(x):
    return helpers.half(x) + nameless["f"](x)


@at(0.7)
def in_objects(x):
    return _model.method(x) + Model.of_class(x) + Slotted().rule(x) + _slotted.rule(x)


@at(0.7)
def by_other_ways(x):
    m = math
    return getattr(math, "sin")(x) * m.exp(x) + eval("math.sin(x)") + cached(x) * cached(2 * x)  # noqa: B009


@at(0.7)
def many_functions(x):
    return (
        (math.pow(x, 3) + math.hypot(x, 2, x) + math.dist((x, 0), (1, x)) + math.atan2(x, 2) + math.log(x, 2))
        * math.copysign(1, x)
        + math.degrees(x)
        + math.prod((x, x))
        + math.floor(x)
        + math.fabs(-x)
    )


@at(0.7)
def in_another_thread(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(math.sin(x) * x))
    thread.start()
    thread.join()
    return found[0]


@at(V)
def buffers(v):
    b = np.zeros(5)
    b[1:4] = v
    b[0] += v[1] * v[0]
    b[-1] = 3
    c = np.empty_like(v)
    for i in range(len(v)):
        c[i] = math.sin(v[i]) * i
    d = np.ones((3, 3)) * 2
    for i in range(3):
        for j in range(3):
            d[i, j] = v[i] * v[j] + i
    return (b**2).sum() + c.sum() + np.linalg.norm(d)


@at(V)
def buffers_of_other_makers(v):
    made = [np.arange(3.0), np.linspace(0, 1, 3), np.array([1.0, 2.0, 3.0]), np.full(3, 2.0), np.copy(_fixed)]
    for b in made:
        b[0] = v[0]
        b += v
    e = np.eye(3)
    e[0] = v
    i = np.identity(3)
    i[0, 0] = v[1]
    return sum((b * v).sum() for b in made) + (e @ v + i @ v).sum()


@at(V)
def integer_buffers_are_plain(v):
    b = np.zeros(3, dtype=int)
    b[0] = 2
    return (b * v).sum() * [10, 20][np.arange(2)[1]]


@at(V)
def casts(v):
    return np.float64(v[0]) * 2 + isinstance(2.0, np.float64) + np.float64("1.5") * v[1]


_model, _slotted, _fixed = Model(), Slotted(), np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(("f", "point"), PROGRAMS)
def test_gradient_of(f, point):
    check_gradient(f, *point)


@pytest.mark.parametrize(
    "f",
    [
        closure(),
        decorated(math.sin),
        cached,
        _model,
        _model.method,
        Model.of_class,
        functools.partial(math.pow, 2.0),
        functools.partial(lambda x, rule: rule(x), rule=math.sin),
        functools.partial(np.power, 2.0),
        math.sin,
        math.hypot,
        np.vectorize(math.sin),
    ],
)
def test_gradient_of_a_callable(f):
    if f is math.hypot:
        assert gx.grad(f)(3.0, 4.0) == 0.6
    else:
        check_gradient(f, 0.7)


def test_functions_given_as_arguments():
    assert gx.grad(lambda x, rule: rule(x))(0.0, math.sin) == 1.0
    assert gx.grad(lambda x, rule: rule(x))(0.0, rule=math.cos) == 0.0


def test_scipy():
    special = pytest.importorskip("scipy.special")
    linalg = pytest.importorskip("scipy.linalg")
    check_gradient(lambda x: special.erf(x) + special.expit(x) + special.gammaln(x + 2) + special.xlogy(x, x), 0.7)
    check_gradient(lambda v: special.logsumexp(v) + special.softmax(v)[0] + special.log_softmax(v)[1], V)
    check_gradient(lambda a: linalg.inv(a).sum() + linalg.det(a) + linalg.solve(a, V).sum() + linalg.norm(a), M)


@pytest.mark.parametrize("name", ["expm", "lu_factor", "sqrtm", "cho_factor"])
def test_scipy_without_a_row_is_named(name):
    linalg = pytest.importorskip("scipy.linalg")
    with pytest.raises(NoRuleError, match=rf"scipy\.linalg\.{name} has no derivative rule") as caught:
        gx.grad(lambda a: getattr(linalg, name)(a)[0].sum())(M @ M.T)
    assert caught.value.where.file == "test_patches.py"


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: statistics.fmean([x, 1.0]), r"statistics\.fmean"),
        (lambda x: math.gamma(x) * math.factorial(x), r"math\.factorial"),
        (lambda x: math.ulp(x) * x, r"math\.ulp"),
    ],
)
def test_functions_of_python_without_a_row_are_named(f, name):
    with pytest.raises(NoRuleError, match=f"{name} has no derivative rule") as caught:
        gx.grad(f)(2.0)
    assert caught.value.where.file == "test_patches.py"


def everything_replaced():
    return [math.sin, np.zeros, np.sum, np.linalg.inv, np.float64, cosine, fsum, TABLE["sin"], TABLE["others"][1],
            Model.rule, vars(Model)["fixed"], _model.link, _slotted.rule, default_argument.__defaults__,
            keyword_only.__kwdefaults__["rule"], np.vectorize.__call__, vars(helpers)["sin"],
            sys.getrecursionlimit()]  # fmt: skip


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt, SystemExit])
def test_all_is_put_back(error):
    def f(x):
        everything = [in_containers, in_objects, default_argument, keyword_only, in_helper_module, from_import]
        if error:
            raise error
        return sum(g(x) for g in everything)

    before = everything_replaced()
    with contextlib.suppress(gx.GradexplainError, KeyboardInterrupt, SystemExit):
        gx.grad(f)(0.5)
    *after, limit_after = everything_replaced()
    *before, limit = before
    assert [a is b for a, b in zip(before, after, strict=True)] == [True] * len(before)
    assert limit_after == limit
    assert StandIn not in map(type, after)
    assert type(math.sin) is type(abs)
    assert type(np.zeros(2)) is np.ndarray


def test_what_the_program_assigns_itself_is_kept():
    table = {"sin": math.sin, "cos": math.cos}
    with Patches(slots([table])):
        assert type(table["sin"]) is StandIn
        table["sin"] = abs
        del table["cos"]
    assert table == {"sin": abs}


def test_stand_ins_pass_for_the_originals():
    def f(x):
        assert isinstance(np.exp, np.ufunc)
        assert np.exp.nin == 1
        assert {np.sum: 1}[np.sum] == 1
        assert isinstance(np.float64(1.0), np.float64)
        assert math.sin.__name__ == "sin"
        assert repr(math.sin) == "<built-in function sin>"
        assert issubclass(np.float64, float)
        return x

    assert gx.grad(f)(1.0) == 1.0


def test_other_threads_are_not_disturbed():
    failures = []

    def work(k):
        try:
            for i in range(10):
                c = k + i / 10
                found = gx.grad(lambda x, c=c: math.sin(c * x) * np.exp(x))(0.5)
                assert math.isclose(found, (c * math.cos(c / 2) + math.sin(c / 2)) * math.exp(0.5))
                b = np.zeros(3)
                b[0] = math.sin(1.0)
                assert type(b) is type(np.array([1.0])) is type(np.linspace(0, 1, 3)) is np.ndarray
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []
