"""The histogram view: bins being counted, and the counter of a single cell."""
