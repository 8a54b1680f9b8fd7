"""The table of derivatives: one row an operation, by family of functions. `TABLE` holds them all by name."""

from gradexplain.graph import TABLE
from gradexplain.ops import (
    arithmetic,
    conditions,
    decompositions,
    einsum,
    elementary,
    indexing,
    joining,
    keys,
    linalg,
    mathematics,
    norms,
    ordering,
    products,
    reductions,
    refusals,
    selection,
    shaping,
    special,
    statistics,
)

__all__ = ["TABLE", "arithmetic", "conditions", "decompositions", "einsum", "elementary", "indexing", "joining", "keys", "linalg", "mathematics", "norms", "ordering", "products", "reductions", "refusals", "selection", "shaping", "special", "statistics"]
