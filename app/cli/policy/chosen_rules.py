"""The rules that a check reports: `--select` and `--ignore` with codes or the beginnings of codes, as in ruff."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import NamedTuple

from ....kernels.scenarios.suggestions import joined_words, near_words
from ....tracer.model.rules import CODES, is_code_prefix
from ..common.arguments import UsageError

ALL = "TS"


class ChosenRules(NamedTuple):
    """The rules to report. The longest prefix that matches a code decides; `ignore` wins between equal ones."""

    select: tuple[str, ...] = (ALL,)
    ignore: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()  # a pattern of files, and what is ignored there
    folder: Path = Path()  # that patterns are relative to

    def reports(self, code: str, file: str = "") -> bool:
        """Return True if a finding of a rule in a file is reported."""
        if not _longest(self.select, code) > _longest(self.ignore, code):
            return False
        return not any(
            _longest(prefixes, code) and matches_file(pattern, file, self.folder)
            for pattern, prefixes in self.per_file
        )


def matches_file(pattern: str, file: str, folder: Path) -> bool:
    """Return True if a file, or a folder around it, has the name or the path that a pattern gives."""
    path = Path(file).absolute()
    inside = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
    wanted = pattern.rstrip("/")
    parents = [parent.as_posix() for parent in PurePath(inside).parents]
    return fnmatch(inside, wanted) or fnmatch(path.name, wanted) or any(fnmatch(p, wanted) for p in parents)


def code_prefixes(text: str) -> tuple[str, ...]:
    """Parse codes or their beginnings, separated by commas; raises UsageError for one that no rule has."""
    return check_prefixes([part.strip() for part in text.split(",") if part.strip()])


def check_prefixes(prefixes: Sequence[str]) -> tuple[str, ...]:
    """Return prefixes as a tuple; raises UsageError for one that no code begins with. ALL means every rule."""
    for prefix in prefixes:
        if prefix != "ALL" and not is_code_prefix(prefix):
            raise UsageError(unknown_rule_text(prefix))
    return tuple(ALL if prefix == "ALL" else prefix for prefix in prefixes)


def unknown_rule_text(code: str) -> str:
    """Describe in a sentence a code that no rule has."""
    near = near_words(code.upper(), sorted(CODES))
    hint = f"did you mean {joined_words(near, 'or')}?" if near else "`tilescope explain` lists the rules."
    return f"there is no rule {code!r}; {hint}"


def _longest(prefixes: Sequence[str], code: str) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)
