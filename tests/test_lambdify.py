"""Generated source: what it looks like, and that it computes what the graph does."""

import math
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest

from gradexplain.evaluate import evaluate
from gradexplain.generated import as_input, build, computed, whole
from gradexplain.graph import ancestors, constant, operators, variable
from gradexplain.lambdify import Writer, expression, number, packed, readable_names, source, without_broadcasting
from gradexplain.ops.elementary import exp, log, sin, sqrt
from gradexplain.ops.ordering import greater, where
from gradexplain.primitive import NUMPY

x, y = variable("x"), variable("y")
v, w = variable("v", (3,)), variable("w", (3,))
matrix = variable("A", (2, 3))


def lines(*outputs, inputs):
    return [line.strip() for line in source(outputs, inputs).splitlines()[1:]]


# Text.


def test_single_uses_are_inlined_and_shared_values_named():
    assert lines(sin(x * x) + 1, inputs=[x]) == ["return np.sin(x*x) + 1"]
    a = exp(x)
    assert lines(a * sin(a), inputs=[x]) == ["v0 = np.exp(x)", "return v0*np.sin(v0)"]
    assert lines(x * y, x + y, inputs=[x, y]) == ["return (x*y, x + y)"]


def test_long_expressions_are_split():
    total = x
    for i in range(40):
        total = sin(total) * (y + i)
    text = lines(total, inputs=[x, y])
    assert len(text) > 3
    assert max(map(len, text)) < 200


def test_parentheses():
    assert expression((x + y) * (x - y) / (x * y), {x: "x", y: "y"}) == "(x + y)*(x - y)/(x*y)"
    assert expression(-(x**2), {x: "x"}) == "-x**2"
    assert expression(operators["pow"](-x, 2), {x: "x"}) == "(-x)**2"
    assert expression(x - (y - 1), {x: "x", y: "y"}) == "x - (y - 1)"


def test_numbers():
    assert [number(n) for n in (2, -3, Fraction(-1, 3), 0.5, True, 10**20)] == [
        "2",
        "-3",
        "-1/3",
        "0.5",
        "True",
        "1e+20",
    ]
    assert [number(n) for n in (math.inf, -math.inf, math.nan)] == ["np.inf", "-np.inf", "np.nan"]
    assert evaluate([x * -2], {x: 3.0}) == [eval(expression(x * -2, {x: "x"}), {"x": 3.0})] == [-6.0]


def test_names():
    assert readable_names(["w", "lambda", "np", "v1", "c0", "größe", "a b", "w"]) == [
        *("w", "lambda_", "np_", "v1_", "c0_", "x5", "x6", "w_7")
    ]
    hostile = variable("x): import os #")
    assert source([hostile * 2], [hostile]).startswith("def derivative(x0):")
    assert source([x], [x], name="not a name").startswith("def derivative(")


def test_packing():
    assert packed(["a", "b", "c"], ((0,), (1, 2))) == "((a,), (b, c))"
    assert packed(["a"], 0) == "a"


def test_broadcasting_is_left_to_numpy():
    a, row = v * matrix, NUMPY[np.broadcast_to](v, (2, 3))
    assert expression(a, {v: "v", matrix: "A"}) == "v*A"
    assert expression(row, {v: "v"}) == "np.broadcast_to(v, (2, 3))"
    outer = v.T[:, None] * w
    assert "broadcast" not in expression(outer, {v: "v", w: "w"})
    assert without_broadcasting(outer)[1] is w
    assert expression(where(greater(matrix, 0), v * 1.5, 2.0), {v: "v", matrix: "A"}).count("broadcast") == 0


def test_an_operand_keeps_its_shape_where_it_gives_the_shape():
    tall = NUMPY[np.broadcast_to](v, (2, 3))
    both = operators["add"].record(tall, NUMPY[np.broadcast_to](w, (2, 3)))
    assert expression(both, {v: "v", w: "w"}).count("broadcast_to") == 1
    np.testing.assert_array_equal(build([both], [v, w]).call(np.ones(3), np.ones(3))[0], np.full((2, 3), 2.0))


# Functions.


def random_graphs():
    yield sin(x) * y + exp(x / y), [x, y]
    yield where(greater(x, y), x**2, sqrt(y)), [x, y]
    yield x**y + x**-1 + x**-2 + x**3 + x**4 + x**0.5 + (x * y) ** 3, [x, y]
    yield v**3 + (v * w) ** 4 + v**-1 + v**-2 + w**2.5, [v, w]
    yield NUMPY[np.sum](v * w) * matrix @ v, [v, w, matrix]
    yield where(greater(v, w), 1, 2), [v, w]
    yield NUMPY[np.linalg.norm](matrix), [matrix]
    yield v[::-1] * exp(constant(np.array([1.0, 2.0, 3.0]))), [v]
    yield constant(2) * 3, [x]
    yield NUMPY[np.broadcast_to](constant(2), (2, 2)), [x]
    yield NUMPY[np.maximum](x, 2) + NUMPY[np.floor](y), [x, y]
    yield NUMPY[np.sinc](x) + log(y), [x, y]


@pytest.mark.parametrize(("output", "inputs"), list(random_graphs()))
def test_programs_compute_what_the_graph_does(output, inputs):
    rng = np.random.default_rng(3)
    function = build([output, output], inputs)
    text = {}
    exec(function.source, {"np": np, "math": math}, text)
    for _ in range(5):
        values = [rng.uniform(0.5, 2, n.shape) if n.shape else float(rng.uniform(0.5, 2)) for n in inputs]
        (wanted,) = evaluate([output], dict(zip(inputs, values, strict=True)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            first, second = function.call(*values)
        for found in (first, second, text["derivative"](*values)[0]):
            np.testing.assert_allclose(found, np.broadcast_to(wanted, output.shape), rtol=1e-13)
        assert type(first) is (np.ndarray if output.shape else float)
        assert first is not second or not output.shape
        if output.shape:
            assert first.shape == output.shape
            assert first.dtype == float
            assert not np.may_share_memory(first, second)
            assert not any(np.may_share_memory(first, a) for a in values if isinstance(a, np.ndarray))


def test_small_powers_are_products_in_the_program_that_is_run():
    writer = Writer({x: "x"}, fast=True)
    (code,) = writer.write([(x + 1) ** 3])
    assert writer.statements == ["v0 = x + 1"]
    assert code == "v0*v0*v0"
    assert lines((x + 1) ** 3, inputs=[x]) == ["return (x + 1)**3"]


def test_constants_are_computed_beforehand():
    table = constant(np.linspace(0, 1, 50))
    node = exp(table) * 2
    found = computed(ancestors([node]))
    assert node in found
    np.testing.assert_array_equal(found[node].data.array, 2 * np.exp(np.linspace(0, 1, 50)))
    writer = Writer({v: "v"}, fast=True, computed=found)
    writer.write([NUMPY[np.sum](node) * v])
    assert len(writer.constants) == 1
    singular = NUMPY[np.linalg.inv](constant(np.zeros((2, 2))))
    assert singular not in computed([*singular.inputs, singular])


def test_where_math_raises_numpy_goes_on():
    assert build([1 / x], [x]).call(0.0) == (math.inf,)
    assert build([exp(x)], [x]).call(1000.0) == (math.inf,)
    assert math.isnan(build([x**0.5], [x]).call(-1.0)[0])
    assert build([exp(x)], [x], strict=True).call(1000.0) is None
    assert build([exp(x)], [x], strict=True).at_any_cost(1000.0) == (math.inf,)


def test_branches_and_isolated_points():
    function = build([x * 2], [x], 0, branches=[(greater(x, 0), True)], isolated=[operators_equal(x, 3)])
    assert function.call(1.0) == 2.0
    assert function.call(-1.0) is None
    assert function.call(3.0) is NotImplemented
    other = build([x * 2], [x], 0, branches=[(greater(x, 0), False)])
    assert (other.call(1.0), other.call(-1.0)) == (None, -2.0)
    at = build([x * 2], [x], 0, branches=[(operators_equal(x, 3), True)], isolated=[operators_equal(x, 3)])
    assert (at.call(3.0), at.call(1.0)) == (NotImplemented, None)


def operators_equal(a, b):
    return NUMPY[np.equal](a, b)


def test_large_graphs_are_interpreted_first():
    node = x
    for _ in range(2000):
        node = sin(node) + 0.5
    function = build([node], [x], 0, branches=[(greater(x, 0), True)], isolated=[operators_equal(x, 3)])
    assert function.call(-1.0) is None
    first = build([node], [x], 0)
    assert first.call == first._interpret
    found = first.call(0.3)
    assert first.call(0.3) == pytest.approx(found, rel=1e-14)
    assert first.call.__name__ == "derivative"
    assert build([node], [x], 0, isolated=[operators_equal(x, 3)]).call(3.0) is NotImplemented


def test_inputs():
    n, flag = variable("n", (), "int"), variable("b", (2,), "bool")
    assert as_input(3, x, promote=False) is None
    assert type(as_input(3, x, promote=True)) is float
    assert type(as_input(np.float32(3), x, promote=False)) is float
    assert as_input("3", x, promote=True) is None
    assert as_input(3.0, n, promote=False) is None
    assert type(as_input(np.int8(3), n, promote=False)) is int
    assert as_input(True, n, promote=False) is None
    assert as_input([True, False], flag, promote=False).dtype == bool
    assert as_input([1.0, 2.0], v, promote=True) is None
    assert as_input([[1.0], [1.0, 2.0]], v, promote=True) is None
    assert as_input(np.ma.array([1.0, 2.0, 3.0]), v, promote=True) is None
    assert as_input(np.zeros(3), x, promote=True) is None
    assert as_input(np.array([1, 2, 3]), v, promote=True).dtype == float


def test_pinned_integers():
    n = variable("n", (), "int")
    function = build([x * n], [x, n], 0, pinned={n: 2})
    assert function.call(3.0, 2) == 6.0
    assert function.call(3.0, np.int64(2)) == 6.0
    assert function.call(3.0, 3) is None


def test_whole():
    kept = np.ones(2)
    assert whole(kept, (2, 2)).shape == (2, 2)
    assert not np.may_share_memory(whole(kept, (2,)), kept)


def test_programs_have_no_builtins_but_numpy_s_import():
    function = build([x * 2], [x])
    assert function.call.__globals__["__builtins__"] == {"__import__": __import__}


def test_generated_code_may_be_the_first_to_use_a_part_of_numpy():
    """Without __import__ among its builtins, NumPy 2.4 crashes the process in np.multiply.outer."""
    code = "import numpy as np, gradexplain as gx; print(round(gx.grad(lambda t: np.i0(2*t - 1))(0.9), 6))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "0.86573", done.stderr
