"""Functions on nodes, applied to tensors; and Python's operators on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradexplain.errors import ArgumentError, ShapeError
from gradexplain.graph import Node
from gradexplain.graph import operators as node_operators
from gradexplain.ops import arithmetic, indexing, ordering, products
from gradexplain.ops.keys import HOLE, pattern_of
from gradexplain.tape import routine as routines
from gradexplain.tape.dtypes import DType, as_dtype
from gradexplain.tape.errors import ConversionError, InvalidArgumentError, OperandError
from gradexplain.tape.recording import Operation, state, tell
from gradexplain.tape.tensor import Operators, Tensor, as_array, operators
from gradexplain.tape.variable import Variable
from gradexplain.trace.source import site

# Other classes that stand for tensors (variables of layers, rows of a gradient), and how each becomes one.
conversions: dict[type, Callable[[Any], Tensor]] = {}


def tensor(value: Any, dtype: Any = None) -> Tensor:
    """The value as a tensor; of lists that hold tensors, the stack of these."""
    if isinstance(value, Tensor):
        found = value
    elif isinstance(value, Variable):
        found = value.read()
    elif type(value) in conversions or isinstance(value, Operators):
        found = next(convert(value) for kind, convert in conversions.items() if isinstance(value, kind))
    elif isinstance(value, (list, tuple)) and _has_tensor(value):
        found = call(_stacked, [tensor(v) for v in _alike(value)], name="stack")
    else:
        array = as_array(value, dtype)
        return Tensor(array if array.shape else array[()])
    if dtype is not None and found.dtype is not as_dtype(dtype):
        raise OperandError(
            f"a tensor of type {found.dtype.name} can't be taken as one of type {as_dtype(dtype).name}",
            why="types are not converted silently",
            fix=f"use tf.cast(x, tf.{as_dtype(dtype).name})",
        )
    return found


def _alike(values: Sequence[Any]) -> list[Any]:
    """Numbers in a list with tensors take the tensors' type."""
    typed = next((v for v in values if _is_tensor(v)), None)
    return [
        v if typed is None or _is_tensor(v) or isinstance(v, (list, tuple)) else tensor(v, typed.dtype) for v in values
    ]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Operators) or type(value) in conversions


def _has_tensor(value: Any) -> bool:
    return _is_tensor(value) or (isinstance(value, (list, tuple)) and any(map(_has_tensor, value)))


def _stacked(*nodes: Node) -> Node:
    found: Node = node_operators["stack"](list(nodes))
    return found


def alike(name: str, values: Sequence[Any]) -> list[Tensor]:
    """Operands of one type: numbers and arrays take that of the first tensor; tensors of another are an error."""
    first = next((v for v in values if _is_tensor(v)), None)
    if first is None:
        typed = next((v for v in values if isinstance(v, (np.ndarray, np.generic))), values[0])
        dtype = tensor(typed).dtype
        return [_converted(v, dtype) for v in values]
    first = tensor(first) if not isinstance(first, (Tensor, Variable)) else first
    dtype = first.dtype
    return [_operand(name, i, v, dtype) for i, v in enumerate(values)]


_NUMBERS = (float, int, bool, complex)


def _operand(name: str, i: int, value: Any, dtype: DType) -> Tensor:
    kind = type(value)
    if kind is Tensor or kind is Variable:
        found: Tensor = value if kind is Tensor else value.read()
    elif kind in _NUMBERS:
        return _literal(value, dtype)
    elif not _has_tensor(value):
        return _converted(value, dtype)
    else:
        found = tensor(value)
    if found.dtype is not dtype:
        raise InvalidArgumentError(
            f"cannot compute {name} as input #{i}(zero-based) was expected to be a {_spoken(dtype)} tensor"
            f" but is a {_spoken(found.dtype)} tensor",
            why="tensors of different types are not converted silently",
            fix=f"use tf.cast(x, tf.{dtype.name})",
        )
    return found


def _spoken(dtype: DType) -> str:
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def _literal(value: Any, dtype: DType) -> Tensor:
    """A number that was written in the program, beside tensors of a type."""
    if (type(value) is complex and not dtype.is_complex) or (type(value) is float and not dtype.is_trainable):
        raise ConversionError(
            f"the number {value!r} can't be used with a tensor of type {dtype.name}",
            why="a part of it would be lost",
            fix="cast the tensor to a floating type first, with tf.cast",
        )
    if (type(value) is bool and not dtype.is_bool) or dtype.is_bool:
        return Tensor(dtype.plain.type(value))
    if not dtype.is_trainable:
        return Tensor(dtype.plain.type(value))
    return Tensor(value, literal=True)


def _converted(value: Any, dtype: DType) -> Tensor:
    if value is None:
        raise OperandError("None can't be an operand", why="it is no number", fix="check where it comes from")
    array = as_array(value, None if isinstance(value, (np.ndarray, np.generic)) else dtype)
    if array.dtype != dtype.plain:
        if array.dtype.kind == "c" or (array.dtype.kind == "f" and not dtype.is_trainable):
            raise ConversionError(
                f"an array of type {array.dtype} can't be used with a tensor of type {dtype.name}",
                why="a part of its numbers would be lost",
                fix="use tf.cast",
            )
        array = array.astype(dtype.plain)
    return Tensor(array if array.shape else array[()])


def call(
    function: Callable[..., Any],
    operands: Sequence[Tensor],
    static: dict[str, Any] | None = None,
    *,
    name: str = "",
    plain: Any = None,
) -> Any:
    """Applies a function on nodes to tensors: one tensor, or a tuple of them where the function gives several."""
    specs = tuple([t.spec for t in operands])
    try:
        try:
            found = routines.routine(function, specs, tuple(static.items()) if static else ())
        except TypeError as error:
            if "unhashable" not in str(error):
                raise
            found = routines.build(function, specs, static or {})
    except ShapeError as error:
        what = f"Incompatible shapes for {name or function.__name__}: {error.what}"
        raise InvalidArgumentError(what, why=error.why, fix=error.fix) from None
    except ArgumentError as error:
        raise ConversionError(f"{name or function.__name__}: {error.what}", why=error.why, fix=error.fix) from None
    if plain is None:
        plain = operands[0].array.dtype if not operands[0].literal else operands[-1].array.dtype
    at = site() if state.listeners else None
    try:
        results = found.run(operands, plain, name, at)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError(
            f"{name or function.__name__}: {error}", why="the matrix is singular, or not positive definite"
        ) from None
    if found.is_single:
        return results[0]
    return found.kind(*results) if hasattr(found.kind, "_fields") else found.kind(results)


def binary(name: str, row: Any) -> Callable[[Any, Any], Tensor]:
    """An operation on two tensors of one type, or on a tensor and a number."""
    record = row.record

    def apply(x: Any, y: Any) -> Any:
        a, b = alike(name, (x, y))
        return call(record, (a, b), name=name, plain=b.array.dtype if a.literal else a.array.dtype)

    return apply


def comparison(name: str, row: Any) -> Callable[[Any, Any], Any]:
    """A comparison; of what can't be compared, False."""
    apply = binary(name, row)

    def compare(x: Any, y: Any) -> Any:
        if y is None or isinstance(y, str):
            return NotImplemented
        return apply(x, y)

    return compare


def unary(name: str, row: Any) -> Callable[[Any], Tensor]:
    """An operation on one tensor."""
    record = row.record

    def apply(x: Any) -> Any:
        return call(record, (tensor(x),), name=name)

    return apply


def cast(x: Any, dtype: Any) -> Tensor:
    """The values in another type. A derivative flows between floating types, and is cast back."""
    given, wanted = tensor(x), as_dtype(dtype)
    if given.dtype is wanted:
        return given
    with np.errstate(all="ignore"):
        array = given.array
        if array.dtype.kind == "c" and not wanted.is_complex:
            array = array.real
        result = Tensor(np.asarray(array).astype(wanted.plain)[()])
        result.made_by = "cast"
    if state.listeners:
        flat = not (given.dtype.is_trainable and wanted.is_trainable)
        tell(
            Operation(
                "cast", None, {"dtype": wanted}, (given,), (result,), pull=None if flat else _cast_back, flat=flat
            )
        )
    return result


def _cast_back(operation: Operation, cotangents: Sequence[Any], wanted: Sequence[bool]) -> Sequence[Any]:
    return [cast(cotangents[0], operation.inputs[0].dtype)]


def identity(x: Any) -> Tensor:
    """The same values as another tensor."""
    return passed_on(tensor(x), "identity")


def passed_on(given: Tensor, name: str) -> Tensor:
    """A tensor with the same values; the derivative is handed on as it is."""
    result = Tensor(given.array)
    result.made_by = name
    if state.listeners:
        tell(Operation(name, None, {}, (given,), (result,), pull=lambda op, gs, wanted: [gs[0]]))
    return result


def cut(given: Tensor, name: str, array: Any = None) -> Tensor:
    """A tensor with the same values (or others computed from it) to which no derivative flows."""
    result = Tensor(given.array if array is None else array)
    result.made_by = name
    if state.listeners:
        tell(Operation(name, None, {}, (given,), (result,), flat=True))
    return result


def divide(x: Any, y: Any) -> Any:
    """The quotient; of whole numbers in float64."""
    a, b = alike("RealDiv", (x, y))
    if a.spec[1] == "int" and not a.literal:
        a, b = cast(a, "float64"), cast(b, "float64")
    return call(arithmetic.div.record, (a, b), name="truediv", plain=b.array.dtype if a.literal else a.array.dtype)


def absolute(x: Any) -> Any:
    """The absolute value; of complex numbers a real one, with slope z/|z|."""
    given = tensor(x)
    if not given.dtype.is_complex:
        return call(arithmetic.absolute.record, (given,), name="Abs")
    result = Tensor(np.abs(given.array))
    if state.listeners:
        tell(Operation("abs", None, {}, (given,), (result,), pull=_towards))
    return result


def _towards(operation: Operation, cotangents: Sequence[Any], wanted: Sequence[bool]) -> Sequence[Any]:
    with np.errstate(all="ignore"):
        direction = Tensor(np.nan_to_num(operation.inputs[0].array / operation.outputs[0].array))
    return [operators["mul"](cast(cotangents[0], direction.dtype), direction)]


def require_matrices(*operands: Tensor) -> None:
    """Raises for vectors and numbers: TensorFlow multiplies matrices only."""
    for t in operands:
        if t.ndim < 2:
            raise InvalidArgumentError(
                f"a product of matrices got a tensor of shape {tuple(t.shape)}",
                why="its operands must have at least rank 2",
                fix="use tf.linalg.matvec, tf.tensordot, or an axis more: v[:, None]",
            )


def matmul(x: Any, y: Any) -> Any:
    """The matrix product."""
    a, b = alike("MatMul", (x, y))
    require_matrices(a, b)
    return call(products.matmul.record, (a, b), name="matmul")


def getitem(x: Any, key: Any) -> Any:
    """`x[key]`; the key has numbers, slices, tensors of whole numbers, or one mask."""
    given = tensor(x)
    parts = key if type(key) is tuple else (key,)
    plain_parts, indices = [], []
    for part in parts:
        if isinstance(part, Operators):
            part = tensor(part)
            if part.dtype.is_bool:
                part = np.asarray(part.array)
            elif part.array.shape == ():
                part = int(part.array)
            else:
                indices.append(part)
                part = HOLE
        elif isinstance(part, slice):
            part = slice(*[None if n is None else int(n) for n in (part.start, part.stop, part.step)])
        elif isinstance(part, float):
            raise OperandError(f"{part!r} is no index", why="an index is a whole number", fix="use an integer")
        plain_parts.append(part)
    pattern = tuple(HOLE if p is HOLE else pattern_of(p)[0][0] for p in plain_parts)
    try:
        return call(_picked, [given, *indices], {"pattern": pattern}, name="StridedSlice", plain=given.array.dtype)
    except (ShapeError, IndexError) as error:
        raise InvalidArgumentError(
            f"slice index {key!r} of shape {tuple(given.shape)} is out of bounds", why=str(error)
        ) from None


def _picked(x: Node, *indices: Node, pattern: Any) -> Node:
    return indexing.getitem.record(x, *indices, pattern=pattern)


def _connective(name: str, row: Any, of_bits: Any) -> Callable[[Any, Any], Tensor]:
    apply = binary(name, row)

    def connect(x: Any, y: Any) -> Any:
        a, b = alike(name, (x, y))
        return apply(a, b) if a.dtype.is_bool else cut(a, name, of_bits(a.array, b.array))

    return connect


operators.update(
    add=binary("add", arithmetic.add),
    sub=binary("sub", arithmetic.sub),
    mul=binary("mul", arithmetic.mul),
    div=divide,
    pow=binary("pow", arithmetic.power),
    floordiv=binary("floordiv", ordering.floor_divide),
    mod=binary("mod", ordering.mod),
    matmul=matmul,
    neg=unary("Neg", arithmetic.neg),
    abs=absolute,
    less=comparison("Less", ordering.less),
    less_equal=comparison("LessEqual", ordering.less_equal),
    greater=comparison("Greater", ordering.greater),
    greater_equal=comparison("GreaterEqual", ordering.greater_equal),
    equal=comparison("Equal", ordering.equal),
    not_equal=comparison("NotEqual", ordering.not_equal),
    getitem=getitem,
    identity=identity,
)
operators["and"] = _connective("LogicalAnd", ordering.logical_and, np.bitwise_and)
operators["or"] = _connective("LogicalOr", ordering.logical_or, np.bitwise_or)
operators["xor"] = _connective("LogicalXor", ordering.not_equal, np.bitwise_xor)
operators["not"] = unary("LogicalNot", ordering.logical_not)


def conjugate(x: Any) -> Tensor:
    """The complex conjugate; of real numbers these themselves."""
    given = tensor(x)
    if not given.dtype.is_complex:
        return given
    result = Tensor(np.conjugate(given.array))
    if state.listeners:
        tell(Operation("conj", None, {}, (given,), (result,), pull=lambda op, gs, wanted: [conjugate(gs[0])]))
    return result
