"""A kernel edited, run, struck, dragged and undone on a real X server."""

import json
import subprocess
import sys
from pathlib import Path

from patience import PATIENCE
from windows import screen_environment

HELPERS = Path(__file__).resolve().parents[2] / "helpers"


def test_a_kernel_is_edited_on_a_screen(screen, tmp_path):
    done = subprocess.run(
        [sys.executable, str(HELPERS / "edited_screen.py")],
        env=screen_environment(screen, tmp_path), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert "failed" not in seen, seen
    assert (seen["platform"], seen["status"]) == ("xcb", 0)
    right, wrong = [2, False, True], [2, True, False]
    assert seen["edited"] == [right, wrong]
    assert seen["struck"][-1][:2] == [1, False]
    assert seen["dragged"] == [int(seen["field"])] * 2 and int(seen["field"]) > 8
    assert seen["undone"] == [right]
    assert "was edited. Do you want to save it?" in seen["asked"] and not seen["visible"]
