"""LLVM's IR as text: lists in brackets, types of operands, and the lines of functions."""

from __future__ import annotations

import re

OPENING, CLOSING = "([{<", ")]}>"


def split_list(text: str) -> list[str]:
    """Split a list at the commas outside brackets and quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for position, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif not quoted and character in OPENING:
            depth += 1
        elif not quoted and character in CLOSING:
            depth -= 1
        elif character == "," and not quoted and not depth:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def closing_bracket(text: str, start: int) -> int:
    """Return the index of the bracket that closes the one at `start`."""
    depth, quoted = 0, False
    for position in range(start, len(text)):
        character = text[position]
        if character == '"':
            quoted = not quoted
        elif not quoted and character in OPENING:
            depth += 1
        elif not quoted and character in CLOSING:
            depth -= 1
            if not depth:
                return position
    raise ValueError(f"no end: {text[start : start + 40]}")


def type_of_operand(text: str) -> str:
    """Return the type with which an operand begins: "ptr addrspace(3)", "{ i32, i1 }", "float"."""
    text = text.strip()
    if text[0] in OPENING:
        return text[: closing_bracket(text, 0) + 1]
    match = re.match(r"ptr addrspace\(\d+\)|%[\w.]+|%\"[^\"]*\"|\S+", text)
    return match[0] if match else text
