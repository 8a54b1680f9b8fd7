"""Convolution and pooling, as functions and as layers.

Windows are picked by constant indices, so that their derivatives are those of picking.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.autodiff import vjp
from gradexplain.errors import ShapeError
from gradexplain.graph import Node, variable
from gradexplain.ops import arithmetic, indexing, products, reductions
from gradexplain.tape.functions import alike, call, tensor
from gradexplain.tape.tensor import Tensor
from gradexplain.tf.names.layers import Layer
from gradexplain.tf.names.table import named, on_nodes, settled
from gradexplain.tf.names.variables import activation as act


def _pads(size: int, kernel: int, stride: int, padding: str) -> tuple[int, int, int]:
    """Padding before and after, and the number of windows."""
    if padding.upper() == "VALID":
        return 0, 0, (size - kernel) // stride + 1
    count = -(-size // stride)
    total = max((count - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2, count


def windows(x: Node, kernel: tuple[int, ...], strides: tuple[int, ...], padding: str, border: float = 0.0) -> Node:
    """(batch, *space, c) as (batch, *positions, *kernel, c)."""
    from gradexplain.ops.joining import pad

    rank = len(kernel)
    sizes = [_pads(n, k, s, padding) for n, k, s in zip(x.shape[1:-1], kernel, strides, strict=True)]
    if any(before or after for before, after, _ in sizes):
        x = pad(x, [(0, 0), *((b, a) for b, a, _ in sizes), (0, 0)], constant_values=border)
    key: list[Any] = [slice(None)]
    for axis, ((_, _, count), k, s) in enumerate(zip(sizes, kernel, strides, strict=True)):
        index = np.arange(count)[:, None] * s + np.arange(k)
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = count, k
        key.append(index.reshape(shape))
    return indexing.item(x, tuple(key))


def _sizes(value: Any, rank: int) -> tuple[int, ...]:
    listed = (value,) if isinstance(value, int) else tuple(value)
    if len(listed) == rank + 2:
        listed = listed[1:-1]
    return listed * rank if len(listed) == 1 else listed


def _convolve(x: Node, filters: Node, strides: Any, padding: str, rank: int) -> Node:
    if x.ndim != rank + 2 or filters.ndim != rank + 2 or x.shape[-1] != filters.shape[-2]:
        raise ShapeError(
            f"an input of shape {x.shape} and filters of shape {filters.shape} do not convolve",
            why="the last axis of the input and the last but one of the filters are the channels",
            fix="give (batch, …, channels) and (sizes…, channels, filters)",
        )
    kernel = filters.shape[:rank]
    picked = windows(x, kernel, _sizes(strides, rank), padding)
    places = picked.shape[: rank + 1]
    inner = int(np.prod(filters.shape[:-1]))
    flat, table = (
        _flat(n, s) for n, s in ((picked, (int(np.prod(places)), inner)), (filters, (inner, filters.shape[-1])))
    )
    return _flat(products.matmul.record(flat, table), (*places, filters.shape[-1]))


def _flat(x: Node, shape: tuple[int, ...]) -> Node:
    from gradexplain.ops.shaping import reshape

    return reshape(x, shape=shape)


@on_nodes("nn.conv1d", operands=2, op="Conv1D")
def conv1d(input: Node, filters: Node, stride: Any = 1, padding: str = "VALID") -> Node:
    """Convolution over one axis: (batch, n, c) with (k, c, out)."""
    return _convolve(input, filters, stride, padding, 1)


@on_nodes("nn.conv2d", operands=2, op="Conv2D")
def conv2d(input: Node, filters: Node, strides: Any = 1, padding: str = "VALID", data_format: Any = "NHWC") -> Node:
    """Convolution over two axes: (batch, h, w, c) with (kh, kw, c, out)."""
    return _convolve(input, filters, strides, padding, 2)


def _transposed(input: Node, filters: Node, output_shape: Any, strides: Any = 1, padding: str = "SAME") -> Node:
    """The transpose of a convolution, which is linear: what its pullback hands back."""
    x = variable("x", tuple(output_shape))
    (found,) = vjp(_convolve(x, filters, strides, padding, 2), [x], input)
    return found


@named("nn.conv2d_transpose")
def conv2d_transpose(
    input: Any, filters: Any, output_shape: Any, strides: Any = 1, padding: str = "SAME", name: Any = None, **_: Any
) -> Any:
    """The transpose of a convolution: (batch, h, w, out) with (kh, kw, c, out) gives `output_shape`."""
    operands = alike("Conv2DBackpropInput", (input, filters))
    static = {"output_shape": settled(output_shape), "strides": settled(strides), "padding": padding}
    return call(_transposed, operands, static, name="Conv2DBackpropInput")


def _average_pool(x: Node, ksize: Any, strides: Any, padding: str, rank: int) -> Node:
    kernel = _sizes(ksize, rank)
    over = tuple(range(rank + 1, 2 * rank + 1))
    total = reductions.sum_over(windows(x, kernel, _sizes(strides, rank), padding), axis=over, keepdims=False)
    ones = np.ones((1, *x.shape[1:-1], 1))
    from gradexplain.graph import constant

    counts = reductions.sum_over(
        windows(constant(ones), kernel, _sizes(strides, rank), padding), axis=over, keepdims=False
    )
    return arithmetic.div.record(total, counts)


@on_nodes("nn.avg_pool1d", op="AvgPool")
def avg_pool1d(input: Node, ksize: Any, strides: Any, padding: str, data_format: Any = "NWC") -> Node:
    """Means of windows."""
    return _average_pool(input, ksize, strides, padding, 1)


@on_nodes("nn.avg_pool2d", "nn.avg_pool", op="AvgPool")
def avg_pool2d(input: Node, ksize: Any, strides: Any, padding: str, data_format: Any = "NHWC") -> Node:
    """Means of windows."""
    return _average_pool(input, ksize, strides, padding, 2)


def _max_pool(x: Any, ksize: Any, strides: Any, padding: str, rank: int) -> Tensor:
    """Where entries of a window tie, the first one takes the derivative."""
    given = tensor(x)
    static = {"ksize": _sizes(ksize, rank), "strides": _sizes(strides, rank), "padding": padding}
    lines: Tensor = call(_window_lines, [given], static, name="MaxPool")
    first = Tensor(np.argmax(lines.array, axis=-1)[..., None])
    found: Tensor = call(_first_of, [lines, first], name="MaxPool", plain=given.array.dtype)
    return found


def _window_lines(x: Node, ksize: Any, strides: Any, padding: str) -> Node:
    from gradexplain.ops.shaping import moveaxis

    rank = len(ksize)
    picked = moveaxis(windows(x, ksize, strides, padding, -1e30), -1, rank + 1)
    return _flat(picked, (*picked.shape[: rank + 2], int(np.prod(ksize))))


def _first_of(lines: Node, at: Node) -> Node:
    found = indexing.take_along_axis(lines, at, -1)
    return _flat(found, found.shape[:-1])


@named("nn.max_pool1d")
def max_pool1d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: Any = "NWC", name: Any = None
) -> Tensor:
    """The largest entries of windows."""
    return _max_pool(input, ksize, strides, padding, 1)


@named("nn.max_pool2d", "nn.max_pool")
def max_pool2d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: Any = "NHWC", name: Any = None
) -> Tensor:
    """The largest entries of windows."""
    return _max_pool(input, ksize, strides, padding, 2)


@named("keras.layers.Conv2D")
class Conv2D(Layer):
    """Convolution over two axes, with a bias and an activation."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        input_shape: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.filters, self.activation = filters, act(activation)
        self.kernel_size = (kernel_size,) * 2 if isinstance(kernel_size, int) else tuple(kernel_size)
        self._how = strides, padding.upper(), use_bias, kernel_initializer, bias_initializer, kernel_regularizer

    def build(self, input_shape: Any) -> None:
        _, _, use_bias, of_kernel, of_bias, penalty = self._how
        shape = (*self.kernel_size, input_shape[-1], self.filters)
        self.kernel = self.add_weight(shape, of_kernel, regularizer=penalty, name="kernel")
        self.bias = self.add_weight((self.filters,), of_bias, name="bias") if use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        found = conv2d(inputs, self.kernel, self._how[0], self._how[1])
        found = found if self.bias is None else found + self.bias
        return found if self.activation is None else self.activation(found)


@named("keras.layers.Conv2DTranspose")
class Conv2DTranspose(Conv2D):
    """The transpose of a convolution: it makes images larger."""

    def build(self, input_shape: Any) -> None:
        _, _, use_bias, of_kernel, of_bias, penalty = self._how
        shape = (*self.kernel_size, self.filters, input_shape[-1])
        self.kernel = self.add_weight(shape, of_kernel, regularizer=penalty, name="kernel")
        self.bias = self.add_weight((self.filters,), of_bias, name="bias") if use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        strides, padding = self._how[:2]
        steps = (strides,) * 2 if isinstance(strides, int) else tuple(strides)
        grown = [
            n * s if padding == "SAME" else (n - 1) * s + max(k, s)
            for n, s, k in zip(inputs.shape[1:3], steps, self.kernel_size, strict=True)
        ]
        found = conv2d_transpose(inputs, self.kernel, (inputs.shape[0], *grown, self.filters), steps, padding)
        found = found if self.bias is None else found + self.bias
        return found if self.activation is None else self.activation(found)


@named("keras.layers.MaxPooling2D", "keras.layers.MaxPool2D")
class MaxPooling2D(Layer):
    """The largest entries of windows."""

    def __init__(self, pool_size: Any = (2, 2), strides: Any = None, padding: str = "valid", **options: Any) -> None:
        super().__init__(**options)
        self._how = pool_size, strides or pool_size, padding.upper()

    def call(self, inputs: Any) -> Tensor:
        return max_pool2d(inputs, *self._how)


@named("keras.layers.AveragePooling2D")
class AveragePooling2D(MaxPooling2D):
    """The means of windows."""

    def call(self, inputs: Any) -> Any:
        return avg_pool2d(inputs, *self._how)
