"""The pages about findings and counters, which are Markdown files in the package."""

from __future__ import annotations

from pathlib import Path

from ... import ROOT
from ...kernels.scenarios.suggestions import joined_words, near_words
from ...tracer.model.counter_names import NAMES
from ...tracer.model.finding import FINDING_KINDS

FOLDER = ROOT / "resources" / "explain"


class UnknownPageError(Exception):
    """No page has this name; the text is one sentence."""


def page_names() -> tuple[str, ...]:
    """List the names of all pages: the kinds of findings, then the counters."""
    return (*FINDING_KINDS, *NAMES)


def page_path(name: str) -> Path:
    """Find the file of a page. Spaces, dashes and underscores are equal; raises UnknownPageError."""
    wanted = _spaced(name)
    names = {_spaced(page): page for page in page_names()}
    if wanted not in names:
        near = [names[text] for text in near_words(wanted, names)]
        hint = f"did you mean {joined_words(near, 'or')}?" if near else "`tilescope explain` lists all pages."
        raise UnknownPageError(f"there is no page {name!r}; {hint}")
    folder = "findings" if names[wanted] in FINDING_KINDS else "counters"
    return FOLDER / folder / f"{wanted.replace(' ', '-')}.md"


def page_title(name: str) -> str:
    """Return the subject of a page: its heading without the name, or its first sentence."""
    heading, _, text = page_path(name).read_text(encoding="utf-8").partition("\n")
    return heading.partition(": ")[2] or text.strip().partition("\n")[0].removesuffix(".")


def _spaced(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("-", " ").split()).lower()
