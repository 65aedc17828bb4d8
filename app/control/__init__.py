"""The controllers of the window, without widgets: the stage, which decides what the panes show, and its jobs."""
