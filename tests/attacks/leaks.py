"""Whether the window and its worker grow: hundreds of new traces in one window, with every tab drawn.

python leaks.py [TRACES]. Prints the memory every 25 traces; fails where the last two thirds grow on and on.
"""

import json
import os
import sys
import time

import common

common.as_tilescope()
os.environ["QT_QPA_PLATFORM"] = "offscreen"

KINDS = {
    "matmul": "matmul-tiled:m=32,k=32,n=32,tile=8,schedule=random,seed={0}", "histogram": "histogram-private:count=1024,num_blocks=4,threads=64,bins=16,schedule=random,seed={0}", "simulator": "transpose-tile:rows=32,cols=32,engine=simulator,schedule=random,seed={0}",
}  # fmt: skip


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def drive(spec: str, traces: int) -> None:
    import gc

    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QWidget

    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.model.first_bookmark import setups_of
    from tilescope.app.window.main_window import MainWindow
    from tilescope.app.window.start import application
    from tilescope.tracer.run.worker_client import Worker

    application()
    worker = Worker()
    window = MainWindow(SessionJobs(worker, None), None)
    window.resize(1400, 850)
    window.show()
    tabs = ("source", "thread", "warp", "findings", "explain")
    for number in range(traces):
        window.change_setups(setups_of((spec.format(number + 1),)))
        begun = time.monotonic()
        while (
            not (window.stage.is_settled() and window.stage.jobs.is_idle()) and time.monotonic() < begun + 30
        ):
            QTest.qWait(2)
        window.central.show_tab(tabs[number % 5])
        window.stage.step(1)
        window.commands["End"].trigger()
        window.draw()
        QTest.qWait(1)
        if number % 25 == 24:
            gc.collect()
            theirs = sum(common.rss(p) for p in common.family(os.getpid())[1:])
            print(
                json.dumps(
                    {
                        "traces": number + 1,
                        "window": common.rss(os.getpid()),
                        "worker": theirs,
                        "fds": descriptors(),
                        "widgets": len(window.findChildren(QWidget)),
                        "objects": len(gc.get_objects()),
                        "history": len(window.navigation.history._back),
                    }
                ),
                flush=True,
            )
    window.close()
    os._exit(0)


def main() -> int:
    traces = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    folder, tally = common.scratch("leaks"), common.Tally("leaks")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    for kind, spec in KINDS.items():
        ended = common.run([sys.executable, __file__, "--drive", spec, str(traces)], 100 + traces * 3)
        rows = [json.loads(line) for line in ended.out.splitlines()]
        if len(rows) < traces // 25:
            tally.fail("the window dies or hangs", f"{kind}: {ended.code} {ended.err[-300:]}")
            continue
        for row in rows:
            print(kind, row, file=sys.stderr)
        early, late = rows[len(rows) // 3], rows[-1]
        count = late["traces"] - early["traces"]
        for label in ("window", "worker", "fds", "widgets", "objects"):
            grown = (late[label] - early[label]) / max(count, 1)
            limit = {"window": 0.15, "worker": 0.15, "fds": 0.02, "widgets": 0.02, "objects": 60}[
                label
            ]  # a trace
            if grown > limit:
                tally.fail(
                    f"{label} grows",
                    f"{kind}: {early[label]:.0f} to {late[label]:.0f} in {count} traces, {grown:.2f} each",
                )
            else:
                tally.fine(f"{label} steady")
    return tally.summary()


if __name__ == "__main__":
    if "--drive" in sys.argv:
        drive(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(main())
