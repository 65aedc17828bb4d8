"""The worker: a separate process that traces launches, so that no kernel can crash the window.

`python -m tilescope.tracer.run.worker [FOLDER]` reads a Job or a JudgeJob a line and answers with events, a line
each (see `worker_events`). It stays warm between jobs. When its input closes it ends, and removes FOLDER, which
a window that was killed can't. What a kernel prints becomes events.
"""

from __future__ import annotations

import contextlib
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

from ..model.launch import decode, is_cuda_cpp_launch
from ..model.trace import Trace
from ..processes.garbage import without_collections
from ..processes.json_streams import make_sender, private_streams
from ..recording.kernel_loader import LoadError, kernel_file
from ..storage.column_files import close_named, share_columns
from ..storage.trace_file import TraceFileError, save
from .endless import EndlessLaunchError, stop_if_endless
from .precompile import PrecompileQueue
from .time_estimate import PatienceExceededError, TimeEstimate
from .worker_events import (
    WORKER_JOB,
    CompilerQuestion,
    Done,
    Early,
    Failed,
    Job,
    Judged,
    JudgeJob,
    JudgingPosition,
    Output,
    Precompile,
    Progress,
    Ready,
    Slow,
    WorkerMessage,
)

PERIOD = 0.05  # seconds from one report of progress to the next


Send = Callable[[WorkerMessage], None]
Report = Callable[[int, int], None]
Engine = Callable[..., Trace]  # `engine.run`: takes a launch, a report, and a callback for an early trace


class Printed(io.TextIOBase):
    """A text stream whose lines become `Output` events."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._text = ""

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Buffer text, and send it at the end of a line or when it is long."""
        self._text += text
        if "\n" in text or len(self._text) > 8192:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send the buffered text."""
        text, self._text = self._text, ""
        if text:
            self._send(Output(plain(text)))


def plain(text: str) -> str:
    """Replace characters that UTF-8 can't encode, which file names may contain."""
    return text.encode("utf-8", "replace").decode()


def main() -> None:
    """Serve jobs until the input closes."""
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # numba reads it only when it is imported
    source, target = private_streams()
    send = make_sender(target, _leave)
    sys.stdout = sys.stderr = printed = Printed(send)
    share_columns()
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(source, jobs), daemon=True).start()
    engine, ahead = _warm_engine(send), PrecompileQueue()
    while True:
        job = _next_job(jobs, ahead)
        close_named()
        end = answer_judging(job, send) if isinstance(job, JudgeJob) else answer(job, engine, send)
        printed.flush()
        send(end)


def _next_job(jobs: queue.SimpleQueue[bytes], ahead: PrecompileQueue) -> Job | JudgeJob:
    """Wait for the next job, and meanwhile do work that would delay it."""
    while True:
        try:
            request: Job | JudgeJob | Precompile = WORKER_JOB.decode(jobs.get(timeout=ahead.idle_delay()))
        except queue.Empty:
            ahead.run_next()
            continue
        if not isinstance(request, Precompile):
            ahead.has_run_nothing = False
            return request
        ahead.add(decode(bytes(launch).decode()) for launch in request.launches)


def _listen(source: IO[bytes], jobs: queue.SimpleQueue[bytes]) -> None:
    """Forward jobs until the input closes, which means that the window is gone."""
    for line in source:
        jobs.put(line)
    _leave()


def _leave() -> None:
    """Remove the folder and end the process immediately."""
    for folder in sys.argv[1:]:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _warm_engine(send: Send) -> Engine:
    """Load numba, the simulator and the compiled engine before the first job arrives."""
    from ..simulator.numba_patch import UnsupportedSimulator, install
    from .engine import run

    try:
        with without_collections():
            install()
            from ..compiled.driver import engine as _compiled  # noqa: F401  # takes a second
        send(Ready())
    except UnsupportedSimulator:
        pass  # the first run reports it
    return run


def answer(job: Job, engine: Engine, send: Send) -> Done | Failed | Slow:
    """Do one job and return the event for its end."""
    try:
        trace = _trace_of(job, engine, send)
        save(trace, job.out, compress=False, handed_over=not job.call)
    except PatienceExceededError as slow:
        return Slow(job.job, slow.seconds, slow.blocks)
    except BaseException as error:  # noqa: BLE001  # a kernel's module may raise anything, even SystemExit
        traceback.print_exc(file=sys.__stderr__)
        file, line = (
            (error.file, error.line) if isinstance(error, LoadError | EndlessLaunchError) else ("", 0)
        )
        return Failed(
            job.job, plain(sentence(error)), plain(file), line, isinstance(error, EndlessLaunchError)
        )
    return Done(job.job, job.out)


def _trace_of(job: Job, engine: Engine, send: Send) -> Trace:
    if job.call:
        return _trace_call(job, reporter(job.job, send))
    listener = _listener(job, send)
    launch = decode(bytes(job.launch).decode())
    options: dict[str, Any] = {"early": lambda trace: _send_early(trace, job, send)} if job.early else {}
    if job.patience is None and is_cuda_cpp_launch(launch):
        options["block_seconds"] = None
    with stop_if_endless(kernel_file(launch), launch.source, job.patience) as block_ended:

        def report(done: int, total: int) -> None:
            block_ended(done, total)
            listener(done, total)

        return engine(launch, report, **options)


def _send_early(trace: Trace, job: Job, send: Send) -> None:
    """Send the preliminary trace of a launch that is run again; errors are ignored."""
    path = f"{job.out}.early"
    with contextlib.suppress(OSError, MemoryError, TraceFileError):
        save(trace, path, compress=False, handed_over=True)
        send(Early(job.job, path))


def _trace_call(job: Job, report: Report) -> Trace:
    from .run_call import run_call  # lazy: only calls need it

    return run_call(Path(job.call), report, job.patience)


def answer_judging(job: JudgeJob, send: Send) -> Judged | Failed:
    """Judge a student's file and return the event for its end; meanwhile send its position for timeout messages."""
    finished = threading.Event()
    try:
        from ..judging.judge import judge  # before the student's time starts: the first import is slow
        from .run_on_arrays import run_on_arrays

        send_question = _question_sender(job.job, send)
        if job.task.is_cuda_cpp:
            from .cuda_cpp_on_arrays import prepare_compiler, run_cuda_cpp_on_arrays

            prepare_compiler()
        send(JudgingPosition(job.job, job.task.file, 0))
        threading.Thread(
            target=_send_positions, args=(job, send, finished, threading.get_ident()), daemon=True
        ).start()
        if job.task.is_cuda_cpp:
            judgement = judge(job.task, run_cuda_cpp_on_arrays, lambda kernel, arguments: None)
        else:
            judgement = judge(job.task, run_on_arrays, send_question)
    except BaseException as error:  # noqa: BLE001  # a student's module may raise anything, even SystemExit
        traceback.print_exc(file=sys.__stderr__)
        return Failed(job.job, plain(sentence(error)))
    finally:
        finished.set()
    return Judged(job.job, judgement)


def _question_sender(job: int, send: Send) -> Callable[[Any, list[Any]], None]:
    """Return a callback that sends the question about a kernel and its arguments, each question once."""
    from ..type_inference.live_kernel import LaunchedKernels

    kernels, sent = LaunchedKernels(), set[str]()

    def ask(kernel: Any, arguments: list[Any]) -> None:
        question = kernels.question(kernel, arguments)
        if question.key() not in sent:
            sent.add(question.key())
            send(CompilerQuestion(job, question))

    return ask


def _send_positions(job: JudgeJob, send: Send, finished: threading.Event, thread: int) -> None:
    """Send a thread's position in the student's or the exercise's file whenever it changes.

    The line is 0 in code without line numbers.
    """
    files = {job.task.student_file, job.task.file}
    last: tuple[str, int] | None = None
    while not finished.wait(PERIOD):
        frame = sys._current_frames().get(thread)
        while frame is not None and frame.f_code.co_filename not in files:
            frame = frame.f_back
        position = last if frame is None else (frame.f_code.co_filename, frame.f_lineno or 0)
        if position is not None and position != last:
            last = position
            send(JudgingPosition(job.job, *position))


def _listener(job: Job, send: Send) -> Report:
    """Return the engine's progress callback, which sends events and checks the job's patience."""
    report = reporter(job.job, send)
    if job.patience is None:
        return report
    clock = time.process_time if job.is_of_processor else time.monotonic
    estimate, patience = TimeEstimate(clock), job.patience

    def both(done: int, total: int) -> None:
        report(done, total)
        estimate.check_patience(patience, done, total)

    return both


def reporter(job: int, send: Send, clock: Callable[[], float] = time.monotonic) -> Report:
    """Return a progress callback that sends at most 20 events a second, and always the last one."""
    last = -PERIOD

    def report(done: int, total: int) -> None:
        nonlocal last
        now = clock()
        if done == total or now - last >= PERIOD:
            last = now
            send(Progress(job, done, total))

    return report


def sentence(error: BaseException) -> str:
    """Explain to the user why there is no trace."""
    from ..simulator.numba_patch import UnsupportedSimulator

    if isinstance(error, LoadError | EndlessLaunchError | TraceFileError | UnsupportedSimulator):
        return str(error)
    if isinstance(error, MemoryError):
        return "The launch does not fit in memory; choose a smaller size or fewer blocks."
    if isinstance(error, msgspec.MsgspecError):
        return f"The launch can't be read ({error}); every argument must be a number or an array."
    return f"The launch can't be traced ({type(error).__name__}: {error}); check kernel and arguments."


if __name__ == "__main__":
    main()
