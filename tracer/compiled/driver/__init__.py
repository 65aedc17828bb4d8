"""Run a launch on the compiled engine, from compilation to collected rows; `rows` interprets the rows."""
