"""The rules of the checker: a stable code for each, the kind of finding, and how sure a finding is."""

from __future__ import annotations

import re
from typing import NamedTuple

CONFIDENCES = ("confirmed", "possible", "advice")
PREFIX = re.compile(r"TS\d{0,3}")


class Rule(NamedTuple):
    """A rule, which `tilescope explain` describes under its code and its name."""

    code: str  # never changes, and is never used for another rule
    name: str
    kind: str  # of the findings, in FINDING_KINDS or OTHER_KINDS


# TS1xx races, TS2xx bounds, TS3xx barriers, TS4xx warps and masks, TS5xx unwritten memory, TS6xx refused by a GPU or
# by Numba, TS8xx waste, TS9xx about the check itself.
RULES = (
    Rule("TS101", "race", "race"),
    Rule("TS102", "order dependence", "race"),
    Rule("TS201", "bounds", "bounds"),
    Rule("TS301", "barrier", "barrier"),
    Rule("TS401", "warp mask", "barrier"),
    Rule("TS501", "unwritten", "unwritten"),
    Rule("TS601", "compile", "compile"),
    Rule("TS602", "launch", "launch"),
    Rule("TS603", "dtype mismatch", "dtype mismatch"),
    Rule("TS801", "uncoalesced", "uncoalesced"),
    Rule("TS802", "bank conflict", "bank conflict"),
    Rule("TS803", "idle lanes", "idle lanes"),
    Rule("TS804", "reloaded", "reloaded"),
    Rule("TS805", "overwritten", "overwritten"),
    Rule("TS806", "hot atomic", "hot atomic"),
    Rule("TS807", "float64", "float64"),
    Rule("TS808", "block size", "block size"),
    Rule("TS901", "part", "part"),
    Rule("TS902", "unused suppression", "suppression"),
)  # fmt: skip
OTHER_KINDS = ("suppression",)  # of findings about the text of a program, which no trace shows
CODES = frozenset(rule.code for rule in RULES)
RACE, ORDER_DEPENDENCE = "TS101", "TS102"
WARP_MASK = "TS401"
UNUSED_SUPPRESSION = "TS902"
_CODE_OF_KIND = {rule.kind: rule.code for rule in reversed(RULES)}
_RULES_BY_CODE = {rule.code: rule for rule in RULES}
_ADVICE = frozenset(rule.kind for rule in RULES if rule.code >= "TS8")


def rule_of(code: str) -> Rule:
    """Return the rule of a code; raises KeyError."""
    return _RULES_BY_CODE[code]


def code_of(kind: str) -> str:
    """Return the code of a kind of finding: that of its first rule."""
    return _CODE_OF_KIND[kind]


def confidence_of(kind: str, severity: str) -> str:
    """Grade how sure a finding is.

    confirmed: it happened in the launch. possible: another order of threads, or a GPU, may make it happen. advice: the
    results are right in any case.
    """
    if kind in _ADVICE or severity == "note":
        return "advice"
    if kind == "race" or (kind == "barrier" and severity == "warning"):
        return "possible"
    return "confirmed"


def is_code_prefix(text: str) -> bool:
    """Return True if a text is a code or the beginning of one: TS, TS1, TS101."""
    return bool(PREFIX.fullmatch(text)) and any(code.startswith(text) for code in CODES)
