"""What the source of a kernel says of the index of an access: its parts, whence they come, and its value."""
