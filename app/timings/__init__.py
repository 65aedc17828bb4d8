"""The timings window: choices, chart, export and measuring. The charts as data are in app/charts."""
