"""Check several programs, each in its own process, and report on them as one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..common.text_output import print_error
from ..policy.configuration import Configuration
from ..reports.json_report import json_object
from ..reports.report import FindingData, Report, merged_traced, traced_data
from .check_conclusion import Conclusion
from .check_settings import CheckSettings
from .command_line import SEPARATOR, split_command_line
from .findings_output import sort_findings
from .program_to_run import ProgramToRun
from .run_as_main import INTERRUPTED

PASSED_ON = (
    "engine", "schedule", "seed", "resident", "blocks", "patience", "select", "ignore", "baseline", "schedules",
)  # fmt: skip
FLAGS = ("stop_at_errors", "counters", "try_advice")
FINDINGS_REPORTED = (0, 1)  # statuses of a check that went to its end
FAILED = 2  # the status of a check of a program that failed


def check_project(chosen: Namespace, configuration: Configuration, settings: CheckSettings) -> int:
    """Check the programs of a project; return the worst of their statuses.

    Names of files are relative to the folder of pyproject.toml. Raises ProgramError before the first runs if one is
    missing, and UsageError if one is no program.
    """
    words = _words(chosen)
    os.chdir(configuration.folder)
    for program in configuration.programs:
        split_command_line(program)[1].find()
    return _check("the project", [list(program) for program in configuration.programs], words, settings)


def check_programs(chosen: Namespace, programs: Sequence[ProgramToRun], settings: CheckSettings) -> int:
    """Check files one after the other; return the worst of their statuses.

    Raises ProgramError before the first runs if one is missing.
    """
    for program in programs:
        program.find()
    lines = [[program.name, SEPARATOR, *program.arguments] for program in programs]
    return _check(", ".join(program.name for program in programs), lines, _words(chosen), settings)


def _check(name: str, programs: Sequence[list[str]], words: list[str], settings: CheckSettings) -> int:
    """Check each program in a separate process, and report on all of them.

    name: of the run. programs: the words of each. words: the options for each.
    """
    reports: list[dict[str, Any]] = []
    for number, program in enumerate(programs, 1):
        folder = ["--witnesses", str(settings.witnesses / str(number))] if settings.witnesses else []
        shown = " ".join(word for word in program if word != SEPARATOR)
        print_error(f"checking {shown}")
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
        if done.returncode == INTERRUPTED:
            return INTERRUPTED
        reports.append(_report(done.stdout, shown) | {"status": done.returncode})
    report = _merged(name, reports, settings)
    launched = report.traced["launches"] > 0 or bool(report.findings)
    failed = not all(part["status"] in FINDINGS_REPORTED for part in reports)
    concluded = Conclusion(settings, Path.cwd(), sys.stdout).conclude(report, int(failed), launched)
    return max(concluded, FAILED) if failed else concluded


def _words(chosen: Namespace) -> list[str]:
    """Return the options that the check of each program gets."""
    words = []
    chosen.try_advice = chosen.try_advice or chosen.fix or chosen.diff
    for name in PASSED_ON:
        value = getattr(chosen, name)
        if value is None:
            continue
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [f"--{name}", str(Path(text).absolute()) if name == "baseline" else text]
    words += ["--baseline-may-be-missing"] if chosen.add_to_baseline else []
    return [*words, *(f"--{flag.replace('_', '-')}" for flag in FLAGS if getattr(chosen, flag))]


def _report(output: bytes, name: str) -> dict[str, Any]:
    """Parse the report of a program; one that printed none launched nothing."""
    try:
        data: dict[str, Any] = json.loads(output)
    except ValueError:
        data = json.loads(json_object(Report(name, [], [], traced_data(), False, {})))
    return data


def _merged(name: str, reports: list[dict[str, Any]], settings: CheckSettings) -> Report:
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
        name,
        sort_findings(_different(findings)),
        suppressed,
        merged_traced([report["traced"] for report in reports]),
        all(report["complete"] for report in reports),
        counts,
        settings.policy.baseline is not None,
        [launch | {"launch": number} for number, launch in enumerate(launches)] if has_counters else None,
        [
            {"program": part["program"], "complete": part["complete"], "launches": part["traced"]["launches"]}
            for part in reports
        ],
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
