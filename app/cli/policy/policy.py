"""Decide which findings of a run are reported, which are suppressed, and which comments suppress nothing."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ....tracer.model.rules import UNUSED_SUPPRESSION, confidence_of, rule_of
from ..reports.report import FindingData
from .baseline import Baseline
from .chosen_rules import ChosenRules, matches_file
from .fingerprints import source_line, with_fingerprints
from .suppressions import Suppression, read_suppressions

Lines = tuple[str, int, int]  # a file with a first and a last line
CPP_ENDINGS = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp", ".c")


class Coverage(NamedTuple):
    """What a run can judge: files with launched kernels, and kernels that were never launched."""

    files: tuple[str, ...]
    not_launched: tuple[Lines, ...]
    is_complete: bool

    def judges(self, file: str, line: int) -> bool:
        """Return True if a comment on a line must have an effect, because the code there ran."""
        skipped = any(file == other and first <= line <= last for other, first, last in self.not_launched)
        return self.is_complete and file in self.files and not skipped


class Judged(NamedTuple):
    """The findings of a run, sorted out."""

    findings: list[FindingData]
    suppressed: list[FindingData]
    not_selected: dict[str, int]  # the number of findings of rules or files that were not chosen, by code


class Policy(NamedTuple):
    """The rules, the files and the baseline of a check."""

    rules: ChosenRules = ChosenRules()
    paths: tuple[str, ...] = ()  # patterns of the files to report about; none for all
    baseline: Baseline | None = None

    def judge(self, findings: list[FindingData], coverage: Coverage, named: Callable[[str], str]) -> Judged:
        """Sort findings out; raises SuppressionError for a comment that is no valid suppression.

        named: returns the name under which a file is reported.
        """
        chosen = [f for f in findings if self._reports(f["rule"], f["file"])]
        left_out = Counter(f["rule"] for f in findings) - Counter(f["rule"] for f in chosen)
        files = dict.fromkeys([*coverage.files, *(f["file"] for f in chosen)])
        comments = {file: self._comments(file, named) for file in files}
        lines = [source_line(f["file"], f["line"]) for f in chosen]
        reported = with_fingerprints([_renamed(f, named) for f in chosen], lines)
        kept, suppressed = [], []
        for finding, entry in zip(chosen, reported, strict=True):
            if suppression := self._suppression(finding, entry["fingerprint"], comments):
                suppressed.append(entry | {"suppression": suppression})
            else:
                kept.append(entry)
        unused = self._unused(chosen, coverage, comments)
        unused_lines = [source_line(f["file"], f["line"]) for f in unused]
        kept += with_fingerprints([_renamed(f, named) for f in unused], unused_lines)
        return Judged(kept, suppressed, dict(left_out))

    def _reports(self, code: str, file: str) -> bool:
        is_inside = not self.paths or any(matches_file(p, file, self.rules.folder) for p in self.paths)
        return is_inside and self.rules.reports(code, file)

    def _comments(self, file: str, named: Callable[[str], str]) -> list[Suppression]:
        return read_suppressions(named(file), "".join(linecache.getlines(file)), is_cpp_file(file))

    def _suppression(
        self, finding: FindingData, fingerprint: str, comments: dict[str, list[Suppression]]
    ) -> dict[str, Any] | None:
        """Find the reason that suppresses a finding: comments on all its lines, or the baseline."""
        covering = [
            _covering(comments.get(file, ()), line, finding["rule"]) for file, line in _lines_of(finding)
        ]
        if all(covering) and covering[0] is not None:
            return {"by": "comment", "reason": covering[0].reason, "line": covering[0].line}
        reason = self.baseline.reason_of(fingerprint) if self.baseline else ""
        return {"by": "baseline", "reason": reason} if reason else None

    def _unused(
        self, findings: list[FindingData], coverage: Coverage, comments: dict[str, list[Suppression]]
    ) -> list[FindingData]:
        """Return a finding for each comment that suppresses nothing of a rule that is reported."""
        lines = {(f["rule"], *place) for f in findings for place in _lines_of(f)}
        unused = []
        for file, listed in comments.items():
            for comment in listed:
                codes = [
                    code for code in comment.codes
                    if self._reports(code, file)
                    and not any((code, file, n) in lines for n in range(comment.first, comment.last + 1))
                ]  # fmt: skip
                is_judged = coverage.judges(file, comment.first) and self._reports(UNUSED_SUPPRESSION, file)
                if codes and is_judged:
                    unused.append(_unused_finding(file, comment, codes))
        return unused


def read_script(file: str, name: str) -> None:
    """Check the comments of a script before it runs; raises SuppressionError."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    read_suppressions(name, text, is_cpp_file(file))


def is_cpp_file(file: str) -> bool:
    """Return True for a source file in C++."""
    return file.lower().endswith(CPP_ENDINGS)


def _lines_of(finding: FindingData) -> list[tuple[str, int]]:
    return [(finding["file"], finding["line"]), *((p["file"], p["line"]) for p in finding["places"])]


def _covering(comments: Sequence[Suppression], line: int, code: str) -> Suppression | None:
    return next((c for c in comments if c.first <= line <= c.last and code in c.codes), None)


def _renamed(finding: FindingData, named: Callable[[str], str]) -> FindingData:
    places = [place | {"file": named(place["file"])} for place in finding["places"]]
    accesses = [access | {"file": named(access["file"])} for access in finding.get("accesses", [])]
    return finding | {"file": named(finding["file"]), "places": places, "accesses": accesses}


def _unused_finding(file: str, comment: Suppression, codes: list[str]) -> FindingData:
    names = " and ".join(f"{code} ({rule_of(code).name})" for code in codes)
    rule = rule_of(UNUSED_SUPPRESSION)
    remedy = "delete it" if len(codes) == len(comment.codes) else f"delete {', '.join(codes)} from it"
    message = f"1 comment suppresses {names}, which no launch has on its line; {remedy}."
    return {
        "kind": rule.kind, "severity": "warning", "file": file, "line": comment.line, "count": 1, "message": message,
        "remedy": remedy, "moment": 0, "threads": [], "name": "", "places": [], "kernel": "", "launches": 0,
        "rule": rule.code, "confidence": confidence_of(rule.kind, "warning"), "accesses": [],
    }  # fmt: skip
