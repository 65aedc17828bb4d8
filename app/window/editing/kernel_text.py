"""The text of a kernel's file as it is edited: whether it is Python, and which line a sentence is of. No Qt."""

from __future__ import annotations

import ast
import re
import warnings

TOO_DEEP = "The text is too deep to be read; take some of its brackets apart."


def syntax_problem(text: str) -> tuple[int, str] | None:
    """Return the line (from 1) and the sentence of what is no Python in a text, None where all of it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is Python, but not what was meant: it is typed just now
            ast.parse(text)
    except SyntaxError as error:
        message = (error.msg or "this is no Python").removesuffix(".")
        return error.lineno or 1, f"{message[:1].upper()}{message[1:]}."
    except (ValueError, RecursionError, MemoryError):
        return 1, TOO_DEEP
    return None


def line_of(sentence: str, file: str) -> int:
    """Return the line that a sentence names of a file, as "/a/kernel.py:12: ..." or "... (line 12)"; 0 for none."""
    found = re.search(rf"{re.escape(file)}:(\d{{1,6}}):|\(line (\d{{1,6}})\)", sentence)
    return int(found[1] or found[2]) if found else 0
