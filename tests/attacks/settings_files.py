"""Mutants of what the window remembers (window.json, with its bookmark): read in a child, shown in a window, and
a sample through the real command.

python settings_files.py [COUNT [SHOWN [COMMANDS]]]
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import common

common.as_tilescope()
os.environ["QT_QPA_PLATFORM"] = "offscreen"

from mutants import _put, flip_bytes, foreign, splice, truncate


def base(folder: Path) -> bytes:
    """Return the settings that a real window writes when it is closed."""
    home = folder / "home"
    window = subprocess.Popen(
        [common.binary(), "matmul-tiled:m=8,k=8,n=8,tile=8"],
        env={**os.environ, "TILESCOPE_HOME": str(home)},
        stderr=subprocess.DEVNULL,
    )
    time.sleep(6)
    window.send_signal(signal.SIGINT)
    window.wait(20)
    return (home / "config" / "window.json").read_bytes()


def mutant(number: int, content: bytes, trace: Path) -> tuple[str, bytes]:
    rng = random.Random(number + common.SEED)
    if rng.random() < 0.2:
        change = rng.choice([flip_bytes, truncate, splice, foreign])
        return f"#{number} {change.__name__}", change(rng, content)
    output = json.loads(content)
    mark = output["bookmark"]
    how = rng.randrange(6)
    if how == 0:
        _put(rng, output, 1)
    elif how == 1:
        mark |= rng.choice(
            [{"moment": m} for m in (-1, 1e308, -1e308, 1e18, 0.5)]
            + [{"focus": f} for f in (-1, 5, -(2**40), 2**70)]
            + [{"speed": s} for s in (0, -1, 1e308, 1e-300)]
            + [{"text_scale": s} for s in (0, -1, 1e9, 1e-9, 50)]
            + [{"tab": "x"}, {"colour_by": "x"}, {"words": "x"}, {"theme": "x"}]
        )
    elif how == 2:
        mark["panes"] = rng.choice(
            [
                [],
                mark["panes"] * 2,
                mark["panes"] * 50,
                [{}],
                [{"scenario": "x"}],
                [{"file": "/nowhere.npz"}],
                [{"file": str(trace), "rerun": True}],
                [{"file": "/dev/zero"}],
                [{"file": ".."}],
                [{"scenario": "matmul-tiled", "values": {"m": 8, "x": 1}}],
                [{"scenario": "matmul-tiled", "values": {"a": "/dev/null"}}],
                [{"scenario": "matmul-tiled", "values": {"m": "9" * 500}}],
                [{"scenario": "matmul-tiled", "blocks": [-5]}],
                [{"scenario": "matmul-tiled", "blocks": []}],
                [{"scenario": "matmul-tiled", "resident": -3}],
                [{"scenario": "matmul-tiled", "resident": 0}],
            ]
        )
    elif how == 3:
        mark["places"] = rng.choice(
            [
                [{"block": b, "thread": t}] * 2
                for b in (-1, 0, 10**9, 2**62, 2**64)
                for t in (-1, 0, 5000, 2**62)
            ]
        )
    elif how == 4:
        output["geometry"] = rng.choice(
            ["", "AAAA", output["geometry"][:40], "A" * 40000, output["geometry"][::-1]]
        )
        output["splitters"] = rng.choice([[], ["AAAA"] * 50, ["A" * 4000, ""], output["splitters"]])
        output["recent"] = rng.choice([[], ["x"] * 5000, ["\n", "\0", "a" * 100_000], ["<b>x</b>&y"]])
    else:
        for pane in mark["panes"]:
            _put(rng, {"p": pane}, 1) if rng.random() < 0.3 else _put(rng, pane, 1)
    return f"#{number} {how}", json.dumps(output).encode("utf-8", "surrogatepass")


def read(path: Path) -> str:
    from tilescope.app.model.settings import Settings, load, save

    settings, complaint = load(path)
    if complaint and settings != Settings():
        return "half read\0"
    save(path.with_suffix(".again"), settings)
    return f"{'refused' if complaint else 'read'}\0{complaint[:100]}"


def drive(folder: Path, numbers: list[int]) -> None:
    """In a child: start a window on one mutant after the other as `run` does."""
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    from PySide6.QtCore import QEvent, qInstallMessageHandler
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.model.first_bookmark import first_bookmark
    from tilescope.app.window.main_window import MainWindow
    from tilescope.app.window.start import application
    from tilescope.tracer.run.worker_client import Worker
    from tilescope.tracer.storage.trace_cache import TraceCache

    raised, warned = [], []

    def hook(kind, error, trace):
        import traceback

        frames = traceback.extract_tb(trace)
        raised.append(
            f"{kind.__name__}: {error!s:.160} at {' < '.join(f'{Path(f.filename).name}:{f.lineno}' for f in frames[::-1][:3])}"
        )

    sys.excepthook = hook
    qInstallMessageHandler(lambda kind, context, text: "This plugin does not" in text or warned.append(text))
    application()
    content, trace = (folder / "base.json").read_bytes(), folder / "trace.npz"
    worker, cache = Worker(), TraceCache(folder / "cache")
    for number in numbers:
        label, mutated = mutant(number, content, trace)
        path = folder / "home" / "window.json"
        path.write_bytes(mutated)
        print(f"begin {number}", flush=True)
        raised.clear(), warned.clear()
        begun = time.monotonic()
        try:
            window = MainWindow(SessionJobs(worker, cache), path)
            window.central.results.types.close()
            window.restore()
            if not window.show_bookmark(first_bookmark((), window.settings.bookmark)):
                window.show_bookmark(first_bookmark((), None))
            window.show()
            while (
                not (window.stage.is_settled() and window.stage.jobs.is_idle())
                and time.monotonic() < begun + 15
            ):
                QTest.qWait(2)
            QTest.qWait(20)
            window.stage.step(1)
            window.draw()
            settled = window.stage.is_settled()
            window.stage.jobs.worker = Worker.__new__(Worker)  # the next window needs this one
            window.stage.jobs.worker.close = window.stage.jobs.worker.cancel = (
                window.stage.jobs.worker.start
            ) = lambda: None
            window.close()
            window.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            if not settled:
                raised.append("never settled")
        except Exception:
            hook(*sys.exc_info())
        seconds = time.monotonic() - begun
        kind = "raised" if raised else "warned" if warned else "slow" if seconds > 15 else "fine"
        print(
            f"end {number} {kind} | {label} | {'; '.join(dict.fromkeys(raised or warned))}".replace(
                "\n", " "
            )[:900],
            flush=True,
        )
    worker.close()
    os._exit(0)


def main() -> int:
    count, shown, commands = (
        int(word) for word in (*sys.argv[1:], *("600", "150", "25")[len(sys.argv) - 1 :])
    )
    folder = common.scratch("settings")
    content, tally = base(folder), common.Tally("settings_files")
    (folder / "base.json").write_bytes(content)
    (folder / "trace.npz").write_bytes(common.real_traces(folder)[0].read_bytes())
    target = folder / "mutant.json"
    import tilescope.app.model.settings  # noqa: F401

    good = []
    for number in range(count):
        label, mutated = mutant(number, content, folder / "trace.npz")
        target.write_bytes(mutated)
        kind, text, seconds, peak = common.limited(lambda: read(target))
        if kind in ("read", "refused") and seconds < 10 and peak < 2000:
            tally.fine(kind)
            good += [number] * (kind == "read")
        else:
            tally.fail(kind, f"{label}: {text}")
    waiting = good[:shown]
    while waiting:
        child = subprocess.Popen(
            [sys.executable, __file__, "--drive", str(folder), ",".join(map(str, waiting))],
            stdout=subprocess.PIPE,
            stderr=(folder / "errors.txt").open("wb"),
        )
        reader, begun = common.Reader(child.stdout), time.monotonic()
        handled, current = 0, waiting[0]
        while True:
            over = child.poll() is not None
            lines = list(reader.output().split("\n")[:-1])
            for line in lines[handled:]:
                begun = time.monotonic()
                current = int(line.split()[1])
                if line.startswith("end"):
                    kind, (_, label, output) = line.split()[2], line.split(" | ", 2)
                    tally.fine("shown") if kind == "fine" else tally.fail(
                        f"{kind} {output.rpartition(' at ')[2].partition(' <')[0][:50]}", f"{label}: {output}"
                    )
            handled = len(lines)
            if over and handled == len(reader.output().split("\n")[:-1]):
                break
            if time.monotonic() - begun > 60:
                common.end(common.family(child.pid))
                tally.fail(
                    "hang in the window",
                    mutant(current, content, folder / "trace.npz")[0]
                    + mutant(current, content, folder / "trace.npz")[1].decode(errors="replace")[:400],
                )
                break
            time.sleep(0.05)
        child.wait()
        if child.returncode not in (0, -9):
            tally.fail(
                f"crash {child.returncode}",
                mutant(current, content, folder / "trace.npz")[0]
                + (folder / "errors.txt").read_text(errors="replace")[-400:],
            )
        waiting = waiting[waiting.index(current) + 1 :]
    for number in range(commands):
        home = folder / f"home{number}"
        (home / "config").mkdir(parents=True)
        label, mutated = mutant(number * 7 + 3, content, folder / "trace.npz")
        (home / "config" / "window.json").write_bytes(mutated)
        window = subprocess.Popen(
            [common.binary()],
            env={**os.environ, "TILESCOPE_HOME": str(home)},
            stderr=(folder / "e.txt").open("wb"),
        )
        time.sleep(5)
        alive = window.poll() is None
        window.send_signal(signal.SIGINT)
        try:
            code = window.wait(20)
        except subprocess.TimeoutExpired:
            common.end(common.family(window.pid))
            code = "hangs"
        results = (folder / "e.txt").read_text(errors="replace")
        if not alive or code or common.TRACEBACK.search(results):
            tally.fail(
                "the window does not start and end well",
                f"{label}: alive {alive}, status {code}, {results[-300:]} {mutated[:200]!r}",
            )
        else:
            tally.fine("started")
    return tally.summary()


if __name__ == "__main__":
    if "--drive" in sys.argv:
        drive(Path(sys.argv[2]), list(map(int, sys.argv[3].split(","))))
    else:
        sys.exit(main())
