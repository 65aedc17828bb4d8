"""A lecture on a real X server, presented only with the keys of a clicker."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec

from patience import PATIENCE
from presenting import write_lecture
from tilescope.app.model.bookmark import Bookmark
from tilescope.app.model.settings import Settings
from windows import screen_environment

HELPERS = Path(__file__).resolve().parents[3] / "helpers"


def test_page_down_presents_a_lecture(screen, tmp_path):
    lecture, settings = write_lecture(tmp_path), tmp_path / "config" / "window.json"
    settings.parent.mkdir()
    settings.write_bytes(msgspec.json.encode(Settings(Bookmark((), theme="dark"))))
    done = subprocess.run(
        [sys.executable, str(HELPERS / "one_screen.py"), str(lecture)],
        env=screen_environment(screen, tmp_path), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert "failed" not in seen, seen
    assert (seen["platform"], seen["layout"], seen["status"]) == ("xcb", "lecture", 0)
    assert [number for number, *_ in seen["walked"]] == [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert [playing for _, playing, *_ in seen["walked"]].index(True) == 2
    assert seen["walked"][-1][3] == "The last block"
    assert seen["back"] == [4, False, True, "How many threads?"]
    assert seen["windows"] == ["MainWindow"]
    assert seen["theme"] == "dark"
    stored = msgspec.json.decode(settings.read_bytes(), type=Settings)
    assert stored.recent_lectures == (str(lecture),)
    assert stored.bookmark is not None and stored.bookmark.layout == "ordinary"
