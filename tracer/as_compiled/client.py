"""Client of the process that counts launches as compiled, with a cache on disk.

A kernel runs there as compiled code. If one crashes it, or never ends, the answer is a sentence, and the next
request restarts the process.
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
from .job import ANSWER, NO_TARGET, CompiledCounters, Job

COMMAND = module_command("tilescope.tracer.as_compiled.execution.process")
FORMAT = 3  # of jobs and answers: part of their digest, so that a new one ignores old answers
MOST = 2000  # answers that are kept
ENDING = ".counters"
PATIENCE = 40.0  # seconds, in addition to the kernel's time limit, before the process is killed
REAPING = 0.2  # seconds to wait for the thread whose process was killed


class CompiledCounting:
    """Counts launches as compiled, one after the other; thread-safe.

    folder: of the cache, shared with other runs; None for no cache.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._process: JsonProcess | None = None
        self._closed = self._cancelled = False

    def cached(self, job: Job) -> CompiledCounters | None:
        """Return the cached answer, None if there is none."""
        if self._folder is None:
            return None
        with contextlib.suppress(OSError, msgspec.MsgspecError, ValueError):
            return ANSWER.decode(self._path(self._folder, job.key()).read_bytes())
        return None

    def count(self, job: Job) -> CompiledCounters:
        """Return the counters of a launch, or the reason for their absence; blocks until they are there."""
        cached = self.cached(job)
        if cached is not None:
            return cached
        with self._lock:
            answer = self._request(job)
        if is_final(answer):
            self._store(job, answer)
        return answer

    def prepare(self) -> None:
        """Start the process, so that it is ready for the first request."""
        with self._lock, contextlib.suppress(StartError):
            self._running_process()

    def cancel(self) -> None:
        """End the running request, from another thread; the next one restarts the process."""
        self._cancelled = True
        process = self._process
        if process is not None:
            process.kill()
            self.rest(REAPING)  # else the thread that waits for the answer ends it

    def rest(self, seconds: float = 0) -> None:
        """End the process if it is idle, or becomes so in this time; the next request restarts it."""
        if self._lock.acquire(timeout=seconds):
            try:
                self._end()
            finally:
                self._lock.release()

    def close(self) -> None:
        """End the running request, from another thread, and refuse further ones."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._lock:
            self._end()

    def _running_process(self) -> JsonProcess:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = JsonProcess("compiled counting", COMMAND)
        return self._process

    def _request(self, job: Job) -> CompiledCounters:
        if self._closed:
            return CompiledCounters(reason=f"{_PASSING} since it is closed.")
        try:
            process = self._running_process()
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
        death = process.describe_death()
        self._end()
        if self._closed:
            return CompiledCounters(reason=f"{_PASSING} since it is closed.")
        if self._cancelled:
            return CompiledCounters(reason=f"{_PASSING} since it was cancelled.")
        if death.startswith("signal 9"):
            return CompiledCounters(reason="Its compiled code can't be counted: it took too long.")
        if job.generates:
            return self._request(msgspec.structs.replace(job, generates=False))
        return CompiledCounters(reason=f"Its compiled code can't be counted: it ended with {death}.")

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None

    def _store(self, job: Job, answer: CompiledCounters) -> None:
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


_PASSING = "Its compiled code was not counted"  # beginning of temporary reasons


def is_final(answer: CompiledCounters) -> bool:
    """Return True if the same request would have the same answer again."""
    return not answer.reason.startswith(_PASSING) and answer.reason != NO_TARGET


@cache
def _versions() -> str:
    """Return the versions of all programs that may change an answer."""
    from ..recording import nvidia_files

    return f"{FORMAT} {versions()} {nvidia_files.libdevice_digest()} {nvidia_files.ptxas_version()}"
