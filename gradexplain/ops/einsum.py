"""The row `einsum`, sums of products over named indices, and NumPy's functions that are special cases of it.

Subscripts are recorded in one form, "ij,jk->ik": the output is explicit, an ellipsis is spelled out in letters, and
an axis of size 1 that NumPy would repeat has been dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError, ShapeError
from gradexplain.graph import Node, Sample, is_scalar_constant, operators
from gradexplain.ops.ordering import where
from gradexplain.ops.products import available, axis_last, flattened, matmul, outer
from gradexplain.ops.reductions import operand, sum_over
from gradexplain.ops.refusals import only_defaults
from gradexplain.primitive import Code, filled, general, numpy_function
from gradexplain.shapes import Shape, normal_axis


def _split(subscripts: str) -> tuple[list[str], str]:
    terms, output = subscripts.split("->")
    return terms.split(","), output


def _distinct(letters: str) -> str:
    return "".join(dict.fromkeys(letters))


def _einsum_value(*xs: Any, subscripts: str) -> Any:
    ordered = len(xs) > 2 and all(np.asarray(x).dtype != object for x in xs)  # the best order of three and more
    return np.einsum(subscripts, *xs, optimize=ordered)


def _einsum_shape(*shapes: Shape, subscripts: str) -> Shape:
    terms, output = _split(subscripts)
    sizes = {
        letter: n for term, shape in zip(terms, shapes, strict=True) for letter, n in zip(term, shape, strict=True)
    }
    return tuple(sizes[letter] for letter in output)


def _einsum_text(*xs: Code, subscripts: str) -> Code:
    order = ", optimize=True" if len(xs) > 2 else ""
    return Code(f"np.einsum({subscripts!r}, {', '.join(xs)}{order})")


def _einsum_pullback(i: int, g: Node, y: Node, *xs: Node, subscripts: str) -> Node:
    """Another einsum: g stands in the operand's place, the operand's indices are asked for."""
    terms, output = _split(subscripts)
    own, terms[i] = terms[i], output
    known = "".join(letter for letter in _distinct(own) if any(letter in term for term in terms))
    operands = (*xs[:i], g, *xs[i + 1 :])
    return _placed(einsum(*operands, subscripts=f"{','.join(terms)}->{known}"), known, own, xs[i].shape)


def _einsum_pushforward(tangents: Sequence[Node | None], y: Node) -> Node | None:
    """The product rule: one term for each operand, with its tangent in its place."""
    terms = [y.op(*y.inputs[:i], t, *y.inputs[i + 1 :], **y.params) for i, t in enumerate(tangents) if t is not None]
    return sum(terms[1:], terms[0]) if terms else None


def _placed(x: Node, known: str, term: str, shape: Shape) -> Node:
    """x over its indices, repeated over the others of `term`; an index that stands twice makes a diagonal."""
    first = [letter in known and term.index(letter) == axis for axis, letter in enumerate(term)]
    kept = tuple(n if is_first else 1 for n, is_first in zip(shape, first, strict=True))
    full: Node = operators["broadcast_to"](operators["reshape"](x, kept), shape)
    if len(_distinct(term)) == len(term):
        return full
    index = np.indices(shape)
    pairs = [(axis, term.index(letter)) for axis, letter in enumerate(term)]
    return where(np.all([index[a] == index[b] for a, b in pairs], axis=0), full, 0)


def _fold_einsum(*xs: Node, subscripts: str) -> Node | None:
    """Shorter names for what einsum can do: factors, sums, transposes, `*`, `@`, outer products."""
    terms, output = _split(subscripts)
    if any(is_scalar_constant(x, 0) for x in xs):
        return filled(0, _einsum_shape(*[x.shape for x in xs], subscripts=subscripts))
    if "" in terms and len(terms) > 1:
        i = terms.index("")
        rest = f"{','.join(terms[:i] + terms[i + 1 :])}->{output}"
        return xs[i] * einsum(*xs[:i], *xs[i + 1 :], subscripts=rest)
    if any(len(_distinct(term)) < len(term) for term in terms):
        return None
    if len(xs) == 1:
        return _summed(xs[0], terms[0], output)
    return _fold_two(xs[0], xs[1], terms[0], terms[1], output) if len(xs) == 2 else None


def _summed(x: Node, term: str, output: str) -> Node:
    x = sum_over(x, axis=tuple(i for i, letter in enumerate(term) if letter not in output), keepdims=False)
    left = [letter for letter in term if letter in output]
    return operators["transpose"](x, tuple(left.index(letter) for letter in output)) if left else x


def _fold_two(x: Node, y: Node, a: str, b: str, output: str) -> Node | None:
    common = set(a) & set(b)
    lone = (set(a) ^ set(b)) - set(output)
    if lone or max(len(a), len(b)) > 2:
        return None
    if a == b == output:
        return x * y
    if len(common) > 1 or common & set(output):
        return None
    free_a, free_b = ("".join(letter for letter in term if letter not in common) for term in (a, b))
    if output != free_a + free_b:
        x, y, a, b = y, x, b, a
    if not common:
        return outer(x, y) if len(a) == len(b) == 1 else None
    return matmul(x if a[-1] in common else x.T, y if b[0] in common else y.T)


EINSUM_SAMPLES = [
    ("ij,jk->ik", ((2, 3), (3, 4))), ("bij,bjk->bik", ((2, 3, 2), (2, 2, 3))), ("ii->", ((3, 3),)), ("ii->i", ((3, 3),)),
    ("i,ij,j->", ((2,), (2, 3), (3,))), ("ij,ik->i", ((2, 3), (2, 2))), ("ij->j", ((2, 3),)), ("ijj,j->i", ((2, 3, 3), (3,))),
]  # fmt: skip

# fmt: off
einsum = general("einsum", _einsum_value, _einsum_shape, variadic=_einsum_pullback, pushforward=_einsum_pushforward,
                 rule="product rule", numpy=_einsum_text, fold=_fold_einsum,
                 samples=tuple(Sample(shapes, {"subscripts": text}) for text, shapes in EINSUM_SAMPLES))
# fmt: on


def contract(text: str, *operands: Any, record: bool = False) -> Node:
    """einsum with NumPy's freedom in writing: implicit output, ellipsis, axes of size 1 that are repeated."""
    nodes = [operand(x) for x in operands]
    terms, output = _explicit(text, nodes)
    sizes = _sizes(text, nodes, terms)
    for i, (node, term) in enumerate(zip(nodes, terms, strict=True)):
        kept = [(letter, n) for letter, n in zip(term, node.shape, strict=True) if n == sizes[letter]]
        terms[i] = "".join(letter for letter, _ in kept)
        nodes[i] = operators["reshape"](node, tuple(n for _, n in kept))
    subscripts = f"{','.join(terms)}->{output}"
    return einsum.record(*nodes, subscripts=subscripts) if record else einsum(*nodes, subscripts=subscripts)


def _explicit(text: str, nodes: Sequence[Node]) -> tuple[list[str], str]:
    """The terms and the output of subscripts as letters only."""
    left, arrow, output = text.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(nodes):
        raise ArgumentError(
            f"einsum: {text!r} names {len(terms)} operands, {len(nodes)} are given", fix="one term each"
        )
    spare = "".join(letter for letter in ascii_letters if letter not in text)
    counts = [node.ndim - len(term.replace("...", "")) for term, node in zip(terms, nodes, strict=True)]
    if any(count < 0 or (count and "..." not in term) for count, term in zip(counts, terms, strict=True)):
        shapes = ", ".join(str(node.shape) for node in nodes)
        raise ShapeError(
            f"einsum: {text!r} does not fit operands of the shapes {shapes}", fix="one letter for each axis"
        )
    batch = spare[: max(counts)]
    terms = [t.replace("...", batch[len(batch) - n :]) for t, n in zip(terms, counts, strict=True)]
    every = left.replace(",", "").replace(".", "")
    if not arrow:
        output = "..." + "".join(sorted(letter for letter in set(every) if every.count(letter) == 1))
    elif batch and "..." not in output:
        raise ArgumentError(f"einsum: the output of {text!r} has no ellipsis", fix="write '...' behind '->' too")
    output = output.replace("...", batch)
    if len(_distinct(output)) < len(output) or not set(output) <= set("".join(terms)):
        raise ArgumentError(f"einsum: {text!r} has an output index twice, or one of no operand", fix="use each once")
    if not set("".join(terms)) <= set(ascii_letters):
        raise ArgumentError(f"einsum: {text!r} can't be read", fix="use letters, ',', '->' and '...'")
    return terms, output


def _sizes(text: str, nodes: Sequence[Node], terms: Sequence[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for node, term in zip(nodes, terms, strict=True):
        for axis, (letter, n) in enumerate(zip(term, node.shape, strict=True)):
            if (sizes.get(letter, 1) not in (1, n) and n != 1) or n != node.shape[term.index(letter)]:
                raise ShapeError(f"einsum: index {letter} of {text!r} has the sizes {sizes.get(letter, n)} and {n}",
                                 why=f"axis {axis} of an operand of shape {node.shape}", fix="check the letters")  # fmt: skip
            sizes[letter] = n if sizes.get(letter, 1) == 1 else sizes[letter]
    return sizes


@numpy_function(np.einsum)
def einsum_of(*operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, **options: Any) -> Node:
    """`np.einsum`, with subscripts as text or as lists of numbers."""
    only_defaults("np.einsum", out=out, dtype=dtype, **options)
    if isinstance(operands[0], str):
        return contract(operands[0], *operands[1:], record=True)
    count = len(operands) // 2
    lists = [*operands[1 : 2 * count : 2], *operands[2 * count :]]
    terms = ["".join("..." if i is Ellipsis else ascii_letters[i] for i in numbers) for numbers in lists]
    text = ",".join(terms[:count]) + "".join(f"->{term}" for term in terms[count:])
    return contract(text, *operands[: 2 * count : 2], record=True)


@numpy_function(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Node:
    """`np.dot`: `*` of numbers, `@` of vectors and matrices, else a sum over a's last and b's last axis but one."""
    only_defaults("np.dot", out=out)
    return _last_axes(operand(a), operand(b), -2)


@numpy_function(np.inner)
def inner_product(a: Any, b: Any) -> Node:
    """`np.inner`: a sum over the last axes of both."""
    x, y = operand(a), operand(b)
    return _last_axes(x, y.T if y.ndim == 2 else y, -1 if y.ndim > 2 else -2)


def _last_axes(a: Node, b: Node, axis: int) -> Node:
    """The sum over a's last axis and one of b's; numbers are multiplied."""
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return matmul.record(a, b) if b.ndim <= 2 else _paired(a, b, [a.ndim - 1], [b.ndim + axis])


@numpy_function(np.vdot)
def vdot(a: Any, b: Any) -> Node:
    """`np.vdot`: the sum of the products of the entries."""
    return matmul.record(flattened(a), flattened(b))


def _paired(a: Node, b: Node, axes_a: Sequence[int], axes_b: Sequence[int]) -> Node:
    """The sum over pairs of axes; the other axes of a come first, then those of b."""
    term_a, term_b = [*ascii_letters[: a.ndim]], [*ascii_letters[a.ndim : a.ndim + b.ndim]]
    for i, j in zip(axes_a, axes_b, strict=True):
        if a.shape[i] != b.shape[j]:
            raise ShapeError(f"axes of the sizes {a.shape[i]} and {b.shape[j]} can't be paired", fix="check axes=")
        term_b[j] = term_a[i]
    output = [*(c for c in term_a if c not in term_b), *(c for c in term_b if c not in term_a)]
    return contract(f"{''.join(term_a)},{''.join(term_b)}->{''.join(output)}", a, b)


@numpy_function(np.tensordot, *available(np.linalg, "tensordot"))
def tensordot(a: Any, b: Any, axes: Any = 2) -> Node:
    """`np.tensordot`: a sum over the last axes of a and the first of b, or over given axes."""
    a, b = operand(a), operand(b)
    pairs = (range(-axes, 0), range(axes)) if isinstance(axes, (int, np.integer)) else axes
    axes_a, axes_b = (
        [normal_axis(int(i), x.ndim) for i in np.atleast_1d(p)] for p, x in zip(pairs, (a, b), strict=True)
    )
    if len(axes_a) != len(axes_b):
        raise ArgumentError("np.tensordot: axes= names more axes of one operand than of the other", fix="pair them")
    return _paired(a, b, axes_a, axes_b)


@numpy_function(np.kron)
def kron(a: Any, b: Any) -> Node:
    """`np.kron`: blocks of b, one for each entry of a."""
    a, b = operand(a), operand(b)
    rank = max(a.ndim, b.ndim)
    a, b = (operators["reshape"](x, (1,) * (rank - x.ndim) + x.shape) for x in (a, b))
    letters_a, letters_b = ascii_letters[:rank], ascii_letters[rank : 2 * rank]
    pairs = "".join(i + j for i, j in zip(letters_a, letters_b, strict=True))
    blocks = contract(f"{letters_a},{letters_b}->{pairs}", a, b)
    return operators["reshape"](blocks, tuple(n * m for n, m in zip(a.shape, b.shape, strict=True)))


@numpy_function(*available(np, "vecdot"), *available(np.linalg, "vecdot"))
def vecdot(x1: Any, x2: Any, *, axis: int = -1) -> Node:
    """`np.vecdot`: the products of vectors that lie along one axis."""
    a, b = (axis_last(operand(x), axis) for x in (x1, x2))
    return matmul.record(a, b) if a.ndim == b.ndim == 1 else contract("...i,...i->...", a, b)


@numpy_function(*available(np, "matvec"))
def matvec(x1: Any, x2: Any) -> Node:
    """`np.matvec`: matrices times vectors, in stacks."""
    A, x = operand(x1), operand(x2)
    return matmul.record(A, x) if x.ndim == 1 else contract("...ij,...j->...i", A, x)


@numpy_function(*available(np, "vecmat"))
def vecmat(x1: Any, x2: Any) -> Node:
    """`np.vecmat`: vectors times matrices, in stacks."""
    x, A = operand(x1), operand(x2)
    return matmul.record(x, A) if x.ndim == 1 else contract("...i,...ij->...j", x, A)
