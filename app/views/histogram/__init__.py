"""The histogram view: bins while they are counted, or the counter of a single cell; `tracer` finds the additions."""
