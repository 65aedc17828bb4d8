"""The worker killed at random moments while the window traces: the window reports it, and traces again with a new one.

python worker_kills.py [KILLS]. In one window (offscreen). After each kill the next trace must come.
"""

import json
import os
import random
import signal
import sys
import time

import common

common.as_tilescope()
os.environ["QT_QPA_PLATFORM"] = "offscreen"

SPECS = (
    "matmul-tiled:m=64,k=64,n=64,tile=8",
    "histogram-private:count=4096",
    "matmul-naive-col-on-x:m=48,k=48,n=48,engine=simulator",
    "transpose-tile:rows=128,cols=128",
)


def drive(kills: int) -> None:
    from PySide6.QtTest import QTest

    from tilescope.app.control.session_jobs import SessionJobs
    from tilescope.app.model.first_bookmark import setups_of
    from tilescope.app.window.main_window import MainWindow
    from tilescope.app.window.start import application
    from tilescope.tracer.run.worker_client import Worker

    rng, raised, problems = random.Random(1), [], []
    sys.excepthook = lambda kind, error, trace: raised.append(f"{kind.__name__}: {error}")
    application()
    worker = Worker()
    window = MainWindow(SessionJobs(worker, None), None)
    window.central.results.types.close()
    window.show()
    window.stage.problem.connect(problems.append)
    done = {
        "killed while it traced": 0,
        "killed while idle": 0,
        "said": 0,
        "cancelled": 0,
        "trace after": 0,
        "bad": [],
    }
    start = time.monotonic()
    seed = 0
    for number in range(kills):
        seed += 1
        spec = rng.choice(SPECS)
        problems.clear()
        window.change_setups(setups_of((f"{spec},schedule=random,seed={seed}",)))
        QTest.qWait(int(rng.choice([0, 5, 20, 60, 150, 400, 900]) * rng.random()))
        busy = not window.stage.jobs.is_idle()
        if worker.pid is not None:
            os.kill(worker.pid, rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM]))
        done["killed while it traced" if busy else "killed while idle"] += 1
        if rng.random() < 0.2:
            window.escape()
            done["cancelled"] += 1
        begun = time.monotonic()
        while (
            not (window.stage.is_settled() and window.stage.jobs.is_idle())
            and time.monotonic() < begun + common.PATIENCE
        ):
            QTest.qWait(5)
        if not window.stage.is_settled():
            done["bad"].append(f"{number} {spec}: not settled long after the kill")
            continue
        done["said"] += bool(problems)
        if any(not text.endswith(".") or "Traceback" in text for text in problems):
            done["bad"].append(f"{number}: {problems}")
        if number % 5 == 4:  # another trace has to come
            seed += 1
            problems.clear()
            window.change_setups(setups_of((f"vector-increment:count=256,schedule=random,seed={seed}",)))
            begun = time.monotonic()
            while (
                not (window.stage.is_settled() and window.stage.jobs.is_idle())
                and time.monotonic() < begun + common.PATIENCE
            ):
                QTest.qWait(5)
            session = window.stage.sessions[0]
            if session is None or session.launch.schedule.seed != seed:
                done["bad"].append(f"{number}: no trace after it, {problems}")
            done["trace after"] += 1
    done["raised"] = raised[:5]
    done["seconds"] = time.monotonic() - start
    folder = worker._folder
    window.close()
    worker.close()
    begun = time.monotonic()
    while (left := common.family(os.getpid())[1:]) and time.monotonic() < begun + common.PATIENCE:
        QTest.qWait(20)  # processes end a moment after the window
    done["left"] = [common.command_line(pid) for pid in left]
    done["folder left"] = folder.exists()
    print(json.dumps(done), flush=True)
    os._exit(0)


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    folder, tally = common.scratch("kills"), common.Tally("worker_kills")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    ended = common.run([sys.executable, __file__, "--drive", str(kills)], 2 * common.PATIENCE + 10 * kills)
    try:
        output = json.loads(ended.out.strip().splitlines()[-1])
    except (IndexError, ValueError):
        tally.fail("the window dies or hangs", f"{ended.code} after {ended.seconds:.0f} s {ended.err[-500:]}")
        return tally.summary()
    print({k: v for k, v in output.items() if k != "bad"}, file=sys.stderr)
    for text in output["bad"] + output["raised"]:
        tally.fail("after a kill", text)
    if output["left"] or output["folder left"]:
        tally.fail("left", f"{output['left']}, folder {output['folder left']}")
    for _ in range(kills - len(output["bad"])):
        tally.fine("survived")
    return tally.summary()


if __name__ == "__main__":
    if "--drive" in sys.argv:
        drive(int(sys.argv[2]))
    else:
        sys.exit(main())
