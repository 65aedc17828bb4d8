"""Fingerprints of findings, which stay the same while lines move: for baselines and for code scanning."""

from __future__ import annotations

import hashlib
import linecache
from collections import Counter

from ..reports.report import FindingData


def source_line(file: str, line: int) -> str:
    """Return a line of a source file or of a notebook's cell without indentation, "" if it is not available."""
    return linecache.getline(file, line).strip()


def with_fingerprints(findings: list[FindingData], lines: list[str]) -> list[FindingData]:
    """Add `fingerprint` to findings: of the rule, file, kernel and text of the line, but not its number.

    Equal ones are numbered in the order of their lines. lines: the text of each finding's line.
    """
    keys = [
        "\0".join([f["rule"], f["file"].replace("\\", "/"), f.get("kernel", ""), line])
        for f, line in zip(findings, lines, strict=True)
    ]
    seen = Counter[str]()
    numbered: dict[int, FindingData] = {}
    for index in sorted(range(len(findings)), key=lambda i: findings[i]["line"]):
        digest = hashlib.sha256(keys[index].encode("utf-8", "surrogatepass")).hexdigest()[:24]
        seen[digest] += 1
        numbered[index] = findings[index] | {"fingerprint": f"{digest}-{seen[digest]}"}
    return [numbered[index] for index in range(len(findings))]
