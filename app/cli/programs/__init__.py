"""`run` and `check`: run a user's program under the tracer, and report on its launches."""
