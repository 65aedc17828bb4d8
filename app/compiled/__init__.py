"""The compiled code of the panes' launches: the jobs that count it and list it."""
