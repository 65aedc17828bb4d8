"""Editing a lecture in the window: steps from the screen, captions and notes in place, and the editing panel."""
