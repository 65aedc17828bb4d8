"""What makes sessions and decides what the panes show: the stage and its jobs. No widget."""
