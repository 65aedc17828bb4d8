"""The race detector: accesses that nothing orders. Findings report races and their remedies."""
