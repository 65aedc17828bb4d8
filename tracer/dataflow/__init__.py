"""Which stores a loaded value reaches: by the source, read as a syntax tree and never run, and the trace."""
