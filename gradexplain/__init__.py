"""Symbolic derivative explainer for ordinary Python functions."""

__version__ = "0.1.0"
