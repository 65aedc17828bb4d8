"""Programs in the style of public code: each line that a comment marks has its verdict, and no other has an error.

The verdicts were written before the first run.
"""

from __future__ import annotations

import json
import re

from folders import DATA
from programs import run_tilescope

FOLDER = DATA / "public_style"
EXPECTED = re.compile(r"# expect: (TS\d{3}) (error|warning)$")
MAIN = """
import runpy, sys

for name in sys.argv[1:]:
    runpy.run_path(name)
"""


def expected_verdicts() -> set[tuple[str, int, str, str]]:
    return {
        (path.name, number, *match.groups())
        for path in FOLDER.glob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := EXPECTED.search(line))
    }


def test_verdicts_are_those_that_were_expected(tmp_path):
    files = sorted(path.name for path in FOLDER.glob("*.py"))
    assert len(files) >= 12
    for name in files:
        (tmp_path / name).write_text((FOLDER / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "main.py").write_text(MAIN)
    words = ("check", "--ignore", "TS8", "--output-format", "json", "main.py", "--")
    done = run_tilescope(*words, *files, folder=tmp_path)
    report = json.loads(done.stdout)
    assert report["complete"], done.stderr
    given = {
        (place["file"], place["line"], finding["rule"], finding["severity"])
        for finding in report["findings"]
        for place in [finding, *finding["places"]]
        if finding["severity"] != "note"
    }
    expected = expected_verdicts()
    assert expected - given == set()
    # Other lines may be named only by a finding about an expected one.
    wrong = {
        (finding["file"], finding["line"], finding["message"])
        for finding in report["findings"]
        if finding["severity"] != "note"
        and (finding["file"], finding["line"], finding["rule"], finding["severity"]) not in expected
    }
    assert wrong == set()
