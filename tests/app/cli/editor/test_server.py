"""`tilescope server`: an editor reads diagnostics, counters of lines and code actions over a pipe."""

from __future__ import annotations

import os

import pytest

from editor_client import Editor, edited
from programs import COPY, RACE, run_tilescope, wait_for_exit

RUNS = {"run": "onSave"}
WAITING = """
# cuda
import os, time
from pathlib import Path

Path("pid").write_text(str(os.getpid()))
time.sleep(600)
"""


@pytest.fixture
def race(tmp_path):
    path = tmp_path / "race.py"
    path.write_text(RACE)
    return path


def checked(editor, path):
    editor.open(path)
    editor.save(path)
    return editor.diagnostics(path)


def test_findings_are_diagnostics_with_both_accesses(race):
    with Editor(race.parent, RUNS) as editor:
        (diagnostic,) = checked(editor, race)
    assert editor.status == 0 and not editor.questions
    assert diagnostic["range"] == {
        "start": {"line": 9, "character": 4},
        "end": {"line": 9, "character": 4 + len("out[t] = tile[63 - t]")},
    }
    assert (diagnostic["code"], diagnostic["severity"], diagnostic["source"]) == ("TS101", 1, "tilescope")
    assert diagnostic["message"].startswith("64 elements of tile are written on line 9")
    assert diagnostic["message"].endswith("[possible]")
    assert [
        related["location"]["range"]["start"]["line"] for related in diagnostic["relatedInformation"]
    ] == [8, 9]


def test_a_line_shows_its_counters_as_written_and_as_compiled(race):
    with Editor(race.parent, RUNS) as editor:
        checked(editor, race)
        text = editor.hover(race, 10)
        assert text.startswith("| 1 launch of shift | exact | compiled |")
        assert "| global store sectors | 8 | 8 |" in text and "| shared load instructions | 2 | 2 |" in text
        assert editor.hover(race, 8) == ""


def test_a_remedy_and_a_suppression_are_offered_and_work(race):
    with Editor(race.parent, RUNS) as editor:
        checked(editor, race)
        actions = editor.actions(race, 10)
        assert editor.actions(race, 2) == {}
    remedy = actions["Put cuda.syncthreads() between line 9 and line 10"]
    suppression = actions["Suppress TS101 here with a comment"]
    assert remedy["isPreferred"] and not suppression["isPreferred"]
    for action, mended in ((remedy, "no findings\n"), (suppression, "no findings\n")):
        path = race.with_name("mended.py")
        path.write_text(edited(RACE, action, race))
        done = run_tilescope("check", "mended.py", folder=race.parent)
        assert done.stdout == mended and done.returncode == 0
    assert "1 finding suppressed: 1 by comments." in done.stderr


def test_a_changed_text_has_no_hover_and_no_actions_until_it_is_saved(race):
    with Editor(race.parent, RUNS) as editor:
        checked(editor, race)
        editor.change(race, "\n" + RACE)
        assert editor.hover(race, 10) == "" and editor.actions(race, 10) == {}
        race.write_text("\n" + RACE)
        editor.save(race)
        (diagnostic,) = editor.diagnostics(race)
        assert diagnostic["range"]["start"]["line"] == 10 and editor.hover(race, 11)


def test_a_mended_file_loses_its_diagnostics(race):
    with Editor(race.parent, RUNS) as editor:
        assert checked(editor, race)
        race.write_text(COPY)
        editor.change(race, COPY)
        editor.save(race)
        assert editor.diagnostics(race) == []


@pytest.mark.parametrize(
    ("answer", "runs", "asks_again"),
    [("Run", True, False), ("Run all files of this session", True, False), ("Never in this session", False, False),
     (None, False, True)],
)  # fmt: skip
def test_the_user_is_asked_before_a_file_runs(race, answer, runs, asks_again):
    race.write_text(RACE + "from pathlib import Path\nPath('ran').touch()\n")
    with Editor(race.parent, None, answer) as editor:
        editor.open(race)
        for _ in range(2):
            editor.save(race)
            if runs:
                assert editor.diagnostics(race)
            else:
                editor.hover(race, 1)  # the server has handled the notification
    assert len(editor.questions) == 1 + asks_again
    assert editor.questions[0] == "Tilescope runs race.py to check its kernels. Run it at each save?"
    assert race.with_name("ran").exists() == runs


def test_never_runs_only_on_command(race):
    with Editor(race.parent, {"run": "never"}) as editor:
        editor.open(race)
        editor.save(race)
        editor.request(
            "workspace/executeCommand", {"command": "tilescope.check", "arguments": [race.as_uri()]}
        )
        assert editor.diagnostics(race)
    assert not editor.questions


def test_a_setting_can_change_and_an_unknown_one_is_reported(race):
    with Editor(race.parent, {"run": "always"}) as editor:
        sentence = "The setting tilescope.run must be ask, onSave or never, not 'always'."
        assert editor.next("window/showMessage")["message"] == sentence
        editor.notify("workspace/didChangeConfiguration", {"settings": {"tilescope": RUNS}})
        assert checked(editor, race)
    assert not editor.questions


def test_a_file_without_kernels_never_runs(tmp_path):
    path = tmp_path / "plain.py"
    path.write_text("from pathlib import Path\nPath('ran').touch()\n")
    with Editor(tmp_path, RUNS) as editor:
        editor.open(path)
        editor.save(path)
        editor.hover(path, 1)
    assert not (tmp_path / "ran").exists()


def test_findings_in_an_imported_module_are_shown_there(tmp_path, race):
    main = tmp_path / "main.py"
    main.write_text("import numpy  # cuda\nimport race\n")
    with Editor(tmp_path, RUNS) as editor:
        editor.open(main)
        editor.save(main)
        assert editor.diagnostics(race)
        editor.notify("textDocument/didClose", {"textDocument": {"uri": main.as_uri()}})
        assert editor.diagnostics(race) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (RACE + "raise ValueError('no data')\n", "race.py did not run to its end: ValueError: no data"),
        (RACE.replace("tile[t] = t", "tile[t] = t  # tilescope: ignore[TS999] x"), "there is no rule 'TS999'"),
    ],
)  # fmt: skip
def test_what_stopped_a_check_is_shown(race, text, sentence):
    race.write_text(text)
    with Editor(race.parent, RUNS) as editor:
        editor.open(race)
        editor.save(race)
        assert sentence in editor.next("window/showMessage")["message"]


def test_what_was_traced_is_logged(race):
    with Editor(race.parent, RUNS) as editor:
        editor.open(race)
        editor.save(race)
        while (
            editor.next("window/logMessage")["message"] != "1 launch of 1 kernel traced: 1 block, lockstep."
        ):
            pass  # of a launch that takes long on a busy machine, for one


@pytest.mark.skipif(os.name != "posix", reason="processes are looked up by number")
def test_a_running_check_ends_with_the_server(tmp_path):
    path, note = tmp_path / "waiting.py", tmp_path / "pid"
    path.write_text(WAITING)
    with Editor(tmp_path, RUNS) as editor:
        editor.open(path)
        editor.save(path)
        while not (note.exists() and note.read_text()):
            editor.hover(path, 1)
    assert editor.status == 0 and wait_for_exit(int(note.read_text()))
