"""From a Python function to a graph: tracers that stand for values, and what makes NumPy, `math` and branches see them."""
