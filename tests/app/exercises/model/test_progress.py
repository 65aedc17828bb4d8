"""The progress of exercises: written atomically, shared by two windows, and kept if it is damaged."""

from __future__ import annotations

import json

from exercises import add_ten, write_exercise
from tilescope.app.exercises.model.progress import Progress, Remembered, exercise_key


def test_what_is_noted_outlives_the_window(tmp_path):
    path, exercise = tmp_path / "config" / "exercises.json", add_ten()
    first = Progress(path)
    assert (first.remembered(exercise), first.problem) == (Remembered(), "")
    assert first.note(exercise, hints=1) == first.note(exercise, done=True, text="x = 1\n") == ""
    again = Progress(path)
    assert again.remembered(exercise) == Remembered(True, 1, "x = 1\n") and again.problem == ""


def test_exercises_of_one_name_in_two_folders_are_two(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    first, other = map(write_exercise, folders)
    assert first.name == other.name and exercise_key(first) != exercise_key(other)


def test_what_another_wrote_meanwhile_stays(tmp_path):
    path = tmp_path / "exercises.json"
    window, command = Progress(path), Progress(path)
    command.note(write_exercise(tmp_path), done=True)
    window.note(add_ten(), text="mine")
    last = Progress(path)
    assert last.remembered(write_exercise(tmp_path)).done and last.remembered(add_ten()).text == "mine"


def test_a_damaged_file_is_reported_and_kept(tmp_path):
    path = tmp_path / "exercises.json"
    for number in (1, 2):
        path.write_text("{half a file")
        progress = Progress(path)
        assert str(path) in progress.problem and "the file is kept" in progress.problem
        assert path.read_text() == "{half a file"  # until something is written
        assert progress.note(add_ten(), done=True) == ""
        assert (tmp_path / f"exercises.damaged-{number}.json").read_text() == "{half a file"
        assert Progress(path).remembered(add_ten()).done


def test_what_cannot_be_written_is_a_sentence_and_remembered_all_the_same(tmp_path):
    (tmp_path / "file").write_text("")
    progress = Progress(tmp_path / "file" / "exercises.json")
    assert "nothing is written" in progress.note(add_ten(), done=True)
    assert progress.remembered(add_ten()).done


def test_a_text_that_is_no_utf_8_is_written_all_the_same(tmp_path):
    path = tmp_path / "exercises.json"
    assert Progress(path).note(add_ten(), text="a\ud800b") == ""
    assert "a?b" in json.dumps(json.loads(path.read_text()))
