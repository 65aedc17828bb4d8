"""A baseline: a file of findings that are accepted, each with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from ....tracer.model.rules import CODES
from ....tracer.storage.atomic_write import write_atomically
from ..common.arguments import UsageError
from ..reports.report import FindingData
from .chosen_rules import unknown_rule_text

VERSION = 1
KEYS = ("fingerprint", "rule", "file", "kernel", "text", "reason")


class BaselineEntry(NamedTuple):
    """An accepted finding."""

    fingerprint: str
    rule: str
    file: str
    kernel: str
    text: str  # of the line, for readers
    reason: str


class Baseline(NamedTuple):
    """The entries of a baseline file."""

    path: Path
    entries: tuple[BaselineEntry, ...] = ()

    def reason_of(self, fingerprint: str) -> str:
        """Return the reason why a finding is accepted, "" if it is not."""
        return next((entry.reason for entry in self.entries if entry.fingerprint == fingerprint), "")

    def with_findings(self, findings: list[FindingData], lines: list[str], reason: str) -> Baseline:
        """Return the baseline with more entries; entries that exist keep their reason."""
        old = {entry.fingerprint for entry in self.entries}
        new = [
            BaselineEntry(f["fingerprint"], f["rule"], f["file"], f.get("kernel", ""), line, reason)
            for f, line in zip(findings, lines, strict=True)
            if f["fingerprint"] not in old
        ]
        return self._replace(entries=(*self.entries, *new))

    def write(self) -> None:
        """Write the file atomically; raises UsageError."""
        data = {"version": VERSION, "entries": [entry._asdict() for entry in self.entries]}
        try:
            write_atomically(self.path, (json.dumps(data, indent=1) + "\n").encode())
        except OSError as error:
            raise UsageError(f"can't write {self.path}: {error.strerror}; choose another path.") from error


def read_baseline(path: Path, *, may_be_missing: bool = False) -> Baseline:
    """Read a baseline file; raises UsageError with the line for what can't be used."""
    if may_be_missing and not path.exists():
        return Baseline(path)
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text)
    except OSError as error:
        raise UsageError(f"can't read the baseline {path}: {error.strerror}.") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: the baseline is not JSON: {error.msg}.") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}:1: the baseline is not JSON.") from error
    if not isinstance(data, dict) or not isinstance(data.get("entries"), list):
        raise UsageError(f"{path}:1: the baseline has no list of entries.")
    if data.get("version") != VERSION:
        line = _line_of(text, '"version"')
        raise UsageError(
            f"{path}:{line}: the baseline has version {data.get('version')!r}, and not {VERSION}."
        )
    return Baseline(path, tuple(_entry(path, text, n, entry) for n, entry in enumerate(data["entries"], 1)))


def _entry(path: Path, text: str, number: int, data: object) -> BaselineEntry:
    if not isinstance(data, dict) or not all(isinstance(data.get(key, ""), str) for key in KEYS):
        raise UsageError(f"{path}:1: entry {number} of the baseline is not an object of texts.")
    entry = BaselineEntry(*(data.get(key, "") for key in KEYS))
    line = _line_of(text, json.dumps(entry.fingerprint))
    if not entry.fingerprint:
        raise UsageError(f"{path}:1: entry {number} of the baseline has no fingerprint.")
    if entry.rule not in CODES:
        raise UsageError(f"{path}:{line}: {unknown_rule_text(entry.rule)}")
    if not entry.reason.strip():
        raise UsageError(f"{path}:{line}: entry {number} of the baseline ({entry.rule}) has no reason.")
    return entry


def _line_of(text: str, part: str) -> int:
    return text[: max(text.find(part), 0)].count("\n") + 1
