"""A program in the normal form, and its derivatives as forms of matrix notation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradexplain.graph import Node
from gradexplain.simplify.tensor import choices, matrices, rows, selection
from gradexplain.simplify.tensor.adjoints import Backward
from gradexplain.simplify.tensor.facts import Rebuilt, tied
from gradexplain.simplify.tensor.folding import folded
from gradexplain.simplify.tensor.lowering import Lowering, fresh
from gradexplain.simplify.tensor.notation import Form, joint_cost, subforms, with_statistics
from gradexplain.simplify.tensor.simplifying import Simplifier
from gradexplain.simplify.tensor.sizing import Sizing
from gradexplain.simplify.tensor.space import Space
from gradexplain.simplify.tensor.terms import ONE, Atom, Factor, Index, Tensor, Term, like
from gradexplain.simplify.tensor.truth import with_numbers
from gradexplain.simplify.tensor.writing import Writer, shaped
from gradexplain.structured import structured_in, tied_axes
from gradexplain.trace.run import Program

Steps = tuple[tuple[str, Form, Form], ...]  # rules with forms before and after them
RULES_OF = (rows, matrices, selection, choices)  # the modules that say how rows are lowered


class TensorProgram:
    """A program in the normal form, with the atoms of its arguments; `keep` has adjoints of their own names."""

    def __init__(
        self,
        program: Program,
        wrt: Sequence[str],
        facts: Mapping[str, frozenset[str]],
        *,
        keep: bool = False,
        regular: bool = True,
        sizing: Sizing | None = None,
    ) -> None:
        self.program, self.wrt, self.facts, self.sizing = program, tuple(wrt), facts, sizing
        self.space = Space(facts=facts, regular=regular, named=sizing.named if sizing else {})
        self.atoms: dict[str, Atom] = {}
        known: dict[Node, Tensor] = {}
        for name, node in program.inputs.items():
            axes = fresh(node.shape)
            if sizing is not None:
                axes = tuple(None if d is None else Index(d.root) for d in sizing.axes[name])
            used = tuple(i for i in axes if i is not None)
            atom = self.atoms[name] = self.space.atom("variable", name, [], used)
            atom.hot = frozenset({name})
            atom.symmetric = "symmetric" in facts.get(name, ()) and name not in wrt and len(used) == 2
            known[node] = Tensor(axes, (Term(ONE, (Factor(atom, used, ONE),)),))
        self.axes = {n: tuple(None if i is None else i.dim for i in known[x].axes) for n, x in program.inputs.items()}
        self.lowering = Lowering(self.space, known, sizing.numbers if sizing else None)
        (self.output,) = self.lowering.tensors([program.output])
        self.simplify = Simplifier(self.space, self._own_tensors)
        self.backward = Backward(self.space, self.simplify, keep=keep)
        self.steps: dict[str, Steps] = {}

    def forms(self, kind: str) -> tuple[dict[str, Form], dict[str, Form], dict[str, tuple[int, ...]]]:
        """The derivatives by key and the program's own values that have a name, in matrix notation; the shapes."""
        found, own = self.derivatives(kind), dict(self._own_values())
        space = self.space
        symmetric = [n for n in self.wrt if "symmetric" in self.facts.get(n, ()) and len(self.atoms[n].axes) == 2]
        if symmetric:  # a fact about a variable of differentiation holds again when its derivative is written
            space = Space(facts=self.facts, named=self.space.named)
            for atom in self.atoms.values():
                again = space.atom("variable", atom.data, [], atom.axes)
                again.hot, again.symmetric = atom.hot, atom.symmetric or atom.data in symmetric
            rebuilt, simplify = Rebuilt(self.space, space), Simplifier(space)
            leading = len(self.program.output.shape) if kind == "jacobian" else 0
            structured = structured_in(self.facts) if kind != "jvp" else ()
            places = {k: tied_axes(k, self.program.inputs, leading, structured) for k in found}
            found = {
                k: (simplify(tied(space, rebuilt.tensor(t), shape, places[k])), shape)
                for k, (t, shape) in found.items()
            }
            own = {n: rebuilt.tensor(t) for n, t in own.items()}
        writer = Writer(space, self._totals)
        if kind == "gradient" and not symmetric:
            self.steps = {
                key: tuple(
                    (s.rule, _shown(writer, s.before, shape), _shown(writer, s.after, shape))
                    for s in self.simplify.steps_to(t)
                )
                for key, (t, shape) in found.items()
            }
        own_forms = {n: with_statistics(writer.form(folded(space, t))) for n, t in own.items()}
        forms = {key: _shown(writer, t, shape) for key, (t, shape) in found.items()}
        if len(forms) > 1:
            forms = self._alike(space, found, forms)
        return forms, own_forms, {key: shape for key, (_, shape) in found.items()}

    @property
    def _totals(self) -> Mapping[tuple[str, ...], Any]:
        return self.sizing.totals if self.sizing else {}

    def _alike(
        self, space: Space, found: Mapping[str, tuple[Tensor, tuple[int, ...]]], forms: Mapping[str, Form]
    ) -> dict[str, Form]:
        """The forms in which products are taken in the order of the other forms, where that makes them share more."""
        best, products = dict(forms), {k: _products(f) for k, f in forms.items()}
        for key, (t, shape) in found.items():
            known = frozenset().union(*(p for k, p in products.items() if k != key))
            if not known:
                continue
            again = {**best, key: _shown(Writer(space, self._totals, known), t, shape)}
            if joint_cost(again.values()) < joint_cost(best.values()):
                best, products[key] = again, _products(again[key])
        return best

    def _own_tensors(self) -> list[Tensor]:
        return [t for _, t in self._own_values()]

    def _own_values(self) -> Iterator[tuple[str, Tensor]]:
        for node, t in self.lowering.known.items():
            name = self.program.local_name(node) if node.inputs else None
            if name is not None and name.isidentifier() and t.terms:
                yield name, t

    def derivatives(self, kind: str) -> dict[str, tuple[Tensor, tuple[int, ...]]]:
        """The derivatives by key, with their shapes."""
        shapes = {n: self.program.inputs[n].shape for n in self.wrt}
        chosen = [self.atoms[n] for n in self.wrt]
        if kind == "jacobian":
            found = self.backward.derivatives(self.output, chosen, seed=True)
            return {a.data: (t, self.program.output.shape + shapes[a.data]) for a, t in found.items()}
        if kind == "jvp":
            return {",".join(self.wrt): (self._pushed(chosen), self.program.output.shape)}
        gradients = self.backward.derivatives(rows.summed(self.space, self.output, ()), chosen)
        if kind == "gradient":
            return {a.data: (t, shapes[a.data]) for a, t in gradients.items()}
        out = {}
        for a in self.wrt:
            second = self.backward.derivatives(gradients[self.atoms[a]], chosen, seed=True)
            for b in self.wrt:
                out[f"{a},{b}"] = (second[self.atoms[b]], shapes[a] + shapes[b])
        return out

    def _pushed(self, chosen: Sequence[Atom]) -> Tensor:
        """The Jacobians times the tangents."""
        axes, parts = self.output.axes, []
        for a, t in self.backward.derivatives(self.output, chosen, seed=True).items():
            own = t.axes[len(axes) :]
            d = Factor(self.atoms[f"d{a.data}"], tuple(i for i in own if i is not None), ONE)
            made = self.space.tensor(t.axes[: len(axes)], [(x.number, (*x.factors, d)) for x in t.terms])
            parts.append(made)
        total = self.space.total(like(axes), parts, [1] * len(parts))
        return self.backward.simplify(total)


def _shown(writer: Writer, t: Tensor, shape: tuple[int, ...]) -> Form:
    """A derivative in matrix notation, with its axes of size 1."""
    rest = iter(t.indices)
    full = tuple(None if n == 1 else next(rest) for n in shape)
    return shaped(with_numbers(with_statistics(writer.form(Tensor(t.indices, t.terms)))), full)


def _products(form: Form) -> frozenset[Form]:
    return frozenset(p for p in subforms(form) if p.op == "matmul")
