"""The chart of what a GPU did: multiprocessors, their blocks, the warps of a block, over microseconds."""
