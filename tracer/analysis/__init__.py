"""Data derived from a trace: requests, moments, counters and contents of memory. Findings judge them."""
