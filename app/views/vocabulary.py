"""The words of another model in place of CUDA's: work-item for thread, work-group for block. No Qt."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...kernels.scenario import WORK_ITEM_WORDS, Scenario

WORDS = ("own", "cuda", "work-item")  # what a scenario speaks itself, or one model's for all


def vocabulary(choice: str, scenario: Scenario | None) -> Mapping[str, str]:
    """Return the words to put in the place of CUDA's; `choice` is one of WORDS."""
    if choice == "own":
        return scenario.words if scenario else {}
    return WORK_ITEM_WORDS if choice == "work-item" else {}


def spoken(text: str, words: Mapping[str, str]) -> str:
    """Return a text in other words, also in the plural and at the beginning of a sentence."""
    if not words:
        return text
    nouns = "|".join(sorted(map(re.escape, words), key=len, reverse=True))

    def other(found: re.Match[str]) -> str:
        word = words[found[1].lower()]
        return (word.capitalize() if found[1][0].isupper() else word) + found[2]

    return re.sub(rf"\b({nouns})(s?)\b", other, text, flags=re.IGNORECASE)
