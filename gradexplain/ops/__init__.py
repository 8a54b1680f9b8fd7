"""The table of derivatives: one row an operation, by family of functions. `TABLE` holds them all by name."""

from gradexplain.graph import TABLE
from gradexplain.ops import arithmetic, decompositions, einsum, elementary, linalg, mathematics, norms, ordering, products, reductions, shaping, special

__all__ = ["TABLE", "arithmetic", "decompositions", "einsum", "elementary", "linalg", "mathematics", "norms", "ordering", "products", "reductions", "shaping", "special"]
