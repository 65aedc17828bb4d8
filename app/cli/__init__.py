"""The commands, one file each, and what they share. The window is started here and lives elsewhere."""
