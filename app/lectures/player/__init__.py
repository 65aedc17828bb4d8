"""Presenting a lecture in the window: the player, questions, captions, the list of steps."""
