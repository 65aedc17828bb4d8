"""A call of a kernel in a process of a user's: described there as plain data, to be run in a process of ours."""
