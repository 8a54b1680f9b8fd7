"""The table of derivatives: one row an operation, by family of functions. `TABLE` holds them all by name."""

from gradexplain.graph import TABLE
from gradexplain.ops import arithmetic, elementary, ordering, reductions, shaping

__all__ = ["TABLE", "arithmetic", "elementary", "ordering", "reductions", "shaping"]
