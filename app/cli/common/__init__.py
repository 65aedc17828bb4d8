"""The shared parts of all commands: their arguments and their output."""
