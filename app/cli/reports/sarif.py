"""Findings in the Static Analysis Results Interchange Format (SARIF) 2.1.0 of OASIS."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .... import __version__
from ....tracer.model.rules import RULES, Rule
from ...explain.pages import page_path, page_title
from .report import FindingData, Report, file_and_cell, not_traced_text, traced_text

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "note": "note"}
RANKS = {"confirmed": 90.0, "possible": 60.0, "advice": 20.0}  # of 100
FINGERPRINT = "tilescope/v1"
Json = dict[str, Any]


def sarif(report: Report) -> str:
    """Print one run: the rules, the results with both accesses of a race, and what was traced."""
    notifications = [_notification("note", traced_text(report.traced))] if report.traced["launches"] else []
    if gaps := not_traced_text(report.traced):
        notifications.append(_notification("warning", gaps))
    results = [_result(finding, report.has_baseline) for finding in (*report.findings, *report.suppressed)]
    driver = {
        "name": "Tilescope",
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in RULES],
    }
    invocation = {
        "executionSuccessful": report.is_complete and report.traced["launches"] > 0,
        "toolExecutionNotifications": notifications,
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "utf16CodeUnits",
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _notification(level: str, text: str) -> Json:
    return {"level": level, "message": {"text": text}}


def _rule(rule: Rule) -> Json:
    text = page_path(rule.code).read_text(encoding="utf-8").split("\n\n")[1]
    title = page_title(rule.name)
    return {
        "id": rule.code,
        "name": rule.name.title().replace(" ", ""),
        "shortDescription": {"text": f"{title[:1].upper()}{title[1:]}."},
        "fullDescription": {"text": text.replace("**", "").replace("`", "")},
        "help": {"text": f"`tilescope explain {rule.code}` prints the page about {rule.name}."},
    }


def _result(finding: FindingData, has_baseline: bool) -> Json:
    codes = [rule.code for rule in RULES]
    result: Json = {
        "ruleId": finding["rule"],
        "ruleIndex": codes.index(finding["rule"]),
        "level": LEVELS[finding["severity"]],
        "rank": RANKS[finding["confidence"]],
        "message": {"text": finding["message"]},
        "locations": [_location(finding["file"], finding["line"], kernel=finding.get("kernel", ""))],
        "partialFingerprints": {FINGERPRINT: finding["fingerprint"]},
        "properties": {"confidence": finding["confidence"], "kind": finding["kind"]},
    }
    if finding["places"]:
        result["relatedLocations"] = [
            _location(place["file"], place["line"], place["name"]) | {"id": number}
            for number, place in enumerate(finding["places"], 1)
        ]
    if finding.get("accesses"):
        result["codeFlows"] = [_code_flow(finding)]
    if finding.get("fix") and file_and_cell(finding["file"])[1] is None:
        result["fixes"] = [_fix(finding)]
    suppression = finding.get("suppression")
    result["suppressions"] = [_suppression(suppression)] if suppression else []
    if has_baseline:
        is_old = suppression is not None and suppression["by"] == "baseline"
        result["baselineState"] = "unchanged" if is_old else "new"
    return result


def _suppression(suppression: Json) -> Json:
    kind = "inSource" if suppression["by"] == "comment" else "external"
    return {"kind": kind, "status": "accepted", "justification": suppression["reason"]}


def _code_flow(finding: FindingData) -> Json:
    """Show each of the two accesses as the flow of its thread."""
    flows = [
        {
            "id": f"block {access['block']}, thread {access['thread']}",
            "locations": [
                {
                    "location": _location(access["file"], access["line"], access["text"]),
                    "executionOrder": number,
                }
            ],
        }
        for number, access in enumerate(finding["accesses"], 1)
    ]
    return {"message": {"text": "Nothing orders these two accesses."}, "threadFlows": flows}


def _location(file: str, line: int, text: str = "", kernel: str = "") -> Json:
    path, cell = file_and_cell(file)
    physical: Json = {"artifactLocation": {"uri": _uri(path)}}
    if cell is None:
        physical["region"] = {"startLine": line}
    else:  # the file of a notebook counts lines differently
        text = f"cell {cell}, line {line}{f': {text}' if text else ''}"
    location: Json = {"physicalLocation": physical}
    if text:
        location["message"] = {"text": text}
    if kernel:
        location["logicalLocations"] = [{"name": kernel, "kind": "function"}]
    return location


def _uri(path: str) -> str:
    """Return a relative path as a URI reference, an absolute one as a file URI."""
    if Path(path).is_absolute():
        return Path(path).as_uri()
    return quote(Path(path).as_posix(), errors="replace")


def _fix(finding: FindingData) -> Json:
    replacements = []
    for edit in finding["fix"]:
        region = {"startLine": edit["line"], "startColumn": 1}
        region |= {"endLine": edit["line"] + len(edit["old"]), "endColumn": 1}
        text = "".join(f"{line}\n" for line in edit["new"])
        replacements.append({"deletedRegion": region, "insertedContent": {"text": text}})
    change = {"artifactLocation": {"uri": _uri(finding["file"])}, "replacements": replacements}
    return {"description": {"text": finding["remedy"]}, "artifactChanges": [change]}
