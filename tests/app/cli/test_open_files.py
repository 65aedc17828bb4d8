"""What `tilescope FILE` and `tilescope open FILE` show, and what they say of files and words that they can't show."""

from __future__ import annotations

import shutil

import pytest

from tilescope.app.cli.main import main
from tilescope.app.exercises.model.library import SHIPPED as EXERCISES
from tilescope.app.lectures.model.library import shipped_lectures


@pytest.fixture
def shown(monkeypatch):
    """Return a command line's window: the words that it would be opened with."""
    opened = []
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr("tilescope.app.window.start.run_window", lambda *words: opened.append(words) or 0)

    def run_command(*arguments):
        opened.clear()
        assert main(arguments) == 0
        return opened[0]

    return run_command


@pytest.fixture
def refuse(capsys, tmp_path, monkeypatch):
    """Return the sentence with which a command line is refused, in a folder with a program in it."""
    (tmp_path / "race.py").write_text("print('hello')\n")
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments):
        assert main(arguments) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1
        return err

    return run_command


@pytest.mark.parametrize("name", ["mine.py", "mine.ipynb", "mine.cu"])
def test_a_program_is_run_with_and_without_the_word_open(shown, tmp_path, name):
    path = tmp_path / name
    path.touch()
    assert shown(str(path)) == shown("open", str(path)) == ([], str(path), None, None, None)


def test_a_lecture_file_is_presented_and_an_exercise_is_worked_at(shown, tmp_path):
    lecture = tmp_path / "own.md"
    shutil.copy(shipped_lectures()[0], lecture)
    assert shown(str(lecture)) == shown("open", str(lecture)) == ([], "", lecture, None, None)
    exercise = EXERCISES / "02-guard.md"
    assert shown(str(exercise)) == ([], "", None, exercise, None)


def test_traces_and_scenarios_are_opened_as_before(shown, tmp_path):
    trace = tmp_path / "a.npz"
    trace.touch()
    assert shown(str(trace))[0] == shown("open", str(trace))[0] == [str(trace)]
    assert shown("matmul-tiled")[0] == shown("open", "matmul-tiled")[0] == ["matmul-tiled"]
    assert shown()[0] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rcae.py"], "there is no file rcae.py; did you mean race.py?"),
        (["open", "rcae.py"], "there is no file rcae.py; did you mean race.py?"),
        (["gone.md"], "there is no file gone.md; check its name and folder."),
        (["race.py", "matmul-tiled"], "race.py must be the only argument"),
        (["chek", "race.py"], "no command or scenario is called 'chek'; did you mean check?"),
        (["chek", "--format", "json", "race.py"], "did you mean check?"),
        (["lectur", "tiling"], "did you mean lecture?"),
        (["nothing-of-ours"], "tilescope --help lists the commands"),
        (["check", "--shedule", "random", "race.py"], "--shedule (did you mean --schedule?)"),
        (["counters", "matmul-tiled:tiel=8"], "no parameter 'tiel'; did you mean tile?"),
        (["lecture", "tilng"], "There is no lecture tilng; did you mean tiling"),
        (["exercise", "transpos"], "There is no exercise transpos; did you mean transpose?"),
        (["exercise", "check", "race.py", "--exercise", "transpos"], "did you mean transpose?"),
        (["snapshot", "matmul-tiled", "-o", "x.png", "--colour", "vlues"], "did you mean value"),
    ],
    ids=" ".join,
)
def test_a_word_that_is_not_known_gets_the_one_that_was_meant(refuse, arguments, words):
    assert words in refuse(*arguments)


def test_a_moment_after_the_end_is_replaced_by_the_last_and_reported(capsys, tmp_path):
    words = ["snapshot", "vector-double:count=64", "-o", str(tmp_path / "x.png")]
    assert main([*words, "--moment", "99999999"]) == 0
    assert (
        "there is no moment 99,999,999; the picture shows the end of the launch, moment"
        in capsys.readouterr().err
    )
    assert main([*words, "--moment", "1"]) == 0
    assert "there is no moment" not in capsys.readouterr().err
