"""What a tape keeps, and how it shows it: records, graph, explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradexplain.errors import ArgumentError
from gradexplain.graph import Node, ancestors
from gradexplain.language import Sentence
from gradexplain.tape.backward import cotangents, ones_like
from gradexplain.tape.recording import Operation, nobody
from gradexplain.tape.requests import plain_source, require_source
from gradexplain.tape.slices import dense
from gradexplain.tape.structures import flatten
from gradexplain.tape.tensor import Tensor
from gradexplain.tape.variable import Variable
from gradexplain.trace.source import user_frame

DIFFERS = "the tape's derivative with respect to {name} is {value}: that is TensorFlow's convention at this point"

if TYPE_CHECKING:
    from gradexplain.explanation import Explanation
    from gradexplain.render.answers import FindingsDisplay, RecordsDisplay


class Left(NamedTuple):
    """A value that was handed to NumPy or Python: how, where, and between which serial numbers."""

    value: Tensor
    how: str
    site: Any
    when: int


class Explained:
    """The record of a tape."""

    def __init__(self) -> None:
        self.spans: list[list[int]] = []  # the serial numbers between which it recorded
        self.forget()

    def forget(self) -> None:
        """Empties the record."""
        self.operations: list[Operation] = []
        self.skipped: list[Operation] = []  # what happened in the block, but not to anything watched
        self.paused: list[Operation] = []  # what happened in stop_recording
        self.tracked: set[int] = set()
        self.watched: dict[int, Tensor] = {}
        self.variables: dict[int, tuple[Any, list[Tensor]]] = {}
        self.left: list[Left] = []  # values that were handed to NumPy or Python
        self.decisions: list[tuple[Tensor, bool, Any]] = []  # branches of Python that asked for a value

    def _entered(self) -> None:
        self.spans.append([Tensor(0.0, literal=True).serial, 0])

    def _left(self) -> None:
        self.spans[-1][1] = Tensor(0.0, literal=True).serial

    def _remember(self, results: Sequence[Any], target: Any, sources: Sequence[Any]) -> None:
        for result, source in zip(results, sources, strict=True):
            if isinstance(result, Tensor):
                result.origin = (self, target, source)

    def leaves(self, value: Tensor, how: str, site: Any) -> None:
        """A value was handed to NumPy or Python."""
        if value.serial in self.tracked:
            self.left.append(Left(value, how, site, Tensor(0.0, literal=True).serial))

    def decided(self, condition: Tensor, truth: bool, site: Any) -> None:
        """A branch of the program asked for a value."""
        self.decisions.append((condition, truth, site))

    @property
    def records(self) -> RecordsDisplay:
        """What was recorded, and what was not and why, operation by operation."""
        from gradexplain.render.answers import RecordsDisplay
        from gradexplain.tape.records import recording

        return RecordsDisplay(recording(self))

    def explain(self, target: Any, sources: Any = None) -> Explanation:
        """The derivative of a target as an explanation: closed form, derivation, tape. Watched variables by default.

        The numbers are those of the record, the rules those of the table. Raises `ArgumentError` where no path leads.

        >>> from gradexplain import tf
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x**2 * tf.sin(x)
        >>> tape.explain(y, x).gradient
        x*(x*cos(x) + 2*sin(x))
        """
        from gradexplain.explanation import Explanation
        from gradexplain.tape.program import program

        target_tensor = _single(target)
        leaves = flatten(sources) if sources is not None else self._sources()
        plain = [plain_source(s) for s in leaves]
        reached = [s for s in plain if self._leads(target_tensor, s)]
        if not reached:
            raise ArgumentError(
                "there is no derivative to explain: no path leads from the sources to the target",
                why="the tape did not record one",
                fix="look at tape.records, which says what was recorded and what was not",
            )
        found, wrt = program(self, target_tensor, reached)
        explanation = Explanation(found, found, wrt, 1)
        versions = [v for s in reached for v in self.versions(s) if v.serial in self.tracked]  # type: ignore[attr-defined]
        for name, theirs, _ in self._differences(target_tensor, versions, explanation):
            explanation.reading_notes += (Sentence(DIFFERS, name=name, value=theirs),)
        return explanation

    def why(self, target: Any, sources: Any = None) -> FindingsDisplay:
        """Why a derivative is None, zero, NaN, huge, or not what was expected: findings with their causes.

        >>> from gradexplain import tf
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.why(y, x)[0].code
        'not-watched'
        """
        from gradexplain.render.answers import FindingsDisplay
        from gradexplain.tape.program import names_in_frame, own_name
        from gradexplain.tape.why import Question

        names = names_in_frame(user_frame())
        question = Question(self, _single(target), names)
        found = []
        for source in flatten(sources) if sources is not None else self._sources():
            plain = plain_source(source)
            require_source(plain)
            name = own_name(plain) or names.get(getattr(plain, "current", plain).serial, "x")
            if not self._leads(question.target, plain):
                found += question.missing(plain, name)
                continue
            found += question.remarks(plain, name)
            if not any(f.code in ("custom-gradient", "conjugate") for f in found):
                explanation = self.explain(target, plain)
                found += question.conventions(plain, explanation)
                found += [f for f in explanation.why() if f.code != "cut-in-part"]  # those are among the remarks
        return FindingsDisplay(tuple(found))

    def _differences(
        self, target: Tensor, sources: Sequence[Tensor], explanation: Explanation
    ) -> list[tuple[str, str, str]]:
        """Where TensorFlow's value of a derivative is another than the one explained: at kinks, ties, and 0/0."""
        with nobody():
            found = cotangents(tuple(self.operations), [(target, ones_like(target))], sources)
        different = []
        for source, (name, value) in zip(sources, explanation.gradient_values.items(), strict=False):
            theirs = np.asarray(dense(found[source.serial]).array, dtype=float)
            if not np.allclose(theirs, value, rtol=1e-3, atol=1e-5, equal_nan=True):
                shown = [np.array2string(np.asarray(v), precision=6, threshold=6) for v in (theirs, value)]
                different.append((name, *shown))
        return different  # type: ignore[return-value]

    def _sources(self) -> list[Any]:
        return [*[v for v, _ in self.variables.values()], *self.watched.values()]

    def _leads(self, target: Tensor, source: Any) -> bool:
        """Whether a path of recorded operations leads from a source to the target."""
        hot = {v.serial for v in self.versions(source) if v.serial in self.tracked}  # type: ignore[attr-defined]
        for operation in self.operations:
            if not operation.ends and any(t.serial in hot for t in operation.inputs):
                hot.update(t.serial for t in operation.outputs)
        return target.serial in hot

    @property
    def graph(self) -> tuple[Node, ...]:
        """The recorded operations as nodes of a graph, in the order of computation."""
        from gradexplain.tape.program import Builder

        builder = Builder(self.operations, {})
        for i, source in enumerate(self._sources(), 1):
            for version in self.versions(source):  # type: ignore[attr-defined]
                builder.source(version, f"x{i}")
        results = [t for op in self.operations if not op.flat for t in op.outputs]
        return tuple(ancestors(builder.build(results)))


def _single(target: Any) -> Tensor:
    leaves = flatten(target)
    if len(leaves) != 1 or not isinstance(leaves[0], (Tensor, Variable)):
        raise ArgumentError("one target is explained at a time", fix="give one tensor, or add them up in the block")
    return leaves[0].current if isinstance(leaves[0], Variable) else leaves[0]
