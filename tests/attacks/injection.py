"""Names and texts that would be more than text: for the terminal, for GitHub's log, for Qt's labels (HTML)."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import common
from msgspec.structs import replace

common.as_tilescope()


ESCAPE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
EVIL = "\x1b]0;owned\x07\x1b[31m"


def main() -> int:
    folder = common.scratch("injection")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    (folder / "kernels.py").write_text(common.KERNELS)
    common.run([common.binary(), "run", "--out", str(folder / "run"), str(folder / "kernels.py")], 60)
    tally = common.Tally("injection")
    terminal(folder, tally)
    names(folder, tally)
    html(folder, tally)
    return tally.summary()


def terminal(folder: Path, tally: common.Tally) -> None:
    """Escape sequences in every text of a trace file, through `counters`."""
    from tilescope.tracer.model.launch import decode, encode
    from tilescope.tracer.storage.trace_file import load, save

    trace = load(folder / "run" / "000-reverse.npz")
    launch = decode(trace.launch)
    kernel = f"/x/{EVIL}k.py:{EVIL}"
    changes = {
        "buffer": {"buffers": tuple(replace(b, name=b.name + EVIL) for b in trace.buffers)},
        "site": {"sites": tuple(replace(s, function=EVIL, file=s.file + EVIL) for s in trace.sites)},
        "kernel": {"kernel": EVIL, "launch": encode(replace(launch, kernel=kernel))},
        "notice": {"notice": EVIL, "accesses": trace.accesses + 5, "totals": {EVIL: 3}},
        "made_by": {"made_by": EVIL, "schedule": EVIL},
    }
    for name, change in changes.items():
        path = folder / f"{name}.npz"
        save(replace(trace, **change), path)
        for more in ([], ["--by", "line"], ["--by", "buffer"], ["--by", "block"]):
            ended = common.run([common.binary(), "counters", str(path), *more], 60)
            if ESCAPE.search(ended.out + ended.err):
                tally.fail(
                    f"terminal sequence in {name} printed",
                    f"counters {' '.join(more)}: {ESCAPE.findall(ended.out)[:3]}",
                )
            else:
                tally.fine("no sequence")
    path = folder / f"x{EVIL}.npz"
    path.write_bytes(b"PK")
    ended = common.run([common.binary(), "counters", str(path)], 60)
    tally.fine("name of a file told") if not ESCAPE.search(ended.err) else tally.fail(
        "terminal sequence of a file name", repr(ended.err)
    )


RACY = """
import numpy as np
from numba import cuda
@cuda.jit
def k(a):
    a[0] = cuda.grid(1)
k[1, 64](np.zeros(3, np.float32))
"""


def names(folder: Path, tally: common.Tally) -> None:
    """Programs whose names hold line ends and what GitHub reads, through `check --format github|text|json`."""
    import json

    for number, name in enumerate(
        (
            "a\n::error file=x::owned.py",
            "a\r::set-output name=x::y.py",
            "a,line=3::b.py",
            "%0A::error::x.py",
            "a\nx.py:1: error: race: owned.py",
            "a b ü🦊.py",
        )
    ):
        place = folder / str(number)
        place.mkdir()
        (place / name).write_text(RACY)
        for form in ("github", "text", "json"):
            ended = common.run([common.binary(), "check", "--format", form, name], 60, cwd=place)
            lines = ended.out.splitlines()
            if common.TRACEBACK.search(ended.err) or ended.code != 1:
                tally.fail("check fails", f"{name!r} {form}: {ended.code} {ended.err[-300:]}")
            elif form == "json":
                json.loads(ended.out)
                tally.fine("json")
            elif form == "github" and not all(
                re.fullmatch(r"::(error|warning|notice) file=[^:,]*,line=\d+,title=\w+::.*", line)
                for line in lines
            ):
                tally.fail("github injection", f"{name!r}: {ended.out!r}")
            elif form == "text" and any("owned" in line and not line.startswith("a") for line in lines):
                tally.fail("text injection", f"{name!r}: {ended.out[:200]!r}")
            else:
                tally.fine(form)


def html(folder: Path, tally: common.Tally) -> None:
    """An image in every text of a trace file that a label of the window may show: a pipe, so that we see it opened."""
    from tilescope.tracer.model.launch import decode, encode
    from tilescope.tracer.model.trace import Check, KernelError
    from tilescope.tracer.storage.trace_file import load, save

    trace = load(folder / "run" / "000-reverse.npz")
    launch = decode(trace.launch)

    def image(name: str) -> str:
        pipe = folder / f"{name}.pipe"
        if not pipe.exists():
            os.mkfifo(pipe)
        return f"<b>x</b><img src='{pipe}'>"

    changes = {
        "buffer": {"buffers": tuple(replace(b, name=image("buffer")) for b in trace.buffers)},
        "function": {"sites": tuple(replace(s, function=image("function")) for s in trace.sites)},
        "file": {
            "sites": tuple(replace(s, file=image("file")) for s in trace.sites),
            "sources": {image("file"): launch.source},
        },
        "kernel": {
            "kernel": image("kernel"),
            "launch": encode(replace(launch, kernel=f"/x/y.py:{image('kernel')}")),
        },
        "notice": {"notice": image("notice"), "accesses": trace.accesses + 5},
        "error": {"error": KernelError(image("error"), image("error"), (0, 0, 0), (0, 0, 0), "f", 3)},
        "schedule": {"schedule": image("schedule"), "made_by": image("schedule")},
        "check": {"check": Check(1.0, 0.0, False, 1, 2)},
        "source": {"sources": {name: image("source") + text for name, text in trace.sources.items()}},
    }
    for name, change in changes.items():
        path = folder / f"html-{name}.npz"
        save(replace(trace, **change), path)
        window = subprocess.Popen(
            [common.python(), __file__, "--show", str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        reader, pipe, opened = common.Reader(window.stdout), folder / f"{name}.pipe", False
        begun = time.monotonic()
        while window.poll() is None and time.monotonic() < begun + 30 and not opened:
            opened = pipe.exists() and _is_read(pipe)
            time.sleep(0.05)
        common.end(common.family(window.pid))
        window.wait()
        output = reader.output()
        labels = re.findall(r"RICH (.*)", output)
        if opened:
            tally.fail(
                f"HTML in {name} opens a file",
                f"<img> in {name} of a trace file: the window reads it (and hangs on a pipe), after {output.splitlines()[-1:]}",
            )
        elif labels:
            tally.fail("HTML of a file is rendered", f"{name}: {labels[:2]}")
        elif "SHOWN" not in output:
            tally.fail("not shown", f"{name}: {output[-200:]}")
        else:
            tally.fine("plain in the window")


def _is_read(pipe: Path) -> bool:
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def show(path: str) -> None:
    """In a child: show a file in the window, every tab and every tip, and say which labels take their text as HTML."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    signal.alarm(60)
    from PySide6 import QtGui
    from PySide6.QtCore import QPoint, Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QLabel, QToolTip, QWidget

    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.control.start_moment import at_first_load
    from tilescope.app.model.bookmark import Bookmark, Setup
    from tilescope.app.window.main_window import MainWindow
    from tilescope.app.window.start import application
    from tilescope.tracer.run.worker_client import Worker

    rich = QtGui.Qt.mightBeRichText
    application()
    window = MainWindow(SessionJobs(Worker(), None), None)
    window.central.results.types.close()
    window.resize(1280, 800)
    window.show()
    window.show_bookmark(Bookmark(panes=(Setup(file=path),)), at_first_load)
    while not (window.stage.is_settled() and window.stage.jobs.is_idle()):
        QTest.qWait(5)
    for tab in ("source", "thread", "warp", "findings", "explain"):
        print(f"tab {tab}", flush=True)
        window.central.show_tab(tab)
        window.stage.step(1)
        QTest.qWait(30)
        for label in window.findChildren(QLabel):  # shown or not
            if label.textFormat() == Qt.TextFormat.AutoText and rich(label.text()) and "<img" in label.text():
                print(f"RICH label {label.objectName()} in {type(label.parent()).__name__}", flush=True)
        for widget in window.findChildren(QWidget):
            if "<img" in widget.toolTip() and rich(widget.toolTip()):
                print(f"RICH tip of {type(widget).__name__} in {type(widget.parent()).__name__}", flush=True)
                QToolTip.showText(QPoint(5, 5), widget.toolTip(), widget)
                QApplication.processEvents()
    print("SHOWN", flush=True)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(show(sys.argv[2]) if "--show" in sys.argv else main())
