"""GPU recordings for charts: finding the recording of a pane, its facts, and the position in the chart."""
