"""Replays: pages of one file that show what the window showed, in any browser and with nothing fetched."""
