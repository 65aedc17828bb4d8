"""Writing lectures: edits of a lecture's text that leave every other line as its author wrote it."""
