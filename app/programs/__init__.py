"""The page of a running or failed user program: its text, output and run time."""
