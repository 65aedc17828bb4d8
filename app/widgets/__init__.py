"""Colours, icons and controls for any window of ours; nothing here knows a session."""
