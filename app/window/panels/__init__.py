"""What stands in the window's middle and foot: panes, the right column, the transport."""
