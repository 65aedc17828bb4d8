"""The stores that a loaded value reaches, from the trace and from the source, which is parsed and never run."""
