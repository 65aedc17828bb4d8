"""Where launches are run: the choice of an engine, the worker process, the hook in a user's program."""
