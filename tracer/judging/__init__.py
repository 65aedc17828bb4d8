"""Judging, in the worker: runs a student's kernel on the cases of an exercise's judge."""
