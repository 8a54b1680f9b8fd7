"""The operations of a function and of its gradients, under the names that TensorFlow gives them in a graph.

The list is that of what was carried out, in order. `gradient_tape/pow/mul` is a product that the derivative of `pow`
needs (from a tape); from `tf.gradients` it would be `gradients/pow_grad/mul`.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradexplain.primitive import Code
from gradexplain.tape.dtypes import DType
from gradexplain.tape.recording import Operation
from gradexplain.tape.structures import flatten
from gradexplain.tape.tensor import Operators, Tensor, TensorShape
from gradexplain.tape.variable import Variable
from gradexplain.tf.names import events
from gradexplain.tf.names.creation import ones
from gradexplain.tf.names.graphs import Ledger, inside

# Rows whose TensorFlow operation is called otherwise: the type, and the name that an operator gives it.
_TYPES = {
    "add": "AddV2 add", "sub": "Sub sub", "mul": "Mul mul", "div": "RealDiv truediv", "pow": "Pow Pow",
    "neg": "Neg Neg", "matmul": "MatMul MatMul", "sum": "Sum Sum", "expit": "Sigmoid Sigmoid",
    "where": "SelectV2 SelectV2",
    "getitem": "StridedSlice strided_slice", "scatter": "StridedSliceGrad StridedSliceGrad", "stack": "Pack stack",
    "concatenate": "ConcatV2 concat", "broadcast_to": "BroadcastTo BroadcastTo", "max": "Max Max", "min": "Min Min",
    "prod": "Prod Prod", "floor_divide": "FloorDiv floordiv", "mod": "FloorMod floormod", "as_number": "Cast Cast",
    "ones": "Const ones", "arcsin": "Asin Asin", "arccos": "Acos Acos", "arctan": "Atan Atan", "arctan2": "Atan2 Atan2",
    "inv": "MatrixInverse MatrixInverse", "det": "MatrixDeterminant MatrixDeterminant",
    "solve": "MatrixSolve MatrixSolve", "lgamma": "Lgamma Lgamma", "logical_and": "LogicalAnd LogicalAnd",
    "logical_or": "LogicalOr LogicalOr",
    "greater_equal": "GreaterEqual GreaterEqual", "less_equal": "LessEqual LessEqual",
}  # fmt: skip
_OPERANDS = {"matmul": ("a", "b"), "stack": ("values_0", "values_1")}
# Names that Python's operators have; a function of TensorFlow's has the name of the operation.
_BY_OPERATOR = {"pow", "add", "sub", "mul", "truediv", "floordiv", "mod", "matmul"}


class GraphTensor:
    """A result in a graph: its name, shape and type, and the number that it had."""

    def __init__(self, op: GraphOperation, index: int, tensor: Any) -> None:
        literal = getattr(tensor, "literal", False)
        self.op, self.name = op, f"{op.name}:{index}"
        self._tensor = Tensor(np.float32(tensor.array)) if literal else tensor
        self.is_literal = literal

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self._tensor.shape)

    @property
    def dtype(self) -> DType:
        found: DType = self._tensor.dtype
        return found

    @property
    def value(self) -> Any:
        """The number for the arguments that the graph was made with."""
        return self._tensor.numpy()

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


class GraphOperation:
    """An operation in a graph: name, type, inputs, and what it computes in terms of the names of these."""

    def __init__(
        self,
        name: str,
        kind: str,
        inputs: Sequence[GraphTensor],
        results: Sequence[Any],
        formula: str,
        attributes: Mapping[str, Any],
    ) -> None:
        self.name, self.type, self.inputs, self.formula = name, kind, tuple(inputs), formula
        self.attributes = dict(attributes)
        self.outputs = tuple(GraphTensor(self, i, r) for i, r in enumerate(results))

    def values(self) -> tuple[GraphTensor, ...]:
        return self.outputs

    def get_attr(self, name: str) -> Any:
        return self.attributes[name]

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


class Graph:
    """The operations of a function in the order of computation."""

    def __init__(self, operations: Sequence[GraphOperation]) -> None:
        self._operations = tuple(operations)

    def get_operations(self) -> list[GraphOperation]:
        return list(self._operations)

    def save(self, directory: str | Path) -> Path:
        """Writes the graph into a directory of logs, where TensorBoard finds it; gives the file's path."""
        return events.write(self._operations, directory)

    def __str__(self) -> str:
        width = max((len(o.name) for o in self._operations), default=0)
        kinds = max((len(o.type) for o in self._operations), default=0)
        return "\n".join(f"{o.name:<{width}}  {o.type:<{kinds}}  {o.formula}".rstrip() for o in self._operations)


class ConcreteFunction:
    """A function with the graph of what it does for given arguments."""

    def __init__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._function, self._args, self._kwargs = function, args, kwargs
        python = function.python_function
        given = [_value(a) for a in args]
        with inside() as ledger:
            result = python(*given, **kwargs)
        bound = inspect.signature(python).bind(*given, **kwargs).arguments
        self.graph = Graph(_Writer(ledger, bound).operations(flatten(result)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*(args or self._args), **(kwargs or self._kwargs))


def _value(argument: Any) -> Any:
    """A value for an argument of which only shape and type are given."""
    if hasattr(argument, "shape") and not isinstance(argument, Operators) and not hasattr(argument, "__array__"):
        return ones([1 if n is None else n for n in argument.shape], argument.dtype)
    return argument


class _Writer:
    """Names the operations of a ledger."""

    def __init__(self, ledger: Ledger, arguments: Mapping[str, Any]) -> None:
        self._ledger, self._arguments = ledger, arguments
        self._found: list[GraphOperation] = []
        self._by_serial: dict[int, GraphTensor] = {}
        self._names: dict[int, str] = {}  # of forward operations, by the serial number of their results
        self._used: Counter[str] = Counter()
        self._turned: dict[int, Tensor] = {}  # transposed operands of products
        self._unread: dict[int, Variable] = {}

    def operations(self, results: Sequence[Any]) -> list[GraphOperation]:
        """All operations, from the placeholders to the results."""
        for name, value in self._arguments.items():
            for leaf in flatten(value):
                if isinstance(leaf, (Tensor, Variable)):
                    self._add(self._free(name), "Placeholder", [], [leaf], "")
                    if isinstance(leaf, Tensor):
                        self._by_serial[leaf.serial] = self._found[-1].outputs[0]
        self._unread = {v.serial: owner for owner, versions in self._ledger.versions.values() for v in versions}
        for operation in self._ledger.operations:
            self._write(operation)
        for result in results:
            known = self._by_serial.get(result.serial) if isinstance(result, Tensor) else None
            if known is not None:
                self._add(self._free("Identity"), "Identity", [known], [result], known.op.name)
        return self._found

    def _add(
        self,
        name: str,
        kind: str,
        inputs: Sequence[GraphTensor],
        results: Sequence[Any],
        formula: str,
        **attributes: Any,
    ) -> GraphOperation:
        self._found.append(GraphOperation(name, kind, inputs, results, formula, attributes))
        return self._found[-1]

    def _free(self, name: str) -> str:
        self._used[name] += 1
        return name if self._used[name] == 1 else f"{name}_{self._used[name] - 1}"

    def _scope(self, operation: Operation) -> str:
        if operation.scope is None:
            return ""
        style, forward = operation.scope
        if forward is None:
            return f"{style}/"
        name = self._names.get(forward.outputs[0].serial, forward.name)
        return f"gradients/{name}_grad/" if style == "gradients" else f"gradient_tape/{name}/"

    def _write(self, operation: Operation) -> None:
        result = operation.outputs[0]
        if operation.name == "ones":
            self._seed(operation)
        elif (
            operation.name == "broadcast_to" and operation.call != "BroadcastTo"
        ):  # NumPy and TensorFlow do that unasked
            self._alias(operation.inputs[0], result)
        elif (
            operation.name == "transpose" and operation.scope is not None and tuple(operation.params["axes"]) == (1, 0)
        ):
            self._turned[result.serial] = operation.inputs[0]  # a product takes it as transpose_a or transpose_b
        else:
            self._ordinary(operation)

    def _alias(self, source: Tensor, result: Tensor) -> None:
        if source.serial in self._by_serial:
            self._by_serial[result.serial] = self._by_serial[source.serial]
        elif source.literal:
            self._turned[result.serial] = source

    def _seed(self, operation: Operation) -> None:
        (result,) = operation.outputs
        if operation.scope is not None and operation.scope[0] == "gradients":
            self._add(self._free("gradients/Shape"), "Const", [], [result], f"{list(result.shape)}")
            name = self._free("gradients/grad_ys_0")
            self._add(f"{name}/Const", "Const", [], [result], "1")
            added = self._add(name, "Fill", [], [result], "ones: dy/dy")
        else:
            added = self._add(self._free("ones"), "Const", [], [result], "ones: dy/dy")
        self._by_serial[result.serial] = added.outputs[0]

    def _ordinary(self, operation: Operation) -> None:
        kind, name = self._titles(operation)
        name = self._free(self._scope(operation) + name)
        labels = _OPERANDS.get(operation.name, ("x", "y"))
        attributes, inputs = {}, []
        for i, t in enumerate(operation.inputs):
            if t.serial in self._turned and not t.literal:
                turned = self._turned[t.serial]
                if operation.name == "matmul":
                    attributes[f"transpose_{labels[i]}"] = True
                t = turned
            inputs.append(self._operand(t, name, labels[i] if i < 2 else str(i), operation))
        added = self._add(
            name, kind, inputs, operation.outputs, _formula(operation, inputs, attributes, labels), **attributes
        )
        for t, out in zip(operation.outputs, added.outputs, strict=True):
            self._by_serial[t.serial] = out
            self._names[t.serial] = name

    def _titles(self, operation: Operation) -> tuple[str, str]:
        kind, _, plain = _TYPES.get(operation.name, "").partition(" ")
        if operation.call == "AddN":
            return "AddN", "AddN"
        kind = kind or "".join(w.capitalize() for w in operation.name.split("_"))
        if operation.scope is None and operation.call and operation.name not in ("stack", "concatenate", "getitem"):
            return kind, {"matmul": "matmul"}.get(operation.call, operation.call)
        return kind, plain or kind

    def _operand(self, t: Tensor, name: str, label: str, operation: Operation) -> GraphTensor:
        if t.serial in self._by_serial:
            return self._by_serial[t.serial]
        if t.serial in self._unread:
            by_operator = operation.call in _BY_OPERATOR
            title = self._free("ReadVariableOp" if by_operator else f"{name}/ReadVariableOp")
            added = self._add(title, "ReadVariableOp", [], [t], self._unread[t.serial].name.removesuffix(":0"))
        else:
            added = self._add(self._free(f"{name}/{label}"), "Const", [], [t], _short(t))
        self._by_serial[t.serial] = added.outputs[0]
        return added.outputs[0]


def _short(t: Tensor) -> str:
    if t.literal:
        return f"{t.array:g}"
    return str(t.array) if not t.shape else f"array of shape {t.shape}"


def _formula(
    operation: Operation, inputs: Sequence[GraphTensor], attributes: Mapping[str, Any], labels: Sequence[str]
) -> str:
    """What an operation computes, over the names of its operands."""
    names = [Code(f"{t.value:g}" if t.op.type == "Const" and t.is_literal else t.op.name) for t in inputs]
    names = [
        Code(f"{n}.T") if attributes.get(f"transpose_{label}") else n
        for n, label in zip(names, [*labels, *"z" * len(names)], strict=False)
    ]
    if operation.row is None or operation.row.numpy is None:
        return f"{operation.name}({', '.join(names)})"
    try:
        return str(operation.row.numpy(*names, **operation.params))
    except (AttributeError, IndexError, TypeError):  # rows that print operands as numbers
        return f"{operation.name}({', '.join(names)})"
