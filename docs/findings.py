"""Writes docs/findings.md: the causes of `gradexplain.exposition.causes`, with an example and a near twin without each.

Run it after a cause was added or changed: `python docs/findings.py`. Tests compare the page with the catalogue, and run
the examples: each has its finding, and its twin has not.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gradexplain as gx
from gradexplain.autodiff import Pullback, Sweep
from gradexplain.evaluate import evaluate
from gradexplain.exposition.causes import CAUSES, finding
from gradexplain.exposition.causes.cause import Cause
from gradexplain.exposition.findings import Subject, of_subject
from gradexplain.exposition.model import Finding
from gradexplain.exposition.recording import Cut, Missing, none
from gradexplain.graph import Node, ancestors, variable
from gradexplain.trace.run import trace
from gradexplain.trace.signature import bind

PAGE = Path(__file__).with_name("findings.md")

HEAD = """# Findings

What `gx.why`, `e.why()` and the notes of an explanation can say. Every finding has one of these codes, which do not
change. This page is generated from the catalogue by `docs/findings.py`; the examples are run by the tests, and so are
their twins, in which the cause is absent. Where it says *tapes*, it is about what a tape recorded.

```python
>>> import numpy as np
>>> import gradexplain as gx
>>> [found] = gx.why(lambda x: np.tanh(x), 50.0).data
>>> found.code, found.kind, found.place.line, found.path[-1].factor
('saturated', 'zero', 1, 0.0)
>>> found.text
'tanh(x) is saturated at x = 50: its slope there is 1.49e-43'
>>> found.ruled_out
('x does matter: in exact arithmetic the slope is not 0',)

```
"""

SECTIONS = {
    "unused": "No path: None in TensorFlow, 0 in mathematics",
    "constant": "A path that ends: nothing comes back",
    "zero": "Zero: a path with a factor 0",
    "undefined": "Undefined: infinite or NaN",
    "kink": "Kinks, jumps and ties",
    "size": "Huge or tiny",
    "accuracy": "Lost digits",
    "meaning": "What the number means",
    "branch": "Which path was taken",
    "note": "Worth knowing",
    "limit": "Not explained",
}

# An expression that has the cause, and one that nearly has it.
EXAMPLES: dict[str, tuple[str, str]] = {
    "unused": ("gx.why(lambda x, y: x**2, 1.0, 2.0)", "gx.why(lambda x, y: x**2 + y, 1.0, 2.0)"),
    "constant-result": ("gx.why(lambda x: 4.5, 2.0)", "gx.why(lambda x: 4.5 * x, 2.0)"),
    "other-branch": (
        "gx.why(lambda x, y: x**2 if x > 0 else x * y, 1.0, 2.0)",
        "gx.why(lambda x, y: x**2 if x > 0 else x * y, -1.0, 2.0)",
    ),
    "flat-only": (
        "gx.why(lambda x: 1.0 * np.argmax(x), np.array([1.0, 2.0]))",
        "gx.why(lambda x: 1.0 * np.max(x), np.array([1.0, 2.0]))",
    ),
    "cut-in-part": (
        "gx.why(lambda x: x * np.floor(x), 2.5)",
        "gx.why(lambda x: x * np.where(np.floor(x) > 1, 2, 3), 2.5)",
    ),
    "taken-as-constant": ("gx.why(lambda x: x * int(x), 2.5)", "gx.why(lambda x: x * np.floor(x), 2.5)"),
    "left-trace": ("gx.why(lambda x: float(x) * 2, 2.5)", "gx.why(lambda x: 1.0 * x * 2, 2.5)"),
    "no-rule": (
        "gx.why(lambda x: np.sum(np.unique(x)), np.ones(2))",
        "gx.why(lambda x: np.sum(np.sort(x)), np.array([2.0, 1.0]))",
    ),
    "integer-argument": ("gx.why(lambda x, n: x**n, 2.0, 3)", "gx.why(lambda x, n: x**n, 2.0, 3.0)"),
    "flat-side": ("gx.why(lambda x: 3 * np.maximum(0, x), -2.0)", "gx.why(lambda x: 3 * np.maximum(0, x), 2.0)"),
    "flat-in-part": (
        "gx.why(lambda x: np.sum(3 * np.maximum(0, x)), np.array([-2.0, 1.0]))",
        "gx.why(lambda x: np.sum(3 * np.maximum(0, x)), np.array([2.0, 1.0]))",
    ),
    "clipped": ("gx.why(lambda x: np.clip(x, -10, 10), 30.0)", "gx.why(lambda x: np.clip(x, -10, 10), 3.0)"),
    "saturated": ("gx.why(lambda x: np.tanh(x), 50.0)", "gx.why(lambda x: np.tanh(x), 0.5)"),
    "zero-factor": ("gx.why(lambda w, v: w * np.sin(v), 0.0, 2.0)", "gx.why(lambda w, v: w * np.sin(v), 0.1, 2.0)"),
    "stationary": ("gx.why(lambda x: np.cos(x), 0.0)", "gx.why(lambda x: np.cos(x), 0.1)"),
    "branch-not-taken": (
        "gx.why(lambda x: np.where(x > 0, x**2, 1.0), -2.0)",
        "gx.why(lambda x: np.where(x > 0, x**2, 1.0), 2.0)",
    ),
    "no-influence": (
        "gx.why(lambda A: np.linalg.det(A), np.zeros((3, 3)))",
        "gx.why(lambda A: np.linalg.det(A), np.eye(3))",
    ),
    "entries-not-used": (
        "gx.why(lambda x: np.sum(np.array([x, 2.0])[np.array([1])]), 3.0)",
        "gx.why(lambda x: np.sum(np.array([x, 2.0])[np.array([0])]), 3.0)",
    ),
    "paths-cancel": ("gx.why(lambda x: 3 * x - x * 3, 2.0)", "gx.why(lambda x: 3 * x - x * 2, 2.0)"),
    "constant-derivative": (
        "gx.explain(lambda x: 3 * x, 1.0, order=2).why()",
        "gx.explain(lambda x: 3 * x**2, 1.0, order=2).why()",
    ),
    "undefined-value": ("gx.why(lambda x: np.log(x), 0.0)", "gx.why(lambda x: np.log(x), 0.1)"),
    "overflow": ("gx.why(lambda x: 1 / (1 + np.exp(-x)), -800.0)", "gx.why(lambda x: 1 / (1 + np.exp(-x)), -8.0)"),
    "rounded-to-zero": (
        "gx.why(lambda z: np.log(np.exp(z) / (np.exp(z) + 1)), -800.0)",
        "gx.why(lambda z: z - np.logaddexp(z, 0.0), -800.0)",
    ),
    "infinite-slope": ("gx.why(lambda x: np.sqrt(x), 0.0)", "gx.why(lambda x: np.sqrt(x), 0.01)"),
    "zero-times-infinity": ("gx.why(lambda x: np.sqrt(x**2), 0.0)", "gx.why(lambda x: np.sqrt(x**2 + 1e-6), 0.0)"),
    "infinities-cancel": (
        "gx.why(lambda x: np.sqrt(x) - np.sqrt(2 * x), 0.0)",
        "gx.why(lambda x: np.sqrt(x) + np.sqrt(2 * x), 0.0)",
    ),
    "rejected-branch": (
        "gx.why(lambda x: np.where(x > 0, np.sqrt(x), 0.0), -1.0)",
        "gx.why(lambda x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), 0.0), -1.0)",
    ),
    "simplified": ("gx.why(lambda x: np.sqrt(x) ** 2, 0.0)", "gx.why(lambda x: np.sqrt(x) ** 2, 1.0)"),
    "equal-values": (
        "gx.why(lambda A: np.linalg.eigh(A)[1][0, 0], np.eye(2))",
        "gx.why(lambda A: np.linalg.eigh(A)[1][0, 0], np.diag([1.0, 2.0]))",
    ),
    "kink": ("gx.why(lambda x: abs(x), 0.0)", "gx.why(lambda x: abs(x), 1e-9)"),
    "jump": ("gx.why(lambda x: x * (x // 2), 4.0)", "gx.why(lambda x: x * (x // 2), 4.5)"),
    "tie": (
        "gx.why(lambda x: np.max(x), np.array([2.0, 1.0, 2.0]))",
        "gx.why(lambda x: np.max(x), np.array([2.0, 1.0, 1.0]))",
    ),
    "norm-at-zero": ("gx.why(lambda x: np.linalg.norm(x), np.zeros(3))", "gx.why(lambda x: np.sum(x**2), np.zeros(3))"),
    "branches-meet": (
        "gx.why(lambda x: 3 * x - 2 if x > 2 else x**2, 2.0)",
        "gx.why(lambda x: 4 * x - 4 if x > 2 else x**2, 2.0)",
    ),
    "branches-jump": ("gx.why(lambda x: 1 + x if x > 2 else x, 2.0)", "gx.why(lambda x: 1 + x if x > 2 else x, 1.9)"),
    "single-point": (
        "gx.why(lambda x: 1.0 if x == 0 else np.sin(x) / x, 0.0)",
        "gx.why(lambda x: 1.0 if x == 0 else np.sin(x) / x, 0.1)",
    ),
    "jumps": ("gx.why(lambda x: x * np.floor(x))", "gx.why(lambda x: x * np.sin(x))"),
    "exploding": (
        "gx.why(lambda w: functools.reduce(lambda h, _: w * h, range(40), 1.0), 3.0)",
        "gx.why(lambda w: functools.reduce(lambda h, _: w * h, range(40), 1.0), 1.01)",
    ),
    "vanishing": (
        "gx.why(lambda x: functools.reduce(lambda h, _: 0.3 * np.sin(h), range(40), x), 1.0)",
        "gx.why(lambda x: functools.reduce(lambda h, _: np.sin(h), range(4), x), 1.0)",
    ),
    "steep": ("gx.why(lambda x: 1 / x, 1e-6)", "gx.why(lambda x: 1 / x, 0.1)"),
    "cancellation": (
        "gx.why(lambda x: (1 - np.cos(x)) / x**2, 1e-9)",
        "gx.why(lambda x: (1 - np.cos(x)) / x**2, 0.5)",
    ),
    "sum-of-outputs": ("gx.why(lambda x: x**2, np.ones(3))", "gx.why(lambda x: np.sum(x**2), np.ones(3))"),
    "branch": ("gx.why(lambda x: x**2 if x > 0 else -x, 1.0)", "gx.why(lambda x: x**2, 1.0)"),
    "limit": (
        "gx.why(lambda x: sum(x if np.sin(k * x) > 0 else -x for k in range(1, 9)), 1.0)",
        "gx.why(lambda x: sum(x if np.sin(k * x) > 0 else -x for k in range(1, 3)), 1.0)",
    ),
    # What only a tape knows: `none` of the facts, or the row itself.
    "not-watched": ('none(Missing("x", is_watched=False))', 'none(Missing("x", is_read=False))'),
    "watched-too-late": ('none(Missing("x", is_watched_late=True))', 'none(Missing("x", is_read=False))'),
    "made-before": (
        'none(Missing("h", is_watched=False, is_made_before=True))',
        'none(Missing("h", is_watched=False))',
    ),
    "not-automatic": (
        'none(Missing("w", is_variable=True, is_watched=False, is_read=False, is_automatic=False))',
        'none(Missing("w", is_variable=True, is_watched=False, is_read=False))',
    ),
    "made-after": (
        'none(Missing("w", is_variable=True, is_watched=False, is_read=False, is_made_after=True))',
        'none(Missing("w", is_variable=True, is_watched=False, is_read=False))',
    ),
    "computed-copy": (
        'none(Missing("x", is_watched=False, computed_by="tf.cast(x, tf.float32)"))',
        'none(Missing("x", is_watched=False))',
    ),
    "not-trainable": (
        'none(Missing("moving_mean", is_variable=True, is_trainable=False, is_watched=False))',
        'none(Missing("w", is_variable=True, is_watched=False, is_read=False))',
    ),
    "integer-dtype": (
        'none(Missing("a", dtype="int32", value=3, is_floating=False))',
        'none(Missing("a", value=3.0, is_watched=False))',
    ),
    "integer-path": (
        'none(Missing("x", cut=Cut("integer", "tf.argsort(x)", dtype="int32")))',
        'none(Missing("x", cut=Cut("numpy", "tf.argsort(x).numpy()")))',
    ),
    "unrelated": ('none(Missing("x", "loss"))', 'none(Missing("x", "loss", is_read=False))'),
    "literal-target": ('none(Missing("x", "loss", is_literal=True))', 'none(Missing("x", "loss"))'),
    "numpy-detour": (
        'none(Missing("w", cut=Cut("numpy", "float(loss)")))',
        'none(Missing("w", cut=Cut("stopped", "tf.stop_gradient(loss)")))',
    ),
    "stopped": (
        'none(Missing("x", cut=Cut("stopped", "tf.stop_gradient(u)")))',
        'none(Missing("x", cut=Cut("numpy", "u.numpy()")))',
    ),
    "assigned": ('none(Missing("x", "y", cut=Cut("assigned", "w.assign(x)")))', 'none(Missing("x", "y"))'),
    "not-recording": ('none(Missing("w", "loss", unrecorded="tf.square(w)"))', 'none(Missing("w", "loss"))'),
    "gradient-not-recorded": (
        'none(Missing("x", "g", is_gradient=True, is_recorded=False))',
        'none(Missing("x", "g", is_gradient=True))',
    ),
    "poisoned-branch": (
        "of_subject(unmasked(lambda x: np.where(x > 0, np.sqrt(x), 0.0), -1.0))",
        "of_subject(unmasked(lambda x: np.where(x > 0, np.sqrt(x), 0.0), 4.0))",
    ),
    "released": ('finding("released", line=9)', 'none(Missing("x"))'),
    "many-records": ('finding("many-records", count=12000)', 'none(Missing("x"))'),
    "row-sums": ('finding("row-sums", target="g", count=3)', 'none(Missing("x", "g"))'),
    "tensorflow-differs": (
        'finding("tensorflow-differs", operation="tf.math.xlog1py(x, y)", value=0, slope=0.6931)',
        'none(Missing("x"))',
    ),
    "sparse-gradient": ('finding("sparse-gradient", name="E", rows="1, 3", count=10)', 'none(Missing("E"))'),
    "conjugate": ('finding("conjugate", name="z")', 'none(Missing("z"))'),
    "custom-gradient": ('finding("custom-gradient", operation="log1pexp(x)")', 'none(Missing("x"))'),
    "graph-mode": ('finding("graph-mode", operation="tf.gradients", target="y", name="x")', 'none(Missing("x", "y"))'),
    "row-by-row": ('finding("row-by-row", operation="tf.while_loop")', 'none(Missing("x"))'),
    "not-a-tensor": ('none(Missing("layer.kernel", kind="KerasVariable", is_tensor=False))', 'none(Missing("w"))'),
}


def unmasked(f: Any, x: float) -> Subject:
    """A computation as a tape has it, whose sweep multiplies by 0 what a `where` rejects."""
    program = trace(f, bind(f, (x,), {}, symbolic=False))
    adjoints: dict[Node, Node] = {program.output: variable("g")}
    values = {**program.trace.values, adjoints[program.output]: 1.0}
    pullbacks = []
    for node in reversed(ancestors([program.output])):
        for i, operand in enumerate(node.inputs):
            if node.op.pullback is not None and operand.kind == "float" and not operand.is_constant:
                held = variable("held")  # a number, as on a tape: nothing is simplified
                contribution = node.op.pullback(i, held, node)
                if contribution is not None:
                    values[held] = evaluate([adjoints[node]], values)[0]
                    pullbacks.append(Pullback(node, i, held, contribution))
                    adjoints[operand] = contribution
    sweep = Sweep(program.output, tuple(program.inputs.values()), adjoints, tuple(pullbacks))
    return Subject(program.output, program.inputs, sweep, values, {n: name for name, n in program.inputs.items()})


def findings_of(expression: str) -> tuple[Finding, ...]:
    """The findings of an example."""
    known = {
        "gx": gx,
        "np": np,
        "functools": functools,
        "none": none,
        "finding": finding,
        "Missing": Missing,
        "Cut": Cut,
    }
    known |= {"of_subject": of_subject, "unmasked": unmasked}
    found: Any = eval(expression, known)
    return (found,) if isinstance(found, Finding) else tuple(found)


def page() -> str:
    """The page as Markdown."""
    return "\n".join([HEAD, *_contents(), *(line for kind in SECTIONS for line in _section(kind))])


def _contents() -> Iterator[str]:
    yield "| the derivative | codes |"
    yield "|---|---|"
    for kind, title in SECTIONS.items():
        codes = ", ".join(f"[{c.code}](#{c.code})" for c in CAUSES.values() if c.kind == kind)
        yield f"| {title} | {codes} |"
    yield ""


def _section(kind: str) -> Iterator[str]:
    yield f"## {SECTIONS[kind]}"
    yield ""
    for cause in CAUSES.values():
        if cause.kind == kind:
            yield from _entry(cause)


def _entry(cause: Cause) -> Iterator[str]:
    example, twin = EXAMPLES[cause.code]
    found = next(f for f in findings_of(example) if f.code == cause.code)
    yield f"### {cause.code}"
    yield ""
    yield cause.meaning
    yield ""
    if cause.origin == "tape":
        yield f"* *tapes say* {_escaped(found.text)}"
    else:
        yield f"* `{example}` *says* {_escaped(found.text)}"
        yield f"* *not in* `{twin}`"
    if found.fix:
        yield f"* *what to do* {_escaped(found.fix)}"
    yield ""


def _escaped(text: str) -> str:
    """A sentence in which no formula is taken for markup."""
    return re.sub(r"([*_<\[`])", r"\\\1", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
