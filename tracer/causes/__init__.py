"""Where an element's value comes from, and what it reaches: through registers, memory, shuffles and threads."""
