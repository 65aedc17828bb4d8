"""Where launches are run: choice of an engine, worker process, hook in a user's program; no engine is here."""
