"""Why a tape has the derivative that it has, or none: what the record says about it, as findings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradexplain.exposition.causes import finding
from gradexplain.exposition.model import Finding, Waypoint
from gradexplain.exposition.recording import BREAKS, Break, Cut, Missing, none
from gradexplain.language import Sentence
from gradexplain.tape.dtypes import BY_PLAIN
from gradexplain.tape.program import as_meant
from gradexplain.tape.recording import Operation
from gradexplain.tape.stated import stated
from gradexplain.tape.tensor import Tensor
from gradexplain.tape.variable import Variable
from gradexplain.trace.source import place_of, text_at

_NUMPY = "numpy_function"
_UPDATES = ("sub", "add")  # what x = x - rate*gradient is made by
_MOST_CUTS = 4
_NO_SLOPE = (
    "TensorFlow's derivative of {operation} is {value} here, where the chain rule, number by number, gives {slope}: "
    "the tape returns TensorFlow's"
)
_SEE_FACTORS = "see which factors are 0 and infinite, and rewrite the product so that they do not meet"


class Question:
    """A target and the sources that its derivative is asked for, beside everything that happened in the block."""

    def __init__(self, tape: Any, target: Tensor, names: Mapping[int, str]) -> None:
        self.tape, self.target, self.names = tape, target, names
        everything = [*tape.operations, *tape.skipped, *tape.paused]
        self.everything = sorted(everything, key=lambda op: op.outputs[0].serial)
        self.target_name = names.get(target.serial, "the target")

    def missing(self, source: Any, name: str) -> list[Finding]:
        """Why there is no derivative with respect to a source: the cause, or every operation that cuts a path."""
        versions = self.tape.versions(source) if isinstance(source, Variable) else [source]
        hot = self._flowing(versions)
        cuts = [(cut, self._way(versions, op)) for cut, op in self._cuts(hot)]
        left = None if self.target.serial in hot else self._left(hot)
        cuts += [(left, ())] if left is not None else []
        whole = self._known(source, versions, name, cuts[0] if cuts else (None, ()))
        found = none(whole)
        others = cuts[1:_MOST_CUTS] if found.code in BREAKS else []
        return [found, *(none(replace(whole, cut=cut, path=path)) for cut, path in others)]

    def _known(self, source: Any, versions: Sequence[Tensor], name: str, at: tuple[Cut | None, Any]) -> Missing:
        """What the tape knows of the source and the target."""
        now = versions[-1]
        cut, path = at
        maker = self._maker(now)
        is_copy = not isinstance(source, Variable) and maker is not None and self._is_beside(maker)
        is_recorded = any(self.target is o for op in self.tape.operations for o in op.outputs)
        is_watched = any(v.serial in self.tape.tracked for v in versions) and not is_copy
        return Missing(
            name=name,
            target=self.target_name,
            path=path,
            target_place=place_of(self._site(self.target)),
            kind=type(source).__name__,
            dtype=now.dtype.name,
            value=now.numpy().item() if not now.shape and now.array.dtype.kind in "fiub" else None,
            is_floating=now.is_trainable,
            is_variable=isinstance(source, Variable),
            is_trainable=getattr(source, "trainable", True),
            is_watched=is_watched,
            is_automatic=self.tape.automatic,
            is_watched_late=is_watched and self._is_late(versions),
            is_made_before=bool(now.made_by) and self._is_before(now),
            is_made_after=not is_watched and self._is_after(now),
            is_updated=now.made_by in _UPDATES,
            computed_by=self._text(maker) if is_copy and maker is not None else "",
            is_read=any(v is i for v in versions for op in self.tape.operations for i in op.inputs),
            is_recorded=is_recorded,
            is_gradient=self.target.origin is not None,
            is_literal=not self.target.made_by,
            unrecorded="" if path else self._unrecorded(is_recorded),
            cut=cut,
        )

    # What leads where.
    def _flowing(self, versions: Sequence[Tensor]) -> set[int]:
        """What derivatives flow to from the source."""
        hot = {v.serial for v in versions if v.serial in self.tape.tracked}
        for op in self.tape.operations:
            if not op.ends and any(t.serial in hot for t in op.inputs):
                hot.update(t.serial for t in op.outputs)
        return hot

    def _cuts(self, hot: set[int], *, by_value: bool = False) -> list[tuple[Cut, Operation]]:
        """The operations at which the paths to the target end; the one nearest to the target first.

        Those `by_value` bring a number into the target, and are no index or condition.
        """
        behind, found = {self.target.serial}, []
        for op in reversed(self.everything):
            if not any(t.serial in behind for t in op.outputs):
                continue
            if by_value and op.outputs[0].array.dtype.kind == "b":
                continue
            if op.ends and any(t.serial in hot for t in _given(op)):
                kind = _kind(op)
                dtype = BY_PLAIN[op.outputs[0].array.dtype].name
                cut = Cut(kind, self._text(op), place_of(op.site), dtype, "write it with functions that have one")
                found.append((cut, op))
            else:
                given = _given(op)
                behind.update(t.serial for t in (given[:1] if by_value and op.sparse else given))
        return found

    def _left(self, hot: set[int], *, is_known: bool = False) -> Cut | None:
        """A value on the way that was handed to NumPy or Python, and came back as a number that the target is made of.

        Of several it is the one with the value of that number, else the last one before the number was made. If
        another path `is_known`, only the value counts.
        """
        left = [one for one in self.tape.left if one.value.serial in hot]
        if not left:
            return None
        candidates = []
        for number, op in self._numbers():
            before = [one for one in left if one.when < number.serial]
            same = [one for one in before if np.array_equal(one.value.array, number.array)]
            if same or (before and not is_known):
                candidates.append((not same, (same or before)[-1], op))
        if not candidates:
            return None
        _, one, op = min(candidates, key=lambda c: c[0])
        if op is not None and op.name == "assign":
            return Cut("assigned", self._text(op), place_of(op.site))
        return Cut("numpy", text_at(one.site) or one.how, place_of(one.site))

    def _numbers(self) -> Iterator[tuple[Tensor, Operation | None]]:
        """What the target is made of and no operation computed, those nearest to it first, each with its assignment.

        A number that stands in the program where it is used came from nowhere else.
        """
        behind = {self.target.serial}
        if self._maker(self.target) is None:
            yield self.target, None
        for op in reversed(self.everything):
            if not any(t.serial in behind for t in op.outputs):
                continue
            if op.name == "assign" and not _given(op):
                yield op.outputs[0], op
            for t in _given(op):
                behind.add(t.serial)
                if self._maker(t) is None and not (t.literal and _is_written(t, op)):
                    yield t, None

    def _unrecorded(self, is_recorded: bool) -> str:
        """The operation that computed the target while the tape did not record."""
        if is_recorded or not self.target.made_by or self.target.origin is not None:
            return ""
        if any(self.target is o for op in self.tape.skipped for o in op.outputs):
            return ""
        site = self._site(self.target)
        return text_at(site) or self.target.made_by

    def _maker(self, t: Tensor) -> Operation | None:
        return next((op for op in self.everything if any(o is t for o in op.outputs)), None)

    def _site(self, t: Tensor) -> Any:
        maker = self._maker(t)
        return None if maker is None else maker.site

    def _is_beside(self, maker: Operation) -> bool:
        """Whether the target was computed from what a copy was made of, and not from the copy."""
        roots = {t.serial for t in maker.inputs}
        return any(t.serial in roots for op in self.everything if op is not maker for t in op.inputs)

    def _is_late(self, versions: Sequence[Tensor]) -> bool:
        return any(v is i for v in versions for op in self.tape.skipped for i in op.inputs)

    def _is_before(self, t: Tensor) -> bool:
        return bool(self.tape.spans) and t.serial < self.tape.spans[0][0]

    def _is_after(self, t: Tensor) -> bool:
        end = self.tape.spans[-1][1] if self.tape.spans else 0
        return 0 < end < t.serial

    # Words.
    def _text(self, op: Operation) -> str:
        """The operation as the program has it."""
        return text_at(op.site) or f"{op.name}({', '.join(self._called(t) for t in op.inputs)})"

    def _called(self, t: Tensor) -> str:
        return self.names.get(t.serial) or (f"{t.array:g}" if t.literal else "…")

    def _way(self, versions: Sequence[Tensor], last: Operation) -> tuple[Waypoint, ...]:
        """The operations from the source to the one that cuts."""
        hot, steps = {v.serial for v in versions}, []
        wanted = self._needed_by(last)
        for op in self.everything:
            if op is not last and id(op) not in wanted:
                continue
            if any(t.serial in hot for t in op.inputs):
                hot.update(t.serial for t in op.outputs)
                steps.append(op)
        kept = steps if len(steps) <= 6 else [*steps[:3], *steps[-3:]]
        return tuple(Waypoint(self._text(op), _value(op.outputs[0]), place=place_of(op.site)) for op in kept)

    def _needed_by(self, last: Operation) -> set[int]:
        behind, needed = {t.serial for t in last.inputs}, set()
        for op in reversed(self.everything):
            if any(t.serial in behind for t in op.outputs):
                needed.add(id(op))
                behind.update(t.serial for t in op.inputs)
        return needed

    # What is there.
    def remarks(self, source: Any, name: str) -> list[Finding]:
        """What to know about a derivative that is there: sparse, conjugate, a custom one, row sums."""
        versions = self.tape.versions(source) if isinstance(source, Variable) else [source]
        found = []
        for op in self.tape.operations:
            if op.sparse and any(v is op.inputs[0] for v in versions):
                rows = ", ".join(map(str, np.unique(op.inputs[1].array).tolist()[:8]))
                place = place_of(op.site)
                found.append(finding("sparse-gradient", place, name=name, rows=rows, count=op.inputs[0].shape[0]))
            elif "custom" in op.params:
                found.append(self._custom(op))
        found += self._in_part(versions, name)
        if versions[-1].array.dtype.kind == "c":
            found.append(finding("conjugate", name=name))
        if self.target.origin is not None and np.size(self.target.array) > 1:
            found.append(finding("row-sums", target=self.target_name, count=np.size(self.target.array)))
        return found

    def _custom(self, op: Operation) -> Finding:
        """A derivative that the user states, and its formula."""
        formulas = stated(op, self.everything)
        listed = ", ".join(f"{name}: {formula}" for name, formula in formulas.items())
        factor = Sentence("comes back, by argument: {formulas}", formulas=listed) if listed else ""
        return finding("custom-gradient", place_of(op.site), operation=self._text(op), factor=factor)

    def _in_part(self, versions: Sequence[Tensor], name: str) -> Iterator[Finding]:
        """The operations that cut some of the paths."""
        hot = self._flowing(versions)
        cuts = [(cut, self._way(versions, op)) for cut, op in self._cuts(hot, by_value=True)]
        left = self._left(hot, is_known=True)
        cuts += [(left, ())] if left is not None else []
        for cut, path in cuts[:_MOST_CUTS]:
            yield finding("cut-in-part", cut.place, name=name, operation=cut.operation, path=path)

    def conventions(self, source: Any, explanation: Any) -> list[Finding]:
        """Where the tape returns TensorFlow's value, and the slope is another."""
        versions = [v for v in self.tape.versions(source) if v.serial in self.tape.tracked]
        operation = text_at(self._site(self.target)) or self.target_name
        place = place_of(self._site(self.target))
        found = []
        for _, theirs, ours in self.tape._differences(self.target, versions, explanation):
            values = {"operation": operation, "value": theirs, "slope": ours}
            text, fix = (Sentence(_NO_SLOPE, **values), Sentence(_SEE_FACTORS)) if "nan" in ours else (None, None)
            found.append(finding("tensorflow-differs", place, text=text, fix=fix, **values))
        return found


def _given(op: Operation) -> tuple[Tensor, ...]:
    """What a result is made of: of an assignment the new value, if it was a tensor, and not the old one."""
    return op.inputs[:-1] if op.name == "assign" else op.inputs


def _is_written(t: Tensor, op: Operation) -> bool:
    """Whether a number is a literal of the expression that it is used in."""
    try:
        tree = ast.parse(text_at(op.site).strip(), mode="eval")
    except SyntaxError:
        return False
    numbers = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, (int, float))]
    return any(np.isclose(float(t.array), n) for n in numbers)


def _kind(op: Operation) -> Break:
    if op.name == "stop_gradient":
        return "stopped"
    if op.name == _NUMPY:
        return "numpy"
    if op.name == "assign":
        return "assigned"
    return "flat" if op.outputs[0].is_trainable else "integer"


def _value(t: Tensor) -> Any:
    return as_meant(t) if t.array.dtype.kind in "fiub" else None
