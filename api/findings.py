"""The findings of launches as users see them; findings with one cause are merged."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..app.cli.programs.findings_output import FindingCollector
from ..app.cli.reports.report import FindingData
from ..app.cli.reports.text import text_line
from ..tracer.model.trace import Trace

if TYPE_CHECKING:
    from ..tracer.type_inference.question import Question

COMPILER_SECONDS = 20.0  # to wait for Numba's compiler


@dataclass(frozen=True)
class Edit:
    """A change of some lines of a file."""

    __module__ = "tilescope"

    line: int  # the first changed one, from 1
    old: tuple[str, ...]  # the lines there; none where lines are inserted
    new: tuple[str, ...]  # their replacements


@dataclass(frozen=True)
class Finding:
    """A finding about launches, as `tilescope check` reports it; str() is the line that it prints."""

    __module__ = "tilescope"  # where users find it

    kind: str  # "race", "bounds", "uncoalesced", ...
    severity: Literal["error", "warning", "note"]
    message: str  # one sentence: number first, then cause, then remedy
    remedy: str  # what to change
    file: str  # the file of the line
    line: int  # from 1
    kernel: str  # name of the function
    fix: tuple[Edit, ...] = ()  # the remedy as changes of the file, if it was tried and works
    rule: str = ""  # the code of its rule, such as "TS101"
    confidence: str = ""  # "confirmed", "possible" or "advice"

    def __str__(self) -> str:
        return text_line(vars(self) | {"file": display_name(self.file)})


def display_name(file: str) -> str:
    """Return a file's name as in tracebacks: a notebook's cell, which is in no file, is "Cell In[3]"."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    name = getattr(getattr(shell, "compile", None), "format_code_name", lambda file: None)(file)
    return " ".join(name) if name else file


def findings_of(launches: Iterable[tuple[Trace, Question | None]]) -> tuple[Finding, ...]:
    """Collect the findings of launches, errors first; Numba's compiler answers all questions at once."""
    collector = FindingCollector(COMPILER_SECONDS)
    for trace, question in launches:
        collector.add(trace, question)
    return tuple(map(_public, collector.findings()))


def _public(data: FindingData) -> Finding:
    names = ("kind", "severity", "message", "remedy", "file", "line", "kernel", "rule", "confidence")
    fix = [Edit(edit["line"], tuple(edit["old"]), tuple(edit["new"])) for edit in data.get("fix", ())]
    return Finding(**{name: data[name] for name in names}, fix=tuple(fix))
