"""Compiled passes over recorded rows: they decode and count. Nothing here runs a kernel."""
