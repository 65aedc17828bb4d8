"""Edit the text of a lecture, and leave every other line as its author wrote it."""
