"""The window's client of the worker: starts it, runs launches in it, cancels them, and survives its death."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..judging.result import Judgement, JudgingTask
from ..model.launch import Launch, encode
from ..model.trace import Trace
from ..processes.json_process import StartError, module_command
from ..processes.process_client import ProcessClient, ProcessEndedError, RunCancelledError
from ..processes.work_time import processor_seconds
from ..storage.temp_folders import new_process_folder
from ..storage.trace_file import TraceFileError, load
from ..type_inference.question import Question
from .time_estimate import duration_text
from .worker_events import (
    WORKER_MESSAGE,
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
    Slow,
    WorkerMessage,
)

if TYPE_CHECKING:
    from ..calls.describe_call import DescribedCall

COMMAND = module_command("tilescope.tracer.run.worker")
NO_LAUNCH = msgspec.Raw(b"null")
JUDGING_SECONDS = 10.0  # seconds of processor time that judging may take
WAITING = 6  # times as long judging may take in all, when the process waits or the machine is busy
LOOKING = 0.1  # seconds between two looks at the time
Ended = Done | Failed | Slow | Judged


class WorkerError(Exception):
    """A launch gave no trace; the message explains why and what to do. file, line: the position, if known."""

    def __init__(self, text: str, file: str = "", line: int = 0) -> None:
        super().__init__(text)
        self.file, self.line = file, line


class LaunchTooSlowError(WorkerError):
    """A launch was stopped because all of its blocks would take `seconds`, more than the patience."""

    def __init__(self, launch: Launch, seconds: float, blocks: int) -> None:
        self.launch, self.seconds, self.blocks = launch, seconds, blocks
        count = "its block" if blocks == 1 else f"all {blocks:,} blocks"
        super().__init__(f"Running {count} would take about {duration_text(seconds)}; choose some blocks.")


class WorkerTimeoutError(WorkerError):
    """A launch was stopped because none of its blocks ended for some seconds; the user may allow more time."""

    def __init__(self, launch: Launch, text: str, file: str, line: int) -> None:
        super().__init__(text, file, line)
        self.launch = launch


class JudgingTimeoutError(WorkerError):
    """Judging was stopped at its time limit; `at` is the file and line it had reached, if known."""

    def __init__(self, seconds: float, position: tuple[str, int]) -> None:
        self.seconds, self.position = seconds, position
        super().__init__(f"The launch has not ended after {seconds:.0f} s.")


class Worker:
    """A tracing process, restarted whenever it has ended. Launches run one by one; all methods are thread-safe."""

    def __init__(self) -> None:
        self._folder = new_process_folder()
        command = [*COMMAND, str(self._folder)]
        self._client = ProcessClient(
            "tracing process", command, WORKER_MESSAGE, folder=self._folder, restarts=True
        )
        self._jobs = itertools.count(1)
        self._turn = threading.Lock()  # held by the current run
        self._finish = weakref.finalize(self, _tidy, self._client, self._folder)

    @property
    def pid(self) -> int | None:
        """The process ID, None without a process."""
        return self._client.pid

    def start(self) -> None:
        """Start the process if there is none, and return immediately while it loads numba."""
        with contextlib.suppress(StartError):  # the next run reports the error
            self._client.start()

    def run(
        self,
        launch: Launch,
        progress: Callable[[int, int], None] | None = None,
        output: Callable[[str], None] | None = None,
        patience: float | None = None,
        early: Callable[[Trace], None] | None = None,
        *,
        is_of_processor: bool = False,
    ) -> Trace:
        """Trace a launch, after the runs that were requested before.

        Callbacks run in the calling thread: `progress(done, total)` counts blocks, `output(text)` gets printed text,
        and `early` gets the compiled trace of a launch that is run again in lockstep, if that is slow. patience:
        seconds that the launch may take, None for no limit. is_of_processor: whether these are of processor time.

        Raises Cancelled after `cancel` or `close`, LaunchTooSlowError if its first blocks show that it would take
        longer, and WorkerError if there is no trace.
        """
        encoded = msgspec.Raw(encode(launch).encode())

        def listen(event: WorkerMessage) -> None:
            if isinstance(event, Progress) and progress is not None:
                progress(event.done, event.total)
            elif isinstance(event, Output) and output is not None:
                output(event.text)
            elif isinstance(event, Early) and early is not None:
                with contextlib.suppress(WorkerError):  # the final trace follows
                    early(_load_and_remove(event.path))

        with self._turn:
            make_job = partial(
                Job,
                launch=encoded,
                patience=patience,
                is_of_processor=is_of_processor,
                early=early is not None,
            )
            end = self._do_job(lambda job, out: make_job(job, out=out), listen)
            if isinstance(end, Slow):
                raise LaunchTooSlowError(launch, end.seconds, end.blocks)
            if isinstance(end, Failed) and end.is_endless:
                raise WorkerTimeoutError(launch, end.message, end.file, end.line)
            return _result(end)

    def run_call(
        self,
        call: DescribedCall,
        progress: Callable[[int, int], None],
        output: Callable[[str], None],
        patience: float | None = None,
    ) -> Path:
        """Trace a call of this process; its arguments then hold the kernel's results.

        After an exception, or if only some blocks ran, they hold the partial results. Returns the path of the trace
        file, which belongs to the caller until `close` removes its folder. patience: seconds of CPU time that a block
        may take. A launch that is stopped has a trace with that error. Raises the same errors as `run`.
        """

        def listen(event: WorkerMessage) -> None:
            if isinstance(event, Output):
                output(event.text)
            elif isinstance(event, Progress):
                progress(event.done, event.total)

        with self._turn, self._call_folder(call) as folder:
            end = self._do_job(lambda job, out: Job(job, NO_LAUNCH, out, patience, call=str(folder)), listen)
            path = Path(_done(end).path)
            with _file_errors_as_worker_errors():
                call.memories.read_back(folder)
            return path

    @contextlib.contextmanager
    def _call_folder(self, call: DescribedCall) -> Iterator[Path]:
        """Context manager for a temporary folder that contains a call."""
        from ..calls.call import save_call  # lazy, for a faster start of the window

        folder = self._folder / f"{next(self._jobs)}.call"
        try:
            with _file_errors_as_worker_errors():
                folder.mkdir(0o700, parents=True)
                save_call(call.call, folder)
                call.memories.write(folder)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _do_job(self, job: Callable[[int, str], Job], listen: Callable[[WorkerMessage], None]) -> Ended:
        """Do the job that `job(number, path of the trace)` returns; return the event for its end."""
        number = next(self._jobs)
        return self._converse(job(number, self._trace_path(number)), listen)

    def judge(
        self, task: JudgingTask, asks: Callable[[Question], None] | None = None,
        output: Callable[[str], None] | None = None, seconds: float = JUDGING_SECONDS,
    ) -> tuple[Judgement, Trace | None]:  # fmt: skip
        """Judge a student's file; return the judgement and the trace of its pictured case, if there is one.

        task: its folder and path are set here. `asks(question)` gets each question for Numba's compiler while the judge
        runs, and `output(text)` gets printed text. seconds: the limit of processor time. Raises JudgingTimeoutError
        beyond the limit, and Cancelled and WorkerError as `run` does.
        """
        limit = _Limit(seconds, lambda: self.pid, self.cancel)

        def listen(event: WorkerMessage) -> None:
            if isinstance(event, JudgingPosition):
                limit.note(event)
            elif isinstance(event, CompilerQuestion) and asks is not None:
                asks(event.question)
            elif isinstance(event, Output) and output is not None:
                output(event.text)

        with self._turn, contextlib.closing(limit):
            number = next(self._jobs)
            complete_task = msgspec.structs.replace(
                task, folder=str(self._folder), out=self._trace_path(number)
            )
            try:
                end = self._converse(JudgeJob(number, complete_task), listen)
            except RunCancelledError:
                if limit.passed:
                    raise JudgingTimeoutError(seconds, limit.position) from None
                raise
            return _judgement(end, complete_task)

    def compile_ahead(self, launches: Iterable[Launch]) -> None:
        """Compile the kernels of these launches while the worker is idle; replaces earlier requests.

        It returns before they are compiled, but may block until the process reads the request. A run that is requested
        meanwhile waits for the kernel that is being compiled.
        """
        self._client.send(Precompile([msgspec.Raw(encode(launch).encode()) for launch in launches]))

    def cancel(self) -> None:
        """Cancel the current run, if there is one."""
        self._client.cancel()

    def close(self) -> None:
        """End the process and remove its files; cancels the current run. Don't call it from callbacks of `run`."""
        self._client.close()
        with self._turn:
            self._finish()

    def detach_in_child(self) -> None:
        """In a forked process, release the process and the folder, which belong to the parent."""
        self._finish.detach()
        self._client.detach_in_child()

    def _converse(self, job: Job | JudgeJob, listen: Callable[[WorkerMessage], None]) -> Ended:
        """Send a job, pass the worker's events to `listen`, and return the event for its end."""
        try:
            with self._client.conversation(job) as events:
                event = next(events)
                while not isinstance(event, Ended):
                    listen(event)
                    event = next(events)
                return event
        except StartError as error:
            raise WorkerError(str(error)) from error
        except ProcessEndedError as error:
            raise WorkerError(f"{error}; the next run starts a new one.") from error

    def _trace_path(self, number: int) -> str:
        return str(self._folder / f"{number}.trace")


@contextlib.contextmanager
def _file_errors_as_worker_errors() -> Iterator[None]:
    """Convert errors of the call's files to WorkerError."""
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        raise WorkerError(
            f"The call can't be passed to the tracing process ({error}); free some disk space and try again."
        ) from error


class _Limit:
    """A limit for the processor time of judging, counted from its first event; keeps the last position."""

    def __init__(self, seconds: float, process: Callable[[], int | None], end: Callable[[], None]) -> None:
        self.position, self.passed = ("", 0), False
        self._seconds, self._process, self._end = seconds, process, end
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def note(self, event: JudgingPosition) -> None:
        """Note the current position; the first one starts the watch."""
        if self._thread.ident is None:
            self._thread.start()
        self.position = (event.file, event.line)

    def close(self) -> None:
        """End the watch."""
        self._closed.set()

    def _watch(self) -> None:
        process, last = self._process(), time.monotonic() + WAITING * self._seconds
        end = processor_seconds(process) + self._seconds
        while time.monotonic() < last and processor_seconds(process) < end:
            if self._closed.wait(LOOKING):
                return
        self.passed = True
        self._end()


def _judgement(end: Ended, task: JudgingTask) -> tuple[Judgement, Trace | None]:
    if not isinstance(end, Judged):
        raise WorkerError(
            end.message if isinstance(end, Failed) else "The judging ended without a result; try again."
        )
    return end.judgement, _load_and_remove(task.out) if end.judgement.pictured else None


def _done(end: Ended) -> Done:
    if isinstance(end, Failed):
        raise WorkerError(end.message, end.file, end.line)
    if not isinstance(end, Done):
        raise WorkerError("The launch takes long; choose some blocks.")
    return end


def _result(end: Ended) -> Trace:
    return _load_and_remove(_done(end).path)


def _load_and_remove(path: str) -> Trace:
    """Load the trace of a file and remove the file."""
    try:
        return load(path, mapped=True, ours=True)
    except TraceFileError as error:
        raise WorkerError(str(error)) from error
    finally:
        with contextlib.suppress(OSError):  # Windows can't remove a mapped file; its folder is removed later
            Path(path).unlink(missing_ok=True)


def _tidy(client: ProcessClient[WorkerMessage], folder: Path) -> None:
    client.close()
    shutil.rmtree(folder, ignore_errors=True)
