"""The commands, one file each, and their shared parts. The window is only started here."""
