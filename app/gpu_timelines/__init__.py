"""The chart of a GPU recording: multiprocessors, their blocks and the warps of a block, over microseconds."""
