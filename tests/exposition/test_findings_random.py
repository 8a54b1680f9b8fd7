"""Findings of random programs at awkward points: nothing raises, and no zero, infinity or NaN is without a reason."""

import random
import warnings

import numpy as np
import pytest

from gradexplain.autodiff import sweep
from gradexplain.errors import GradexplainError
from gradexplain.evaluate import evaluate
from gradexplain.exposition.findings import diagnose
from gradexplain.render.display import Display
from gradexplain.trace.run import explore, trace
from gradexplain.trace.signature import bind
from tests.simplify.random_programs import function, random_source

POINTS = (0.0, 1.0, -1.0, 2.0, 1e-9, 50.0, -800.0, 0.5, 1e5)
REASONS = {"zero", "kink", "size", "undefined"}


def programs(seed):
    """The path taken at the point, and the program that joins all paths."""
    pytest.importorskip("scipy")
    made = function(random_source(seed), seed)
    generator = random.Random(seed)
    args = [generator.choice(POINTS) for _ in range(made.__code__.co_argcount)]
    try:
        taken = trace(made, bind(made, args, {}, symbolic=False))
        return {id(p): p for p in (taken, explore(taken))}.values()
    except (GradexplainError, ArithmeticError, ValueError):
        return ()


@pytest.mark.parametrize("seed", range(80))
def test_every_derivative_has_its_reason(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for program in programs(seed):
            backward = sweep(program.output, list(program.inputs.values()))
            found = diagnose(program, list(program.inputs), backward)
            assert Display(found).to_text()
            kinds, codes = {f.kind for f in found}, {f.code for f in found}
            values = dict(program.trace.values)
            for x in program.inputs.values():
                if x not in backward.adjoints:
                    assert codes & {"unused", "constant-result", "other-branch", "flat-only"}
                    continue
                (slope,) = evaluate([backward.adjoints[x]], values)
                assert np.isfinite(slope) or "undefined" in kinds
                assert slope != 0 or kinds & REASONS or "other-branch" in codes


@pytest.mark.parametrize("seed", range(80))
def test_what_is_said_to_be_undefined_is(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for program in programs(seed):
            backward = sweep(program.output, list(program.inputs.values()))
            found = diagnose(program, list(program.inputs), backward)
            values = dict(program.trace.values)
            numbers = evaluate([program.output, *backward.gradients], values)
            if all(map(np.isfinite, numbers)):
                assert not {"infinite-slope", "zero-times-infinity", "infinities-cancel"} & {f.code for f in found}
