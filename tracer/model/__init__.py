"""A launch and its trace as plain data, and the ownership of code; nothing here runs or analyses them."""
