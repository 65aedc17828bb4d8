"""Replay files: their content, atomic writes, the same bytes twice, and paths that can't be written."""

from __future__ import annotations

import errno
import os
import signal
from argparse import Namespace
from pathlib import Path

import pytest

from tilescope.app.cli.common.arguments import UsageError
from tilescope.app.cli.pictures import replay_file
from tilescope.app.cli.pictures.replay_file import names_lecture, write_replay_file
from tilescope.app.replays import limits
from tilescope.app.replays.document import ReplayDocument
from tilescope.app.replays.page import unpacked
from tilescope.app.widgets.widget_picture import PictureError
from tilescope.kernels.scenarios.catalogue import CatalogueError
from tilescope.tracer.storage.trace_file import TraceFileError

SMALL = "matmul-tiled:m=4,k=4,n=4,tile=2"
LECTURE = """# A </script> lecture

First *all* of it.

## One <i>step</i>

```tilescope
show: vector-double:count=8,threads=4
at: start
play: to end over 2 s
ask: How many threads in a block?
choices: 4 | 8
answer: left.threads
```

There are **{left.threads}** & no more, as `a < b` says.

## A chart

```tilescope
chart: scaling matmul-naive-col-on-x matmul-tiled
```
"""


def chosen(output: Path, *names: str) -> Namespace:
    return Namespace(what=list(names), output=str(output), text_size=1.0)


def test_the_same_command_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_replay_file(chosen(tmp_path / f"{name}.html", SMALL))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    document = unpacked((tmp_path / "a.html").read_text("utf-8"))
    assert document["title"] == "Tiled, shared memory"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


def test_it_speaks_in_the_words_of_its_scenario(tmp_path):
    write_replay_file(chosen(tmp_path / "a.html", "workitem-naive:m=4,k=4,n=4,tile=2"))
    document = unpacked((tmp_path / "a.html").read_text("utf-8"))
    text = str([document["sessions"], document["tracks"][0]["place"], document["tracks"][0]["says"]])
    assert "work-group (0, 0)" in text
    assert "requests by all wavefronts so far" in text
    assert " block (" not in text
    assert " warp " not in text


def test_paths_of_files_are_not_printed(tmp_path):
    write_replay_file(chosen(tmp_path / "a.html", SMALL))
    text = str(unpacked((tmp_path / "a.html").read_text("utf-8")))
    assert str(Path(replay_file.__file__).parents[2]) not in text
    assert str(tmp_path) not in text


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(UsageError, match=r"cannot be written: there is no folder .*none\.$"):
        write_replay_file(chosen(tmp_path / "none" / "a.html", SMALL))
    with pytest.raises(UsageError, match=r"is a folder; name a file in it\.$"):
        write_replay_file(chosen(tmp_path, SMALL))


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    path.write_text("old")

    def full(path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(replay_file, "write_atomically", full)
    with pytest.raises(PictureError, match=r"could not be written: No space left on device\.$"):
        write_replay_file(chosen(path, SMALL))
    assert path.read_text() == "old"


def test_a_piece_is_taken_from_a_place_to_another(tmp_path):
    asked = chosen(tmp_path / "a.html", SMALL)
    asked.begin, asked.end, asked.speed = "phase 1", "24", 3.0
    write_replay_file(asked)
    document = unpacked((tmp_path / "a.html").read_text("utf-8"))
    step, track = document["steps"][0], document["tracks"][0]
    assert (step["range"], step["stand"], step["speed"]) == ([7.0, 24.0], 7.0, 3.0)
    assert track["moments"] == [7, 24]
    for begin, end, why in (("24", "phase 1", "is not after 24"), ("never", None, "not a place in time")):
        asked.begin, asked.end = begin, end
        with pytest.raises(UsageError, match=why):
            write_replay_file(asked)


def test_an_old_file_stays_where_a_new_one_is_too_large(tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    path.write_text("old")
    monkeypatch.setattr(limits, "LARGEST", 1000)
    with pytest.raises(PictureError, match="which is too large for a page"):
        write_replay_file(chosen(path, SMALL))
    monkeypatch.setattr(limits, "MOST_MOMENTS", 10)
    with pytest.raises(PictureError, match=r"would have 85 moments, .* A page has at most 10"):
        write_replay_file(chosen(path, SMALL))
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_ctrl_c_leaves_nothing(tmp_path, monkeypatch):
    draw = ReplayDocument.draw

    def interrupted(self, progress):
        def press(done, total):
            if done == 5:
                os.kill(os.getpid(), signal.SIGINT)
            progress(done, total)

        draw(self, press)

    monkeypatch.setattr(ReplayDocument, "draw", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_replay_file(chosen(tmp_path / "a.html", SMALL))
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(CatalogueError):
        write_replay_file(chosen(tmp_path / "a.html", "matmul-bogus"))
    (tmp_path / "broken.npz").write_bytes(b"PK")
    with pytest.raises(TraceFileError):
        write_replay_file(chosen(tmp_path / "a.html", str(tmp_path / "broken.npz")))
    with pytest.raises(UsageError, match=r"There is no file .*none\.md"):
        write_replay_file(chosen(tmp_path / "a.html", str(tmp_path / "none.md")))


def test_a_lecture_is_its_steps(tmp_path):
    path = tmp_path / "lesson.md"
    path.write_text(LECTURE, "utf-8")
    assert names_lecture([str(path)])
    assert names_lecture(["tiling"])
    assert not names_lecture([SMALL])
    write_replay_file(chosen(tmp_path / "a.html", str(path)))
    page = (tmp_path / "a.html").read_text("utf-8")
    assert page.count("</script>") == 3
    document = unpacked(page)
    first, chart = document["steps"]
    assert document["introduction"] == [["p", "First ", ["i", "all"], " of it."]]
    assert first["title"] == "One <i>step</i>"
    assert first["caption"][0][:3] == ["p", "There are ", ["b", ["b", "4"]]]
    assert ["code", "a < b"] in first["caption"][0]
    question = first["question"]
    assert (question["choices"], question["answer"], question["right"]) == (["4", "8"], "4", 0)
    end = document["sessions"][0]["end"]
    assert (first["begin"], first["stand"], first["plays"]) == (0, end, True)
    assert chart["chart"]["numbers"]
    assert "tracks" not in chart
    asked = chosen(tmp_path / "a.html", str(path))
    asked.begin = "step 2"
    write_replay_file(asked)
    assert [step["title"] for step in unpacked((tmp_path / "a.html").read_text("utf-8"))["steps"]] == [
        "A chart"
    ]
    asked.end = "3"
    with pytest.raises(UsageError, match="from 1 to 2 in order, not step 2 to 3"):
        write_replay_file(asked)


def test_a_lecture_with_mistakes_names_the_first(tmp_path):
    path = tmp_path / "lesson.md"
    path.write_text("# A\n\n## B\n\n```tilescope\nshow: vector-bogus\n```\n", "utf-8")
    with pytest.raises(PictureError, match=r"lesson\.md:6: .*vector-bogus"):
        write_replay_file(chosen(tmp_path / "a.html", str(path)))
    assert not (tmp_path / "a.html").exists()
