"""Measured times: the timings window, the chart in the main window, export and measuring; `model` has the data."""
