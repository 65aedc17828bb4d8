"""Lectures without widgets: the file, the contents of each step, its numbers and answers."""
