"""Every block of code in the documentation runs, page by page, in a folder of the page."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict

import pytest

from documents import blocks_of, name_of, pages
from folders import ROOT
from programs import run_tilescope, run_together
from pytest_projects import run_pytest
from tilescope.app.cli.commands import WINDOW, subcommand_of
from tilescope.app.cli.main import main
from tilescope.app.explain.pages import page_path
from tilescope.tracer.model.counter_names import NAMES
from tilescope.tracer.model.rules import ORDER_DEPENDENCE, RULES

PAGES = {name_of(path): path.read_text(encoding="utf-8") for path in pages()}
# The README's blocks are run where what they print is asserted; kernels of findings below.
RUN = [
    name for name, text in PAGES.items()
    if name.startswith("docs/") and any(block.language in ("sh", "python") for block in blocks_of(text))
]  # fmt: skip
OWN_PROCESS = ("run", "check")
STATUS = {
    "check": (0, 1),
    "orders": (0, 1),
    "mutate": (0, 1),
    "devices": (0, 2),
}  # exit statuses of an example; 0 for other commands


def opens_the_window(words: list[str]) -> bool:
    command, rest = subcommand_of(words)
    presents = command.name == "lecture" and rest and not {"-o", "--check"} & {*rest}
    return command is WINDOW or command.name == "open" or bool(presents)


def run(line, folder):
    """Run one line of a block; return the words of a command that ran."""
    words = shlex.split(line)
    if words[:2] == ["pytest", "--tilescope"]:
        done = run_pytest(folder, *words[1:])
        assert done.returncode == 0, done.stdout + done.stderr
        return words
    if words[0] != "tilescope":
        assert words[:2] in (["pip", "install"], ["uv", "tool"]) or words == ["tilescope/script/run"], line
        return []
    if opens_the_window(words[1:]):
        return words
    name = subcommand_of(words[1:])[0].name
    if name in OWN_PROCESS:
        done = run_tilescope(*words[1:], folder=folder)
        assert done.returncode in STATUS.get(name, (0,)), done.stdout + done.stderr
    else:
        assert main(words[1:]) in STATUS.get(name, (0,)), line
    return words


@pytest.mark.parametrize("page", RUN)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    files, named = {}, set()
    for block in blocks_of(PAGES[page]):
        if block.language == "python":
            assert block.title, f"{page}: a block of Python has no title"
            (tmp_path / block.title).write_text(block.text)
            files[block.title] = block.text
        elif block.language == "sh":
            for line in block.text.splitlines():
                named |= {*run(line, tmp_path)}
    for name, text in files.items():
        if name not in named:
            run_python(name, text, tmp_path)


def run_python(name, text, folder):
    """Run a file that no command of the page names: an exercise, a test for pytest, or a program."""
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    if "# judge" in text:
        task = re.search(r"`{4}markdown\n(.*?)`{4}", PAGES["docs/pages/how-to/exercises.md"], re.DOTALL)[1]
        (folder / f"{name.removesuffix('.py')}.md").write_text(task)
        (folder / f"{name.removesuffix('.py')}.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
        assert main(["exercise", "--folder", str(folder)]) == 0
        return
    runner = (
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"] if name.startswith("test_") else []
    )
    done = subprocess.run(
        [sys.executable, *runner, name],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lecture_of_the_page_is_one(tmp_path, capsys):
    text = re.search(r"`{4}markdown\n(.*?)`{4}", PAGES["docs/pages/how-to/write-a-lecture.md"], re.DOTALL)[1]
    (tmp_path / "mine.md").write_text(text)
    assert main(["lecture", "--check", str(tmp_path / "mine.md")]) == 0, capsys.readouterr()


# --- pages about findings and counters


@pytest.fixture(scope="module")
def findings_by_file(tmp_path_factory):
    """Return the findings of the two kernels of each page, by file; one process runs nearly all of them."""
    folder = tmp_path_factory.mktemp("rules")
    for rule in RULES:
        blocks = blocks_of(page_path(rule.code).read_text(encoding="utf-8"))
        wrong, fixed = [block.text for block in blocks if block.language == "python"]
        (folder / f"{rule.code}_wrong.py").write_text(wrong)
        (folder / f"{rule.code}_fixed.py").write_text(fixed)
    reordered = [f"{ORDER_DEPENDENCE}_{kind}.py" for kind in ("wrong", "fixed")]
    others = sorted({path.name for path in folder.glob("*_*.py")} - {*reordered})
    by_file = defaultdict(list)
    for names, words in ((others, ()), (reordered, ("--schedules", "5"))):
        done = run_together("check", names, "--format", "json", *words, folder=folder)
        for finding in json.loads(done.stdout):
            by_file[finding["file"]].append((finding["rule"], finding["kind"]))
    return by_file


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_the_first_kernel_of_a_page_has_the_finding_and_the_second_has_none(rule, findings_by_file):
    assert {*findings_by_file[f"{rule.code}_wrong.py"]} == {(rule.code, rule.kind)}
    assert findings_by_file[f"{rule.code}_fixed.py"] == []
    assert {*findings_by_file} <= {f"{rule.code}_{kind}.py" for rule in RULES for kind in ("wrong", "fixed")}


def findings_of(file, folder, *words):
    done = run_tilescope("check", "--format", "json", *words, file, folder=folder)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_counter_has_that_counter(name, tmp_path, capsys):
    text = page_path(name).read_text(encoding="utf-8")
    programs = [block.text for block in blocks_of(text) if block.language == "python"]
    if programs:
        (tmp_path / "mine.py").write_text(programs[0])
        done = run_tilescope("run", "--quiet", "--json", "mine.json", "mine.py", folder=tmp_path)
        assert done.returncode == 0 and json.loads((tmp_path / "mine.json").read_text())["counters"][name] > 0
        return
    command = re.search(r"^    tilescope (.+)$", text, re.MULTILINE)[1]
    assert main(command.split()) == 0
    assert re.search(rf"^{name.replace('_', ' ')} +[1-9]", capsys.readouterr().out, re.MULTILINE)


# --- JSON


def test_every_key_of_the_json_is_described(tmp_path):
    text = PAGES["docs/pages/reference/json.md"]
    (tmp_path / "race.py").write_text(blocks_of(page_path("race").read_text(encoding="utf-8"))[0].text)
    run_tilescope("run", "--quiet", "--json", "launches.json", "race.py", folder=tmp_path)
    launch = json.loads((tmp_path / "launches.json").read_text())
    (finding,) = findings_of("race.py", tmp_path)
    of_launch, of_finding = text.split("## tilescope check")
    assert [key for key in launch if f"`{key}`" not in of_launch] == []
    assert [key for key in {**finding, **launch["findings"][0]} if f"`{key}`" not in of_finding] == []


def test_the_checkout_has_no_generated_page():
    listed = subprocess.run(
        ["git", "ls-files", "build", "docs"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        assert not [path for path in listed.stdout.split() if path.endswith((".html", ".png", ".npz"))]
