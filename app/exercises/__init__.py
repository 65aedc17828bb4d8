"""Exercises in the window: task and picture, live verdicts, hints, and progress."""
