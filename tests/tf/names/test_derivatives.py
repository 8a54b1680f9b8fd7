"""Every function of tensors has the derivative that difference quotients of it have."""

from __future__ import annotations

import numpy as np
import pytest

from gradexplain import tf

RNG = np.random.default_rng(7)
V, M, S = (4,), (3, 3), (2, 3)
ONE = [
    ("image.total_variation", (1, 3, 3, 1), {}),  # name, shape, further arguments
    *(
        (n, V, {})
        for n in [
            "exp",
            "math.expm1",
            "square",
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "atan",
            "sigmoid",
            "negative",
            "math.erf",
            "math.erfc",
            "math.softplus",
            "math.log_sigmoid",
            "nn.elu",
            "nn.selu",
            "nn.gelu",
            "nn.silu",
            "nn.softsign",
            "nn.softmax",
            "nn.log_softmax",
            "nn.l2_loss",
            "nn.l2_normalize",
            "reduce_sum",
            "reduce_mean",
            "reduce_max",
            "reduce_min",
            "reduce_prod",
            "reduce_logsumexp",
            "math.reduce_variance",
            "math.reduce_std",
            "math.reduce_euclidean_norm",
            "cumsum",
            "math.cumprod",
            "norm",
            "sort",
            "math.top_k",
            "identity",
            "keras.activations.exponential",
            "nn.leaky_relu",
            "abs",
        ]
    ),
    *(
        (f"+{n}", V, {})
        for n in [
            "math.log",
            "math.log1p",
            "sqrt",
            "math.rsqrt",
            "math.reciprocal",
            "math.lgamma",
            "math.digamma",
            "math.lbeta",
        ]
    ),
    *((f"~{n}", V, {}) for n in ("asin", "acos", "atanh", "math.erfinv")),
    ("nn.gelu", V, {"approximate": True}),
    ("cumsum", S, {"axis": 1, "exclusive": True, "reverse": True}),
    ("math.cumprod", S, {"axis": 1, "exclusive": True}),
    ("reduce_sum", S, {"axis": [0, -1], "keepdims": True}),
    ("reduce_mean", S, {"axis": 1}),
    ("reduce_logsumexp", S, {"axis": 0}),
    ("nn.softmax", S, {"axis": 0}),
    ("norm", S, {"ord": 1, "axis": 1}),
    ("norm", S, {"ord": np.inf}),
    ("norm", S, {"ord": 3}),
    ("clip_by_norm", V, {"clip_norm": 0.5}),
    ("transpose", S, {}),
    ("reshape", S, {"shape": [3, -1]}),
    ("expand_dims", S, {"axis": 1}),
    ("tile", S, {"multiples": [2, 1]}),
    ("repeat", S, {"repeats": 2, "axis": 1}),
    ("reverse", S, {"axis": [1]}),
    ("roll", S, {"shift": 1, "axis": 1}),
    ("slice", S, {"begin": [0, 1], "size": [-1, 2]}),
    ("pad", S, {"paddings": [[1, 0], [0, 2]]}),
    ("pad", S, {"paddings": [[0, 0], [1, 1]], "mode": "REFLECT"}),
    ("split", S, {"num_or_size_splits": [1, 2], "axis": 1}),
    ("unstack", S, {"axis": 1}),
    ("linalg.diag", V, {}),
    ("linalg.diag_part", M, {}),
    ("linalg.trace", M, {}),
    ("linalg.band_part", M, {"num_lower": 0, "num_upper": 1}),
    ("linalg.det", M, {}),
    ("linalg.inv", M, {}),
    ("linalg.slogdet", M, {}),
    ("linalg.matrix_transpose", S, {}),
    ("linalg.svd", M, {"compute_uv": False}),
    ("linalg.qr", M, {}),
    ("linalg.pinv", M, {}),
    ("gather", S, {"indices": [2, 0, 2], "axis": 1}),
    ("gather_nd", S, {"indices": [[0, 1], [1, 2], [0, 1]]}),
    ("boolean_mask", S, {"mask": [True, False]}),
    ("math.segment_sum", V, {"segment_ids": [0, 0, 1, 1]}),
    ("math.segment_mean", V, {"segment_ids": [0, 0, 1, 1]}),
    ("math.unsorted_segment_sum", V, {"segment_ids": [1, 0, 1, 2], "num_segments": 4}),
    ("nn.moments", S, {"axes": [0]}),
    ("nn.avg_pool1d", (1, 5, 2), {"ksize": 2, "strides": 2, "padding": "SAME"}),
    ("nn.max_pool2d", (1, 4, 4, 2), {"ksize": 2, "strides": 2, "padding": "VALID"}),
    ("scatter_nd", None, {}),
    ("broadcast_to", V, {"shape": [2, 4]}),
]
TWO = [
    ("image.psnr", ((1, 3, 3, 1), (1, 3, 3, 1)), {"max_val": 2.0}),
    (
        "nn.conv2d_transpose",
        ((1, 2, 2, 3), (2, 2, 2, 3)),
        {"output_shape": [1, 4, 4, 2], "strides": 2},
    ),  # name, shapes, further arguments
    ("add", (S, (3,)), {}),
    ("subtract", (S, ()), {}),
    ("multiply", ((2, 1), (3,)), {}),
    ("divide", (S, S), {}),
    ("pow", (V, V), {}),
    ("maximum", (S, S), {}),
    ("minimum", (S, (3,)), {}),
    ("atan2", (V, V), {}),
    ("math.xlogy", (V, V), {}),
    ("math.squared_difference", (S, (3,)), {}),
    ("math.divide_no_nan", (V, V), {}),
    ("math.multiply_no_nan", (V, V), {}),
    ("math.floormod", (V, V), {}),
    ("math.xlog1py", (V, V), {}),
    ("matmul", (S, (3, 4)), {}),
    ("matmul", ((3, 2), (4, 3)), {"transpose_a": True, "transpose_b": True}),
    ("matmul", ((2, 2, 3), (2, 3, 1)), {}),
    ("linalg.matvec", (S, (3,)), {}),
    ("linalg.solve", (M, (3, 2)), {}),
    ("linalg.triangular_solve", (M, (3, 1)), {}),
    ("tensordot", (S, (3, 2)), {"axes": 1}),
    ("linalg.cross", ((3,), (3,)), {}),
    ("nn.softmax_cross_entropy_with_logits", (S, S), {}),
    ("nn.sigmoid_cross_entropy_with_logits", (S, S), {}),
    ("nn.weighted_cross_entropy_with_logits", (S, S), {"pos_weight": 2.0}),
    ("nn.log_poisson_loss", (V, V), {}),
    ("nn.bias_add", (S, (3,)), {}),
    ("nn.conv1d", ((2, 5, 2), (3, 2, 2)), {"stride": 1, "padding": "SAME"}),
    ("nn.conv2d", ((1, 4, 4, 2), (2, 2, 2, 3)), {"strides": 2, "padding": "VALID"}),
    *(
        (f"keras.losses.{n}", (S, S), {})
        for n in [
            "mse",
            "mae",
            "mape",
            "msle",
            "huber",
            "log_cosh",
            "binary_crossentropy",
            "categorical_crossentropy",
            "kl_divergence",
            "poisson",
            "hinge",
            "cosine_similarity",
        ]
    ),
    ("keras.losses.binary_crossentropy", (S, S), {"from_logits": True}),
    ("keras.losses.categorical_crossentropy", (S, S), {"from_logits": True, "label_smoothing": 0.1}),
]


def leaves(y):
    return [tf.convert_to_tensor(t) for t in tf.nest.flatten(y)]


def total(y, weights):
    """One number: the floating results, each entry with its own weight."""
    parts = [t for t in leaves(y) if t.dtype.is_floating]
    if not weights:
        weights += [RNG.normal(size=p.shape) for p in parts]
    return tf.add_n([tf.reduce_sum(p * w) for p, w in zip(parts, weights, strict=True)])


def check(f, arrays):
    variables = [tf.Variable(a, dtype=tf.float64) for a in arrays]
    weights = []
    with tf.GradientTape() as t:
        y = total(f(*variables), weights)
    gradients = t.gradient(y, variables)
    for k, (a, g) in enumerate(zip(arrays, gradients, strict=True)):
        step, quotient = 1e-6, np.zeros(a.shape)
        for i in np.ndindex(a.shape):
            values = []
            for sign in (1, -1):
                moved = [np.array(b) for b in arrays]
                moved[k][i] += sign * step
                values.append(float(total(f(*[tf.constant(b) for b in moved]), weights)))
            quotient[i] = (values[0] - values[1]) / (2 * step)
        assert np.allclose(np.asarray(g), quotient, rtol=1e-5, atol=1e-6), (g, quotient)


@pytest.mark.parametrize(("name", "shape", "options"), ONE, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(ONE)])
def test_one_operand(name, shape, options):
    function = tf.names.table.look_up(name.lstrip("+~"))
    if name == "scatter_nd":
        return check(lambda u: function([[0, 1], [1, 1], [0, 1]], u, [2, 2]), [RNG.normal(size=3)])
    low, high = (0.3, 2.0) if name[0] == "+" else (-0.8, 0.8) if name[0] == "~" else (-1.5, 1.5)
    x = RNG.uniform(low, high, shape) + (2 * np.eye(3) if shape == M else 0)
    return check(lambda v: function(v, **options), [x])


@pytest.mark.parametrize(("name", "shapes", "options"), TWO, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(TWO)])
def test_two_operands(name, shapes, options):
    function = tf.names.table.look_up(name)
    arrays = [RNG.uniform(0.2, 0.8, s) + (2 * np.eye(3) if s == M else 0) for s in shapes]
    check(lambda a, b: function(a, b, **options), arrays)


@pytest.mark.parametrize("name", ["linalg.cholesky", "linalg.eigvalsh"])
def test_of_symmetric_matrices(name):
    """One triangle is read; moved is an entry together with its mirror image."""
    function, b = tf.names.table.look_up(name), RNG.normal(size=(3, 3))
    check(lambda m: function(tf.matmul(m, m, transpose_b=True) + 3.0 * np.eye(3)), [b])


def test_lists_of_operands():
    a, b = RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3))
    check(lambda x, y: tf.stack([x, y], axis=1), [a, b])
    check(lambda x, y: tf.concat([x, y, x], axis=1), [a, b])
    check(lambda x, y: tf.einsum("ij,kj->ik", x, y), [a, b])
    check(lambda x, y: tf.add_n([x, y, y]), [a, b])
    check(lambda x, y: tf.where([[True, False, True]], x, y), [a, b])
    check(lambda x, y: tf.clip_by_global_norm([x, y], 1.0)[0], [a, b])
    check(lambda x, y: tf.tensor_scatter_nd_update(x, [[0], [1]], y), [a, b])
    check(lambda x, y: tf.tensor_scatter_nd_add(x, [[0], [0]], y), [a, b])
    check(lambda x, y: tf.linspace(x[0], y[0], 4), [a, b])
    check(lambda x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=x * y), [a, b])
    check(lambda x, y: tf.meshgrid(x[0], y[0]), [a, b])
    check(
        lambda x, y: tf.scan(lambda s, e: s * e[0] + e[1], (x[0], y[0]), initializer=tf.constant(0.5, tf.float64)),
        [a, b],
    )
    check(lambda x, y: tf.foldl(lambda s, e: s * e, x + y), [a, b])
    check(lambda x, y: tf.vectorized_map(lambda e: e**2, x * y), [a, b])
