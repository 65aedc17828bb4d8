"""What was perhaps meant by a word that is not known: the end of a sentence about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown word: the words that it is like, else all that there are."""
    known = list(known)
    if not known:
        return "; there are none."
    if near := near_words(word, known):
        return f"; did you mean {joined_words(near, 'or')}?"
    return f"; there {'is' if len(known) == 1 else 'are'} {joined_words(known, 'and')}."


def near_words(word: str, known: Iterable[str]) -> list[str]:
    """Return up to three known words that an unknown one is like, the nearest first."""
    from difflib import get_close_matches  # the window starts without it

    by_folded = {name.lower(): name for name in known}
    wanted = word.lower()
    near = sorted((name for name in by_folded if len(word) > 2 and wanted in name), key=len)[:3]
    return [by_folded[name] for name in near or get_close_matches(wanted, by_folded, cutoff=0.6)]


def joined_words(words: Sequence[str], joint: str) -> str:
    """Return the words as a sentence lists them; at least one."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"
