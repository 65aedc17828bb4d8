"""Remedies as edits of a kernel's text, and their trial: a remedy is shown only after it worked in several orders."""
