"""Times on a GPU: the measuring process, its client, and recorded measurements. Traces are only counted here."""
