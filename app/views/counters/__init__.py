"""The strip of counters below a pane."""
