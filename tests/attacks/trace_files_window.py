"""Mutants of trace files that can be opened, in the window (offscreen): every tab, several moments, colours, a picture.

python trace_files_window.py [COUNT [FIRST]]: so many mutants that can be opened. A parent starts the process again
where a mutant kills it or holds it up.
"""

import faulthandler
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import common

common.as_tilescope()
os.environ["QT_QPA_PLATFORM"] = "offscreen"

from mutants import mutant

LIMIT = 30


def drive(folder: Path, numbers: list[int]) -> None:
    """In a child: show one mutant after the other, and print a line for each."""
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    from PySide6.QtCore import QPoint, Qt, qInstallMessageHandler
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.control.start_moment import at_first_load
    from tilescope.app.model.bookmark import Bookmark, Setup
    from tilescope.app.widgets.widget_picture import picture_of
    from tilescope.app.window.main_window import MainWindow
    from tilescope.app.window.start import application
    from tilescope.tracer.run.worker_client import Worker
    from tilescope.tracer.storage.trace_file import TraceFileError, load

    faulthandler.enable()
    raised, warned = [], []

    def hook(kind, error, trace):
        import traceback

        frames = traceback.extract_tb(trace)
        raised.append(
            f"{kind.__name__}: {error!s:.160} at {' < '.join(f'{Path(f.filename).name}:{f.lineno}' for f in frames[::-1][:4])}"
        )

    sys.excepthook = hook
    qInstallMessageHandler(lambda kind, context, text: "This plugin does not" in text or warned.append(text))
    application()
    window = MainWindow(SessionJobs(Worker(), None), None)
    window.central.results.types.close()  # another attack's
    window.resize(1280, 800)
    window.show()
    problems = []
    window.stage.problem.connect(problems.append)
    paths = sorted(folder.glob("*.npz")) + sorted((folder / "run").glob("*.npz"))
    for number in numbers:
        print(f"begin {number}", flush=True)
        label, content = mutant(paths, number)
        target = folder / "home" / f"mutant-{number}.npz"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
        try:
            load(target)
        except TraceFileError:
            target.unlink()
            print(f"skip {number}", flush=True)
            continue
        except BaseException as error:
            print(f"end {number} raised in load {type(error).__name__} {error}", flush=True)
            continue
        raised.clear(), warned.clear(), problems.clear()
        begun = time.monotonic()

        def wait(condition):
            while not condition() and time.monotonic() < begun + LIMIT:
                QTest.qWait(2)

        try:
            window.show_bookmark(Bookmark(panes=(Setup(file=str(target)),)), at_first_load)
            wait(window.stage.is_settled)
            wait(window.stage.jobs.is_idle)
            QApplication.processEvents()
            for tab in ("source", "thread", "warp", "findings", "explain"):
                window.central.show_tab(tab)
                QApplication.processEvents()
            for name in (
                "Next moment",
                "Next phase",
                "Next block",
                "End",
                "Previous phase",
                "Colour by value, reads, waste, conflicts, races",
                "Memory or histogram",
                "Previous block",
                "Start",
            ):
                window.commands[name].trigger()
                QApplication.processEvents()
            for _ in range(3):
                window.commands["Colour by value, reads, waste, conflicts, races"].trigger()
                window.draw()
            for pane in window.central.panes:
                for x, y in ((0.3, 0.3), (0.6, 0.5), (0.5, 0.8)):
                    place = QPoint(int(pane.width() * x), int(pane.height() * y))
                    widget = pane.childAt(place) or pane
                    QTest.mouseMove(widget, widget.mapFrom(pane, place))
                    QTest.mouseClick(
                        widget,
                        Qt.MouseButton.LeftButton,
                        Qt.KeyboardModifier.NoModifier,
                        widget.mapFrom(pane, place),
                    )
            QApplication.processEvents()
            picture_of(window, 1)
        except Exception:
            hook(*sys.exc_info())
        seconds = time.monotonic() - begun
        peak = (
            int(
                next(
                    line
                    for line in Path("/proc/self/status").read_text().splitlines()
                    if line.startswith("VmHWM")
                ).split()[1]
            )
            / 1000
        )
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak
        output = "; ".join(dict.fromkeys(raised))
        kind = (
            "raised"
            if raised
            else "warned"
            if warned
            else "slow"
            if seconds > 20
            else "large"
            if peak > 2000
            else "fine"
        )
        print(
            f"end {number} {kind} {seconds:.1f} s {peak:.0f} MB | {label} | {output or '; '.join(dict.fromkeys(warned))} | {'; '.join(problems)}".replace(
                "\n", " "
            )[:1500],
            flush=True,
        )
        target.unlink()
    window.close()
    os._exit(0)


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    folder = common.scratch("window")
    common.real_traces(folder)
    tally, position = common.Tally("trace_files_window"), first
    numbers = range(first, first + 40 * count)
    while tally.tries < count and position < numbers.stop:
        child = subprocess.Popen(
            [sys.executable, __file__, "--drive", str(folder), str(position), str(min(position + 400, numbers.stop))],
            stdout=subprocess.PIPE, stderr=(folder / "errors.txt").open("wb"),
        )  # fmt: skip
        reader, _current, begun, seen = common.Reader(child.stdout), position, time.monotonic(), ""
        handled = 0
        while True:
            lines = reader.output().splitlines(keepends=True)
            fresh = [line for line in lines[handled:] if line.endswith("\n")]
            handled += len(fresh)
            for line in fresh:
                word, number, *rest = line.split(" ", 2)
                begun = time.monotonic()
                position = int(number) + 1
                if word == "end":
                    kind = rest[0].split()[0]
                    if kind == "fine":
                        tally.fine("shown")
                    else:
                        output = rest[0].split(" | ")
                        place = (
                            output[2].rpartition(" at ")[2].split(" <")[0]
                            if kind == "raised" and len(output) > 2
                            else output[2][:60]
                            if len(output) > 2
                            else ""
                        )
                        tally.fail(f"{kind} {place}", rest[0].strip())
                seen = line
            if child.poll() is not None and not fresh:
                break
            if time.monotonic() - begun > LIMIT + 30 or sum(map(common.rss, common.family(child.pid))) > 7000:
                large = sum(map(common.rss, common.family(child.pid)))
                os.kill(child.pid, signal.SIGABRT)  # faulthandler says where
                time.sleep(1)
                common.end(common.family(child.pid))
                where = [
                    line
                    for line in (folder / "errors.txt").read_text(errors="replace").splitlines()
                    if "tilescope" in line
                ][:3]
                tally.fail(
                    "hang",
                    f"after {seen.strip()}: {mutant_name(folder, position - 1)} {large:.0f} MB {where}",
                )
                break
            if tally.tries >= count:
                common.end(common.family(child.pid))
                break
            time.sleep(0.05)
        child.wait()
        if child.returncode not in (0, -9, -6):
            output = (folder / "errors.txt").read_text(errors="replace")[-700:]
            tally.fail(
                f"crash {child.returncode}",
                f"after {seen.strip()}: {mutant_name(folder, position - 1)} {output}",
            )
    return tally.summary()


def mutant_name(folder: Path, number: int) -> str:
    paths = sorted(folder.glob("*.npz")) + sorted((folder / "run").glob("*.npz"))
    return mutant(paths, number)[0]


if __name__ == "__main__":
    if "--drive" in sys.argv:
        drive(Path(sys.argv[2]), list(range(int(sys.argv[3]), int(sys.argv[4]))))
    else:
        sys.exit(main())
