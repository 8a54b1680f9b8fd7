"""Functions of single numbers, and those that compare and select."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.graph import Node
from gradexplain.ops import arithmetic, elementary, ordering, special
from gradexplain.tape import functions
from gradexplain.tape.errors import InvalidArgumentError
from gradexplain.tape.functions import alike, call, cast, cut, tensor
from gradexplain.tape.recording import Operation, state, tell
from gradexplain.tape.tensor import Tensor, operators
from gradexplain.tf.names.table import OPERATIONS, TABLE, named, on_nodes

# TensorFlow's names, the row, and TensorFlow's name of the operation.
UNARY: tuple[tuple[str, Any, str], ...] = (
    ("exp math.exp", elementary.exp, "Exp"),
    ("math.expm1", elementary.expm1, "Expm1"),
    ("math.log", elementary.log, "Log"),
    ("math.log1p", elementary.log1p, "Log1p"),
    ("sqrt math.sqrt", elementary.sqrt, "Sqrt"),
    ("square math.square keras.backend.square", elementary.square, "Square"),
    ("sin math.sin", elementary.sin, "Sin"),
    ("cos math.cos", elementary.cos, "Cos"),
    ("tan math.tan", elementary.tan, "Tan"),
    ("asin math.asin", elementary.arcsin, "Asin"),
    ("acos math.acos", elementary.arccos, "Acos"),
    ("atan math.atan", elementary.arctan, "Atan"),
    ("sinh math.sinh", elementary.sinh, "Sinh"),
    ("cosh math.cosh", elementary.cosh, "Cosh"),
    ("tanh math.tanh nn.tanh keras.activations.tanh", elementary.tanh, "Tanh"),
    ("asinh math.asinh", elementary.arcsinh, "Asinh"),
    ("acosh math.acosh", elementary.arccosh, "Acosh"),
    ("atanh math.atanh", elementary.arctanh, "Atanh"),
    ("sigmoid math.sigmoid nn.sigmoid keras.activations.sigmoid", special.expit, "Sigmoid"),
    ("negative math.negative", arithmetic.neg, "Neg"),
    ("sign math.sign", ordering.sign, "Sign"),
    ("floor math.floor", ordering.floor, "Floor"),
    ("math.ceil", ordering.ceil, "Ceil"),
    ("round math.round math.rint", ordering.rint, "Round"),
    ("math.erf", special.erf, "Erf"),
    ("math.erfc", special.erfc, "Erfc"),
    ("math.erfinv", special.erfinv, "Erfinv"),
    ("math.digamma", special.digamma, "Digamma"),
    ("math.lgamma", special.lgamma, "Lgamma"),
    ("math.is_nan debugging.is_nan", elementary.isnan, "IsNan"),
    ("math.is_inf", elementary.isinf, "IsInf"),
    ("math.is_finite", elementary.isfinite, "IsFinite"),
    ("math.logical_not logical_not", ordering.logical_not, "LogicalNot"),
)
BINARY: tuple[tuple[str, Any, str], ...] = (
    ("add math.add", arithmetic.add, "AddV2"),
    ("subtract math.subtract", arithmetic.sub, "Sub"),
    ("multiply math.multiply", arithmetic.mul, "Mul"),
    ("pow math.pow", arithmetic.power, "Pow"),
    ("maximum math.maximum", ordering.maximum, "Maximum"),
    ("minimum math.minimum", ordering.minimum, "Minimum"),
    ("math.floormod math.mod", ordering.mod, "FloorMod"),
    ("math.floordiv", ordering.floor_divide, "FloorDiv"),
    ("atan2 math.atan2", elementary.arctan2, "Atan2"),
    ("math.xlogy", arithmetic.xlogy, "Xlogy"),
    ("math.xlog1py", special.xlog1py, "Xlog1py"),
    ("math.polygamma", special.polygamma, "Polygamma"),
    ("less math.less", ordering.less, "Less"),
    ("less_equal math.less_equal", ordering.less_equal, "LessEqual"),
    ("greater math.greater", ordering.greater, "Greater"),
    ("greater_equal math.greater_equal", ordering.greater_equal, "GreaterEqual"),
    ("equal math.equal", ordering.equal, "Equal"),
    ("not_equal math.not_equal", ordering.not_equal, "NotEqual"),
    ("logical_and math.logical_and", ordering.logical_and, "LogicalAnd"),
    ("logical_or math.logical_or", ordering.logical_or, "LogicalOr"),
    ("math.logical_xor", ordering.not_equal, "LogicalXor"),
)


def _without_name(function: Any) -> Any:
    def apply(x: Any, name: str | None = None) -> Any:
        return function(x)

    return apply


def _of_two(function: Any) -> Any:
    def apply(x: Any, y: Any, name: str | None = None) -> Any:
        return function(x, y)

    return apply


def _of_fractions(op: str, function: Any) -> Any:
    """A function that whole numbers are no operands of."""

    def apply(x: Any) -> Any:
        given = tensor(x)
        if given.dtype.kind != "float":
            raise InvalidArgumentError(
                f"Value for attr 'T' of {given.dtype.name} is not in the list of allowed values: {op} is of floats",
                why="whole numbers are not converted silently",
                fix="use tf.cast(x, tf.float32)",
            )
        return function(given)

    return apply


_OF_ALL = {"Neg", "Sign", "Square", "Round", "LogicalNot"}
for _names, _row, _op in UNARY:
    _function = functions.unary(_op, _row)
    _function = _function if _op in _OF_ALL else _of_fractions(_op, _function)
    for _name in _names.split():
        TABLE[_name], OPERATIONS[_name] = _without_name(_function), _op
for _names, _row, _op in BINARY:
    for _name in _names.split():
        TABLE[_name], OPERATIONS[_name] = _of_two(functions.binary(_op, _row)), _op
TABLE["math.abs"] = TABLE["abs"] = _without_name(functions.absolute)
TABLE["divide"] = TABLE["math.divide"] = TABLE["truediv"] = TABLE["math.truediv"] = _of_two(functions.divide)
TABLE["cast"] = lambda x, dtype, name=None: cast(x, dtype)
TABLE["identity"] = _without_name(functions.identity)
TABLE["math.conj"] = _without_name(functions.conjugate)


@on_nodes("math.reciprocal", op="Reciprocal")
def reciprocal(x: Node) -> Node:
    """1/x."""
    return arithmetic.div.record(1, x)


@on_nodes("math.rsqrt", op="Rsqrt")
def rsqrt(x: Node) -> Node:
    """1/sqrt(x)."""
    return arithmetic.div.record(1, elementary.sqrt.record(x))


@on_nodes("math.squared_difference", operands=2, op="SquaredDifference")
def squared_difference(x: Node, y: Node) -> Node:
    """(x - y)**2."""
    return elementary.square.record(arithmetic.sub.record(x, y))


@on_nodes("math.divide_no_nan", operands=2, op="DivNoNan")
def divide_no_nan(x: Node, y: Node) -> Node:
    """x/y, and 0 where y is 0."""
    at_zero = ordering.equal.record(y, 0)
    safe = ordering.where.record(at_zero, 1, y)
    return ordering.where.record(at_zero, 0, arithmetic.div.record(x, safe))


@on_nodes("math.multiply_no_nan", operands=2, op="MulNoNan")
def multiply_no_nan(x: Node, y: Node) -> Node:
    """x*y, and 0 where y is 0."""
    at_zero = ordering.equal.record(y, 0)
    return ordering.where.record(at_zero, 0, arithmetic.mul.record(ordering.where.record(at_zero, 0, x), y))


@on_nodes("math.softplus", "nn.softplus", "keras.activations.softplus", op="Softplus")
def softplus(features: Node) -> Node:
    """log(1 + exp(x)), without overflow."""
    return elementary.logaddexp.record(features, 0)


@on_nodes("math.log_sigmoid", op="LogSigmoid")
def log_sigmoid(x: Node) -> Node:
    """log(sigmoid(x))."""
    return arithmetic.neg.record(elementary.logaddexp.record(arithmetic.neg.record(x), 0))


@on_nodes("math.lbeta", op="Lbeta")
def lbeta(x: Node) -> Node:
    """The logarithm of the beta function of the last axis."""
    from gradexplain.ops.reductions import sum_over

    last = {"axis": (x.ndim - 1,), "keepdims": False}
    return sum_over(special.lgamma(x), **last) - special.lgamma(sum_over(x, **last))


@named("clip_by_value")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Tensor:
    """The values, moved to the nearest bound where they lie outside."""
    operands = alike("ClipByValue", (t, clip_value_min, clip_value_max))
    found: Tensor = call(ordering.clip.record, operands, name="ClipByValue", plain=operands[0].array.dtype)
    return found


@named("where")
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Entries of x where the condition holds, else of y. Without x and y: the indices where it holds."""
    given = tensor(condition)
    if x is None and y is None:
        return cut(given, "Where", np.argwhere(given.array).astype(np.int64))
    if not given.dtype.is_bool:
        given = cast(given, "bool")
    a, b = alike("SelectV2", (x, y))
    plain = b.array.dtype if a.literal else a.array.dtype
    found: Tensor = call(ordering.where.record, [given, a, b], name="SelectV2", plain=plain)
    return found


@named("truncatemod", "math.truncatemod")
def truncatemod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The remainder with the sign of x. TensorFlow has no derivative for it."""
    return _without_gradient("TruncateMod", np.fmod, x, y)


@named("image.adjust_contrast")
def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Images with their contrast changed. TensorFlow has no derivative for it."""
    return _without_gradient("AdjustContrastv2", _contrast, images, contrast_factor)


def _contrast(images: Any, factor: Any) -> Any:
    mean = images.mean(axis=(-3, -2), keepdims=True)
    return (images - mean) * factor + mean


@named("bitcast")
def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The same bits as numbers of another type. TensorFlow has no derivative for it."""
    from gradexplain.tape.dtypes import as_dtype

    return _without_gradient("Bitcast", lambda a: np.asarray(a).view(as_dtype(type).plain), input)


def _without_gradient(op: str, function: Any, *operands: Any) -> Tensor:
    given = alike(op, operands) if len(operands) > 1 else [tensor(operands[0])]
    result = Tensor(np.asarray(function(*[t.array for t in given])).astype(given[0].array.dtype)[()])
    if state.listeners:
        tell(Operation(op, None, {}, tuple(given), (result,)))
    return result


@named("math.real")
def real(input: Any, name: str | None = None) -> Tensor:
    """The real part."""
    given = tensor(input)
    if not given.dtype.is_complex:
        return given
    result = Tensor(np.real(given.array))
    if state.listeners:
        tell(Operation("real", None, {}, (given,), (result,), pull=lambda op, gs, wanted: [cast(gs[0], given.dtype)]))
    return result


@named("math.imag")
def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part."""
    given = tensor(input)
    result = Tensor(np.imag(given.array))
    if state.listeners:
        tell(
            Operation(
                "imag", None, {}, (given,), (result,), pull=lambda op, gs, wanted: [cast(gs[0], given.dtype) * 1j]
            )
        )
    return result


@named("complex", "dtypes.complex")
def complex_of(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """A complex number from its parts."""
    a, b = alike("Complex", (real, imag))
    wide = "complex64" if a.dtype.name == "float32" else "complex128"
    found: Tensor = operators["add"](cast(a, wide), operators["mul"](cast(b, wide), 1j))
    return found


@named("add_n", "math.add_n")
def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of the tensors in a list."""
    listed = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    total = tensor(listed[0])
    for x in listed[1:]:
        total = operators["add"](total, x)
    return total


@named("math.accumulate_n")
def accumulate_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of the tensors in a list."""
    return add_n(inputs)


@named("debugging.check_numerics")
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """The tensor itself; raises where an entry is NaN or infinite."""
    given = functions.identity(tensor)
    if not np.all(np.isfinite(given.array)):
        what = " and ".join(
            [w for w, bad in (("Inf", np.isinf(given.array).any()), ("NaN", np.isnan(given.array).any())) if bad]
        )
        raise InvalidArgumentError(f"{message} : Tensor had {what} values", why="check_numerics was asked to look")
    return given
