"""The report of `tilescope check` in each format, one file for each, made from plain data."""
