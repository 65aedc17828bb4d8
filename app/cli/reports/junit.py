"""Findings as a report of JUnit, which every CI service reads."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from .report import FindingData, Report, traced_text
from .text import rule_text, text_line

UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0


def junit(report: Report) -> str:
    """Print a suite with a test case for each finding, which fails unless it is advice or suppressed.

    A run without findings is one test case that passes: readers refuse an empty suite. A program that did not end, or
    that launched no kernel, is one that has an error.
    """
    cases = [_case(finding) for finding in report.findings]
    cases += [_skipped(finding) for finding in report.suppressed]
    launches = report.traced["launches"]
    programs = report.programs or [
        {"program": report.program, "complete": report.is_complete, "launches": launches}
    ]
    broken = [_broken(part) for part in programs if not (part["complete"] and part["launches"])]
    passed = [] if cases or broken else [_passed(part["program"]) for part in programs]
    cases += broken + passed
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
    }
    suites = ElementTree.Element("testsuites", {"name": "tilescope", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": _printable(report.program), **counts})
    suite.extend(cases)
    if report.traced["launches"]:
        ElementTree.SubElement(suite, "system-out").text = traced_text(report.traced)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(finding: FindingData) -> ElementTree.Element:
    name = f"{finding['rule']} {finding['kind']} at {finding['file']}:{finding['line']}"
    case = ElementTree.Element(
        "testcase", name=_printable(name), classname=_printable(finding.get("kernel") or finding["file"])
    )
    if finding["confidence"] == "advice":
        ElementTree.SubElement(case, "system-out").text = _printable(text_line(finding))
    else:
        message = _printable(finding["message"] + rule_text(finding))
        failure = ElementTree.SubElement(case, "failure", message=message, type=finding["rule"])
        failure.text = _printable(text_line(finding))
    return case


def _skipped(finding: FindingData) -> ElementTree.Element:
    case = _case(finding)
    for child in list(case):
        case.remove(child)
    ElementTree.SubElement(case, "skipped", message=_printable(finding["suppression"]["reason"]))
    return case


def _passed(program: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", name="no findings", classname=_printable(program))


def _broken(part: dict[str, Any]) -> ElementTree.Element:
    case = ElementTree.Element("testcase", name="the program", classname=_printable(part["program"]))
    message = "it launched no kernel" if part["complete"] else "it did not run to its end"
    ElementTree.SubElement(case, "error", message=message, type="program")
    return case


def _printable(text: str) -> str:
    return UNPRINTABLE.sub("?", text)
