"""A program of the user's while it runs, and where it fails: its text, its output and its clock."""
