"""The window of the timings: choices, chart, export, measuring here."""
