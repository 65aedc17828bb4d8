"""Runs launches: the choice of an engine, the worker process, the hook in a user's program; contains no engine."""
