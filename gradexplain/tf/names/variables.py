"""Variables of layers, initial values, penalties."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradexplain.tape.dtypes import DType, as_dtype
from gradexplain.tape.errors import OperandError
from gradexplain.tape.functions import conversions
from gradexplain.tape.tensor import Operators, Tensor, TensorShape
from gradexplain.tape.variable import Variable
from gradexplain.tf.names.creation import generator, truncated_normal
from gradexplain.tf.names.table import TABLE, named


class KerasVariable(Operators):
    """A layer's variable. It holds a tf.Variable, `value`, which is what tapes know."""

    __slots__ = ("__weakref__", "_name", "path", "regularizer", "trainable", "value")

    def __init__(self, initial: Any, *, trainable: bool = True, name: str = "variable", path: str = "") -> None:
        self.value = Variable(initial, trainable=trainable, name=name)
        self.trainable, self._name, self.path = trainable, name, path or name
        self.regularizer: Any = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def shape(self) -> TensorShape:
        return self.value.shape

    @property
    def dtype(self) -> Any:
        return self.value.dtype.name

    @property
    def ndim(self) -> int:
        return self.value.ndim

    def numpy(self) -> Any:
        return self.value.numpy()

    def assign(self, value: Any) -> Any:
        """A new value."""
        return self.value.assign(value.value if isinstance(value, KerasVariable) else value)

    def assign_add(self, value: Any) -> Any:
        """The value so far, and more."""
        return self.value.assign_add(value)

    def assign_sub(self, value: Any) -> Any:
        """The value so far, less some."""
        return self.value.assign_sub(value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.value.__array__(dtype)

    def __float__(self) -> float:
        return float(self.value)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}, value={self.numpy()}>"


conversions[KerasVariable] = lambda v: v.value.read()
TABLE["keras.Variable"] = KerasVariable


# Initial values.


class Initializer:
    """Makes the first value of a variable of a given shape."""

    def __init__(self, make: Callable[[tuple[int, ...]], Any]) -> None:
        self._make = make

    def __call__(self, shape: Any, dtype: Any = "float32", **_: Any) -> Tensor:
        sizes = tuple(int(n) for n in shape)
        plain = as_dtype(dtype or "float32").plain
        return Tensor(np.broadcast_to(np.asarray(self._make(sizes)), sizes).astype(plain)[()])


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many values go into an entry of a product with the array, and out of it."""
    if len(shape) < 2:
        n = shape[0] if shape else 1
        return n, n
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def _scaled(scale: float, mode: str, distribution: str, seed: Any) -> Initializer:
    def make(shape: tuple[int, ...]) -> Any:
        fan_in, fan_out = _fans(shape)
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[mode]
        variance = scale / max(1.0, n)
        if distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return generator(seed).uniform(-limit, limit, shape)
        return np.asarray(truncated_normal(shape, 0.0, math.sqrt(variance) / 0.87962566103423978, seed=seed))

    return Initializer(make)


_SCALED = {
    "GlorotUniform": (1.0, "fan_avg", "uniform"),
    "GlorotNormal": (1.0, "fan_avg", "normal"),
    "HeUniform": (2.0, "fan_in", "uniform"),
    "HeNormal": (2.0, "fan_in", "normal"),
    "LecunUniform": (1.0, "fan_in", "uniform"),
    "LecunNormal": (1.0, "fan_in", "normal"),
}


def _of(maker: Callable[..., Initializer], *names: str) -> Callable[..., Initializer]:
    for name in names:
        for path in ("keras.initializers", "initializers"):
            TABLE[f"{path}.{name}"] = maker
    return maker


def _scaled_maker(how: tuple[float, str, str]) -> Callable[..., Initializer]:
    return lambda seed=None: _scaled(*how, seed)


for _name, _how in _SCALED.items():
    _snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in _name).lstrip("_")
    _of(_scaled_maker(_how), _name, _snake)
zeros = _of(lambda: Initializer(lambda shape: 0.0), "Zeros", "zeros")
ones = _of(lambda: Initializer(lambda shape: 1.0), "Ones", "ones")
constant_value = _of(lambda value=0.0: Initializer(lambda shape: value), "Constant", "constant")
identity_matrix = _of(
    lambda gain=1.0: Initializer(lambda shape: gain * np.eye(shape[0], shape[1])), "Identity", "identity"
)


@named("keras.initializers.RandomNormal", "keras.initializers.random_normal", "random_normal_initializer")
def random_normal(mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> Initializer:
    """Normally distributed numbers."""
    return Initializer(lambda shape: generator(seed).normal(mean, stddev, shape))


@named("keras.initializers.RandomUniform", "keras.initializers.random_uniform", "random_uniform_initializer")
def random_uniform(minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> Initializer:
    """Uniformly distributed numbers."""
    return Initializer(lambda shape: generator(seed).uniform(minval, maxval, shape))


@named("keras.initializers.TruncatedNormal", "keras.initializers.truncated_normal")
def truncated(mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> Initializer:
    """Normally distributed numbers within two standard deviations."""
    return Initializer(lambda shape: np.asarray(truncated_normal(shape, mean, stddev, seed=seed)))


TABLE["zeros_initializer"], TABLE["ones_initializer"], TABLE["constant_initializer"] = zeros, ones, constant_value


@named("keras.initializers.Orthogonal", "keras.initializers.orthogonal")
def orthogonal(gain: float = 1.0, seed: Any = None) -> Initializer:
    """A matrix with orthonormal rows or columns."""

    def make(shape: tuple[int, ...]) -> Any:
        rows, columns = math.prod(shape[:-1]), shape[-1]
        q, r = np.linalg.qr(generator(seed).normal(size=(max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diagonal(r))
        return gain * (q if rows >= columns else q.T).reshape(shape)

    return Initializer(make)


def initializer(given: Any) -> Callable[..., Any]:
    """An initializer by its name, or as it is."""
    if given is None:
        return initializer("glorot_uniform")
    if isinstance(given, str):
        return look_up("initializers", given)()  # type: ignore[no-any-return]
    return given  # type: ignore[no-any-return]


def look_up(group: str, name: str) -> Any:
    """What Keras calls by a name in quotes."""
    key = f"keras.{group}.{name}"
    if key not in TABLE:
        known = sorted(n.rpartition(".")[2] for n in TABLE if n.startswith(f"keras.{group}."))
        raise OperandError(f"keras has no {name!r} among its {group} here", fix=f"use one of {', '.join(known)}")
    return TABLE[key]


def activation(given: Any) -> Callable[[Any], Any] | None:
    """An activation by its name, or as it is."""
    if given is None or given == "linear":
        return None
    return look_up("activations", given) if isinstance(given, str) else given  # type: ignore[no-any-return]


# Penalties.


def _penalty(l1: float, l2: float) -> Callable[[Any], Any]:
    def of(x: Any) -> Any:
        total: Any = 0.0
        if l1:
            total = total + l1 * TABLE["reduce_sum"](TABLE["abs"](x))
        return total + l2 * TABLE["reduce_sum"](TABLE["square"](x)) if l2 else total

    return of


TABLE["keras.regularizers.L1"] = TABLE["keras.regularizers.l1"] = lambda l1=0.01: _penalty(l1, 0.0)
TABLE["keras.regularizers.L2"] = TABLE["keras.regularizers.l2"] = lambda l2=0.01: _penalty(0.0, l2)
TABLE["keras.regularizers.L1L2"] = TABLE["keras.regularizers.l1_l2"] = lambda l1=0.0, l2=0.0: _penalty(l1, l2)


def regularizer(given: Any) -> Callable[[Any], Any] | None:
    """A penalty by its name, or as it is."""
    return look_up("regularizers", given)() if isinstance(given, str) else given  # type: ignore[no-any-return]


def plain_dtype(given: Any) -> DType:
    """A dtype parameter of a layer."""
    return as_dtype(given or "float32")
