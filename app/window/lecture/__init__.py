"""Presenting a lecture in the window: its steps played, questions, captions, the list of steps."""
