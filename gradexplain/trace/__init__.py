"""From a Python function to a graph: tracers that stand for values, and what makes NumPy and `math` see them."""
