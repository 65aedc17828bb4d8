"""The source view: the kernel's text, read and written, its current line and counts beside it; nothing here runs it."""
