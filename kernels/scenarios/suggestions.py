"""Suggestions for unknown words, at the end of an error message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown word: similar words, or else all of them."""
    choices = list(choices)
    if not choices:
        return "; there are none."
    if near := near_words(word, choices):
        return f"; did you mean {joined_words(near, 'or')}?"
    return f"; there {'is' if len(choices) == 1 else 'are'} {joined_words(choices, 'and')}."


def near_words(word: str, choices: Iterable[str]) -> list[str]:
    """Find up to three choices that are similar to an unknown word, the nearest first."""
    from difflib import get_close_matches  # imported here for a fast start

    by_folded = {name.lower(): name for name in choices}
    wanted = word.lower()
    near = sorted((name for name in by_folded if len(word) > 2 and wanted in name), key=len)[:3]
    return [by_folded[name] for name in near or get_close_matches(wanted, by_folded, cutoff=0.6)]


def joined_words(words: Sequence[str], conjunction: str) -> str:
    """Join words for a sentence; there must be at least one."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
