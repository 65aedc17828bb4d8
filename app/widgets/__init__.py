"""Colours, icons and controls that know no session."""
