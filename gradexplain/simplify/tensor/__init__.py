"""Closed forms of array programs: sums of products of indexed arrays, differentiated and printed as matrix notation."""
