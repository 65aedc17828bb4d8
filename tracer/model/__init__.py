"""A launch and its trace as plain data, and whose code a file is, for all rooms; nothing here runs or analyses one."""
