"""The worker: a process that traces one launch after the other, so that no kernel takes the window down.

`python -m tilescope.tracer.run.worker [FOLDER]` reads a Job or a JudgeJob a line and answers with events, a line
each (see `worker_events`). It stays warm between jobs. When its input closes it ends, and removes FOLDER, which
a window that was killed can't. What a kernel prints becomes events.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import queue
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import msgspec

from ..model.launch import decode
from ..model.trace import Trace
from ..processes.json_streams import private_streams, sender
from ..recording.kernel_loader import LoadError, kernel_file
from ..storage.column_files import close_named, share_columns
from ..storage.trace_file import TraceFileError, save
from .ahead import CompilingAhead
from .endless import NotEnded, ended_if_endless
from .time_estimate import TimeEstimate, TooSlow
from .worker_events import (
    WORKER_JOB,
    Ahead,
    Asks,
    At,
    Done,
    Early,
    Failed,
    Job,
    Judged,
    JudgeJob,
    Output,
    Progress,
    Ready,
    Slow,
    WorkerMessage,
)

PERIOD = 0.05  # seconds from one report of progress to the next


Send = Callable[[WorkerMessage], None]
Report = Callable[[int, int], None]
Engine = Callable[..., Trace]  # `engine.run`: of a launch, a report, and who gets an early trace


class Printed(io.TextIOBase):
    """A text stream whose lines become `Output` events."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._text = ""

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Take in text, and send it once a line is full or long."""
        self._text += text
        if "\n" in text or len(self._text) > 8192:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what is there."""
        text, self._text = self._text, ""
        if text:
            self._send(Output(plain(text)))


def plain(text: str) -> str:
    """Return text that can be sent: names of files may hold what UTF-8 can't."""
    return text.encode("utf-8", "replace").decode()


def main() -> None:
    """Serve jobs until the input closes."""
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # numba looks only once, when it is imported
    source, target = private_streams()
    send = sender(target, _leave)
    sys.stdout = sys.stderr = printed = Printed(send)
    share_columns()
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(source, jobs), daemon=True).start()
    engine, ahead = _warm_engine(send), CompilingAhead()
    while True:
        job = _next_job(jobs, ahead)
        close_named()
        end = answer_judging(job, send) if isinstance(job, JudgeJob) else answer(job, engine, send)
        printed.flush()
        send(end)


def _next_job(jobs: queue.SimpleQueue[bytes], ahead: CompilingAhead) -> Job | JudgeJob:
    """Wait for the next job, and meanwhile do what it would have to wait for."""
    while True:
        try:
            asked: Job | JudgeJob | Ahead = WORKER_JOB.decode(jobs.get(timeout=ahead.pause()))
        except queue.Empty:
            ahead.go_on()
            continue
        if not isinstance(asked, Ahead):
            ahead.is_fresh = False
            return asked
        ahead.want(decode(bytes(launch).decode()) for launch in asked.launches)


def _listen(source: IO[bytes], jobs: queue.SimpleQueue[bytes]) -> None:
    """Pass jobs on until the input closes: then the window is gone."""
    for line in source:
        jobs.put(line)
    _leave()


def _leave() -> None:
    """End at once, whatever the kernel does."""
    for folder in sys.argv[1:]:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _warm_engine(send: Send) -> Engine:
    """Load numba, the simulator and the compiled engine before the first job comes."""
    from ..simulator.numba_patch import UnsupportedSimulator, install
    from .engine import run

    try:
        install()
        from ..compiled.driver import engine as _compiled  # noqa: F401  # takes a second, which a launch need not wait for

        gc.freeze()  # all that is loaded by now stays: to look through it for what is left over takes long
        send(Ready())
    except UnsupportedSimulator:
        pass  # `run` says so again, where somebody listens
    return run


def answer(job: Job, engine: Engine, send: Send) -> Done | Failed | Slow:
    """Do one job and say how it ended."""
    try:
        trace = _trace_of(job, engine, send)
        save(trace, job.out, compress=False, handed_over=not job.call)
    except TooSlow as left:
        return Slow(job.job, left.seconds, left.blocks)
    except BaseException as error:  # noqa: BLE001  # a kernel's module may raise anything, even SystemExit
        traceback.print_exc(file=sys.__stderr__)
        file, line = (error.file, error.line) if isinstance(error, LoadError | NotEnded) else ("", 0)
        return Failed(job.job, plain(sentence(error)), plain(file), line, isinstance(error, NotEnded))
    return Done(job.job, job.out)


def _trace_of(job: Job, engine: Engine, send: Send) -> Trace:
    listener = _listener(job, send)
    if job.call:
        return _of_call(job, listener)
    launch = decode(bytes(job.launch).decode())
    early = {"early": lambda trace: _send_early(trace, job, send)} if job.early else {}
    with ended_if_endless(kernel_file(launch), launch.source, job.patience) as ended:

        def report(done: int, of: int) -> None:
            ended(done, of)
            listener(done, of)

        return engine(launch, report, **early)


def _send_early(trace: Trace, job: Job, send: Send) -> None:
    """Send the trace that is to be shown until the launch has been run again; without it nothing is lost."""
    path = f"{job.out}.early"
    with contextlib.suppress(OSError, MemoryError, TraceFileError):
        save(trace, path, compress=False, handed_over=True)
        send(Early(job.job, path))


def _of_call(job: Job, report: Report) -> Trace:
    from .run_call import run_call  # what the window's launches do without

    return run_call(Path(job.call), report)


def answer_judging(job: JudgeJob, send: Send) -> Judged | Failed:
    """Judge a student's file and say what came of it; meanwhile say where it is, for whoever loses patience."""
    over = threading.Event()
    try:
        from ..judging.judge import judge  # takes a while the first time, which is not the student's
        from .given_arrays import run_on

        asking = _asking(job.job, send)
        send(At(job.job, job.task.file, 0))
        threading.Thread(
            target=_say_where, args=(job, send, over, threading.get_ident()), daemon=True
        ).start()
        found = judge(job.task, run_on, asking)
    except BaseException as error:  # noqa: BLE001  # a student's module may raise anything, even SystemExit
        traceback.print_exc(file=sys.__stderr__)
        return Failed(job.job, plain(sentence(error)))
    finally:
        over.set()
    return Judged(job.job, found)


def _asking(job: int, send: Send) -> Callable[[Any, list[Any]], None]:
    """Return what sends the question about a kernel with these arguments, each once."""
    from ..type_inference.live_kernel import LaunchedKernels

    kernels, asked = LaunchedKernels(), set[str]()

    def ask(kernel: Any, arguments: list[Any]) -> None:
        question = kernels.question(kernel, arguments)
        if question.key() not in asked:
            asked.add(question.key())
            send(Asks(job, question))

    return ask


def _say_where(job: JudgeJob, send: Send, over: threading.Event, thread: int) -> None:
    """Send the line of the student's file, or of the exercise's, that a thread is on, whenever it is another.

    It is 0 in code of it that has no line.
    """
    files = {job.task.student_file, job.task.file}
    last: tuple[str, int] | None = None
    while not over.wait(PERIOD):
        frame = sys._current_frames().get(thread)
        while frame is not None and frame.f_code.co_filename not in files:
            frame = frame.f_back
        here = last if frame is None else (frame.f_code.co_filename, frame.f_lineno or 0)
        if here is not None and here != last:
            last = here
            send(At(job.job, *here))


def _listener(job: Job, send: Send) -> Report:
    """Return what the engine reports to: the window, and whoever does not want to wait too long."""
    report = reporter(job.job, send)
    if job.patience is None:
        return report
    estimate, patience = TimeEstimate(), job.patience

    def both(done: int, of: int) -> None:
        report(done, of)
        estimate.check_patience(patience, done, of)

    return both


def reporter(job: int, send: Send, clock: Callable[[], float] = time.monotonic) -> Report:
    """Return what the engine reports to: it sends at most 20 events a second, and always the last."""
    last = -PERIOD

    def report(done: int, of: int) -> None:
        nonlocal last
        now = clock()
        if done == of or now - last >= PERIOD:
            last = now
            send(Progress(job, done, of))

    return report


def sentence(error: BaseException) -> str:
    """Return why there is no trace, for the user."""
    from ..simulator.numba_patch import UnsupportedSimulator

    if isinstance(error, LoadError | NotEnded | TraceFileError | UnsupportedSimulator):
        return str(error)
    if isinstance(error, MemoryError):
        return "The launch does not fit in memory; choose a smaller size or fewer blocks."
    if isinstance(error, msgspec.MsgspecError):
        return f"The launch can't be read ({error}); every argument must be a finite number or an array."
    return f"The launch can't be traced ({type(error).__name__}: {error}); check kernel and arguments."


if __name__ == "__main__":
    main()
