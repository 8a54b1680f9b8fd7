"""Models: layers one after the other, or connected by calls on inputs without values."""

from __future__ import annotations

from typing import Any

from gradexplain.tape.errors import OperandError, UnknownNameError
from gradexplain.tape.recording import nobody
from gradexplain.tape.structures import flatten, mapped
from gradexplain.tf.names.creation import zeros
from gradexplain.tf.names.layers import Layer
from gradexplain.tf.names.placeholders import Placeholder
from gradexplain.tf.names.table import named

# What a Model of Keras does that is not here, and what to write in its place.
_LOOP = (
    "write the loop: with tf.GradientTape() as tape: loss = tf.reduce_mean((model(x) - y)**2), then "
    "optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))"
)
_MEASURE = "call the model and the loss: tf.keras.losses.MeanSquaredError()(y, model(x)), or a metric's update_state"
_STORE = "keep the arrays: [v.numpy() for v in model.variables], and v.assign(array) to bring them back"
_ELSEWHERE = {
    **dict.fromkeys(("compile", "fit", "fit_generator", "train_on_batch", "train_step"), ("trained", _LOOP)),
    **dict.fromkeys(("evaluate", "test_on_batch", "test_step"), ("evaluated", _MEASURE)),
    **dict.fromkeys(("save", "save_weights", "load_weights", "export", "to_json"), ("stored", _STORE)),
}


@named("keras.layers.Input", "keras.Input", "keras.layers.InputLayer")
class Input(Placeholder):
    """An input of a model: a shape without a value."""

    def __init__(
        self,
        shape: Any = None,
        batch_size: Any = None,
        dtype: Any = None,
        name: str | None = None,
        *,
        batch_shape: Any = None,
        input_shape: Any = None,
        **_: Any,
    ) -> None:
        given = shape if shape is not None else input_shape
        self.shape = (
            tuple(batch_shape)
            if batch_shape is not None
            else (batch_size, *((given,) if isinstance(given, int) else given))
        )
        super().__init__(self.shape, dtype or "float32", name or "input")


@named("keras.Model", "keras.models.Model")
class Model(Layer):
    """A layer that is a whole model: a subclass with `call`, or inputs and outputs that layers connect."""

    def __init__(
        self, inputs: Any = None, outputs: Any = None, *, name: str | None = None, trainable: bool = True
    ) -> None:
        super().__init__(name=name, trainable=trainable)
        self._inputs, self._outputs = inputs, outputs
        if outputs is not None:
            self.built = True
            self._connected = _layers_between(outputs)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """The outputs, each layer called once."""
        known = {id(p): value for p, value in zip(flatten(self._inputs), flatten(inputs), strict=True)}
        return mapped(lambda p: _value(p, known, training), self._outputs)

    def summary(self, **_: Any) -> None:
        """Prints layers and the number of their parameters."""
        import sys

        rows = [f"{layer.name:<30}{layer.count_params():>10}" for layer in self.layers]
        sys.stdout.write("\n".join([*rows, f"{'total':<30}{self.count_params():>10}", ""]))

    def __getattr__(self, name: str) -> Any:
        if name not in _ELSEWHERE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        what, fix = _ELSEWHERE[name]
        raise UnknownNameError(
            f"{type(self).__name__}.{name} is not here: a model of gradexplain is called, not {what}",
            why="of Keras there is what derivatives need, and what a tape can see and explain",
            fix=fix,
        )

    @property
    def layers(self) -> list[Any]:
        return [p for p in self._parts() if isinstance(p, Layer)]

    def predict(self, x: Any, batch_size: Any = None, verbose: Any = None, **_: Any) -> Any:
        """The outputs as arrays: they have left every tape."""
        with nobody():
            return mapped(lambda t: t.numpy(), self(x, training=False))


def _in_order(outputs: Any) -> list[Placeholder]:
    """The placeholders that outputs are computed from, each after those that it needs."""
    order: dict[int, Placeholder] = {}
    waiting: list[Placeholder] = list(flatten(outputs))
    while waiting:
        p = waiting[-1]
        needed = [] if p.source is None else [q for q in flatten(p.source[1]) if isinstance(q, Placeholder)]
        missing = [q for q in needed if id(q) not in order]
        if missing:
            waiting += missing
        else:
            order.setdefault(id(p), p)
            waiting.pop()
    return list(order.values())


def _layers_between(outputs: Any) -> list[Any]:
    found: dict[int, Any] = {}
    for p in _in_order(outputs):
        if p.source is not None:
            found.setdefault(id(p.source[0]), p.source[0])
    return list(found.values())


def _value(output: Placeholder, known: dict[int, Any], training: bool) -> Any:
    for p in _in_order(output):
        if id(p) not in known and p.source is not None:
            layer, inputs, args, kwargs = p.source
            given = mapped(lambda q: known[id(q)] if isinstance(q, Placeholder) else q, inputs)
            known[id(p)] = layer(given, *args, **{"training": training, **kwargs})
    return known[id(output)]


@named("keras.Sequential", "keras.models.Sequential")
class Sequential(Model):
    """Layers one after the other."""

    def __init__(self, layers: Any = None, trainable: bool = True, name: str | None = None) -> None:
        super().__init__(name=name, trainable=trainable)
        self._layers: list[Any] = []
        self._input: Any = None
        for layer in layers or []:
            self.add(layer)

    def add(self, layer: Any) -> None:
        """One more layer at the end."""
        if isinstance(layer, Input):
            self._input = layer.shape
        elif callable(layer):
            self._layers.append(layer)
        else:
            raise OperandError(f"{layer!r:.60} is no layer", fix="give layers, such as tf.keras.layers.Dense(1)")
        if self._input is not None:
            self.build(self._input)

    def pop(self) -> Any:
        """Removes the last layer."""
        return self._layers.pop()

    def build(self, input_shape: Any = None) -> None:
        """Makes the variables of all layers."""
        shape = tuple(1 if n is None else n for n in input_shape)
        with nobody():
            self.call(zeros(shape))
        self.built = True

    def call(self, inputs: Any, training: bool = False) -> Any:
        for layer in self._layers:
            inputs = layer(inputs, training=training) if isinstance(layer, Layer) else layer(inputs)
        return inputs
