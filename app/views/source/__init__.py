"""The source view: the kernel's text, its current line and its counts. Nothing here runs the kernel."""
