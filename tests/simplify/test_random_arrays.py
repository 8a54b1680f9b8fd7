"""Closed forms of random array programs: what is shown is autodiff's gradient, which is the slope of the function."""

import numpy as np
import pytest

import gradexplain as gx
from gradexplain.errors import GradexplainError
from tests.simplify.random_arrays import Programs

STEP = 1e-6


def value(text, space):
    return np.asarray(eval(text, {"np": np, **space}))


def shown(form, arguments):
    space = dict(arguments)
    for name, definition in form.where_numpy.items():
        space[name] = value(definition, space)
    return value(form.numpy, space)


def slope(text, arguments, name, direction):
    ends = [value(text, {**arguments, name: arguments[name] + s * STEP * direction}) for s in (1, -1)]
    return (ends[0] - ends[1]) / (2 * STEP)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_forms_of_random_programs(first):
    seen = matrix = 0
    for seed in range(first, first + 10):
        text, arguments = Programs(seed).program()
        if not arguments:
            continue
        try:
            f = eval(f"lambda {', '.join(arguments)}: {text}", {"np": np})
            e = gx.explain(f, **arguments)
        except (GradexplainError, ValueError):
            continue  # shapes that do not fit
        if e.is_scalar:
            continue
        rng = np.random.default_rng(seed)
        for name, form in e.gradients.items():
            got = shown(form, arguments)
            np.testing.assert_allclose(got, e.gradient_values[name], rtol=1e-6, atol=1e-8, err_msg=text)
            direction = rng.normal(size=np.shape(arguments[name]))
            expected = slope(text, arguments, name, direction)
            assert np.sum(got * direction) == pytest.approx(expected, rel=1e-3, abs=1e-4), text
            seen, matrix = seen + 1, matrix + (form.level in ("matrix notation", "batched matrix notation"))
    assert seen >= 5
    assert matrix >= 0.9 * seen
