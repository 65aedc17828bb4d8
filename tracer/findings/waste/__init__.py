"""Findings about launches that are correct but slow, one file per kind; the parent folder has the errors."""
