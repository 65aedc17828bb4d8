"""A monkey at the window: random keys, clicks, wheel, drags, resizes, menus, scenarios, for several kinds of scenario.

python monkey.py [EVENTS [SEED]]. In a child (offscreen) that is watched: exceptions, Qt's warnings, stalls, crashes.
"""

import faulthandler
import gc
import json
import os
import random
import sys
import time
from pathlib import Path

import common

common.as_tilescope()
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

PAIRS = (
    ("matmul-naive-col-on-x:m=16,k=16,n=16,tile=8", "matmul-tiled:m=16,k=16,n=16,tile=8"), ("histogram-private:count=256,num_blocks=2,threads=64,bins=16", "histogram-global:count=256,num_blocks=2,threads=64,bins=16"),
    ("transpose-padded:rows=64,cols=64",), ("python-threads:m=4,k=4,n=4,tile=8", "barrier-three-threads"), ("count-racing:num_blocks=2,threads=64", "count-atomic:num_blocks=2,threads=64"), ("sum-sequential:count=256,threads=64", "sum-interleaved:count=256,threads=64"),
    ("workitem-tiled:m=16,k=16,n=16", "matmul-tiled-early-return:m=10,k=10,n=10,tile=8"), ("vector-too-few-threads:count=100,num_blocks=1,threads=32",), ("FILE",),
)  # fmt: skip


def drive(events: int, seed: int, trace: str) -> None:
    from PySide6.QtCore import QPoint, QPointF, Qt, qInstallMessageHandler
    from PySide6.QtGui import QWheelEvent
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QFileDialog, QMenu

    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.model.first_bookmark import setups_of
    from tilescope.app.window.main_window import MainWindow
    from tilescope.app.window.start import application
    from tilescope.tracer.run.worker_client import Worker
    from tilescope.tracer.storage.trace_cache import TraceCache

    faulthandler.enable()
    rng, raised, warned, log = random.Random(seed), {}, {}, []

    def note(store, text):
        store.setdefault(text, list(log[-4:]))

    def hook(kind, error, trace):
        import traceback

        frames = traceback.extract_tb(trace)
        note(
            raised,
            f"{kind.__name__}: {error!s:.160} at {' < '.join(f'{Path(f.filename).name}:{f.lineno}' for f in frames[::-1][:4])}",
        )

    sys.excepthook = hook
    qInstallMessageHandler(lambda kind, context, text: "This plugin does not" in text or note(warned, text))
    # Dialogs of the system would wait for a person.
    QFileDialog.getOpenFileName = staticmethod(lambda *a, **k: (rng.choice(["", trace, "/nowhere.npz"]), ""))
    QFileDialog.getSaveFileName = staticmethod(
        lambda *a, **k: (rng.choice(["", str(Path(trace).with_name("saved")), "/nowhere/x"]), "")
    )
    application()
    window = MainWindow(
        SessionJobs(Worker(), TraceCache(Path(trace).with_name("cache"))),
        Path(trace).with_name("window.json"),
    )
    window.resize(1400, 850)
    window.show()

    def show(words):
        window.change_setups(setups_of([trace if word == "FILE" else word for word in words]))

    show(PAIRS[0])
    keys = [
        getattr(Qt.Key, f"Key_{name}")
        for name in [
            "Space",
            "Left",
            "Right",
            "Up",
            "Down",
            "Home",
            "End",
            "Tab",
            "Backtab",
            "Return",
            "Escape",
            "Delete",
            "F1",
            "F6",
            "F10",
            "F11",
            "Plus",
            "Minus",
            "BracketLeft",
            "BracketRight",
            "L",
            "K",
            "C",
            "H",
            "A",
            "Z",
            "0",
            "1",
            "2",
            "5",
            "9",
            "PageUp",
            "PageDown",
            "Comma",
        ]
    ]
    held = [Qt.KeyboardModifier.NoModifier] * 4 + [
        Qt.KeyboardModifier.ShiftModifier,
        Qt.KeyboardModifier.ControlModifier,
        Qt.KeyboardModifier.AltModifier,
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
    ]
    avoid = {(Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)}
    slowest, begun = 0.0, time.monotonic()
    kinds = {}
    for number in range(events):
        used = time.thread_time()  # a busy machine does not change it
        tops = [w for w in QApplication.topLevelWidgets() if w.isVisible()]
        top = rng.choice([window, window, window, *tops])
        kind = rng.choices(
            [
                "key",
                "click",
                "wheel",
                "move",
                "drag",
                "resize",
                "command",
                "setup",
                "popup",
                "theme",
                "wait",
                "close",
            ],
            [20, 22, 12, 14, 8, 3, 14, 2, 4, 2, 4, 3],
        )[0]
        kinds[kind] = kinds.get(kind, 0) + 1
        try:
            place = QPoint(rng.randrange(max(top.width(), 1)), rng.randrange(max(top.height(), 1)))
            widget = top.childAt(place) or top
            inner = widget.mapFrom(top, place)
            log.append(f"{kind} {type(widget).__name__}")
            if kind == "key":
                key, more = rng.choice(keys), rng.choice(held)
                if (key, more) not in avoid:
                    QTest.keyClick(QApplication.focusWidget() or window, key, more)
            elif kind == "click":
                button = rng.choice(
                    [Qt.MouseButton.LeftButton] * 4
                    + [Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton]
                )
                (QTest.mouseDClick if rng.random() < 0.15 else QTest.mouseClick)(
                    widget, button, rng.choice(held), inner
                )
            elif kind == "wheel":
                turn = QPoint(0, rng.choice([-1200, -120, 120, 1200, 7]))
                event = QWheelEvent(
                    QPointF(inner),
                    QPointF(widget.mapToGlobal(inner)),
                    QPoint(),
                    turn,
                    Qt.MouseButton.NoButton,
                    rng.choice(held),
                    Qt.ScrollPhase.NoScrollPhase,
                    False,
                )
                QApplication.sendEvent(widget, event)
            elif kind == "move":
                QTest.mouseMove(widget, inner)
            elif kind == "drag":
                QTest.mousePress(widget, Qt.MouseButton.LeftButton, rng.choice(held), inner)
                for _ in range(3):
                    QTest.mouseMove(
                        widget, inner + QPoint(rng.randrange(-300, 300), rng.randrange(-300, 300))
                    )
                QTest.mouseRelease(
                    widget,
                    Qt.MouseButton.LeftButton,
                    rng.choice(held),
                    inner + QPoint(rng.randrange(-300, 300), rng.randrange(-100, 100)),
                )
            elif kind == "resize":
                window.resize(rng.choice([200, 500, 900, 1400, 2500]), rng.choice([150, 400, 850, 1400]))
            elif kind == "command":
                name = rng.choice([n for n in window.commands if n not in ("Quit", "Open program…")])
                log[-1] = f"command {name}"
                window.commands[name].trigger()
            elif kind == "setup":
                show(rng.choice(PAIRS))
            elif kind == "popup":
                boxes = [b for b in window.findChildren(QComboBox) if b.isVisible() and b.isEnabled()]
                if boxes:
                    box = rng.choice(boxes)
                    # A heading of a list can't be chosen.
                    open_to = [
                        i
                        for i in range(box.count())
                        if box.model().flags(box.model().index(i, 0)) & Qt.ItemFlag.ItemIsSelectable
                    ]
                    if open_to:
                        box.setCurrentIndex(rng.choice(open_to))
                        box.activated.emit(box.currentIndex())
            elif kind == "theme":
                window.look.scale_text(rng.choice([0.8, 1.0, 1.5, 2.0]))
            elif kind == "close":
                for other in tops:
                    if isinstance(other, QDialog | QMenu) or (other is not window and rng.random() < 0.3):
                        other.close()
            QTest.qWait(rng.choice([0, 0, 0, 1, 5, 30]))
        except Exception:
            hook(*sys.exc_info())
        spent = time.thread_time() - used
        if spent > slowest:
            slowest, label = spent, f"{log[-1]} after {log[-4:-1]}"
        if number % 100 == 99:
            counted = {"widgets": len(QApplication.allWidgets()), "objects": len(gc.get_objects())}
            print(json.dumps({"event": number + 1, "rss": common.rss(os.getpid()), **counted}), flush=True)
        if not window.isVisible():
            window.show()
    settled = time.monotonic()
    while (
        not (window.stage.is_settled() and window.stage.jobs.is_idle())
        and time.monotonic() < settled + common.PATIENCE
    ):
        QTest.qWait(10)
    results = {
        "end": True,
        "raised": raised,
        "warned": warned,
        "slowest": slowest,
        "what": label,
        "settled": window.stage.is_settled(),
        "seconds": time.monotonic() - begun,
        "rss": common.rss(os.getpid()),
        "kinds": kinds,
    }
    window.close()
    print(json.dumps(results), flush=True)
    os._exit(0)


def main() -> int:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else common.SEED
    folder, tally = common.scratch("monkey"), common.Tally("monkey")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    (folder / "kernels.py").write_text(common.KERNELS)
    common.run([common.binary(), "run", "--out", str(folder / "run"), str(folder / "kernels.py")])
    trace = folder / "trace.npz"
    trace.write_bytes((folder / "run" / "000-reverse.npz").read_bytes())
    ended = common.run(
        [sys.executable, __file__, "--drive", str(events), str(seed), str(trace)],
        2 * common.PATIENCE + events * 0.5,
        memory=5000,
    )
    lines = [json.loads(line) for line in ended.out.splitlines() if line.startswith("{")]
    last = lines[-1] if lines else {}
    if not last.get("end"):
        tally.fail(
            "the window dies or hangs",
            f"status {ended.code} after {ended.seconds:.0f} s, last {last}, {ended.err[-1500:]}",
        )
        return tally.summary()
    for text, before in last["raised"].items():
        tally.fail("exception", f"{text} after {before}")
    for text, before in last["warned"].items():
        tally.fail("warning of Qt", f"{text} after {before}")
    others = [line for line in ended.err.splitlines() if line.strip()]
    if others:
        tally.fail("said on stderr", " | ".join(others)[-900:])
    if last["slowest"] > 3:
        tally.fail("stall", f"{last['slowest']:.1f} s by {last['what']}")
    if not last["settled"]:
        tally.fail("never settled", "")
    print({k: v for k, v in last.items() if k not in ("raised", "warned")}, file=sys.stderr)
    tally.good["events"] += events
    tally.tries += events
    return tally.summary()


if __name__ == "__main__":
    if "--drive" in sys.argv:
        drive(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        sys.exit(main())
