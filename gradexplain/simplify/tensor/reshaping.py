"""Equal programs with fewer reshapes: what is done to the entries of X.ravel() is done to those of X.

A Kronecker product is a reshaped array of four axes: its trace and its product with a vector need no reshape of it.
The logarithm of a determinant by a Cholesky factor is taken for what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from string import ascii_lowercase

import numpy as np

from gradexplain.graph import TABLE, Node, ancestors
from gradexplain.primitive import NUMPY
from gradexplain.trace.run import Program

Source = Callable[[Node], Node]
Way = Callable[[Node, Source], Node | None]
_WAYS: dict[str, Way] = {}
_MOST_AXES = 8


def _way(*names: str) -> Callable[[Way], Way]:
    def enter(function: Way) -> Way:
        _WAYS.update(dict.fromkeys(names, function))
        return function

    return enter


class Reshapes:
    """For each node that is another one reshaped, that other one."""

    def __init__(self, *, regular: bool = True) -> None:
        self.regular = regular  # whether what Cholesky factors are of is symmetric, as is meant
        self._sources: dict[Node, Node] = {}

    def source(self, node: Node) -> Node:
        """What a node is a reshape of; itself, if it is none."""
        return self._sources.get(node, node)

    def simpler(self, node: Node) -> Node | None:
        """A node of equal value and shape with fewer reshapes; None if there is none."""
        if node.op.name == "reshape":
            source = self.source(node.inputs[0])
            self._sources[node] = source
            if source.shape == node.shape:
                return source
            return None if source is node.inputs[0] else _reshaped(source, node)
        if self.regular and _is_logarithm_of_factor(node):
            return _half_logdet(node.inputs[0].inputs[0].inputs[0].inputs[0])
        way = _WAYS.get(node.op.name) or (_elementwise if node.op.family == "elementwise" else None)
        found = way(node, self.source) if way is not None and node.inputs else None
        if found is None or found.shape == node.shape:
            return found
        self._sources[node] = found
        return _reshaped(found, node)


def _reshaped(x: Node, like: Node) -> Node:
    found: Node = NUMPY[np.reshape](x, like.shape)
    return found


def _elementwise(node: Node, source: Source) -> Node | None:
    """Entry by entry, on operands that are reshaped alike, and numbers."""
    arrays = [source(x) for x in node.inputs if not _is_number(x)]
    if not arrays or len({x.shape for x in arrays}) > 1 or arrays[0].shape == node.shape:
        return None
    rest = iter(arrays)
    return node.op.record(*(_number(x) if _is_number(x) else next(rest) for x in node.inputs), **node.params)


def _number(x: Node) -> Node:
    return x.inputs[0] if x.op.name == "broadcast_to" else x


def _is_number(x: Node) -> bool:
    """Whether all entries are one number."""
    return x.shape == () or (x.op.name == "broadcast_to" and x.inputs[0].shape == ())


@_way("sum", "root_sum_square")
def _over_all(node: Node, source: Source) -> Node | None:
    (x,) = node.inputs
    y = source(x)
    if y is x or node.shape != () or len(node.params["axis"]) < x.ndim:
        return None
    return node.op.record(y, axis=tuple(range(y.ndim)), keepdims=False)


def _is_logarithm_of_factor(node: Node) -> bool:
    """Whether a node is sum(log(diag(L))), and L a Cholesky factor."""
    for name in ("sum", "log", "diagonal"):
        if node.op.name != name or (name == "diagonal" and node.params["k"]) or (name == "sum" and node.shape != ()):
            return False
        (node,) = node.inputs
    return node.op.name == "cholesky" and node.ndim == 2


def _half_logdet(matrix: Node) -> Node:
    return TABLE["mul"].record(0.5, TABLE["logdet"].record(matrix))


@_way("trace")
def _trace(node: Node, source: Source) -> Node | None:
    x = source(node.inputs[0])
    half = x.ndim // 2
    if x is node.inputs[0] or node.params["k"] or x.ndim % 2 or not 1 < x.ndim <= _MOST_AXES:
        return None
    if x.shape[:half] != x.shape[half:] or prod(x.shape[:half]) != node.inputs[0].shape[0]:
        return None
    letters = ascii_lowercase[:half]
    found: Node = NUMPY[np.einsum](f"{letters}{letters}->", x)
    return found


@_way("transpose")
def _transpose(node: Node, source: Source) -> Node | None:
    x = source(node.inputs[0])
    if node.params["axes"] != (1, 0) or x is node.inputs[0] or x.ndim > _MOST_AXES:
        return None
    rows = _split(x, node.inputs[0].shape[0])
    if rows is None:
        return None
    found: Node = NUMPY[np.transpose](x, (*range(rows, x.ndim), *range(rows)))
    return found


@_way("matmul")
def _matmul(node: Node, source: Source) -> Node | None:
    a, b = node.inputs
    x, y = source(a), source(b)
    if a.ndim == b.ndim == 1:
        if x.shape != y.shape or x is a:
            return None
        return TABLE["sum"].record(TABLE["mul"].record(x, y), axis=tuple(range(x.ndim)), keepdims=False)
    if {a.ndim, b.ndim} != {1, 2}:
        return None
    matrix, vector = (a, b) if a.ndim == 2 else (b, a)
    inner = source(matrix)
    rows = _split(inner, matrix.shape[0]) if inner is not matrix and inner.ndim <= _MOST_AXES else None
    if rows is None:
        return None
    letters = ascii_lowercase[: inner.ndim]
    over, kept = (letters[rows:], letters[:rows]) if matrix is a else (letters[:rows], letters[rows:])
    shape = inner.shape[rows:] if matrix is a else inner.shape[:rows]
    v = source(vector)
    v = v if v.shape == shape else NUMPY[np.reshape](vector, shape)
    found: Node = NUMPY[np.einsum](f"{letters},{over}->{kept}", inner, v)
    return found


def _split(x: Node, rows: int) -> int | None:
    """How many axes in front are the rows of what x is reshaped to."""
    return next((k for k in range(1, x.ndim) if prod(x.shape[:k]) == rows), None)


def meant_symmetric(program: Program) -> frozenset[str]:
    """The arguments of which Cholesky factors are taken: symmetric matrices are meant."""
    names = {x: n for n, x in program.inputs.items()}
    order = ancestors([program.output])
    return frozenset(names[x] for y in order if y.op.name == "cholesky" and (x := y.inputs[0]) in names)
