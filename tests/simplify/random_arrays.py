"""Random programs with arrays: broadcasting, axes, products, functions, reductions, indexing."""

import random
import re

import numpy as np

NAMES = {"X": "nm", "Y": "nm", "W": "mk", "A": "nn", "S": "mm", "w": "m", "v": "m", "y": "n", "c": ""}


class Programs:
    """Writes the source of a random scalar function of arrays, and arguments for it."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.sizes = dict(zip("nmk", self.rng.sample([2, 3, 4, 5], 3), strict=True))

    def program(self):
        """Source of an expression, and its arguments."""
        text = self.number(self.rng.choice([2, 3, 3]))
        numbers = np.random.default_rng(self.rng.randrange(10**6))
        used = [name for name in NAMES if re.search(rf"\b{name}\b", text)]
        return text, {name: numbers.normal(size=[self.sizes[i] for i in NAMES[name]]) for name in used}

    def axis(self):
        return self.rng.choice("nmk")

    def number(self, depth):
        if depth <= 0:
            return self.rng.choice(["c", "2", "0.5"])
        i, j, d = self.axis(), self.axis(), depth - 1
        return self.rng.choice(
            [
                lambda: f"np.sum({self.matrix(d, i, j)})",
                lambda: f"({self.vector(d, i)} @ {self.vector(d, i)})",
                lambda: f"np.trace({self.matrix(d, i, i)})",
                lambda: f"np.linalg.norm({self.vector(d, i)})",
                lambda: f"np.mean({self.vector(d, i)})",
                lambda: f"({self.number(d)} * {self.number(d)})",
                lambda: f"np.log(1 + {self.number(d)}**2)",
                lambda: f"np.sum({self.vector(d, i)}[1:])",
                lambda: f"{self.vector(d, i)}[0]",
            ]
        )()

    def vector(self, depth, i):
        known = [name for name, axes in NAMES.items() if axes == i] or [
            f"np.sum(W, axis=0){'' if i == 'k' else '[:1]'}"
        ]
        if depth <= 0:
            return self.rng.choice(known)
        j, d = self.axis(), depth - 1
        return self.rng.choice(
            [
                lambda: f"({self.vector(d, i)} + {self.vector(d, i)})",
                lambda: f"({self.vector(d, i)} * {self.vector(d, i)})",
                lambda: f"np.{self.rng.choice(['tanh', 'exp', 'sin'])}({self.vector(d, i)}/2)",
                lambda: f"({self.matrix(d, i, j)} @ {self.vector(d, j)})",
                lambda: f"({self.number(d)} * {self.vector(d, i)})",
                lambda: f"np.{self.rng.choice(['sum', 'mean'])}({self.matrix(d, j, i)}, axis=0)",
                lambda: f"({self.vector(d, i)} / (2 + {self.vector(d, i)}**2))",
                lambda: f"np.maximum(0, {self.vector(d, i)})",
                lambda: f"np.diag({self.matrix(d, i, i)})",
                lambda: f"({self.vector(d, i)} - np.mean({self.vector(d, i)}))",
            ]
        )()

    def matrix(self, depth, i, j):
        known = [name for name, axes in NAMES.items() if axes == i + j]
        known += [f"{name}.T" for name, axes in NAMES.items() if axes == j + i]
        if depth <= 0:
            return self.rng.choice(known) if known else f"np.outer({self.vector(0, i)}, {self.vector(0, j)})"
        other, d = self.axis(), depth - 1
        softmax = self.matrix(d, i, j)
        return self.rng.choice(
            [
                lambda: f"({self.matrix(d, i, j)} + {self.matrix(d, i, j)})",
                lambda: f"({self.matrix(d, i, j)} * {self.matrix(d, i, j)})",
                lambda: f"({self.matrix(d, i, other)} @ {self.matrix(d, other, j)})",
                lambda: f"({self.matrix(d, j, i)}).T",
                lambda: f"np.outer({self.vector(d, i)}, {self.vector(d, j)})",
                lambda: f"({self.matrix(d, i, j)} + {self.vector(d, j)})",
                lambda: f"({self.matrix(d, i, j)} * {self.vector(d, i)}[:, None])",
                lambda: f"({self.matrix(d, i, j)} - np.mean({self.matrix(d, i, j)}, axis=0))",
                lambda: f"(np.exp({softmax}/3) / np.sum(np.exp({softmax}/3), axis=1, keepdims=True))",
            ]
        )()
