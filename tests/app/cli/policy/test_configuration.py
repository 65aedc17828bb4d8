"""The table [tool.tilescope] of pyproject.toml."""

from __future__ import annotations

import json

import pytest

from programs import COPY, RACE, run_tilescope
from tilescope.app.cli.common.arguments import UsageError
from tilescope.app.cli.policy.configuration import find_configuration


def write(folder, table):
    (folder / "pyproject.toml").write_text(f'[project]\nname = "mine"\n\n[tool.tilescope]\n{table}')


def test_every_setting_is_read(tmp_path):
    write(
        tmp_path,
        """paths = ["kernels/", "*.cu"]
select = ["TS1", "TS201"]
ignore = ["TS8"]
programs = ["demo.py --size 'a b'", ["-m", "mine.run"]]
schedules = 5
baseline = "base.json"

[tool.tilescope.per-file-ignores]
"tests/*" = ["TS8"]

[tool.tilescope.limits]
patience = 2.5
resident = 3
blocks = [4, 0]
""",
    )
    (tmp_path / "below").mkdir()
    read = find_configuration(tmp_path / "below")
    assert read.folder == tmp_path and read.paths == ("kernels/", "*.cu")
    assert (read.select, read.ignore, read.schedules) == (("TS1", "TS201"), ("TS8",), 5)
    assert read.programs == (("demo.py", "--size", "a b"), ("-m", "mine.run"))
    assert read.per_file_ignores == (("tests/*", ("TS8",)),)
    assert read.baseline == tmp_path / "base.json"
    assert (read.limits.patience, read.limits.resident, read.limits.blocks) == (2.5, 3, (0, 4))


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (
            'selct = ["TS1"]',
            r"pyproject\.toml:5: \[tool\.tilescope\] has no setting 'selct'; did you mean select\?",
        ),
        ('ignore = []\nselect = ["TS11"]', r"pyproject\.toml:6: there is no rule 'TS11'"),
        ('select = "TS1"', r"pyproject\.toml:5: select must be a list of texts\."),
        ("schedules = 0", r"pyproject\.toml:5: schedules must be a whole number from 1 on\."),
        ("schedules = true", r"pyproject\.toml:5: schedules must be a whole number from 1 on\."),
        ('programs = ["a \'b"]', r"pyproject\.toml:5: programs has a quote without its end"),
        ("limits = 3", r"pyproject\.toml:5: limits must be a table\."),
        (
            "[tool.tilescope.limits]\npatients = 3",
            r"pyproject\.toml:6: \[tool\.tilescope\.limits\] has no setting 'patients'; did you mean patience\?",
        ),
        (
            '[tool.tilescope.limits]\nblocks = "some"',
            r"pyproject\.toml:6: blocks must be a list of block numbers",
        ),
        (
            '[tool.tilescope.per-file-ignores]\n"a.py" = ["TS"]\n"b.py" = ["X"]',
            r"pyproject\.toml:5: there is no rule 'X'",
        ),
        ("select = [", r"pyproject\.toml:\d: "),
    ],
)
def test_a_mistake_is_one_sentence_with_its_line(table, sentence, tmp_path):
    write(tmp_path, table)
    with pytest.raises(UsageError, match=sentence) as raised:
        find_configuration(tmp_path)
    assert "\n" not in str(raised.value)


def test_a_typo_ends_the_check_before_the_program_runs(tmp_path):
    write(tmp_path, "exit-zero = true\n")
    (tmp_path / "race.py").write_text("print('it ran')\n" + RACE)
    done = run_tilescope("check", "race.py", folder=tmp_path)
    assert done.returncode == 2 and "it ran" not in done.stderr and done.stdout == ""
    assert "pyproject.toml:5: [tool.tilescope] has no setting 'exit-zero'" in done.stderr


def test_settings_choose_what_is_reported_and_options_go_first(tmp_path):
    write(tmp_path, 'ignore = ["TS1"]\n')
    (tmp_path / "race.py").write_text(RACE)
    assert run_tilescope("check", "race.py", folder=tmp_path).stdout == "no findings\n"
    assert run_tilescope("check", "--ignore", "TS2", "race.py", folder=tmp_path).returncode == 1


def test_rules_are_ignored_for_some_files_and_others_are_left_out(tmp_path):
    (tmp_path / "race.py").write_text(RACE)
    write(tmp_path, '[tool.tilescope.per-file-ignores]\n"race.*" = ["TS101"]\n')
    assert run_tilescope("check", "race.py", folder=tmp_path).stdout == "no findings\n"
    write(tmp_path, 'paths = ["kernels"]\n')
    assert run_tilescope("check", "race.py", folder=tmp_path).stdout == "no findings\n"


def test_without_a_program_those_of_the_project_are_checked_as_one_run(tmp_path):
    write(tmp_path, 'programs = ["race.py", "copies.py 3"]\n')
    (tmp_path / "race.py").write_text(RACE)
    (tmp_path / "copies.py").write_text(COPY + "assert sys.argv[1:] == ['3']\n")
    done = run_tilescope("check", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("race.py:10: error: race: ") and done.stdout.count("\n") == 1
    assert "tilescope: 2 launches of 2 kernels traced: all 3 blocks, lockstep.\n" in done.stderr


def test_a_missing_program_of_the_project_ends_the_check_before_the_first_runs(tmp_path):
    (tmp_path / "race.py").write_text(RACE)
    write(tmp_path, 'programs = ["race.py", "gone.py"]\n')
    done = run_tilescope("check", folder=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "tilescope: there is no script gone.py.\n"


def test_a_program_of_the_project_that_fails_is_not_passed_over(tmp_path):
    write(tmp_path, 'programs = ["failing.py", "copies.py"]\n')
    (tmp_path / "failing.py").write_text("raise ValueError(7)\n")
    (tmp_path / "copies.py").write_text(COPY)
    done = run_tilescope("check", folder=tmp_path)
    assert done.returncode == 2 and "ValueError: 7" in done.stderr


def test_without_a_program_and_without_settings_the_sentence_names_both(tmp_path):
    done = run_tilescope("check", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "tilescope: no program is named; name a script or a notebook, or use -m and a module, "
        "or list `programs` in pyproject.toml.\n"
    )


def test_findings_of_the_project_create_its_baseline(tmp_path):
    (tmp_path / "race.py").write_text(RACE)
    write(tmp_path, 'programs = ["race.py"]\nbaseline = "base.json"\n')
    added = run_tilescope("check", "--add-to-baseline", "old", folder=tmp_path)
    assert added.returncode == 0 and "base.json now has 1 accepted finding.\n" in added.stderr
    assert len(json.loads((tmp_path / "base.json").read_text())["entries"]) == 1
