"""From a trace: requests, moments, counters, contents of memory. What is wrong with it is for findings."""
