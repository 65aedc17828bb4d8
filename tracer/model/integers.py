"""Parsing of integers that users type: digits only, and few, since Python refuses to parse thousands."""

from __future__ import annotations

MOST_DIGITS = 18  # within 64 bits


def parse_integer(text: str) -> int | None:
    """Parse a number of ASCII digits; None for any other text, and for a number beyond 64 bits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
