"""Where the memory view puts buffers and their cells: pure functions, no drawing."""
