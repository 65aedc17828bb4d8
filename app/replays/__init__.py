"""Replays: self-contained web pages that show the window's pictures in any browser without fetching anything."""
