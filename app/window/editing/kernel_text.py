"""Which line of a kernel's file a sentence is of. No Qt."""

from __future__ import annotations

import re


def line_of(sentence: str, file: str) -> int:
    """Return the line that a sentence names of a file, as "/a/kernel.py:12: ..." or "... (line 12)"; 0 for none."""
    found = re.search(rf"{re.escape(file)}:(\d{{1,6}}):|\(line (\d{{1,6}})\)", sentence)
    return int(found[1] or found[2]) if found else 0
