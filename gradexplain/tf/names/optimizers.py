"""Optimizers: how variables move, given their gradients. They compute with arrays; no tape hears of it."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from gradexplain.tape.errors import OperandError
from gradexplain.tape.functions import tensor
from gradexplain.tape.gradient import GradientTape
from gradexplain.tape.structures import flatten
from gradexplain.tape.tensor import Tensor
from gradexplain.tape.variable import Variable
from gradexplain.tf.names.table import TABLE, named


class Optimizer(ABC):
    """Moves variables against their gradients. A subclass states one step in `step`."""

    def __init__(
        self,
        learning_rate: Any = 0.01,
        *,
        clipnorm: Any = None,
        clipvalue: Any = None,
        global_clipnorm: Any = None,
        weight_decay: Any = None,
        name: Any = None,
        **_: Any,
    ) -> None:
        self._rate = learning_rate
        self._clip = clipnorm, clipvalue, global_clipnorm
        self.weight_decay = weight_decay
        self._steps = 0
        self._slots: dict[int, tuple[Any, dict[str, Any]]] = {}

    @property
    def iterations(self) -> Tensor:
        return Tensor(np.int64(self._steps))

    @property
    def learning_rate(self) -> Any:
        return Variable(np.float32(self._rate_now()), trainable=False, name="learning_rate")

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self._rate = float(value) if not callable(value) else value

    lr = learning_rate

    def _rate_now(self) -> float:
        return float(self._rate(self._steps) if callable(self._rate) else self._rate)

    def build(self, variables: Any) -> None:
        """Takes the variables, and needs none of them: states are made when they are first needed."""
        del variables

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], **_: Any) -> Tensor:
        """One step for every pair of gradient and variable. A gradient that is None is left out with a warning."""
        pairs = [(g, v) for g, v in grads_and_vars]
        missing = [v.name for g, v in pairs if g is None]
        known: list[tuple[Any, Any]] = [(np.asarray(tensor(g).array), v) for g, v in pairs if g is not None]
        if not known:
            raise OperandError(
                f"No gradients provided for any variable: {', '.join(missing)}",
                why="all of them are None: no path leads from the loss to a variable",
                fix="ask tape.why(loss, variable)",
            )
        if missing:
            warnings.warn(
                f"Gradients do not exist for variables {missing} when minimizing the loss.", UserWarning, stacklevel=2
            )
        with np.errstate(all="ignore"):
            gradients = self._clipped([g for g, _ in known])
            rate = self._rate_now()
            self._steps += 1
            for g, (_, v) in zip(gradients, known, strict=True):
                variable = getattr(v, "value", v) if not isinstance(v, Variable) else v
                slots: dict[str, Any] = self._slots.setdefault(id(variable), (variable, {}))[1]
                x = variable.current.array
                if self.weight_decay:
                    x = x - np.asarray(rate * self.weight_decay * x, x.dtype)
                moved = self.step(x, g, np.asarray(rate, x.dtype)[()], slots)
                variable.replace(np.asarray(moved, x.dtype)[()])
        return self.iterations

    apply = apply_gradients

    def _clipped(self, gradients: list[Any]) -> list[Any]:
        clipnorm, clipvalue, global_clipnorm = self._clip
        if clipnorm:
            gradients = [g * min(1.0, clipnorm / max(float(np.sqrt(np.sum(g * g))), 1e-30)) for g in gradients]
        if clipvalue:
            gradients = [np.clip(g, -clipvalue, clipvalue) for g in gradients]
        if global_clipnorm:
            length = math.sqrt(sum(float(np.sum(g * g)) for g in gradients))
            gradients = [g * min(1.0, global_clipnorm / max(length, 1e-30)) for g in gradients]
        return gradients

    @abstractmethod
    def step(self, x: Any, g: Any, rate: Any, slots: dict[str, Any]) -> Any:
        """The new value of a variable."""

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> None:
        """Differentiates a loss (a function, or a tensor of a tape) and takes a step."""
        if callable(loss):
            with GradientTape() as tape:
                value = loss()
        else:
            value = loss
        variables = flatten(var_list() if callable(var_list) else var_list)
        self.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True))


@named("keras.optimizers.SGD", "keras.optimizers.legacy.SGD", "optimizers.SGD")
class SGD(Optimizer):
    """Gradient descent, with momentum (also Nesterov's)."""

    def __init__(
        self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, **options: Any
    ) -> None:
        super().__init__(learning_rate, **options)
        self.momentum, self.nesterov = momentum, nesterov

    def step(self, x: Any, g: Any, rate: Any, slots: dict[str, Any]) -> Any:
        if not self.momentum:
            return x - rate * g
        m = slots["m"] = self.momentum * slots.get("m", 0) - rate * g
        return x + self.momentum * m - rate * g if self.nesterov else x + m


@named("keras.optimizers.Adam", "keras.optimizers.legacy.Adam", "optimizers.Adam")
class Adam(Optimizer):
    """Adaptive moments (Kingma and Ba 2015)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, **options)
        self.beta_1, self.beta_2, self.epsilon, self.amsgrad = beta_1, beta_2, epsilon, amsgrad

    def step(self, x: Any, g: Any, rate: Any, slots: dict[str, Any]) -> Any:
        if "m" not in slots:
            slots.update(m=np.zeros_like(x), v=np.zeros_like(x), largest=np.zeros_like(x))
        m, v = slots["m"], slots["v"]
        m = slots["m"] = m + (g - m) * (1 - self.beta_1)
        v = slots["v"] = v + (g * g - v) * (1 - self.beta_2)
        scale = rate * x.dtype.type(math.sqrt(1 - self.beta_2**self._steps) / (1 - self.beta_1**self._steps))
        if self.amsgrad:
            v = slots["largest"] = np.maximum(slots["largest"], v)
        return x - m * scale / (np.sqrt(v) + self.epsilon)


@named("keras.optimizers.AdamW", "optimizers.AdamW")
class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""

    def __init__(self, learning_rate: Any = 0.001, weight_decay: float = 0.004, **options: Any) -> None:
        super().__init__(learning_rate, weight_decay=weight_decay, **options)


@named("keras.optimizers.RMSprop", "keras.optimizers.legacy.RMSprop", "optimizers.RMSprop")
class RMSprop(Optimizer):
    """Steps over the root of the running mean of squares (Tieleman and Hinton 2012)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(learning_rate, **options)
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered

    def step(self, x: Any, g: Any, rate: Any, slots: dict[str, Any]) -> Any:
        v = slots["v"] = self.rho * slots.get("v", 0) + (1 - self.rho) * g * g
        spread = v
        if self.centered:
            mean = slots["mean"] = self.rho * slots.get("mean", 0) + (1 - self.rho) * g
            spread = v - mean * mean
        change = rate * g / np.sqrt(spread + self.epsilon)
        if self.momentum:
            change = slots["m"] = self.momentum * slots.get("m", 0) + change
        return x - change


@named("keras.optimizers.Adagrad", "keras.optimizers.legacy.Adagrad", "optimizers.Adagrad")
class Adagrad(Optimizer):
    """Steps over the root of the sum of squares so far (Duchi et al. 2011)."""

    def __init__(
        self, learning_rate: Any = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-7, **options: Any
    ) -> None:
        super().__init__(learning_rate, **options)
        self._first, self.epsilon = initial_accumulator_value, epsilon

    def step(self, x: Any, g: Any, rate: Any, slots: dict[str, Any]) -> Any:
        total = slots["v"] = slots.get("v", np.full_like(x, self._first)) + g * g
        return x - rate * g / np.sqrt(total + self.epsilon)


def _decayed(
    initial_learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False, name: Any = None
) -> Any:
    """A learning rate that falls exponentially."""

    def rate(step: Any) -> Any:
        power = int(step) / decay_steps
        return initial_learning_rate * decay_rate ** (math.floor(power) if staircase else power)

    return rate


TABLE["keras.optimizers.schedules.ExponentialDecay"] = _decayed
