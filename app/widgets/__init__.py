"""Colours, icons and controls for all windows, independent of sessions."""
