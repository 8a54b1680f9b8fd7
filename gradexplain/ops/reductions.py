"""Rows that reduce or accumulate along axes: sum, prod, max, min, cumsum, cumprod, argmax, …

Axes are sorted tuples counted from 0. Products never divide by their operand, so zeros are as good as other numbers.
Where entries tie for the maximum or minimum they share the derivative equally.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradexplain.graph import Node, Primitive, Sample, constant, is_scalar_constant, operators
from gradexplain.ops.ordering import as_number, equal, where
from gradexplain.ops.refusals import only_defaults
from gradexplain.primitive import POSTFIX, PRODUCT, Code, call, filled, flat, general, linear, numpy_function
from gradexplain.shapes import Axes, Shape, normal_axes, normal_axis, reduced, size


def spread(g: Node, x: Node, axis: Axes, keepdims: bool) -> Node:
    """A reduction's cotangent, back in the shape of what was reduced."""
    if not keepdims and axis != tuple(range(len(axis))):  # leading axes come by broadcasting
        g = operators["reshape"](g, reduced(x.shape, axis, keepdims=True))
    return operators["broadcast_to"](g, x.shape)


def _over(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's reduction, as the value of a row."""
    return lambda x, *, axis, keepdims: function(x, axis=axis, keepdims=keepdims)


def _reduced_shape(x: Shape, *, axis: Axes, keepdims: bool) -> Shape:
    return reduced(x, axis, keepdims)


def _same_shape(x: Shape, **_: Any) -> Shape:
    return x


def _fold_none(x: Node, *, axis: Axes, keepdims: bool) -> Node | None:
    return None if axis else x


def _fold_sum(x: Node, *, axis: Axes, keepdims: bool) -> Node | None:
    if not axis:
        return x
    if is_scalar_constant(x) and x.op.name == "broadcast_to":
        count = size(tuple(x.shape[a] for a in axis))
        return operators["broadcast_to"](x.inputs[0] * count, reduced(x.shape, axis, keepdims))
    return None


def _axis_text(axis: Axes, keepdims: bool) -> str:
    inner = f"axis={axis[0] if len(axis) == 1 else axis}"
    return f"{inner}, keepdims=True" if keepdims else inner


def _text(function: str, suffix: str = "") -> Callable[..., Code]:
    """Prints `function(x, axis=0, keepdims=True)`."""
    return lambda x, *, axis, keepdims: Code(f"{function}({x}{suffix}, {_axis_text(axis, keepdims)})")


# Products. The derivative by an entry is the product of the others, which is a row of its own: its derivatives at any
# order are products of still fewer entries, and none is a quotient.


def others(x: Node, axis: Axes) -> Node:
    """For every entry the product of the others along the axes."""
    rest = tuple(a for a in range(x.ndim) if a not in axis)
    moved = operators["transpose"](x, rest + axis)
    lines = operators["reshape"](moved, (*(x.shape[a] for a in rest), size(tuple(x.shape[a] for a in axis))))
    products = operators["reshape"](product_of_others(lines), moved.shape)
    return operators["transpose"](products, tuple(np.argsort(rest + axis).tolist()))


def _product_of_others(x: Any) -> Any:
    before = np.cumprod(np.insert(x[..., :-1], 0, 1, -1), -1)
    after = np.cumprod(np.insert(x[..., :0:-1], 0, 1, -1), -1)[..., ::-1]
    return before * after


def _others_text(x: Code) -> Code:
    before, after = (
        f"np.insert({x.at(POSTFIX)}[..., :-1], 0, 1, -1)",
        f"np.insert({x.at(POSTFIX)}[..., :0:-1], 0, 1, -1)",
    )
    return Code(f"np.cumprod({before}, -1)*np.cumprod({after}, -1)[..., ::-1]", PRODUCT)


def _others_pullback(g: Node, y: Node, x: Node) -> Node:
    """Row i of a matrix holds the factors of entry i, its own replaced by 1: y is the product along the rows."""
    own = constant(np.eye(x.shape[-1], dtype=bool))
    factors = where(own, 1, _rows(x))
    return sum_over(where(own, 0, _columns(g) * product_of_others(factors)), axis=(x.ndim - 1,), keepdims=False)


def _cumprod_pullback(g: Node, y: Node, x: Node, *, axis: int) -> Node:
    """Row i of a matrix holds the factors of entry i, then ones: y is the product along the rows."""
    taken = constant(np.tri(x.shape[axis], dtype=bool))
    factors = where(taken, _rows(_axis_last(x, axis)), 1)
    terms = where(taken, _columns(_axis_last(g, axis)) * product_of_others(factors), 0)
    return _axis_last(sum_over(terms, axis=(x.ndim - 1,), keepdims=False), axis)


def _axis_last(x: Node, axis: int) -> Node:
    """The axis and the last one, interchanged."""
    order = list(range(x.ndim))
    order[axis], order[-1] = order[-1], order[axis]
    return operators["transpose"](x, tuple(order))


def _rows(x: Node) -> Node:
    """The last axis, repeated as the rows of square matrices."""
    return operators["broadcast_to"](operators["reshape"](x, (*x.shape[:-1], 1, x.shape[-1])), (*x.shape, x.shape[-1]))


def _columns(x: Node) -> Node:
    """The last axis, repeated as the columns of square matrices."""
    return operators["broadcast_to"](operators["reshape"](x, (*x.shape, 1)), (*x.shape, x.shape[-1]))


def _extreme(g: Node, y: Node, x: Node, *, axis: Axes, keepdims: bool) -> Node:
    """The cotangent goes to the entries that are the maximum (the minimum), in equal shares."""
    hit = equal(x, spread(y, x, axis, keepdims))
    count = sum_over(as_number(hit), axis=axis, keepdims=keepdims)
    return where(hit, spread(g / count, x, axis, keepdims), 0)


def _direction(g: Node, y: Node, x: Node, *, axis: Axes, keepdims: bool) -> Node:
    """x/y, 0 where y is 0."""
    length = spread(y, x, axis, keepdims)
    at_zero = equal(length, 0)
    return where(at_zero, 0, spread(g, x, axis, keepdims) * x / where(at_zero, 1, length))


def backwards(x: Node, axis: int) -> Node:
    """The entries along an axis in reverse order."""
    return operators["getitem"](x, (slice(None),) * axis + (slice(None, None, -1),))


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *, axis: function(x, axis=axis)


def _accumulate_samples(kind: str = "normal") -> tuple[Sample, ...]:
    return tuple(Sample(s, {"axis": a}, kind) for s, a in ((((4,),), 0), (((2, 3),), 0), (((2, 3, 2),), 1)))


REDUCTION_SAMPLES = (
    Sample(((3,),), {"axis": (0,), "keepdims": False}),
    Sample(((2, 3),), {"axis": (0, 1), "keepdims": False}),
    Sample(((2, 3),), {"axis": (1,), "keepdims": True}),
    Sample(((2, 3, 2),), {"axis": (0, 2), "keepdims": False}),
)
_CONDITION = "a condition: no derivative"
_TIES = "entries that tie share equally"
_JUMPS = "jumps where two entries are equal"


def _position(name: str, function: Callable[..., Any]) -> Primitive:
    """A row for argmax or argmin."""
    return flat(name, _along(function), lambda x, *, axis: reduced(x, (axis,)), family="general", result="int",
                numpy=call(f"np.{name}"), rule="a position: no derivative", kinks=_JUMPS, samples=_accumulate_samples("distinct"))  # fmt: skip


def _condition(name: str, function: Callable[..., Any]) -> Primitive:
    """A row for any or all."""
    value = _over(lambda x, **axes: function(np.asarray(x, dtype=bool), **axes))
    return flat(name, value, _reduced_shape, family="general", result="bool", numpy=_text(f"np.{name}"), rule=_CONDITION,
                conditions=True, samples=REDUCTION_SAMPLES)  # fmt: skip


# fmt: off
cumsum: Primitive
product_of_others: Primitive
sum_over  = linear("sum", _over(np.sum), _reduced_shape, transpose=lambda g, x, *, axis, keepdims: spread(g, x, axis, keepdims),
                   rule="sum rule", fold=_fold_sum, numpy=_text("np.sum"), samples=REDUCTION_SAMPLES)
prod_over = general("prod", _over(np.prod), _reduced_shape,
                    lambda g, y, x, *, axis, keepdims: spread(g, x, axis, keepdims) * others(x, axis),
                    rule="product rule", fold=_fold_none, numpy=_text("np.prod"), samples=REDUCTION_SAMPLES)
product_of_others = general("product_of_others", _product_of_others, _same_shape, _others_pullback, rule="product rule",
                            fold=lambda x: filled(1, x.shape) if x.shape[-1] == 1 else x if x.shape[-1] == 0 else None,
                            numpy=_others_text, samples=(Sample(((2,),)), Sample(((2, 4),))))
max_over  = general("max", _over(np.max), _reduced_shape, _extreme, rule="largest entry", fold=_fold_none, numpy=_text("np.max"),
                    kinks=_TIES, samples=REDUCTION_SAMPLES)
min_over  = general("min", _over(np.min), _reduced_shape, _extreme, rule="smallest entry", fold=_fold_none, numpy=_text("np.min"),
                    kinks=_TIES, samples=REDUCTION_SAMPLES)
root_sum_square = general("root_sum_square", _over(lambda x, **axes: np.sqrt(np.sum(x * x, **axes))), _reduced_shape, _direction,
                          rule="norm rule", numpy=lambda x, *, axis, keepdims: Code(f"np.sqrt(np.sum({x.at(POSTFIX)}**2, {_axis_text(axis, keepdims)}))"),
                          kinks="0 where all entries are 0: the smallest slope, 0, is taken", samples=REDUCTION_SAMPLES)
cumsum    = linear("cumsum", _along(np.cumsum), _same_shape, transpose=lambda g, x, *, axis: backwards(cumsum(backwards(g, axis), axis=axis), axis),
                   rule="sum rule", samples=_accumulate_samples())
cumprod   = general("cumprod", _along(np.cumprod), _same_shape, _cumprod_pullback, rule="product rule", samples=_accumulate_samples())
argmax    = _position("argmax", np.argmax)
argmin    = _position("argmin", np.argmin)
argsort   = flat("argsort", lambda x, *, axis, kind: np.argsort(x, axis=axis, kind=kind), _same_shape, family="general", result="int",
                 numpy=lambda x, *, axis, kind: Code(f"np.argsort({x}, axis={axis}" + (f", kind={kind!r})" if kind else ")")),
                 rule="positions: no derivative", kinks=_JUMPS,
                 samples=(Sample(((4,),), {"axis": 0, "kind": None}, "distinct"), Sample(((2, 3),), {"axis": 1, "kind": "stable"}, "distinct")))
any_over  = _condition("any", np.any)
all_over  = _condition("all", np.all)
count_nonzero = flat("count_nonzero", _over(np.count_nonzero), _reduced_shape, family="general", result="int", conditions=True,
                     numpy=_text("np.count_nonzero"), rule="a count: no derivative", samples=REDUCTION_SAMPLES)
# fmt: on


# NumPy's functions.


def operand(a: Any) -> Node:
    """An operand of a numeric function: a node, a constant or a list of these; conditions become 1 and 0."""
    x = operators["array"](a)
    return as_number(x) if x.kind == "bool" else x


def _reduction(function: Any, row: Primitive, has_dtype: bool = True) -> None:
    """Enters a reduction with the signature that NumPy's sum (or max, which has no dtype) has."""
    name = f"np.{function.__name__}"

    def with_dtype(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
                   initial: Any = None, where: Any = None) -> Node:  # fmt: skip
        only_defaults(name, dtype=dtype, out=out, initial=initial, where=where)
        x = operand(a)
        return row(x, axis=normal_axes(axis, x.ndim), keepdims=bool(keepdims))

    def without(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
    ) -> Node:
        return with_dtype(a, axis, None, out, keepdims, initial, where)

    numpy_function(function)(with_dtype if has_dtype else without)


def _conditional(function: Any, row: Primitive) -> None:
    """Enters any or all."""
    name = f"np.{function.__name__}"

    def on_nodes(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Node:
        only_defaults(name, out=out, where=where)
        x = operators["array"](a)
        return row(x, axis=normal_axes(axis, x.ndim), keepdims=bool(keepdims))

    numpy_function(function)(on_nodes)


def _accumulation(function: Any, row: Primitive) -> None:
    """Enters cumsum or cumprod: along one axis, or along the entries in a line."""
    name = f"np.{function.__name__}"

    def on_nodes(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Node:
        only_defaults(name, dtype=dtype, out=out)
        x, axis = in_line(operand(a), axis)
        return row(x, axis=axis)

    numpy_function(function)(on_nodes)


def _positions(function: Any, row: Primitive) -> None:
    """Enters argmax or argmin."""

    def on_nodes(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Node:
        only_defaults(f"np.{function.__name__}", out=out)
        whole = operators["array"](a)
        x, number = in_line(whole, axis)
        kept = reduced(whole.shape, normal_axes(axis, whole.ndim), keepdims=bool(keepdims))
        return operators["reshape"](row(x, axis=number), kept)

    numpy_function(function)(on_nodes)


def in_line(x: Node, axis: int | None) -> tuple[Node, int]:
    """What NumPy does with axis=None: all entries in one line; else the array and the axis counted from 0."""
    if axis is None or x.ndim == 0:
        return operators["reshape"](x, (x.size,)), 0
    return x, normal_axis(axis, x.ndim)


_reduction(np.sum, sum_over)
_reduction(np.prod, prod_over)
for _function, _row in ((np.max, max_over), (np.amax, max_over), (np.min, min_over), (np.amin, min_over)):
    _reduction(_function, _row, has_dtype=False)
_conditional(np.any, any_over)
_conditional(np.all, all_over)
_accumulation(np.cumsum, cumsum)
_accumulation(np.cumprod, cumprod)
_positions(np.argmax, argmax)
_positions(np.argmin, argmin)


@numpy_function(np.argsort)
def arg_sort(
    a: Any, axis: int | None = -1, kind: str | None = None, order: Any = None, *, stable: bool | None = None
) -> Node:
    """`np.argsort`: the order that sorts, as integers."""
    only_defaults("np.argsort", order=order)
    x, number = in_line(operators["array"](a), axis)
    return argsort(x, axis=number, kind="stable" if stable else kind)


@numpy_function(np.count_nonzero)
def number_of_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Node:
    """`np.count_nonzero`."""
    x = operators["array"](a)
    return count_nonzero(x, axis=normal_axes(axis, x.ndim), keepdims=bool(keepdims))
