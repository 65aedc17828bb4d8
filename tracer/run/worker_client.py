"""The worker as seen from the window's process: start it, run launches in it, cancel, survive its death."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..calls.call import save_call
from ..model.launch import Launch, encode
from ..model.trace import Trace
from ..processes.json_process import JsonProcess, StartError, module_command
from ..storage.temp_folders import new_process_folder
from ..storage.trace_file import TraceFileError, load
from .time_estimate import duration_text
from .worker_events import WORKER_MESSAGE, Done, Failed, Job, Output, Progress, Slow, WorkerMessage

if TYPE_CHECKING:
    from ..calls.carried import CarriedCall

COMMAND = module_command("tilescope.tracer.run.worker")
NO_LAUNCH = msgspec.Raw(b"null")


class WorkerError(Exception):
    """A launch gave no trace; the text is one sentence that says why and what to do."""


class TakesLong(WorkerError):
    """A launch was left since all of its blocks would take `seconds`, more than was to be waited for."""

    def __init__(self, launch: Launch, seconds: float, blocks: int) -> None:
        self.launch, self.seconds, self.blocks = launch, seconds, blocks
        count = "its block" if blocks == 1 else f"all {blocks:,} blocks"
        super().__init__(f"To run {count} would take about {duration_text(seconds)}; choose some blocks.")


class Cancelled(Exception):
    """The run was cancelled."""


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
    ) -> Trace:
        """Return the trace of a launch, after the runs that were asked for before.

        `progress(done, of)` counts blocks and `output(text)` gets what is printed, both in the calling
        thread. patience: seconds that it may take, None for any. Raises Cancelled after `cancel` or `close`,
        TakesLong where its first blocks say that it would take longer, and WorkerError where there is no trace.
        """
        encoded = msgspec.Raw(encode(launch).encode())
        with self._turn:
            end = self._end_of(lambda job, out: Job(job, encoded, out, patience), progress, output)
            if isinstance(end, Slow):
                raise TakesLong(launch, end.seconds, end.blocks)
            return _result(end)

    def run_call(self, call: CarriedCall, output: Callable[[str], None] | None = None) -> Trace:
        """Return the trace of a call of this process's, whose arguments then hold what the kernel left in them.

        Of a kernel that raised, or of which some blocks ran, they hold what it did until then. Raises what `run` does.
        """
        with self._turn, self._folder_of_call(call) as folder:
            end = self._end_of(lambda job, out: Job(job, NO_LAUNCH, out, call=str(folder)), None, output)
            trace = _result(end)
            with _said_of_files():
                call.memories.read_back(folder)
            return trace

    @contextlib.contextmanager
    def _folder_of_call(self, call: CarriedCall) -> Iterator[Path]:
        """Lend a folder with a call in it."""
        folder = self._folder / f"{next(self._jobs)}.call"
        try:
            with _said_of_files():
                folder.mkdir(0o700, parents=True)
                save_call(call.call, folder)
                call.memories.write(folder)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _end_of(
        self,
        job: Callable[[int, str], Job],
        progress: Callable[[int, int], None] | None,
        output: Callable[[str], None] | None,
    ) -> Done | Failed | Slow:
        """Have a job done, given its number and where its trace goes, and return how it ended."""
        with self._process() as process:
            number = next(self._jobs)
            process.send(job(number, str(self._folder / f"{number}.trace")))
            end = self._converse(map(WORKER_MESSAGE.decode, process.lines()), process, progress, output)
            process.forget_errors()
            return end

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
        self,
        events: Iterator[WorkerMessage],
        process: JsonProcess,
        progress: Callable[[int, int], None] | None,
        output: Callable[[str], None] | None,
    ) -> Done | Failed | Slow:
        for event in events:
            if isinstance(event, Progress) and progress is not None:
                progress(event.done, event.of)
            elif isinstance(event, Output) and output is not None:
                output(event.text)
            elif isinstance(event, Done | Failed | Slow):
                return event
        death = process.death()
        if self._doomed:
            raise Cancelled
        end = f"The tracing process ended unexpectedly ({death})"
        raise WorkerError(f"{end}; the next run starts a new one.")


@contextlib.contextmanager
def _said_of_files() -> Iterator[None]:
    """Say in a sentence what is wrong with the files through which a call goes."""
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        raise WorkerError(
            f"The call can't be handed over ({error}); free some space and try again."
        ) from error


def _result(end: Done | Failed | Slow) -> Trace:
    if not isinstance(end, Done):
        raise WorkerError(
            end.message if isinstance(end, Failed) else "The launch takes long; choose some blocks."
        )
    try:
        return load(end.path, mapped=True)
    except TraceFileError as error:
        raise WorkerError(str(error)) from error
    finally:
        with contextlib.suppress(OSError):  # Windows removes no file that is mapped; its folder goes later
            Path(end.path).unlink(missing_ok=True)


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
