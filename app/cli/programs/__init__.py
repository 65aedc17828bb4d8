"""`run` and `check`: a program of the user's under the tracer, and what is said of it."""
