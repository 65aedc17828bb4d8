"""The pages about findings and counters, which are Markdown files in the package."""

from __future__ import annotations

from pathlib import Path

from ... import ROOT
from ...kernels.scenarios.suggestions import joined_words, near_words
from ...tracer.model.counter_names import NAMES
from ...tracer.model.rules import RULES

FOLDER = ROOT / "resources" / "explain"


class UnknownPageError(Exception):
    """No page has this name; the text is one sentence."""


def page_names() -> tuple[str, ...]:
    """List the names of all pages: the rules, then the counters."""
    return (*rule_names(), *NAMES)


def rule_names() -> tuple[str, ...]:
    """List the names of the rules, by code."""
    return tuple(rule.name for rule in RULES)


def page_path(name: str) -> Path:
    """Find the file of a page by its name, or by the code of its rule.

    Spaces, dashes and underscores are equal; raises UnknownPageError.
    """
    names = {_spaced(page): page for page in page_names()}
    codes = {rule.code.lower(): _spaced(rule.name) for rule in RULES}
    wanted = codes.get(_spaced(name), _spaced(name))
    if wanted not in names:
        near = [names[text] for text in near_words(wanted, names)] or _codes_near(name)
        hint = f"did you mean {joined_words(near, 'or')}?" if near else "`tilescope explain` lists all pages."
        raise UnknownPageError(f"there is no page {name!r}; {hint}")
    folder = "findings" if names[wanted] in rule_names() else "counters"
    return FOLDER / folder / f"{wanted.replace(' ', '-')}.md"


def page_title(name: str) -> str:
    """Return the subject of a page: its heading without the name, or its first sentence."""
    heading, _, text = page_path(name).read_text(encoding="utf-8").partition("\n")
    return heading.partition(": ")[2] or text.strip().partition("\n")[0].removesuffix(".")


def page_code(name: str) -> str:
    """Return the code of the rule that a page describes, "" for a counter."""
    return next((rule.code for rule in RULES if rule.name == name), "")


def _codes_near(name: str) -> list[str]:
    """List the codes of the family of a code that does not exist: TS101 for TS199."""
    wanted = name.strip().upper()
    return [rule.code for rule in RULES if wanted[:2] == "TS" and wanted[2:3] and rule.code[2] == wanted[2]]


def _spaced(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("-", " ").split()).lower()
