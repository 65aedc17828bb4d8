"""The window of the timings: choices, chart, export, measuring here; charts as data are in charts."""
