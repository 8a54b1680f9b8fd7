"""Explanations as data: the records, and what builds and checks them."""
