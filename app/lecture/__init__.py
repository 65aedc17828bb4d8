"""Lectures: the file, what each step shows, and the numbers and answers in it, without widgets."""
