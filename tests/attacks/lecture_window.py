"""Lectures in the window (offscreen): random keys, the file damaged, replaced and removed while it is shown.

python lecture_window.py [EVENTS [SEED]]. In a child that is watched: exceptions, Qt's warnings, stalls, memory.
"""

import faulthandler
import json
import os
import random
import sys
import time
from pathlib import Path

import common

common.as_tilescope()
os.environ["QT_QPA_PLATFORM"] = "offscreen"

import lecture_files

KEYS = ("PageDown", "PageDown", "PageDown", "PageUp", "B", "T", "1", "2", "3", "9", "Return", "Escape", "F2", "F5", "F7",
        "F11", "Space", "End", "Home", "Tab", "Delete", "Right", "X")  # fmt: skip
HELD = ("D", "Z", "G", "Home", "Return", "Y", "1", "4", "Plus", "Minus")  # with Ctrl
SHIFTED = ("L", "S")  # with Ctrl and Shift
SAVES = ("mutant", "mutant", "mutant", "half", "empty", "gone", "folder", "pipe", "read-only", "many", "back")


def save(path: Path, texts: list[str], how: str, rng: random.Random) -> None:
    """Do something to the file that is shown."""
    if path.is_dir():
        path.rmdir()
    elif not path.is_file():
        path.unlink(missing_ok=True)
    else:
        path.chmod(0o644)
    text = rng.choice(texts)
    if how == "many":
        for _ in range(20):
            path.write_bytes(lecture_files.mutant(texts, rng.randrange(10**6))[1])
    elif how in ("gone", "folder", "pipe"):
        path.unlink(missing_ok=True)
        {"gone": lambda: None, "folder": path.mkdir, "pipe": lambda: os.mkfifo(path)}[how]()
    else:
        mutated = lecture_files.mutant(texts, rng.randrange(10**6))[1]
        path.write_bytes(
            {"mutant": mutated, "half": text.encode()[: len(text) // 2], "empty": b""}.get(how, text.encode())
        )
        path.chmod(0o444 if how == "read-only" else 0o644)


def drive(events: int, seed: int, folder: Path) -> None:
    """In a child: open lectures, press keys, save; say what came."""
    from PySide6.QtCore import Qt, qInstallMessageHandler
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QDialog, QFileDialog

    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.window.main_window import MainWindow
    from tilescope.app.window.start import application
    from tilescope.tracer.run.worker_client import Worker
    from tilescope.tracer.storage.trace_cache import TraceCache

    faulthandler.enable()
    rng, raised, warned, log = random.Random(seed), {}, {}, [""]

    def hook(kind, error, trace):
        import traceback

        frames = [f"{Path(f.filename).name}:{f.lineno}" for f in traceback.extract_tb(trace)[::-1][:5]]
        raised.setdefault(f"{kind.__name__}: {error!s:.160} at {' < '.join(frames)}", log[-4:])

    sys.excepthook = hook
    qInstallMessageHandler(
        lambda kind, context, text: "This plugin does not" in text or warned.setdefault(text, log[-4:])
    )
    path, texts = folder / "shown.md", lecture_files.lectures()
    QFileDialog.getOpenFileName = staticmethod(lambda *a, **k: (rng.choice(["", str(path)]), ""))
    QFileDialog.getSaveFileName = staticmethod(
        lambda *a, **k: (rng.choice(["", str(folder / "mine.md"), "/no/x.md"]), "")
    )
    application()
    window = MainWindow(SessionJobs(Worker(), TraceCache(folder / "cache")), folder / "window.json")
    window.resize(1280, 800)
    window.show()
    slowest, label, begun, memory = 0.0, "", time.monotonic(), []
    ctrl, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier

    def press(name, held=Qt.KeyboardModifier.NoModifier):
        log.append(f"{name} {held.value}")
        tops = [w for w in QApplication.topLevelWidgets() if w.isVisible()]
        target = rng.choice([window, window, QApplication.activeWindow() or window, *tops])
        QTest.keyClick(QApplication.focusWidget() or target, getattr(Qt.Key, f"Key_{name}"), held)

    def act(kind):
        if kind == "key":
            press(rng.choice(KEYS))
        elif kind == "ctrl":
            press(rng.choice(HELD), ctrl)
        elif kind == "shift":
            press(rng.choice(SHIFTED), ctrl | shift)
        elif kind == "save":
            log.append(rng.choice(SAVES))
            save(path, texts, log[-1], rng)
        elif kind == "open":
            save(path, texts, rng.choice(("back", "mutant")), rng)
            log.append("open")
            window.lectures.open(path, rng.randrange(12))
        elif kind == "theme":
            window.look.scale_text(rng.choice([0.8, 1.0, 1.5, 2.0]))
            window.commands["Theme: Dark"].trigger()
        elif kind == "resize":
            window.resize(rng.choice([200, 900, 1400, 2500]), rng.choice([150, 400, 850, 1400]))
        elif kind == "check":
            log.append("check")
            window.lectures.check()
        else:
            others = [w for w in QApplication.topLevelWidgets() if w.isVisible() and w is not window]
            for other in others:
                if isinstance(other, QDialog) or rng.random() < 0.5:
                    other.close()

    for number in range(events):
        position = time.monotonic()
        kinds = ["key", "ctrl", "shift", "save", "open", "theme", "resize", "close", "check"]
        try:
            kind = "open" if number == 0 else rng.choices(kinds, [40, 10, 3, 10, 4, 2, 2, 4, 1])[0]
            log.append(kind)
            act(kind)
            QTest.qWait(rng.choice([0, 0, 1, 5, 40, 200]))
        except Exception:
            hook(*sys.exc_info())
        if time.monotonic() - position > slowest:
            slowest, label = time.monotonic() - position, f"{log[-3:]}"
        if not window.isVisible():
            window.show()
        if number % 50 == 49:
            memory.append(round(common.rss(os.getpid())))
    window.close()
    results = {"raised": raised, "warned": warned, "slowest": slowest, "what": label, "memory": memory}
    print(json.dumps(results | {"seconds": time.monotonic() - begun}), flush=True)
    os._exit(0)


def main() -> int:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else common.SEED
    folder, tally = common.scratch("lecture-window"), common.Tally("lecture_window")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    lecture_files.surroundings(folder)
    words = [sys.executable, __file__, "--drive", str(events), str(seed), str(folder)]
    ended = common.run(words, 120 + events, memory=5000)
    lines = [json.loads(line) for line in ended.out.splitlines() if line.startswith('{"raised"')]
    if not lines:
        tally.fail(
            "the window dies or hangs",
            f"status {ended.code} after {ended.seconds:.0f} s: {ended.err[-1500:]}",
        )
        return tally.summary()
    last = lines[-1]
    for text, before in last["raised"].items():
        tally.fail("exception", f"{text} after {before}")
    for text, before in last["warned"].items():
        tally.fail("warning of Qt", f"{text} after {before}")
    if ended.err.strip():
        tally.fail("said on stderr", ended.err.strip()[-900:])
    if last["slowest"] > 5:
        tally.fail("stall", f"{last['slowest']:.1f} s by {last['what']}")
    if (folder / "x.py.ran").exists():
        tally.fail("a program ran", "nobody agreed to x.py")
    print(
        f"memory {last['memory']} MB, slowest {last['slowest']:.1f} s, {last['seconds']:.0f} s",
        file=sys.stderr,
    )
    tally.good["events"] += events
    tally.tries += events
    return tally.summary()


if __name__ == "__main__":
    if "--drive" in sys.argv:
        drive(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
    else:
        sys.exit(main())
