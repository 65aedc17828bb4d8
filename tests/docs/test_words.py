"""`script/words` counts, and fails where a page has a long sentence or a banned phrase."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from folders import ROOT

FOLDERS = ("docs/pages", "docs/decisions", "resources/explain", "script")
LONG = " ".join(["word"] * 26)


def words(*options, root=ROOT):
    return subprocess.run(
        [sys.executable, root / "script" / "words", *options], capture_output=True, text=True, check=False
    )


@pytest.fixture
def copy(tmp_path):
    """Copy the pages and the script."""
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "README.md", tmp_path)
    return tmp_path


def test_pages_have_no_long_sentence_and_no_banned_phrase():
    done = words("--check")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "fault", [f"{LONG}.", "- This is told once.", "| a | Nobody reads it. |", f"One.\n{LONG}."]
)
def test_a_fault_in_a_page_is_reported_at_its_line(copy, fault):
    page = copy / "docs" / "pages" / "glossary.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    page.write_text("\n".join([*lines, "", fault, ""]), encoding="utf-8")
    done = words("--check", root=copy)
    assert done.returncode == 1
    (line,) = re.findall(r"^docs/pages/glossary\.md:(\d+): ", done.stderr, re.MULTILINE)
    assert int(line) >= len(lines)


def test_code_is_no_sentence(copy):
    page = copy / "docs" / "pages" / "glossary.md"
    page.write_text(
        f"{page.read_text(encoding='utf-8')}\n```text\n{LONG} told nobody\n```\n", encoding="utf-8"
    )
    assert words("--check", root=copy).returncode == 0
