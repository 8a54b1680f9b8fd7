"""Placeholders: the values of a model before it has any."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradexplain.tape.dtypes import as_dtype
from gradexplain.tape.errors import OperandError
from gradexplain.tape.recording import nobody
from gradexplain.tape.structures import flatten, mapped
from gradexplain.tape.tensor import Tensor


class Placeholder:
    """An input of a model that has no value yet, or what layers make of one: a shape, and how it is computed."""

    def __init__(self, shape: Any, dtype: str = "float32", name: str = "input") -> None:
        self.shape, self.dtype, self.name = tuple(shape), dtype, name
        self.source: tuple[Any, Any, Any, Any] | None = None

    @staticmethod
    def of(layer: Any, inputs: Any, args: Any, kwargs: Any) -> Any:
        """What a layer gives for placeholders; its shape is found with zeros."""
        with nobody():
            results = layer(mapped(lambda p: p.zeros() if isinstance(p, Placeholder) else p, inputs), *args, **kwargs)
        leaves = [Placeholder((None, *r.shape[1:]), r.dtype.name, layer.name) for r in flatten(results)]
        for leaf in leaves:
            leaf.source = layer, inputs, args, kwargs
        if len(leaves) > 1:
            raise OperandError(
                f"{layer.name} gives several results, which a model of placeholders does not connect",
                why="each connection is one tensor",
                fix="write a subclass of tf.keras.Model with call",
            )
        return leaves[0]

    def zeros(self) -> Tensor:
        """Zeros in its shape; of a batch, one example."""
        return Tensor(np.zeros([1 if n is None else n for n in self.shape], as_dtype(self.dtype).plain))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise OperandError(
            f"a placeholder of a model has no {name}",
            why="it has no value before the model is called",
            fix="connect it with layers, such as tf.keras.layers.Lambda, or write a subclass of tf.keras.Model",
        )
