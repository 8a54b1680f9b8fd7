"""Layers: functions with variables of their own."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradexplain.tape.functions import cast, tensor
from gradexplain.tape.structures import flatten
from gradexplain.tape.variable import Variable
from gradexplain.tf.names import nn, shaping
from gradexplain.tf.names.placeholders import Placeholder
from gradexplain.tf.names.table import TABLE, named
from gradexplain.tf.names.variables import KerasVariable, activation, initializer, regularizer

_counts: Counter[str] = Counter()


def _snake(name: str) -> str:
    out = "".join(
        f"_{c.lower()}" if c.isupper() and i and not name[i - 1].isupper() else c.lower() for i, c in enumerate(name)
    )
    _counts[out] += 1
    return out if _counts[out] == 1 else f"{out}_{_counts[out] - 1}"


def _inside(value: Any) -> Iterator[Any]:
    """Layers and variables in a value, also in lists and dicts."""
    if isinstance(value, (Module, KerasVariable, Variable)):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _inside(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _inside(part)


@named("Module")
class Module:
    """Something with variables: those that are its attributes, and those of its parts."""

    def __init__(self, name: str | None = None) -> None:
        self._name = name or _snake(type(self).__name__)

    @property
    def name(self) -> str:
        return getattr(self, "_name", type(self).__name__)

    def _parts(self) -> list[Any]:
        return [part for value in vars(self).values() for part in _inside(value)]

    @property
    def variables(self) -> Any:
        found: dict[int, Any] = {}
        for part in self._parts():
            for v in part.variables if isinstance(part, Module) else [part]:
                found.setdefault(id(v), v)
        return self._listed(found.values())

    @property
    def trainable_variables(self) -> Any:
        return self._listed(v for v in self.variables if v.trainable)

    def _listed(self, values: Any) -> Any:
        return tuple(values)

    @property
    def submodules(self) -> tuple[Any, ...]:
        own = [p for p in self._parts() if isinstance(p, Module)]
        return (*own, *(s for p in own for s in p.submodules))


@named("keras.layers.Layer", "keras.Layer")
class Layer(Module):
    """A function with variables, which are made when it is first called (`build`)."""

    def __init__(
        self,
        *,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
        activity_regularizer: Any = None,
        **_: Any,
    ) -> None:
        super().__init__(name)
        self.built, self.trainable = False, trainable
        self._weights: list[KerasVariable] = []
        self._losses: list[Any] = []

    def build(self, input_shape: Any) -> None:
        """Makes the variables, for inputs of a shape."""

    call: Callable[..., Any]  # what the layer computes; stated by every subclass

    def add_weight(
        self,
        shape: Any = (),
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        regularizer: Any = None,
        name: str | None = None,
        **_: Any,
    ) -> KerasVariable:
        """A variable of the layer."""
        sizes = (shape,) if isinstance(shape, int) else tuple(shape or ())
        variable = KerasVariable(
            _initial(initializer)(sizes, dtype or "float32"),
            trainable=trainable,
            name=name or "variable",
            path=f"{self.name}/{name or 'variable'}",
        )
        variable.regularizer = _penalty(regularizer)
        self._weights.append(variable)
        return variable

    def add_loss(self, loss: Any) -> None:
        """A term of the loss that the layer adds by itself."""
        self._losses.append(loss)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(leaf, Placeholder) for leaf in flatten(inputs)):
            return Placeholder.of(self, inputs, args, kwargs)
        given = _as_inputs(inputs)
        if not self.built:
            self._build(given)
        self._losses = []
        takes = inspect.signature(self.call).parameters
        known = {k: v for k, v in kwargs.items() if k in takes or any(p.kind is p.VAR_KEYWORD for p in takes.values())}
        return self.call(given, *args, **known)

    def _build(self, given: Any) -> None:
        shapes = [tuple(g.shape) for g in given] if isinstance(given, (list, tuple)) else tuple(given.shape)
        self.build(shapes)
        self.built = True

    def _parts(self) -> list[Any]:
        return [*self._weights, *[p for p in super()._parts() if not any(p is w for w in self._weights)]]

    def _listed(self, values: Any) -> list[Any]:
        return list(values)

    @property
    def trainable_variables(self) -> list[Any]:
        if not self.trainable:
            return []
        found: dict[int, Any] = {}
        for part in self._parts():
            for v in part.trainable_variables if isinstance(part, Module) else [part] if part.trainable else []:
                found.setdefault(id(v), v)
        return list(found.values())

    @property
    def trainable_weights(self) -> list[Any]:
        return self.trainable_variables

    @property
    def weights(self) -> list[Any]:
        found: list[Any] = self.variables
        return found

    @property
    def non_trainable_variables(self) -> list[Any]:
        trainable = {id(v) for v in self.trainable_variables}
        return [v for v in self.variables if id(v) not in trainable]

    non_trainable_weights = non_trainable_variables

    @property
    def losses(self) -> list[Any]:
        own = [v.regularizer(v) for v in self._weights if v.regularizer is not None]
        inner = [loss for p in self._parts() if isinstance(p, Layer) for loss in p.losses]
        return [*self._losses, *own, *inner]

    def get_weights(self) -> list[Any]:
        return [v.numpy() for v in self.variables]

    def set_weights(self, weights: Any) -> None:
        for v, w in zip(self.variables, weights, strict=True):
            v.assign(w)

    def count_params(self) -> int:
        return sum(int(np.prod(v.shape, dtype=int)) for v in self.variables)


def _initial(given: Any) -> Callable[..., Any]:
    return initializer(given)


def _penalty(given: Any) -> Any:
    return regularizer(given)


def _as_inputs(inputs: Any) -> Any:
    if isinstance(inputs, dict):
        return {k: _as_inputs(v) for k, v in inputs.items()}
    if isinstance(inputs, (list, tuple)) and any(hasattr(v, "shape") for v in inputs):
        return type(inputs)(_as_inputs(v) for v in inputs)
    given = tensor(inputs)
    return cast(given, "float32") if given.dtype.name == "float64" and isinstance(inputs, np.ndarray) else given


@named("keras.layers.Dense")
class Dense(Layer):
    """activation(x @ kernel + bias)."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        input_shape: Any = None,
        input_dim: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.units, self.use_bias, self.activation = units, use_bias, _activation(activation)
        self._of_kernel, self._of_bias = (kernel_initializer, kernel_regularizer), (bias_initializer, bias_regularizer)

    def build(self, input_shape: Any) -> None:
        initial, penalty = self._of_kernel
        self.kernel = self.add_weight((input_shape[-1], self.units), initial, regularizer=penalty, name="kernel")
        initial, penalty = self._of_bias
        self.bias = self.add_weight((self.units,), initial, regularizer=penalty, name="bias") if self.use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Any:
        found = inputs @ self.kernel
        found = found if self.bias is None else found + self.bias
        return found if self.activation is None else self.activation(found)


def _activation(given: Any) -> Any:
    return activation(given)


@named("keras.layers.Embedding")
class Embedding(Layer):
    """Rows of a table by their numbers."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "random_uniform",
        embeddings_regularizer: Any = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._sizes, self._of_table = (input_dim, output_dim), (embeddings_initializer, embeddings_regularizer)

    def build(self, input_shape: Any = None) -> None:
        initial, penalty = self._of_table
        self.embeddings = self.add_weight(self._sizes, initial, regularizer=penalty, name="embeddings")
        self.built = True

    def call(self, inputs: Any) -> Any:
        at = inputs if inputs.dtype.is_integer else cast(inputs, "int32")
        return shaping.gather(self.embeddings, at, axis=0)


@named("keras.layers.Dropout")
class Dropout(Layer):
    """Entries set to 0 by chance while training."""

    def __init__(self, rate: float, noise_shape: Any = None, seed: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self.rate, self._seed = rate, seed

    def call(self, inputs: Any, training: bool = False) -> Any:
        return nn.dropout(inputs, self.rate, seed=self._seed) if training and self.rate else inputs


@named("keras.layers.LSTMCell")
class LSTMCell(Layer):
    """One step of a long short-term memory (Hochreiter and Schmidhuber 1997); states are [h, c]."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.units, self.state_size = units, [units, units]
        self.activation, self.recurrent_activation = _activation(activation), _activation(recurrent_activation)
        self._given = use_bias, kernel_initializer, recurrent_initializer, bias_initializer, unit_forget_bias

    def build(self, input_shape: Any) -> None:
        use_bias, of_kernel, of_recurrent, of_bias, forget = self._given
        n = 4 * self.units
        self.kernel = self.add_weight((input_shape[-1], n), of_kernel, name="kernel")
        self.recurrent_kernel = self.add_weight((self.units, n), of_recurrent, name="recurrent_kernel")
        self.bias = self.add_weight((n,), of_bias, name="bias") if use_bias else None
        if self.bias is not None and forget:
            start = self.bias.numpy()
            start[self.units : 2 * self.units] = 1.0
            self.bias.assign(start)
        self.built = True

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        h, c = states
        z = inputs @ self.kernel + h @ self.recurrent_kernel
        z = z if self.bias is None else z + self.bias
        i, f, g, o = shaping.split(z, 4, axis=-1)
        gate = self.recurrent_activation
        c = gate(f) * c + gate(i) * self.activation(g)
        h = gate(o) * self.activation(c)
        return h, [h, c]


class _Simple(Layer):
    """A layer without variables."""

    def __init__(self, function: Callable[[Any], Any], **options: Any) -> None:
        options = {k: v for k, v in options.items() if k in ("name", "dtype", "trainable")}
        super().__init__(**options)
        self._function = function

    def call(self, inputs: Any) -> Any:
        return self._function(inputs)


def _flattened(x: Any) -> Any:
    return shaping.reshape(x, (x.shape[0], int(np.prod(x.shape[1:], dtype=int))))


TABLE["keras.layers.Flatten"] = lambda **o: _Simple(_flattened, **o)
TABLE["keras.layers.Reshape"] = lambda target_shape, **o: _Simple(
    lambda x: shaping.reshape(x, (x.shape[0], *target_shape)), **o
)
TABLE["keras.layers.Lambda"] = lambda function, **o: _Simple(function, **o)
TABLE["keras.layers.Activation"] = lambda act, **o: _Simple(activation(act) or (lambda x: x), **o)
TABLE["keras.layers.ReLU"] = lambda **o: _Simple(nn.relu, **o)
TABLE["keras.layers.LeakyReLU"] = lambda negative_slope=0.3, alpha=None, **o: _Simple(
    lambda x: nn.leaky_relu(x, alpha=negative_slope if alpha is None else alpha), **o
)
TABLE["keras.layers.ELU"] = lambda alpha=1.0, **o: _Simple(lambda x: nn.elu(x, alpha=alpha), **o)
TABLE["keras.layers.Softmax"] = lambda axis=-1, **o: _Simple(lambda x: nn.softmax(x, axis=axis), **o)
TABLE["keras.layers.Concatenate"] = lambda axis=-1, **o: _Simple(lambda xs: shaping.concat(xs, axis), **o)
TABLE["keras.layers.Add"] = lambda **o: _Simple(lambda xs: TABLE["add_n"](xs), **o)
