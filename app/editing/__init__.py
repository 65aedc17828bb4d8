"""Kernel editing: the previous version on the left, the new one on the right, and their differences."""
