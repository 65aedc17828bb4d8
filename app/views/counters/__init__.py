"""The strip of counters below a pane; they are counted in tracer/analysis."""
