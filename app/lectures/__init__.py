"""Lectures: their files, the player, the presenter's window and writing in the window."""
