"""Icons and other files that ship with the program."""
