"""In the worker: a student's kernel on the cases of an exercise's judge."""
