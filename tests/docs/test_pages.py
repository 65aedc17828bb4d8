"""The documentation agrees with the program: commands, options, files, and a page for each finding and counter."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest

from documents import commands_of, name_of, pages, prose_of
from folders import ROOT
from tilescope.app.cli.commands import RENAMED, SUBCOMMANDS, WINDOW, parser_of, subcommand_of
from tilescope.app.cli.main import main
from tilescope.app.explain.pages import FOLDER, page_code, page_names, page_path, page_title
from tilescope.kernels.scenarios.catalogue import names
from tilescope.tracer.model.counter_names import NAMES
from tilescope.tracer.model.rules import CODES, RULES

PAGES = {name_of(path): path.read_text(encoding="utf-8") for path in pages()}
# Words that stand for something, in commands that no one types as they are.
PLACEHOLDERS = re.compile(r"\b(?:[A-Z][A-Z]+|NAME)\b|\.\.\.")
COMMANDS = sorted({(name, command) for name, text in PAGES.items() for command in commands_of(text)})
SECTIONS = ("What happens on the GPU", "A kernel that shows it", "The fix", "Other tools", "False alarms")
COUNTER_SECTIONS = ("Definition", "Formula", "In Nsight Compute", "Differences", "Example")


@pytest.mark.parametrize(
    ("page", "command"), [c for c in COMMANDS if not PLACEHOLDERS.search(c[1])], ids=lambda text: text[:60]
)
def test_every_command_in_a_page_is_one(page, command):
    parser, words = subcommand_of(shlex.split(command)[1:])
    if not words and parser is not WINDOW:
        return  # the name of a command in a sentence
    if parser is WINDOW and words and not words[0].startswith("-"):
        assert words[0].endswith(".npz") or {word.partition(":")[0] for word in words} <= {*names()}
    try:
        assert parser.load().parse(parser_of(parser), words)
    except SystemExit as ended:  # after --help
        assert ended.code == 0


def parser_options(command):
    return {option for action in parser_of(command)._actions for option in action.option_strings}


def test_commands_are_listed_in_pages():
    assert len(COMMANDS) > 60
    assert ("README.md", "tilescope check homework.py") in COMMANDS
    assert not [command for _, command in COMMANDS if command.split()[1:2] and command.split()[1] in RENAMED]


def test_every_option_in_a_page_is_one():
    words_known = {option for command in (WINDOW, *SUBCOMMANDS) for option in parser_options(command)}
    words_known |= {
        "--user",
        "--clean",
        "--quick",
        "--track-unused-memory",
        "--tilescope",
        "--tilescope-fail-on",
        "--tilescope-update-snapshots",
    }  # of pip, script/docs, compute-sanitizer and pytest
    named = {
        (page, option)
        for page, text in PAGES.items()
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)
    }
    assert sorted((page, option) for page, option in named if option not in words_known) == []


def test_every_row_of_a_page_belongs_to_a_table():
    """A row after an empty line is shown as text, unless it begins a table."""
    starts = re.compile(r"\n\n(\|[^\n]*)\n?([^\n]*)")
    for name, text in PAGES.items():
        for row, following in starts.findall(text):
            assert following.startswith("| ---"), f"{name}: {row}"


def test_every_extra_in_a_page_is_one():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    named = {
        extra
        for text in PAGES.values()
        for listed in re.findall(r"tilescope\[([\w,]+)\]", text)
        for extra in listed.split(",")
    }
    assert named and named <= set(extras)


def test_links_of_the_readme_lead_to_files():
    links = [
        link.partition("#")[0]
        for link in re.findall(r"\]\((?!https?:)([^)]+)\)", prose_of(PAGES["README.md"]))
    ]
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_is_short():
    assert 6_000 <= len(PAGES["README.md"].encode()) <= 8_000


# --- pages about findings and counters


def test_each_finding_and_each_counter_has_a_page_and_nothing_else_does():
    files = {page_path(name) for name in page_names()}
    assert files == {*FOLDER.rglob("*.md")} and set(page_names()) == {*(rule.name for rule in RULES), *NAMES}


@pytest.mark.parametrize("name", page_names())
def test_a_page_has_all_its_sections(name):
    text = page_path(name).read_text(encoding="utf-8")
    code = page_code(name)
    sections = SECTIONS if code else COUNTER_SECTIONS
    assert text.startswith(f"# {name} ({code}): " if code else f"# {name}") and page_title(name)
    assert [f"\n## {section}\n" in text for section in sections] == [True] * len(sections)


@pytest.mark.parametrize("name", page_names())
def test_explain_prints_a_page_as_plain_text(name, capsys):
    assert main(["explain", *name.split()]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(name) and lines[0] == lines[0].strip()
    prose = [line for line in lines if not line.startswith("    ")]
    assert not re.search(r"<!--|\]\(|^#|```|\*\*", "\n".join(prose), re.MULTILINE)
    assert max(len(line) for line in prose if "  " not in line) <= 88


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("rase", "race"), ("bank_conflicts", "bank conflict"), ("global load sector", "global_load_sectors")],
)
def test_an_unknown_name_gets_a_suggestion(wrong, meant, capsys):
    assert main(["explain", wrong]) == 2
    assert f"did you mean {meant}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "spelled", ["bank conflict", "bank-conflict", "BANK_CONFLICT", "Global Load-sectors"]
)
def test_spaces_dashes_underscores_and_case_are_equal(spelled):
    assert page_path(spelled).exists()


def test_without_a_name_all_pages_are_listed(capsys):
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [re.split(r"  +", line)[1] for line in lines] == [*page_names()]
    assert [line[:5] for line in lines if line[0] == "T"] == sorted(CODES)


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_a_code_names_its_page(rule):
    assert page_path(rule.code) == page_path(rule.code.lower()) == page_path(rule.name)


def test_an_unknown_code_gets_those_of_its_family(capsys):
    assert main(["explain", "TS399"]) == 2
    assert "did you mean TS301?" in capsys.readouterr().err


# --- the site


@pytest.mark.skipif(
    not (ROOT / ".venv-docs" / "bin" / "zensical").exists(),
    reason="without .venv-docs, which script/docs makes",
)
def test_the_site_builds_without_a_broken_link(tmp_path):
    zensical = ROOT / ".venv-docs" / "bin" / "zensical"
    command = [sys.executable, "docs/generate", "--quick", "--zensical", zensical, "--out", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    site = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "site").rglob("*.html"))
    fetched = re.findall(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(https?://[^"]+)"', site)
    assert [address for address in fetched if 'rel="canonical"' not in address] == []


@pytest.mark.skipif(
    not (ROOT / ".venv-docs" / "bin" / "zensical").exists(),
    reason="without .venv-docs, which script/docs makes",
)
def test_a_broken_link_fails_the_build(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    with (tmp_path / "docs" / "pages" / "glossary.md").open("a", encoding="utf-8") as page:
        page.write("\n[nowhere](nowhere.md)\n")
    zensical = ROOT / ".venv-docs" / "bin" / "zensical"
    command = [
        sys.executable,
        tmp_path / "docs" / "generate",
        "--quick",
        "--zensical",
        zensical,
        "--out",
        tmp_path / "out",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "page does not exist" in done.stderr and "glossary.md:" in done.stderr
