"""The worker as seen from the window's process: start it, run launches in it, cancel, survive its death."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..judging.result import Judgement, JudgingTask
from ..model.launch import Launch, encode
from ..model.trace import Trace
from ..processes.json_process import JsonProcess, StartError, module_command
from ..storage.temp_folders import new_process_folder
from ..storage.trace_file import TraceFileError, load
from ..type_inference.question import Question
from .time_estimate import duration_text
from .worker_events import (
    WORKER_MESSAGE,
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
    Slow,
    WorkerMessage,
)

if TYPE_CHECKING:
    from ..calls.carried import CarriedCall

COMMAND = module_command("tilescope.tracer.run.worker")
NO_LAUNCH = msgspec.Raw(b"null")
JUDGING = 10.0  # seconds that a judging may take
Ended = Done | Failed | Slow | Judged


class WorkerError(Exception):
    """A launch gave no trace; the text is one sentence that says why and what to do. file, line: where, if known."""

    def __init__(self, text: str, file: str = "", line: int = 0) -> None:
        super().__init__(text)
        self.file, self.line = file, line


class TakesLong(WorkerError):
    """A launch was left since all of its blocks would take `seconds`, more than was to be waited for."""

    def __init__(self, launch: Launch, seconds: float, blocks: int) -> None:
        self.launch, self.seconds, self.blocks = launch, seconds, blocks
        count = "its block" if blocks == 1 else f"all {blocks:,} blocks"
        super().__init__(f"To run {count} would take about {duration_text(seconds)}; choose some blocks.")


class NotEnding(WorkerError):
    """A launch was ended, since none of its blocks ended for some seconds; more patience may be had for it."""

    def __init__(self, launch: Launch, text: str, file: str, line: int) -> None:
        super().__init__(text, file, line)
        self.launch = launch


class Cancelled(Exception):
    """The run was cancelled."""


class NoEnd(WorkerError):
    """A judging was ended after the seconds that it may take; `at` is the file and line where it was, if known."""

    def __init__(self, seconds: float, at: tuple[str, int]) -> None:
        self.seconds, self.at = seconds, at
        super().__init__(f"The launch has not ended after {seconds:.0f} s.")


class Worker:
    """A tracing process, started anew whenever it has ended. Launches run one by one; any thread may call."""

    def __init__(self) -> None:
        self._folder = new_process_folder()
        self._alive: list[JsonProcess] = []  # at most one, shared with the finalizer
        self._jobs = itertools.count(1)
        self._turn = threading.Lock()  # held by the run under way
        self._state = threading.Lock()  # guards what follows, and _alive
        self._busy = self._doomed = self._closed = False
        self._finish = weakref.finalize(self, _tidy, self._alive, self._folder)

    def start(self) -> None:
        """Start the process if there is none, and return at once: it loads numba meanwhile."""
        with self._state, contextlib.suppress(WorkerError):  # the run that needs it says so
            if not (self._busy or self._closed):
                self._started()

    def run(
        self,
        launch: Launch,
        progress: Callable[[int, int], None] | None = None,
        output: Callable[[str], None] | None = None,
        patience: float | None = None,
        early: Callable[[Trace], None] | None = None,
    ) -> Trace:
        """Return the trace of a launch, after the runs that were asked for before.

        `progress(done, of)` counts blocks and `output(text)` gets what is printed, both in the calling
        thread. patience: seconds that it may take, None for any. `early` gets, there too, the compiled trace of a
        launch that is run again in lockstep, where that takes a while. Raises Cancelled after `cancel` or `close`,
        TakesLong where its first blocks say that it would take longer, and WorkerError where there is no trace.
        """
        encoded = msgspec.Raw(encode(launch).encode())

        def listen(event: WorkerMessage) -> None:
            if isinstance(event, Progress) and progress is not None:
                progress(event.done, event.of)
            elif isinstance(event, Output) and output is not None:
                output(event.text)
            elif isinstance(event, Early) and early is not None:
                with contextlib.suppress(WorkerError):  # the trace that counts follows
                    early(_loaded(event.path))

        with self._turn:
            asked = partial(Job, launch=encoded, patience=patience, early=early is not None)
            end = self._end_of(lambda job, out: asked(job, out=out), listen)
            if isinstance(end, Slow):
                raise TakesLong(launch, end.seconds, end.blocks)
            if isinstance(end, Failed) and end.is_endless:
                raise NotEnding(launch, end.message, end.file, end.line)
            return _result(end)

    def run_call(
        self, call: CarriedCall, progress: Callable[[int, int], None], output: Callable[[str], None]
    ) -> Path:
        """Trace a call of this process's, whose arguments then hold what the kernel left in them.

        Of a kernel that raised, or of which some blocks ran, they hold what it did until then. Returns the trace file,
        which is the caller's, in a folder that goes when this is closed. Raises what `run` does.
        """

        def listen(event: WorkerMessage) -> None:
            if isinstance(event, Output):
                output(event.text)
            elif isinstance(event, Progress):
                progress(event.done, event.of)

        with self._turn, self._folder_of_call(call) as folder:
            end = self._end_of(lambda job, out: Job(job, NO_LAUNCH, out, call=str(folder)), listen)
            path = Path(_done(end).path)
            with _said_of_files():
                call.memories.read_back(folder)
            return path

    @contextlib.contextmanager
    def _folder_of_call(self, call: CarriedCall) -> Iterator[Path]:
        """Lend a folder with a call in it."""
        from ..calls.call import save_call  # the window starts without it

        folder = self._folder / f"{next(self._jobs)}.call"
        try:
            with _said_of_files():
                folder.mkdir(0o700, parents=True)
                save_call(call.call, folder)
                call.memories.write(folder)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _end_of(self, job: Callable[[int, str], Job], listen: Callable[[WorkerMessage], None]) -> Ended:
        """Have a job done, given its number and where its trace goes, and return how it ended."""
        with self._process() as process:
            number = next(self._jobs)
            end = self._converse(process, job(number, self._out(number)), listen)
            process.forget_errors()
            return end

    def judge(
        self, task: JudgingTask, asks: Callable[[Question], None] | None = None,
        output: Callable[[str], None] | None = None, seconds: float = JUDGING,
    ) -> tuple[Judgement, Trace | None]:  # fmt: skip
        """Return what comes of a student's file, and the trace of the first case, if there is one.

        task: without folder and path, which are ours to say. `asks(question)` is told what Numba's compiler is to be
        asked, which it may be meanwhile, and `output(text)` what is printed. seconds: that all may take. Raises NoEnd
        where it takes longer, and Cancelled and WorkerError as `run` does.
        """
        limit = _Limit(seconds, self.cancel)

        def listen(event: WorkerMessage) -> None:
            if isinstance(event, At):
                limit.note(event)
            elif isinstance(event, Asks) and asks is not None:
                asks(event.question)
            elif isinstance(event, Output) and output is not None:
                output(event.text)

        with self._turn, contextlib.ExitStack() as stack:
            stack.callback(limit.stop)
            process = stack.enter_context(self._process())
            number = next(self._jobs)
            placed = msgspec.structs.replace(task, folder=str(self._folder), out=self._out(number))
            try:
                end = self._converse(process, JudgeJob(number, placed), listen)
            except Cancelled:
                if limit.passed:
                    raise NoEnd(seconds, limit.at) from None
                raise
            process.forget_errors()
            return _judgement(end, placed)

    def compile_ahead(self, launches: Iterable[Launch]) -> None:
        """Have the kernels of launches compiled while no run is asked for, and those of earlier wishes no more.

        Returns before that, but may wait until the process takes the wish in: not for a thread that must not wait.
        A run that is asked for meanwhile waits for the kernel that is being compiled then.
        """
        self.start()
        wish = Ahead([msgspec.Raw(encode(launch).encode()) for launch in launches])
        for process in list(self._alive):
            with contextlib.suppress(ValueError):  # another thread ends it just now
                process.send(wish)

    def cancel(self) -> None:
        """End the run under way, if there is one."""
        with self._state:
            if self._busy:
                self._kill()

    def close(self) -> None:
        """End the process and remove its files; a run under way is cancelled. Not for callbacks of `run`."""
        with self._state:
            self._closed = True
            self._kill()
        with self._turn:
            self._finish()

    def leave_to_parent(self) -> None:
        """In a process that was forked: let go of the process and the folder, which are the parent's."""
        self._closed = True
        self._finish.detach()
        for process in self._alive:
            process.leave_to_parent()

    def _kill(self) -> None:
        self._doomed = True
        for process in self._alive:
            process.kill()

    @contextlib.contextmanager
    def _process(self) -> Iterator[JsonProcess]:
        """Lend the process to a run; after one that was left halfway the next run gets a new process."""
        with self._state:
            if self._closed:
                raise Cancelled
            process = self._started()
            self._busy = True
        try:
            yield process
        except BaseException:
            self._doomed = True
            raise
        finally:
            self._busy = False
            if self._doomed:
                self.start()

    def _started(self) -> JsonProcess:
        for process in list(self._alive):
            if self._doomed or process.poll() is not None:
                self._alive.remove(process)
                process.end()
        self._doomed = False
        if not self._alive:
            self._alive.append(_spawn(self._folder))
        return self._alive[0]

    def _converse(
        self, process: JsonProcess, job: Job | JudgeJob, listen: Callable[[WorkerMessage], None]
    ) -> Ended:
        """Send a job and listen to what the worker says about it, up to its end, which is returned."""
        process.send(job)
        for line in process.lines():
            event = WORKER_MESSAGE.decode(line)
            if isinstance(event, Ended):
                return event
            listen(event)
        death = process.death()
        if self._doomed:
            raise Cancelled
        end = f"The tracing process ended unexpectedly ({death})"
        raise WorkerError(f"{end}; the next run starts a new one.")

    def _out(self, number: int) -> str:
        return str(self._folder / f"{number}.trace")


@contextlib.contextmanager
def _said_of_files() -> Iterator[None]:
    """Say in a sentence what is wrong with the files through which a call goes."""
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        raise WorkerError(
            f"The call can't be handed over ({error}); free some space and try again."
        ) from error


class _Limit:
    """Counts the seconds of a judging from its first event on, and keeps where it was last."""

    def __init__(self, seconds: float, end: Callable[[], None]) -> None:
        self.at, self.passed, self._end = ("", 0), False, end
        self._timer = threading.Timer(seconds, self._pass)
        self._timer.daemon = True

    def note(self, event: At) -> None:
        """Take in where it is."""
        if not self._timer.is_alive() and not self.passed:
            self._timer.start()
        self.at = (event.file, event.line)

    def stop(self) -> None:
        """Count no longer."""
        self._timer.cancel()

    def _pass(self) -> None:
        self.passed = True
        self._end()


def _judgement(end: Ended, task: JudgingTask) -> tuple[Judgement, Trace | None]:
    if not isinstance(end, Judged):
        raise WorkerError(end.message if isinstance(end, Failed) else "The judging ended without a word.")
    return end.judgement, _loaded(task.out) if end.judgement.traced else None


def _done(end: Ended) -> Done:
    if isinstance(end, Failed):
        raise WorkerError(end.message, end.file, end.line)
    if not isinstance(end, Done):
        raise WorkerError("The launch takes long; choose some blocks.")
    return end


def _result(end: Ended) -> Trace:
    return _loaded(_done(end).path)


def _loaded(path: str) -> Trace:
    """Return the trace of a file, which is removed."""
    try:
        return load(path, mapped=True, ours=True)
    except TraceFileError as error:
        raise WorkerError(str(error)) from error
    finally:
        with contextlib.suppress(OSError):  # Windows removes no file that is mapped; its folder goes later
            Path(path).unlink(missing_ok=True)


def _spawn(folder: Path) -> JsonProcess:
    with contextlib.suppress(OSError):  # the start says what is wrong with the folder
        folder.mkdir(0o700, exist_ok=True)  # a system may tidy its folder of temporary files
    try:
        return JsonProcess("tracing process", [*COMMAND, str(folder)], folder)
    except StartError as error:
        raise WorkerError(str(error)) from error


def _tidy(alive: list[JsonProcess], folder: Path) -> None:
    for process in alive:
        process.end()
    shutil.rmtree(folder, ignore_errors=True)
