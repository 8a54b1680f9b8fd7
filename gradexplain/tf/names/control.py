"""Control flow: the branch that is taken and the loops that are run are recorded as they happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradexplain.tape.custom import custom_gradient as custom
from gradexplain.tape.custom import grad_pass_through, numpy_function, py_function, recompute_grad, stop_gradient
from gradexplain.tape.errors import InvalidArgumentError
from gradexplain.tape.functions import tensor
from gradexplain.tape.structures import flatten, mapped, pack
from gradexplain.tape.tensor import Tensor
from gradexplain.tf.names.shaping import concat, stack
from gradexplain.tf.names.table import TABLE, named

TABLE.update(
    {
        "custom_gradient": custom,
        "stop_gradient": stop_gradient,
        "grad_pass_through": grad_pass_through,
        "recompute_grad": recompute_grad,
        "py_function": py_function,
        "numpy_function": numpy_function,
    }
)


def _tensors(structure: Any) -> Any:
    return mapped(lambda v: v if v is None else tensor(v), structure)


@named("cond")
def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: Any = None) -> Any:
    """What one of two functions gives; the condition has no derivative."""
    return _tensors(true_fn() if bool(pred) else false_fn())


@named("case")
def case(
    pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, strict: bool = False, name: str = "case"
) -> Any:
    """What the function of the first condition that holds gives."""
    for pred, function in pred_fn_pairs:
        if bool(pred):
            return _tensors(function())
    if default is None:
        raise InvalidArgumentError("tf.case: no condition holds", why="there is no default", fix="give default=")
    return _tensors(default())


@named("switch_case")
def switch_case(branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case") -> Any:
    """What the function with this number gives; the last one (or the default) for a number out of range."""
    listed = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    table = dict(listed if listed and isinstance(listed[0], tuple) else enumerate(listed))
    otherwise = default if default is not None else table[max(table)]
    return _tensors(table.get(int(branch_index), otherwise)())


@named("while_loop")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: Any = None,
) -> Any:
    """Repeats the body as long as the condition holds."""
    values, passes = _tensors(loop_vars), 0
    while (maximum_iterations is None or passes < int(maximum_iterations)) and bool(cond(*values)):
        result = body(*values)
        values = _tensors(type(values)(result) if isinstance(result, (list, tuple)) else [result])
        passes += 1
    return values


def _rows(elems: Any, reverse: bool = False) -> list[Any]:
    """The elements along the first axis, in the structure that they have."""
    leaves = [tensor(e) for e in flatten(elems)]
    order = range(leaves[0].shape[0])
    return [pack(elems, [leaf[i] for leaf in leaves]) for i in (reversed(order) if reverse else order)]


def _together(results: list[Any]) -> Any:
    """The results, stacked leaf by leaf."""
    columns = zip(*map(flatten, results), strict=True)
    return pack(results[0], [stack(list(column)) for column in columns])


@named("map_fn", "vectorized_map")
def map_fn(fn: Callable[..., Any], elems: Any, *_: Any, **__: Any) -> Any:
    """The function on every element along the first axis."""
    return _together([_tensors(fn(row)) for row in _rows(elems)])


@named("foldl")
def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, *_: Any, **__: Any) -> Any:
    """Combines the elements from the first to the last."""
    return _fold(fn, _rows(elems), initializer)[-1]


@named("foldr")
def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, *_: Any, **__: Any) -> Any:
    """Combines the elements from the last to the first."""
    return _fold(fn, _rows(elems, reverse=True), initializer)[-1]


@named("scan")
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: Any = None,
) -> Any:
    """As `foldl`, with all values on the way."""
    values = _fold(fn, _rows(elems, reverse), initializer)
    values = values if initializer is None else values[1:]
    return _together(values[::-1] if reverse else values)


def _fold(fn: Callable[..., Any], rows: list[Any], initializer: Any) -> list[Any]:
    values = [rows.pop(0) if initializer is None else _tensors(initializer)]
    for row in rows:
        values.append(_tensors(fn(values[-1], row)))
    return values


@named("TensorArray")
class TensorArray:
    """A list of tensors, written entry by entry; every write gives the array to go on with."""

    def __init__(
        self, dtype: Any, size: Any = 0, dynamic_size: Any = None, clear_after_read: Any = None, **_: Any
    ) -> None:
        self.dtype, self._items = dtype, [None] * int(size)

    def write(self, index: Any, value: Any, name: Any = None) -> TensorArray:
        """The array with an entry."""
        i = int(index)
        self._items += [None] * (i + 1 - len(self._items))
        self._items[i] = tensor(value)  # type: ignore[call-overload]
        return self

    def read(self, index: Any, name: Any = None) -> Any:
        """An entry."""
        return self._items[int(index)]

    def stack(self, name: Any = None) -> Tensor:
        """All entries as one tensor."""
        return stack(self._items)

    def concat(self, name: Any = None) -> Tensor:
        """All entries after each other."""
        return concat(self._items, 0)

    def unstack(self, value: Any, name: Any = None) -> TensorArray:
        """The entries of a tensor."""
        self._items = list(tensor(value))  # type: ignore[arg-type]
        return self

    def gather(self, indices: Any, name: Any = None) -> Tensor:
        """Some entries as one tensor."""
        return stack([self._items[int(i)] for i in tensor(indices)])

    def size(self, name: Any = None) -> int:
        """The number of entries."""
        return len(self._items)


@named("group", "no_op")
def group(*_: Any, **__: Any) -> None:
    """Operations that run together: they have run already."""


@named("data.Dataset")
class Dataset:
    """Elements one after the other. What passes through a dataset has left the record."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The elements along the first axis."""
        rows = [mapped(lambda t: Tensor(t.array), row) for row in _rows(tensors)]
        return Dataset(lambda: iter(rows))

    @staticmethod
    def range(*args: int) -> Dataset:
        """Whole numbers."""
        return Dataset(lambda: (tensor(i, "int64") for i in range(*args)))

    def batch(self, batch_size: int, drop_remainder: bool = False) -> Dataset:
        """Several elements at a time."""

        def batches() -> Any:
            rows: list[Any] = []
            for row in self:
                rows.append(row)
                if len(rows) == batch_size:
                    yield _together(rows)
                    rows = []
            if rows and not drop_remainder:
                yield _together(rows)

        return Dataset(batches)

    def map(self, function: Callable[..., Any], *_: Any, **__: Any) -> Dataset:
        """The function on every element."""
        return Dataset(lambda: (function(*row) if isinstance(row, tuple) else function(row) for row in self))

    def repeat(self, count: int = 1) -> Dataset:
        """The elements again."""
        return Dataset(lambda: (row for _ in range(count) for row in self))

    def take(self, count: int) -> Dataset:
        """The first elements."""
        return Dataset(lambda: (row for _, row in zip(range(count), self, strict=False)))

    def shuffle(self, buffer_size: int, seed: Any = None, **_: Any) -> Dataset:
        """The elements in a random order."""
        from gradexplain.tf.names.creation import generator

        rows = list(self)
        return Dataset(lambda: iter([rows[i] for i in generator(seed).permutation(len(rows))]))

    def prefetch(self, *_: Any) -> Dataset:
        """The dataset itself: nothing is computed ahead."""
        return self

    cache = prefetch

    def __iter__(self) -> Any:
        return iter(self._make())
