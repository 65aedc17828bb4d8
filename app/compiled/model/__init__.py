"""The compiled code of the panes' launches: counters at each depth, the fate of each access, lines of code."""
