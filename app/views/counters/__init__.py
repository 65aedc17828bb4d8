"""The strip of counters below a pane; tracer/analysis counts them."""
