"""Print, as JSON, how large a replay is and what it takes: seconds of processor to write it, milliseconds a picture.

python tests/bench/replay.py WHAT...     scenarios, a trace file or a lecture

`megabytes` of the file; `seconds` of the processor until it is written; `moments` of all its pictures; in a browser,
where there is one, `open` in seconds, and `played` and `jumped`, milliseconds of a picture of the next moment and of
one anywhere, drawn by the processor at 1280 x 800 with two device pixels to a point.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from tilescope.app.cli.pictures.replay_file import write_replay_file
from tilescope.app.replays.page import unpacked

sys.path.insert(0, str(Path(__file__).parent.parent / "helpers"))
from browser import CHROMIUM, DRIVER, open_browser  # the tests' own

TIMED = """
const last = replay.range[1], out = [], many = arguments[0];
for (const place of [(i) => 300 + i, (i) => i * 977]) {
  const begin = performance.now();
  for (let i = 0; i < many; i++) replay.seek(place(i) % last);
  out.push((performance.now() - begin) / many);
}
return out;
"""


def measured(words: list[str]) -> dict[str, Any]:
    """Return the row of a replay."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "replay.html"
        begin = time.process_time()
        write_replay_file(Namespace(what=words, output=str(path), text_size=1.0))
        taken = time.process_time() - begin
        document = unpacked(path.read_text("utf-8"))
        moments = sum(track["moments"][1] - track["moments"][0] + 1 for track in document["tracks"])
        row = {"megabytes": path.stat().st_size / 1e6, "seconds": taken, "moments": moments}
        return row | (_in_browser(path) if CHROMIUM.exists() and DRIVER.exists() else {})


def _in_browser(path: Path) -> dict[str, float]:
    with open_browser() as page:
        page.size(1280, 800, 2.0)
        begin = time.monotonic()
        page.open(path)
        opened = time.monotonic() - begin
        played, jumped = page.run(TIMED, 100)
    return {"open": opened, "played": played, "jumped": jumped}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1:])))
