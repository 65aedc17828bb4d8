"""The error of a student's file."""

from __future__ import annotations


class StudentFileError(Exception):
    """The student's file can't be run: one sentence, and its line."""

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line
