"""The words of another model in place of CUDA's: work-item for thread, work-group for block. No Qt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ...kernels.scenarios.scenario import WORK_ITEM_WORDS, Scenario

WORD_CHOICES = ("own", "cuda", "work-item")  # what a scenario speaks itself, or one model's for all


def vocabulary(choice: str, scenario: Scenario | None) -> Mapping[str, str]:
    """Return the words to put in the place of CUDA's; `choice` is one of WORD_CHOICES."""
    if choice == "own":
        return scenario.words if scenario else {}
    return WORK_ITEM_WORDS if choice == "work-item" else {}


def resolved_choice(choice: str, scenario: Scenario | None) -> str:
    """Return whose words a choice means for a scenario: "cuda" or "work-item"."""
    return "work-item" if vocabulary(choice, scenario) else "cuda"


def text_in_words(text: str, words: Mapping[str, str]) -> str:
    """Return a text in other words, also in the plural and at the beginning of a sentence.

    Names in code and paths stay as they are: threadIdx, block.py, a/grid/b.
    """
    if not words:
        return text

    def other(found: re.Match[str]) -> str:
        word = words[found[1].lower()]
        many = found[2] and ("es" if word.endswith("s") else "s")
        return (word[0].upper() + word[1:] if found[1][0].isupper() else word) + many

    return _pattern(tuple(words)).sub(other, text)


@cache
def _pattern(nouns: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds the nouns, the longest first, where they are words of a sentence."""
    either = "|".join(sorted(map(re.escape, nouns), key=len, reverse=True))
    return re.compile(rf"(?<![\w/\\.])({either})(s?)(?![\w/\\([]|\.\w)", re.IGNORECASE)
