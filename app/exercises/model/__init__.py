"""Exercises: their files, the verdicts on students' kernels, and the progress."""
