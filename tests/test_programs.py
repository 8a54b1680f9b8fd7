"""Random programs: built of operators, functions, branches, loops and in-place changes, as Python text.

Each is differentiated and compared with difference quotients of the program itself in high precision (the same text,
run on mpmath's numbers), and its generated source with the callable.
"""

import math

import mpmath
import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import gradexplain as gx

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
NAMES = ("x", "y", "a", "b", "c")
numbers = st.sampled_from(["0.5", "1.5", "2", "-1", "3.0", "0.25"])
names = st.sampled_from(NAMES)

# Functions of one number that every real number has, as text: in `math`, in NumPy, in operators.
functions = st.sampled_from(
    [
        *("math.sin({0})", "math.cos({0})", "math.atan({0})", "math.tanh({0})", "math.exp(-({0})**2)"),
        *("math.sqrt(1 + ({0})**2)", "math.log(2 + math.cos({0}))", "1/(1 + ({0})**2)", "abs({0})", "max({0}, 0.3)"),
        *("min({0}, 0.7)", "({0})**2", "({0})**3", "-({0})", "({0})/3"),
    ]
)
joins = st.sampled_from(["({0}) + ({1})", "({0}) - ({1})", "({0})*({1})", "({0})/(2 + ({1})**2)", "max({0}, {1})"])
expressions = st.recursive(
    names | numbers,
    lambda inner: (
        st.builds(lambda f, a: f.format(a), functions, inner)
        | st.builds(lambda f, a, b: f.format(a, b), joins, inner, inner)
    ),
    max_leaves=5,
)


@st.composite
def statements(draw, depth=2):
    """Lines of a body that uses and assigns the names."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["assign", "update", "branch", "loop", "list"] if depth else ["assign", "update"]))
        target, value = draw(st.sampled_from(NAMES[2:])), draw(expressions)
        if kind == "assign":
            lines.append(f"{target} = {value}")
        elif kind == "update":
            lines.append(f"{target} {draw(st.sampled_from(['+=', '-=', '*=']))} math.sin({value})")
        elif kind == "list":
            lines.append(f"{target} = sum([t*{draw(numbers)} for t in ({value}, {draw(names)}, {target})])")
        elif kind == "branch":
            test = f"{draw(names)} {draw(st.sampled_from(['<', '>', '<=', '>=']))} {draw(numbers)}"
            inner, other = draw(statements(depth - 1)), draw(statements(depth - 1))
            lines += [f"if {test}:", *indented(inner), "else:", *indented(other)]
        else:
            lines += [f"for k in range({draw(st.integers(1, 3))}):", *indented(draw(statements(depth - 1)))]
            lines.append(f"    {target} = math.tanh({target} + k)")
    return lines


def indented(lines):
    return [f"    {line}" for line in lines]


def program(lines, result, functions=math):
    body = ["a, b, c = x*y, x - y, 0.5", *lines, f"return {result}"]
    space = {"math": functions}
    exec("\n".join(["def f(x, y):", *indented(body)]), space)
    return space["f"]


class Exact:
    """mpmath in the place of `math`."""

    def __getattr__(self, name):
        return getattr(mpmath, {"fabs": "fabs"}.get(name, name))


def quotient(f, at, k):
    """The difference quotient by argument k with 60 digits, None where both sides differ (a kink, a jump)."""
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -20
        point = [mpmath.mpf(t) for t in at]
        moved = [[p + s * h * (i == k) for i, p in enumerate(point)] for s in (1, -1)]
        middle, above, below = f(*point), f(*moved[0]), f(*moved[1])
        right, left = (above - middle) / h, (middle - below) / h
        if abs(right - left) > 1e-12 * max(1, abs(right)):
            return None
        return float((right + left) / 2)


points = st.tuples(*[st.floats(-2, 2).map(lambda t: round(t, 3))] * 2)


@SETTINGS
@given(statements(), expressions, points)
def test_gradients_of_scalar_programs(lines, result, at):
    f, exact = program(lines, result), program(lines, result, Exact())
    wanted = [quotient(exact, at, k) for k in (0, 1)]
    assume(None not in wanted)
    assume(all(abs(w) < 1e6 for w in wanted))
    grad = gx.grad(f, argnums=(0, 1))
    for _ in range(2):
        np.testing.assert_allclose(grad(*at), wanted, rtol=1e-8, atol=1e-8)
    text = {}
    exec(grad.source, {"np": np, "math": math}, text)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(text["grad_of_f"](*map(np.float64, at)), wanted, rtol=1e-8, atol=1e-8)


@SETTINGS
@given(statements(), expressions, points, points)
def test_a_program_for_one_point_is_not_used_at_another_path(lines, result, first, second):
    f = program(lines, result)
    kept, fresh = gx.grad(f), gx.grad(f)
    kept(*first)
    np.testing.assert_allclose(kept(*second), fresh(*second), rtol=1e-9, atol=1e-9)


@SETTINGS
@given(statements(depth=1), expressions, points)
def test_hessians_are_symmetric_and_the_gradients_slopes(lines, result, at):
    f = program(lines, result)
    (xx, xy), (yx, yy) = gx.hessian(f, argnums=(0, 1))(*at)
    np.testing.assert_allclose(xy, yx, rtol=1e-9, atol=1e-9)
    nested = gx.grad(lambda x, y: gx.grad(f)(x, y), argnums=(0, 1))(*at)
    np.testing.assert_allclose((xx, xy), nested, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gx.jvp(f, at, (1.0, 0.0))[1], gx.grad(f)(*at), rtol=1e-9, atol=1e-9)
    assert np.isfinite(yy)


# Programs of arrays: v has four entries, w is a buffer.

updates = st.sampled_from(
    [
        *("w[{i}] = v[{j}]*v[{i}]", "w[{i}:] += v[{i}:]*{n}", "w[::-1] *= v", "w[{i}], w[{j}] = w[{j}], w[{i}]"),
        *("w[v > {n}] = {n}", "w[w > v] *= 2", "w = np.sort(w)*v", "w = np.concatenate([w[{i}:], w[:{i}]])"),
        *("w = w - w.mean()", "w = np.where(v > w, v, w*{n})", "w = np.cumsum(w)*{n}", "u = w[1:]\nu += v[:3]"),
        *("w.reshape(2, 2)[{k}] += v[:2]", "w = np.array([t*t + {n} for t in w])", "w = w / (1 + w**2)", "w += 1"),
        *("w = np.outer(v, w)[{i}]", "w = (np.outer(v, v) + np.eye(4)) @ w", "w = np.roll(w, {i})", "w = np.tanh(w)"),
        *("for i in range(4): w[i] = np.sin(w[i] + i)", "w = np.maximum(w, v)", "w = np.clip(w, -{n}, {n} + 1)"),
        *("w = np.einsum('i,j->ij', w, v).sum(axis={k})", "w = np.stack([w, v], axis=1)[:, {k}]", "w = v + w[{i}]"),
    ]
)
array_lines = st.builds(
    lambda t, i, j, k, n: t.format(i=i, j=j, k=k, n=n),
    *(updates, st.integers(0, 3), st.integers(0, 3), st.integers(0, 1), st.sampled_from(["0.5", "1.5", "2"])),
)
ends = st.sampled_from(["w.sum()", "(w**2).mean()", "w @ v", "np.linalg.norm(w)", "np.log(np.exp(np.tanh(w)).sum())"])


def array_program(lines, result):
    body = [part for line in lines for part in line.split("\n")]
    space = {"np": np}
    exec("\n".join(["def f(v):", *indented(["w = np.zeros(4)", *body, f"return {result}"])]), space)
    return space["f"]


@SETTINGS
@given(st.lists(array_lines, min_size=1, max_size=5), ends, st.integers(0, 1000))
def test_gradients_of_array_programs(lines, result, seed):
    f = array_program(lines, result)
    v = np.random.default_rng(seed).normal(size=4)
    kept = v.copy()
    grad = gx.grad(f)
    found = grad(v)
    np.testing.assert_array_equal(v, kept)
    np.testing.assert_allclose(grad(v), found, rtol=1e-12, atol=1e-12)
    direction = np.random.default_rng(seed + 1).normal(size=4)
    slopes = []
    for h in (1e-4, 1e-5):
        sides = [f(v + s * h * direction) for s in (1, 0, -1)]
        assume(abs(sides[0] - 2 * sides[1] + sides[2]) < 1e-2 * h + 1e-9)  # else there is a kink nearby
        slopes.append((sides[0] - sides[2]) / (2 * h))
    assume(abs(slopes[0] - slopes[1]) < 1e-4 * (1 + abs(slopes[1])))
    assert abs(found @ direction - slopes[1]) < 1e-3 * (1 + abs(slopes[1]))


@SETTINGS
@given(st.lists(array_lines, min_size=1, max_size=4), ends, st.integers(0, 1000))
def test_second_derivatives_of_array_programs(lines, result, seed):
    f = array_program(lines, result)
    v = np.random.default_rng(seed).normal(size=4)
    found = gx.hessian(f)(v)
    assume(np.isfinite(found).all())
    np.testing.assert_allclose(found, found.T, rtol=1e-8, atol=1e-8 * (1 + abs(found).max()))
    np.testing.assert_allclose(found, gx.jacobian(gx.grad(f))(v), rtol=1e-8, atol=1e-8 * (1 + abs(found).max()))
