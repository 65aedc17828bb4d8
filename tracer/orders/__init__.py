"""Explicit orders of threads: find one that changes the result, shrink it, prove that none does, and save it."""
