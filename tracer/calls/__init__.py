"""Kernel calls of a user's process: described there as plain data, and run in one of our processes."""
