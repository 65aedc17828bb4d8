"""Check all programs that pyproject.toml lists, each in its own process, and report on them as one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from ..common.text_output import print_error
from ..policy.configuration import Configuration
from ..reports.report import FindingData, Report, merged_traced
from .check_conclusion import Conclusion
from .check_settings import CheckSettings
from .findings_output import sort_findings
from .run_as_main import INTERRUPTED

PASSED_ON = (
    "engine", "schedule", "seed", "resident", "blocks", "patience", "select", "ignore", "baseline", "schedules",
)  # fmt: skip
FLAGS = ("stop_at_errors", "counters")
FINDINGS_REPORTED = (0, 1)  # statuses of a check that went to its end


def check_project(chosen: Namespace, configuration: Configuration, settings: CheckSettings) -> int:
    """Check the programs of a project; return the status as for one program.

    Names of files are relative to the folder of pyproject.toml.
    """
    words = _words(chosen)
    os.chdir(configuration.folder)
    reports, statuses = [], []
    for number, program in enumerate(configuration.programs, 1):
        folder = ["--witnesses", str(settings.witnesses / str(number))] if settings.witnesses else []
        name = " ".join(program)
        print_error(f"checking {name}")
        command = [
            sys.executable,
            "-P",
            "-m",
            "tilescope",
            "check",
            "--output-format",
            "json",
            *words,
            *folder,
            *program,
        ]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        except KeyboardInterrupt:
            return INTERRUPTED
        statuses.append(done.returncode)
        data = _report(done.stdout)
        if data is not None:
            reports.append(data)
    if INTERRUPTED in statuses:
        return INTERRUPTED
    failed = any(status not in FINDINGS_REPORTED for status in statuses)
    report = _merged(reports, settings, is_complete=not failed)
    launched = report.traced["launches"] > 0 or bool(report.findings)
    return Conclusion(settings, configuration.folder, sys.stdout).conclude(report, int(failed), launched)


def _words(chosen: Namespace) -> list[str]:
    """Return the options that the check of each program gets."""
    words = []
    for name in PASSED_ON:
        value = getattr(chosen, name)
        if value is None or (name == "baseline" and chosen.add_to_baseline):
            continue
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [f"--{name}", str(Path(text).absolute()) if name == "baseline" else text]
    return [*words, *(f"--{flag.replace('_', '-')}" for flag in FLAGS if getattr(chosen, flag))]


def _report(output: bytes) -> dict[str, Any] | None:
    try:
        data: dict[str, Any] = json.loads(output)
    except ValueError:
        return None
    return data


def _merged(reports: list[dict[str, Any]], settings: CheckSettings, *, is_complete: bool) -> Report:
    """Merge reports: equal findings are one, and a comment is unused if no program needs it."""
    suppressed = _different([f for report in reports for f in report["suppressed"]])
    used = {(f["file"], f["suppression"].get("line")) for f in suppressed}
    findings = [
        f for report in reports for f in report["findings"]
        if f["kind"] != "suppression" or (f["file"], f["line"]) not in used
    ]  # fmt: skip
    counts: dict[str, int] = {}
    for report in reports:
        for code, number in report["not_selected"].items():
            counts[code] = counts.get(code, 0) + number
    launches = [launch for report in reports for launch in report.get("launches", [])]
    has_counters = any("launches" in report for report in reports)
    return Report(
        "the project",
        sort_findings(_different(findings)),
        suppressed,
        merged_traced([report["traced"] for report in reports]),
        is_complete,
        counts,
        settings.policy.baseline is not None,
        [launch | {"launch": number} for number, launch in enumerate(launches)] if has_counters else None,
    )


def _different(findings: list[FindingData]) -> list[FindingData]:
    """Join a notebook's file and cell again, and keep the first of equal findings."""
    joined = [_with_cells(finding) for finding in findings]
    return list({(f["rule"], f["file"], f["line"], f["message"]): f for f in reversed(joined)}.values())[::-1]


def _with_cells(finding: FindingData) -> FindingData:
    places = [_with_cell(place) for place in finding["places"]]
    accesses = [_with_cell(access) for access in finding["accesses"]]
    return _with_cell(finding) | {"places": places, "accesses": accesses}


def _with_cell(data: dict[str, Any]) -> dict[str, Any]:
    from ....tracer.model.notebook_cells import cell_file

    if "cell" not in data:
        return data
    return {key: value for key, value in data.items() if key != "cell"} | {
        "file": cell_file(data["file"], data["cell"])
    }
