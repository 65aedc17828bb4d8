"""Counters as compiled, as seen from the process that shows them: asked of another one, and kept on disk.

A kernel runs there as compiled code. One that crashes it, or never ends, is answered with a sentence, and the next
question starts the process anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from functools import cache
from pathlib import Path

import msgspec

from ..processes.json_process import JsonProcess, StartError, module_command
from ..storage.atomic_write import write_atomically
from ..type_inference.answer_cache import versions
from .job import ANSWER, CompiledCounters, Job

COMMAND = module_command("tilescope.tracer.as_compiled.execution.process")
FORMAT = 2  # of jobs and answers: another one finds no old answers
MOST = 2000  # answers that are kept
ENDING = ".counters"
PATIENCE = 40.0  # seconds, besides those that the kernel may run, after which the process is ended
REAPING = 0.2  # seconds to wait for whoever asks one that was ended


class CompiledCounting:
    """Counts launches as compiled, one after the other; any thread may ask.

    folder: where answers are kept for other runs, None for nowhere.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._process: JsonProcess | None = None
        self._closed = self._cancelled = False

    def known(self, job: Job) -> CompiledCounters | None:
        """Return the answer that is kept, None where none is."""
        if self._folder is None:
            return None
        with contextlib.suppress(OSError, msgspec.MsgspecError, ValueError):
            return ANSWER.decode(self._path(self._folder, job.key()).read_bytes())
        return None

    def count(self, job: Job) -> CompiledCounters:
        """Return the counters of a launch, or the reason why there are none; waits for them."""
        known = self.known(job)
        if known is not None:
            return known
        with self._lock:
            answer = self._asked(job)
        if is_final(answer):
            self._keep(job, answer)
        return answer

    def prepare(self) -> None:
        """Start the process, so that the first question finds it ready."""
        with self._lock, contextlib.suppress(StartError):
            self._started()

    def cancel(self) -> None:
        """End the question under way, from another thread; the next one starts the process anew."""
        self._cancelled = True
        process = self._process
        if process is not None:
            process.kill()
            self.rest(REAPING)  # else whoever waits for its answer ends it

    def rest(self, seconds: float = 0) -> None:
        """End the process where nothing is asked, or no longer in so many seconds; the next question starts it anew."""
        if self._lock.acquire(timeout=seconds):
            try:
                self._end()
            finally:
                self._lock.release()

    def close(self) -> None:
        """End what is asked, from another thread; nothing is asked any more."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._lock:
            self._end()

    def _started(self) -> JsonProcess:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = JsonProcess("compiled counting", COMMAND)
        return self._process

    def _asked(self, job: Job) -> CompiledCounters:
        if self._closed:
            return CompiledCounters(reason=f"{_PASSING} since it is closed.")
        try:
            process = self._started()
        except StartError as error:
            return CompiledCounters(reason=f"{_PASSING}: {error}")
        self._cancelled = False
        process.send(job)
        timer = threading.Timer(job.seconds + PATIENCE, process.kill)
        timer.start()
        try:
            line = next(process.lines(), None)
        finally:
            timer.cancel()
        if line is not None:
            return ANSWER.decode(line)
        death = process.death()
        self._end()
        if self._closed:
            return CompiledCounters(reason=f"{_PASSING} since it is closed.")
        if self._cancelled:
            return CompiledCounters(reason=f"{_PASSING} since it was cancelled.")
        if death.startswith("signal 9"):
            return CompiledCounters(reason="Its compiled code can't be counted: it took too long.")
        if job.generates:
            return self._asked(msgspec.structs.replace(job, generates=False))
        return CompiledCounters(reason=f"Its compiled code can't be counted: it ended with {death}.")

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    def _keep(self, job: Job, answer: CompiledCounters) -> None:
        if self._folder is None:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(self._folder, job.key()), msgspec.json.encode(answer))
            files = list(self._folder.glob(f"*{ENDING}"))
            if len(files) > MOST:
                for path in sorted(files, key=lambda file: file.stat().st_mtime_ns)[: len(files) - MOST // 2]:
                    path.unlink(missing_ok=True)

    @staticmethod
    def _path(folder: Path, key: str) -> Path:
        return folder / f"{hashlib.sha256(f'{_versions()} {key}'.encode()).hexdigest()}{ENDING}"


_PASSING = "Its compiled code was not counted"  # with why it might be another time


def is_final(answer: CompiledCounters) -> bool:
    """Return whether the same question would have the same answer again."""
    return not answer.reason.startswith(_PASSING)


@cache
def _versions() -> str:
    """Return all that may change an answer besides the question."""
    from ..recording import nvidia_files

    return f"{FORMAT} {versions()} {nvidia_files.libdevice()} {nvidia_files.ptxas_version()}"
