"""Terms of another programming model for CUDA's: work-item for thread, work-group for block. No Qt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ...kernels.scenarios.scenario import WORK_ITEM_WORDS, Scenario

WORD_CHOICES = ("own", "cuda", "work-item")  # the scenario's own terms, or one model's for all


def vocabulary(choice: str, scenario: Scenario | None) -> Mapping[str, str]:
    """Return the terms that replace CUDA's; `choice` is one of WORD_CHOICES."""
    if choice == "own":
        return scenario.words if scenario else {}
    return WORK_ITEM_WORDS if choice == "work-item" else {}


def resolved_choice(choice: str, scenario: Scenario | None) -> str:
    """Resolve a choice for a scenario to "cuda" or "work-item"."""
    return "work-item" if vocabulary(choice, scenario) else "cuda"


def text_in_words(text: str, words: Mapping[str, str]) -> str:
    """Replace the terms in a text, also in the plural and at the beginning of a sentence.

    Names in code and paths stay as they are: threadIdx, block.py, a/grid/b.
    """
    if not words:
        return text

    def replace(match: re.Match[str]) -> str:
        word = words[match[1].lower()]
        plural = match[2] and ("es" if word.endswith("s") else "s")
        return (word[0].upper() + word[1:] if match[1][0].isupper() else word) + plural

    return _pattern(tuple(words)).sub(replace, text)


@cache
def _pattern(nouns: tuple[str, ...]) -> re.Pattern[str]:
    """Compile the pattern of the nouns, longest first, as separate words of a sentence."""
    either = "|".join(sorted(map(re.escape, nouns), key=len, reverse=True))
    return re.compile(rf"(?<![\w/\\.])({either})(s?)(?![\w/\\([]|\.\w)", re.IGNORECASE)
