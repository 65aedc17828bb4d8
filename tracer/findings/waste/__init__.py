"""Findings about launches that are right but slow, one file a kind; what is wrong is one folder up."""
