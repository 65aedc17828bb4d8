"""Exercises: what their files say, what a student's kernel comes to, and what is done."""
