"""One table of commands: README, --help and the completion scripts agree with it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest

from folders import ROOT
from tilescope.app.cli.commands import RENAMED, SUBCOMMANDS, WINDOW, parser_of, subcommand_of
from tilescope.app.cli.completion import SHELLS
from tilescope.app.cli.main import main
from tilescope.app.cli.programs.command_line import OPTIONS_WITH_VALUE
from tilescope.app.exercises.model.library import exercises_in
from tilescope.app.lectures.model.library import lecture_name, shipped_lectures
from tilescope.kernels.scenarios.catalogue import find, names
from tilescope.tracer.model.plan import SPEC_OPTIONS

README = (ROOT / "README.md").read_text(encoding="utf-8")
# A line of code that begins with the command, and what is said of it two spaces or more to the right.
LINE = re.compile(r"^ +(?:- run: )?tilescope\b ?(.*?)(?:  +(.*))?$", re.MULTILINE)


def options_of(command):
    """Return {an option's string: its action}."""
    return {string: a for a in parser_of(command)._actions for string in a.option_strings}


# --- README


@pytest.mark.parametrize("line", sorted({line for line, _ in LINE.findall(README)}))
def test_every_command_line_in_readme_is_one(line):
    command, words = subcommand_of(shlex.split(line))
    assert command.load().parse(parser_of(command), words)


def test_every_option_in_readme_is_one():
    options = {option for command in (WINDOW, *SUBCOMMANDS) for option in options_of(command)}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)) <= options


def test_script_run_hands_every_command_on_also_without_a_display():
    taken = re.search(
        r"^ +(list \|.*) -\*\)$", (ROOT / "script" / "run").read_text(encoding="utf-8"), re.MULTILINE
    )
    first_words = dict.fromkeys(command.name.split()[0] for command in SUBCOMMANDS)
    assert set(taken[1].replace("|", " ").split()) == {*first_words, *RENAMED}


# --- the words of a program


def test_options_before_a_script_take_a_value_where_their_parsers_say_so():
    run, check = (options_of(subcommand_of([name])[0]) for name in ("run", "check"))
    assert {option for option, action in {**run, **check}.items() if action.nargs != 0} == set(
        OPTIONS_WITH_VALUE
    )


# --- completion


@pytest.fixture
def script(capsys):
    """Return the script that a shell reads."""

    def printed(shell):
        assert main(["completion", shell]) == 0
        return capsys.readouterr().out

    return printed


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_has_every_command_option_choice_and_scenario(shell, script):
    words = set(re.findall(r"[\w-]+", script(shell)))
    kept = {*map(lecture_name, shipped_lectures()), *(exercise.name for exercise in exercises_in()[0])}
    assert kept | {p.name for name in names() for p in find(name).parameters} <= words
    bare = len("--") if shell == "fish" else 0  # which has options without their dashes
    for command in (WINDOW, *SUBCOMMANDS):
        assert {*command.name.split(), *names()} <= words
        for option, action in options_of(command).items():
            assert option[bare:] in words or option[1:] in words
            assert {*map(str, action.choices or ())} <= words


def test_fish_describes_commands(script):
    text = script("fish").replace("\\'", "'")
    assert all(f"-a {c.name.split()[0]} -d '{c.help}'\n" in text for c in SUBCOMMANDS)


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shutil.which(shell)])
def test_a_script_is_one_to_its_shell(shell, script, tmp_path):
    (tmp_path / "script").write_text(script(shell))
    done = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


COMPLETED = {
    "comp": {"completion"},
    "snap": {"snapshot"},
    "matmul-tiled-": {name for name in names() if name.startswith("matmul-tiled-")},
    "--v": {"--version"},
    "counters --": {"--as", "--by", "--yes", "--help"},
    "counters --by ": {"line", "buffer", "block"},
    "counters --by line matmul-naive-row": {"matmul-naive-row-on-x"},
    "counters matmul-tiled : ti": {"tile="},  # as bash takes `matmul-tiled:ti` apart
    "matmul-tiled : ": {
        *(f"{p.name}=" for p in find("matmul-tiled").parameters),
        *(f"{o}=" for o in SPEC_OPTIONS),
    },
    "matmul-tiled : tile = 3": {"32"},
    "matmul-tiled : tile = 8,sched": {"8,schedule="},
    "matmul-tiled : tile = 8,schedule = r": {"random"},
    "matmul-tild : m": set(),
    "lecture ti": {"tiling"},
    "lecture --check cou": {"counting"},
    "exercise tr": {"transpose"},
    "matmul-tiled matmul-naive-c": {"matmul-naive-col-on-x"},
    "export ": {"timings", *names()},
    "export --": {"--output", "--help"},
    "export timings --axis ": {"auto", "linear", "log"},
    "export timings -o ": set(),  # files
    "run --sch": {"--schedule"},
    "run --schedule r": {"random"},
    "run mine.py --sch": set(),
    "run -m mine --sch": set(),
    "completion ": set(SHELLS),
}


@pytest.mark.skipif(not shutil.which("bash"), reason="without bash")
def test_bash_completes_the_last_word_and_leaves_files_and_a_programs_words_to_itself(script, tmp_path):
    ask = (
        'COMP_WORDS=(tilescope "$@"); COMP_CWORD=$#; COMP_LINE="${COMP_WORDS[*]}"; COMP_LINE=${COMP_LINE// : /:}; '
        'COMP_LINE=${COMP_LINE// = /=}; COMP_POINT=${#COMP_LINE}; _tilescope; echo "${COMPREPLY[@]}"; }'
    )
    lines = [f"ask {' '.join(map(shlex.quote, line.split(' ')))}" for line in COMPLETED]
    (tmp_path / "script").write_text("\n".join([script("bash"), f"ask() {{ {ask}", *lines]))
    done = subprocess.run(["bash", tmp_path / "script"], capture_output=True, text=True, check=True)
    answers = [set(line.split()) for line in done.stdout.splitlines()]
    assert dict(zip(COMPLETED, answers, strict=True)) == COMPLETED


# --- old names


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_old_name_works_and_names_the_new_one(old, new, capsys):
    with pytest.raises(SystemExit) as ended:
        main([old, "--help"])
    printed = capsys.readouterr()
    assert ended.value.code == 0 and f"tilescope {new}" in printed.out
    assert printed.err == f"tilescope: `{old}` is now `{new}`; the next release drops the old name.\n"
    assert old not in {command.name for command in SUBCOMMANDS}
