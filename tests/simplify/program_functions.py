"""Programs that call functions of their own, as people write them."""

import math

import numpy as np


def Phi(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def phi(x):
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def call(S, K, T, r, sigma):
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    return S * Phi(d1) - K * math.exp(-r * T) * Phi(d2)


def call_written_out(S, K, T, r, sigma):
    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    cdf1 = (1 + math.erf(d1 / math.sqrt(2))) / 2
    cdf2 = (1 + math.erf(d2 / math.sqrt(2))) / 2
    return S * cdf1 - K * math.exp(-r * T) * cdf2


def bachelier(F, K, v, T):
    s = v * math.sqrt(T)
    d = (F - K) / s
    return (F - K) * Phi(d) + s * phi(d)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def logistic_loss(w, b, x, y):
    p = sigmoid(w * x + b)
    return -(y * np.log(p) + (1 - y) * np.log(1 - p))


def cross_entropy(w, x, y):
    return -y * np.log(sigmoid(w * x)) - (1 - y) * np.log(1 - sigmoid(w * x))


def swish(x):
    return x * sigmoid(x)


def softplus(x):
    return np.log(1 + np.exp(x))


def softplus_squared(x):
    return softplus(x) ** 2


def gauss(x, mu):
    return math.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi)


def bump(x, mu, a):
    return a * gauss(x, mu)


def two_bumps(x, a):
    return a * gauss(x, -1.0) + (1 - a) * gauss(x, 2)


bell = lambda t: np.exp(-(t**2)) / (1 + t**2)  # noqa: E731


def bells(x, y):
    return bell(x) * bell(y)


class Model:
    """Its activation is a method that reads a constant of the model's."""

    rate = 2.0

    def activation(self, z):
        return np.exp(-self.rate * z**2) / (1 + z**2)

    def loss(self, x, y):
        return self.activation(x) * self.activation(y)


def nested(x, y):
    def response(u):
        return 1 / (1 + u**2 + np.exp(u))

    return response(x) * response(y)


def double_sigmoid(x):
    return sigmoid(sigmoid(x))


NAMED = {
    "call": call,
    "bachelier": bachelier,
    "logistic_loss": logistic_loss,
    "cross_entropy": cross_entropy,
    "swish": swish,
    "softplus_squared": softplus_squared,
    "bump": bump,
    "two_bumps": two_bumps,
    "bells": bells,
    "method": Model().loss,
    "nested": nested,
    "double_sigmoid": double_sigmoid,
}
