"""Exercises worked at in the window: task and picture, what a text comes to while one types, hints, what is done."""
