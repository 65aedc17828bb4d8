"""Compiled passes over the rows that kernels record: decoding, counting. Nothing here runs a kernel."""
