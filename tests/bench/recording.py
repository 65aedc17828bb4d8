"""Print, as JSON, what it costs to record the default 64-cube comparison, and how large the file is.

python recording.py SUFFIX [SECONDS] [SIZE]    a film of so many seconds, 5 or as asked, from moment 900 on, as .mp4,
                                               .webm, .gif, .webp or png (a folder), at 1920x1080 or another size

frames: of the film. rate: frames a second, in wall time. free: likewise, were each of the two threads that draw and
write on a separate processor, from the processor time of each. draw, write: milliseconds of processor time for a
frame.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from tilescope.app.widgets.widget_picture import prepare_qt
from tilescope.tracer.run.worker_client import Worker


def main() -> None:
    suffix = "" if sys.argv[1] == "png" else sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
    width, height = map(int, (sys.argv[3] if len(sys.argv) > 3 else "1920x1080").split("x"))
    worker = Worker()
    prepare_qt(1.0)
    from tilescope.app.control.start_moment import at_first_load
    from tilescope.app.films.frames import WindowFrames, film_of
    from tilescope.app.films.kinds import kind_of, rate_for
    from tilescope.app.films.model.wanted import FilmOptions
    from tilescope.app.films.recording import FilmRendering
    from tilescope.app.model.first_bookmark import first_bookmark
    from tilescope.app.window.offscreen_window import offscreen_window

    window = offscreen_window(worker, first_bookmark((), None), at_first_load, (width, height))
    wanted = FilmOptions(
        begin=900.0, end=900.0 + seconds * window.playhead.speed, hold=0, size=(width, height)
    )
    kind = kind_of(f"film{suffix}")
    rate = rate_for(kind, None)
    frames = WindowFrames(window, film_of(window.stage, wanted, rate), wanted)
    recording = FilmRendering(frames, kind, rate, "light")
    count = recording.outlook.frames
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"film{suffix}"
        begun, both, own = time.perf_counter(), time.process_time(), time.thread_time()
        for _ in recording.write(path):
            pass
        wall, draw = time.perf_counter() - begun, time.thread_time() - own
        write = time.process_time() - both - draw
        size = path.stat().st_size if suffix else sum(file.stat().st_size for file in path.iterdir())
    worker.close()
    results = {
        "frames": count, "rate": count / wall, "free": count / max(draw, write), "draw": 1000 * draw / count,
        "write": 1000 * write / count, "bytes": size, "expected": recording.outlook.bytes,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
    }  # fmt: skip
    print(json.dumps(results))


if __name__ == "__main__":
    main()
