"""Findings about launches that are right but slow, one file a kind."""
