"""A kernel changed and run again: the version before on the left, the new one on the right, and what differs."""
