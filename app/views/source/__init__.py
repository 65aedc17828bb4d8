"""The source view: the kernel's text, its current line and counts beside it; nothing here runs or changes it."""
