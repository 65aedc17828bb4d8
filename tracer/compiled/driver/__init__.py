"""A launch by the compiled engine, from compiling to collected rows; what the rows mean is for rows."""
