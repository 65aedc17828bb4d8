"""Times on a GPU: the measuring process, its client, and what was recorded. Traces are only counted here."""
