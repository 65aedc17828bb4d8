"""Which stores a loaded value reaches, from the source text alone: read as a syntax tree, never run."""
