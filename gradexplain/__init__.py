"""Symbolic derivative explainer."""
