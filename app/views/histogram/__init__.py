"""The histogram view: bins being counted, and the counter of a single cell; what is counted is found in tracer."""
