"""Closed forms: from the gradient graph to the formula that a person would write, every rewrite checked and logged."""
