"""Findings about errors in a launch, one file per kind; all_findings.py calls them. The app shows them."""
