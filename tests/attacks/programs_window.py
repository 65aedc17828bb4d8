"""Misbehaving programs in the window (offscreen): it stays alive and answers, says what happened, Esc ends what runs.

python programs_window.py [NAME ...]
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import common

common.as_tilescope()
os.environ["QT_QPA_PLATFORM"] = "offscreen"

from misbehaving import HEAD, KERNEL, PROGRAMS

MORE = {
    "endless prints": (HEAD + KERNEL + "k[2, 32](a)\nwhile True:\n    print('x' * 10000)\n", None),
    "endless errors": (
        HEAD + KERNEL + "k[2, 32](a)\nwhile True:\n    sys.stderr.write('x' * 10000 + '\\n')\n",
        None,
    ),
    "ten million prints": (HEAD + KERNEL + "k[2, 32](a)\nfor i in range(10 ** 7):\n    print(i)\n", (0,)),
    "child that stays": (
        HEAD
        + KERNEL
        + "import subprocess\nsubprocess.Popen(['sleep', '61'])\nk[2, 32](a)\nwhile True:\n    time.sleep(1)\n",
        None,
    ),
    "child of a program that ends": (
        HEAD + KERNEL + "import subprocess\nsubprocess.Popen(['sleep', '62'])\nk[2, 32](a)\n",
        (0,),
    ),
    "saves itself again and again": (HEAD + KERNEL + "k[2, 32](a)\nos.utime(__file__)\n", None),
    "many launches, some large": (
        HEAD + KERNEL + "b = np.zeros(10 ** 6, np.float32)\nfor _ in range(30):\n    k[4000, 256](b)\n",
        (0,),
    ),
}
CHOSEN = (
    "fine", "endless, no access", "endless, reads", "endless, writes", "endless, one thread at a barrier", "recursion", "kernel raises", "kernel divides by 0", "kernel imports",
    "kernel calls ctypes", "program raises", "program raises before", "exits with 3", "exits with a text", "os._exit", "os._exit(5)", "kills itself", "segfault", "interrupts itself", "memory",
    "million prints", "prints without end of line", "small fork bomb", "threads launch", "multiprocessing", "writes over itself", "removes itself", "changes the folder", "closes the descriptors",
    "ignores signals", "syntax error", "not text", "1025 threads", "0 threads", "0 blocks", "3-D", "2**31 blocks", "infinite loop in the program", "reads its input", "no recursion left", "thousand launches",
)  # fmt: skip
WAIT = 25


def drive(path: str, endless: bool) -> None:
    """In a child: open a program in a window and watch."""
    from PySide6.QtCore import QTimer
    from PySide6.QtTest import QTest

    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.window.main_window import MainWindow
    from tilescope.app.window.start import application
    from tilescope.tracer.run.worker_client import Worker

    raised = []
    sys.excepthook = lambda kind, error, trace: raised.append(f"{kind.__name__}: {error}")
    application()
    window = MainWindow(SessionJobs(Worker(), None), None)
    window.central.results.types.close()
    window.resize(1280, 800)
    window.show()
    results, beats, peak = [], [time.monotonic()], [0.0]
    gaps = [0.0]
    for notice in (window.notice,):
        error, inform = notice.error, notice.inform
        notice.error = lambda text: (results.append(f"ERROR {text}"), error(text))[1]
        notice.inform = lambda text: (results.append(text), inform(text))[1]

    def beat() -> None:
        now = time.monotonic()
        gaps[0] = max(gaps[0], now - beats[0])
        beats[0] = now
        peak[0] = max(peak[0], common.rss(os.getpid()))

    timer = QTimer(interval=20)
    timer.timeout.connect(beat)
    timer.start()
    begun = time.monotonic()
    before = common.rss(os.getpid())
    window.files.run_program(path)
    program = window.files.program
    before = program.report

    def note_error(text: str) -> None:
        results.append(f"ERROR {text}")

    def note_traces(traces: Sequence[Path]) -> None:
        before.recorded(traces)
        results.append(f"recorded {len(traces)}")

    program.report = before._replace(recorded=note_traces, failed=note_error, noted=note_error)
    while (
        time.monotonic() < begun + (8 if endless else WAIT)
        and program._process is not None
        and peak[0] < 4000
    ):
        QTest.qWait(20)
    ran = time.monotonic() - begun
    running = program._process is not None
    beats[0] = time.monotonic()
    cancel = 0.0
    if running:
        position = time.monotonic()
        window.escape()
        cancel = time.monotonic() - position
    settle = time.monotonic()
    while not (window.stage.is_settled() and window.stage.jobs.is_idle()) and time.monotonic() < settle + 20:
        QTest.qWait(20)
    QTest.qWait(600)
    window.stage.step(1)
    window.draw()
    left = [
        pid
        for pid in common.family(os.getpid())[1:]
        if b"worker" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    after = common.rss(os.getpid())
    folder = program._folder
    window.close()
    print(json.dumps({
        "ran": ran, "cancelled": running, "cancel": cancel, "gap": gaps[0], "peak": peak[0], "before": before, "after": after, "told": [t[:300] for t in results[-3:]],
        "raised": raised[:3], "left": left, "folder left": folder.exists(), "runs": program.runs,
    }), flush=True)  # fmt: skip
    os._exit(0)


def main() -> int:
    folder = common.scratch("programs-window")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    tally = common.Tally("programs_window")
    programs = {name: PROGRAMS[name] for name in CHOSEN} | MORE
    for number, (name, (text, statuses)) in enumerate(programs.items()):
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        place = folder / f"{number}-place"
        place.mkdir()
        (place / "program.py").write_bytes(text.encode("utf-8", "surrogateescape"))
        ended = common.run(
            [sys.executable, __file__, "--drive", str(place / "program.py"), "1" if statuses is None else ""],
            90,
            memory=7000,
        )
        orphans = [p for p in os.listdir("/proc") if p.isdigit() and _is_ours(p, place)]
        common.end([int(p) for p in orphans])
        try:
            output = json.loads(ended.out.strip().splitlines()[-1])
        except (IndexError, ValueError):
            tally.fail(
                "the window dies or hangs",
                f"{name}: {ended.code} after {ended.seconds:.0f} s, {ended.peak:.0f} MB {ended.err[-300:]!r}",
            )
            continue
        shown = f"{name}: {json.dumps(output)}, orphans {len(orphans)}"
        if os.environ.get("ATTACK"):
            print(shown)
        bad = False
        for kind, is_bad in (
            ("exception in the window", bool(output["raised"])), ("the window stood still for more than 2 s", output["gap"] > 2), ("cancelling takes more than 2 s", output["cancel"] > 2),
            ("the window's memory grows by more than 500 MB", output["peak"] - output["before"] > 500), ("processes are left after closing", bool(orphans)), ("its folder is left", output["folder left"]),
            ("nothing told", not output["told"]), ("it runs again and again", output["runs"] > 3), ("it never ended", output["cancelled"] and statuses is not None),
        ):  # fmt: skip
            if is_bad:
                tally.fail(kind, shown)
                bad = True
        if not bad:
            tally.fine("alive")
    return tally.summary()


def _is_ours(pid: str, place: Path) -> bool:
    """Whether a process that is left works in a place of ours."""
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(place) and int(pid) != os.getpid()
    except OSError:
        return False


if __name__ == "__main__":
    if "--drive" in sys.argv:
        drive(sys.argv[2], bool(sys.argv[3]))
    else:
        sys.exit(main())
