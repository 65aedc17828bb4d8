"""A launch and its trace as plain data, that every other room speaks of; nothing here runs, reads or analyses one."""
