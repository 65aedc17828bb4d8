"""The formats of `check`: a consumer reads each back, and several outputs come from one run."""

from __future__ import annotations

import json
import os
import re
from xml.etree import ElementTree

import jsonschema
import pytest

from folders import ROOT
from programs import COPY, RACE, run_tilescope
from tilescope import __version__
from tilescope.tracer.model.rules import CODES, RULES

NEVER = "\n@cuda.jit\ndef never(out):\n    out[0] = 1\n"
# The schema of OASIS for "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", as Microsoft's SARIF
# Multitool 5.7.0 contains it.
SARIF = json.loads((ROOT / "tests" / "data" / "sarif-2.1.0.schema.json").read_text(encoding="utf-8"))

TEXT, LINE = {"type": "string", "minLength": 1}, {"type": "integer", "minimum": 1}
REPORT = json.loads((ROOT / "resources" / "check-report-1.schema.json").read_text(encoding="utf-8"))


def closed(required: dict[str, object], **optional: object) -> dict[str, object]:
    """Return the schema of an object without other keys."""
    properties = required | optional
    return {
        "type": "object", "required": [*required], "properties": properties, "additionalProperties": False,
    }  # fmt: skip


# After "Code Quality report format" in GitLab's documentation.
GITLAB = {
    "type": "array",
    "items": closed(
        {
            "description": TEXT, "check_name": TEXT, "fingerprint": TEXT,
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": closed({"path": {"type": "string", "pattern": "^[^/.]"}, "lines": closed({"begin": LINE})}),
        }
    ),
}  # fmt: skip
# After reviewdog.proto, "Reviewdog Diagnostic Format", in its JSON form.
RANGE = closed({"start": closed({"line": LINE}, column=LINE)}, end=closed({"line": LINE}, column=LINE))
RDJSON = closed(
    {
        "source": closed({"name": TEXT}, url=TEXT),
        "diagnostics": {
            "type": "array",
            "items": closed(
                {"message": TEXT, "location": closed({"path": TEXT}, range=RANGE)},
                severity={"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]},
                code=closed({"value": TEXT}, url=TEXT),
                suggestions={"type": "array", "items": closed({"range": RANGE, "text": {"type": "string"}})},
            ),
        },
    }
)  # fmt: skip


def read_workflow_command(line: str) -> tuple[str, dict[str, str], str]:
    """Read a line as GitHub's runner does ("Workflow commands for GitHub Actions"): name, properties and message."""
    match = re.fullmatch(r"::(\w+)(?: ([^:]*))?::(.*)", line)
    assert match, line
    properties = dict(part.split("=", 1) for part in match[2].split(","))
    more = (("%3A", ":"), ("%2C", ","))
    return match[1], {key: _decoded(text, more) for key, text in properties.items()}, _decoded(match[3])


def _decoded(text: str, more: tuple[tuple[str, str], ...] = ()) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), *more, ("%25", "%")):
        text = text.replace(code, character)
    return text


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Return the text of each format, all from one run, and the process."""
    folder = tmp_path_factory.mktemp("formats")
    (folder / "race.py").write_text(RACE + NEVER)
    names = ("full", "json", "github", "gitlab", "junit", "sarif", "rdjson")
    words = [word for name in names for word in ("--output-format", f"{name}={name}.out")]
    done = run_tilescope("check", *words, "race.py", folder=folder)
    return {name: (folder / f"{name}.out").read_text(encoding="utf-8") for name in names} | {"done": done}


def test_standard_output_is_concise_next_to_files(outputs):
    done = outputs["done"]
    assert done.returncode == 1
    assert re.fullmatch(r"race\.py:10: error: race: 64 elements .*\. \[TS101 possible\]\n", done.stdout)


def test_every_run_states_what_it_traced_and_what_not(outputs):
    assert outputs["done"].stderr.splitlines()[-2:] == [
        "tilescope: 1 launch of 1 kernel traced: 1 block, lockstep.",
        "tilescope: not traced: never (race.py:15), of which no launch ran.",
    ]


def test_full_shows_the_source_and_both_accesses(outputs):
    lines = outputs["full"].splitlines()
    assert "> 10 |     out[t] = tile[63 - t]" in lines and "   9 |     tile[t] = t" in lines
    assert "  race.py:9: thread 63 of block 0 writes tile[63] = 63" in lines
    assert "  race.py:10: thread 0 of block 0 reads tile[63] = 63" in lines
    assert "  = tilescope explain TS101 (race)" in lines


def test_json_matches_its_schema(outputs):
    report = json.loads(outputs["json"])
    jsonschema.Draft202012Validator(REPORT).validate(report)
    (finding,) = report["findings"]
    # The barrier of the fix changes no counter: 2 stores and 2 loads of shared memory by warps, without conflicts.
    assert finding["counters"]["shared_requests"] == {"before": 4, "after": 4}
    assert (finding["rule"], finding["confidence"], finding["kind"]) == ("TS101", "possible", "race")
    assert [(a["line"], a["thread"]) for a in finding["accesses"]] == [(9, 63), (10, 0)]


def test_sarif_is_valid_and_shows_both_accesses(outputs):
    log = json.loads(outputs["sarif"])
    jsonschema.Draft202012Validator(SARIF).validate(log)
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["semanticVersion"]) == ("Tilescope", __version__)
    assert {rule["id"] for rule in driver["rules"]} == CODES
    (result,) = run["results"]
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "TS101"
    flows = result["codeFlows"][0]["threadFlows"]
    places = [flow["locations"][0]["location"]["physicalLocation"] for flow in flows]
    assert [place["region"]["startLine"] for place in places] == [9, 10]
    assert [flow["id"] for flow in flows] == ["block 0, thread 63", "block 0, thread 0"]
    assert run["invocations"][0]["executionSuccessful"] is True
    replacement = result["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert replacement["insertedContent"]["text"] == "    cuda.syncthreads()\n"
    assert replacement["deletedRegion"]["startLine"] == replacement["deletedRegion"]["endLine"] == 10


def test_a_reader_of_junit_counts_one_failure(outputs):
    suites = ElementTree.fromstring(outputs["junit"])
    suite = suites.find("testsuite")
    cases = suite.findall("testcase")
    failures = [case.find("failure") for case in cases]
    assert suites.tag == "testsuites" and suite.get("tests") == suite.get("failures") == "1"
    assert cases[0].get("name") == "TS101 race at race.py:10" and cases[0].get("classname") == "shift"
    assert failures[0].get("type") == "TS101" and "syncthreads" in failures[0].get("message")


def test_gitlab_gets_the_required_keys(outputs):
    report = json.loads(outputs["gitlab"])
    jsonschema.Draft202012Validator(GITLAB).validate(report)
    (issue,) = report
    assert issue["location"] == {"path": "race.py", "lines": {"begin": 10}}


def test_reviewdog_gets_the_remedy_as_a_suggestion(outputs):
    report = json.loads(outputs["rdjson"])
    jsonschema.Draft202012Validator(RDJSON).validate(report)
    (diagnostic,) = report["diagnostics"]
    assert report["source"]["name"] == "tilescope" and diagnostic["code"] == {"value": "TS101"}
    assert diagnostic["location"] == {"path": "race.py", "range": {"start": {"line": 10}}}
    (suggestion,) = diagnostic["suggestions"]
    lines = RACE.splitlines(keepends=True)
    start, end = (suggestion["range"][key]["line"] - 1 for key in ("start", "end"))
    lines[start:end] = [suggestion["text"]]
    assert "".join(lines).index("cuda.syncthreads()") < "".join(lines).index("out[t]")


def test_github_gets_an_annotation(outputs):
    (line,) = outputs["github"].splitlines()
    name, properties, message = read_workflow_command(line)
    assert (name, properties) == ("error", {"file": "race.py", "line": "10", "title": "race"})
    assert message.startswith("64 elements ") and message.endswith(" [TS101 possible]")


@pytest.mark.parametrize("name", ["json", "sarif", "junit", "gitlab", "rdjson", "github", "full"])
def test_a_clean_program_is_reported_in_each_format(name, tmp_path):
    (tmp_path / "copies.py").write_text(COPY)
    done = run_tilescope("check", "--output-format", name, "copies.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    if name == "junit":
        suite = ElementTree.fromstring(done.stdout).find("testsuite")
        assert [case.get("name") for case in suite.findall("testcase")] == ["no findings"]
    elif name == "sarif":
        assert json.loads(done.stdout)["runs"][0]["results"] == []
    elif name == "json":
        assert json.loads(done.stdout)["findings"] == []
    elif name == "rdjson":
        assert json.loads(done.stdout)["diagnostics"] == []
    else:
        assert done.stdout == {"gitlab": "[]\n", "github": "", "full": "no findings\n"}[name]


def test_a_program_that_ends_early_fails_in_junit_and_sarif(tmp_path):
    (tmp_path / "copies.py").write_text(COPY + "raise ValueError(1)\n")
    words = ("--output-format", "junit=j.xml", "--output-format", "sarif=s.json")
    assert run_tilescope("check", *words, "copies.py", folder=tmp_path).returncode == 2
    suite = ElementTree.parse(tmp_path / "j.xml").getroot().find("testsuite")
    assert suite.get("errors") == "1" and suite.find("testcase/error") is not None
    invocation = json.loads((tmp_path / "s.json").read_text())["runs"][0]["invocations"][0]
    assert invocation["executionSuccessful"] is False


def test_fingerprints_stay_while_lines_move(tmp_path):
    (tmp_path / "race.py").write_text(RACE)
    before = _fingerprint(tmp_path)
    (tmp_path / "race.py").write_text(RACE.replace("import sys\n", "import sys\n\n\n# a comment\n"))
    assert _fingerprint(tmp_path) == before
    (tmp_path / "race.py").write_text(RACE.replace("63 - t", "(63 - t)"))
    assert _fingerprint(tmp_path) != before


def _fingerprint(folder):
    done = run_tilescope("check", "--output-format", "sarif", "race.py", folder=folder)
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    return result["partialFingerprints"]["tilescope/v1"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--output-format", "xml"], "must be one of concise, full, json"),
        (["--output-format", "sarif="], "must be one of concise, full, json"),
        (["--output-format", "json", "--output-format", "sarif"], "two outputs go to one place"),
        (["--output-format", "sarif=no/such/folder/x"], "can't write"),
    ],
)
def test_an_output_that_is_not_possible_ends_with_status_2(words, sentence, tmp_path):
    (tmp_path / "copies.py").write_text(COPY)
    done = run_tilescope("check", *words, "copies.py", folder=tmp_path)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr


def test_advice_is_printed_once_for_each_kernel(tmp_path):
    text = (ROOT / "resources" / "explain" / "findings" / "float64.md").read_text(encoding="utf-8")
    kernel = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    (tmp_path / "slow.py").write_text(kernel)
    done = run_tilescope("check", "slow.py", folder=tmp_path)
    rules = re.findall(r"\[(TS\d+) advice", done.stdout)
    assert rules and len(set(rules)) == len(rules)


def test_each_rule_belongs_to_a_kind_and_codes_are_unique():
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.skipif(os.name == "nt", reason="a line end in the name of a file")
def test_the_name_of_a_file_does_not_break_a_format(tmp_path):
    name = "a\n::error::b `c` |d|&<e>.py"
    (tmp_path / name).write_text(RACE)
    words = [
        word
        for f in ("json", "gitlab", "junit", "sarif", "rdjson")
        for word in ("--output-format", f"{f}={f}")
    ]
    words += ["--output-format", "markdown=markdown", "--output-format", "github"]
    done = run_tilescope("check", *words, name, folder=tmp_path)
    assert done.returncode == 1 and len(done.stdout.splitlines()) == 1, done.stderr
    schemas = {"json": REPORT, "gitlab": GITLAB, "sarif": SARIF, "rdjson": RDJSON}
    for form, schema in schemas.items():
        data = json.loads((tmp_path / form).read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(data)
    _, properties, _ = read_workflow_command(done.stdout.rstrip("\n"))
    assert properties["line"] == "10" and properties["file"].endswith(" `c` |d|&<e>.py")
    case = ElementTree.parse(tmp_path / "junit").getroot().find("testsuite/testcase")
    assert "<e>.py:10" in case.get("name")
    listed = [line for line in (tmp_path / "markdown").read_text().splitlines() if line.startswith("- ")]
    assert len(listed) == 1 and "`c`" not in listed[0]
