"""The layout of buffers and their cells in the memory view: pure functions, no drawing."""
