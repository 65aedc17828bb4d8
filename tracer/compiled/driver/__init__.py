"""A launch by the compiled engine: compile, hand in memory, run block by block, collect the rows."""
