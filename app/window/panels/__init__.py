"""What stands below the bar: panes, right column, transport; what the panes show is decided in control."""
