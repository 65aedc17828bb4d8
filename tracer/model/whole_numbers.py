"""Whole numbers as people type them: digits, and not by the thousand, which Python refuses to read."""

from __future__ import annotations

MOST_DIGITS = 18  # within 64 bits


def whole_number_of(text: str) -> int | None:
    """Return the number that ASCII digits write, None for any other text and for one beyond 64 bits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
