"""`tilescope lecture --hall`: which options go together, and what starts with the window."""

from __future__ import annotations

import csv
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from halls import ask
from patience import PATIENCE, until
from presenting import write_lecture
from tilescope.app.cli.main import main


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--hall"], "name a lecture for the hall"),
        (["tiling", "--port", "9000"], "--port, --address, --results and --rehearse need --hall"),
        (["tiling", "--rehearse", "3"], "--port, --address, --results and --rehearse need --hall"),
        (["tiling", "--hall", "--check"], "--hall presents the lecture"),
        (["tiling", "--hall", "-o", "a.pdf"], "--hall presents the lecture"),
        (["tiling", "--hall", "--port", "80"], "a port is a number from 1024 to 65535, not 80"),
        (["tiling", "--hall", "--rehearse", "501"], "--rehearse simulates at most 500 students"),
        (["tiling", "--hall", "--results", "votes.csv"], "votes.csv exists and is not overwritten"),
        (["tiling", "--hall", "--results", "none/votes.csv"], "there is no folder none"),
        (["nowhere", "--hall"], "There is no lecture nowhere"),
    ],
)
def test_options_that_do_not_go_together_end_in_one_sentence(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").write_text("kept")
    with pytest.raises(SystemExit) as end:
        raise SystemExit(main(["lecture", *words]))
    assert end.value.code == 2
    assert sentence.lower() in capsys.readouterr().err.lower()
    assert (tmp_path / "votes.csv").read_text() == "kept"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no Ctrl+C for one process")
def test_a_presented_lecture_answers_phones_until_it_ends(tmp_path):
    lecture, results = write_lecture(tmp_path), tmp_path / "votes.csv"
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tilescope", "lecture", str(lecture), "--hall", "--port", str(port)]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [*command, "--rehearse", "2", "--results", str(results)], env=environment
    ) as window:
        try:
            until(lambda: _answers(port) or window.poll() is not None)
            status, _, body = ask(port, "/")
            assert status == 200 and b"phone.js" in body
        finally:
            window.send_signal(signal.SIGINT)
        assert window.wait(PATIENCE) == 0
    assert not _answers(port)
    assert list(tmp_path.glob("tilescope-hall-*")) == []


ASKS_FIRST = """# Lecture

## How many?

```tilescope
show: vector-increment:count=32,threads=32
ask: How many threads run?
answer: left.threads_in_all
```
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_killed_window_leaves_the_votes_so_far_and_no_server(tmp_path):
    lecture, results = write_lecture(tmp_path, ASKS_FIRST), tmp_path / "votes.csv"
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tilescope", "lecture", str(lecture), "--hall", "--port", str(port)]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [*command, "--rehearse", "3", "--results", str(results)], env=environment
    ) as window:
        try:
            until(lambda: (results.exists() and _votes(results) >= 3) or window.poll() is not None)
        finally:
            window.kill()
    until(lambda: not _answers(port))
    assert _votes(results) == 3


def _votes(results: Path) -> int:
    with results.open(newline="") as file:
        return sum(int(row["count"]) for row in csv.DictReader(file))


def _answers(port: int) -> bool:
    with closing(socket.socket()) as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
