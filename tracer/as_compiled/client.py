"""Client of the process that counts launches as compiled, with a cache on disk.

A kernel runs there as compiled code. If one crashes it, or never ends, the answer is a sentence, and the next
request restarts the process.
"""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from pathlib import Path

import msgspec

from ..processes.json_process import StartError, module_command
from ..processes.process_client import ProcessClient, ProcessEndedError, RunCancelledError
from ..storage.atomic_write import write_atomically
from ..type_inference.answer_cache import versions
from .job import ANSWER, NO_TARGET, CompiledCounters, Job

COMMAND = module_command("tilescope.tracer.as_compiled.execution.process")
FORMAT = 3  # of jobs and answers: part of their digest, so that a new one ignores old answers
MOST = 2000  # answers that are kept
ENDING = ".counters"
PATIENCE = 100.0  # seconds of the clock beyond the kernel's limit before the process is killed


class CompiledCounting:
    """Counts launches as compiled, one after the other; thread-safe.

    folder: of the cache, shared with other runs; None for no cache.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._client = ProcessClient("compiled counting", COMMAND, ANSWER)
        # Cancel ends the running request from another thread, rest an idle process; the next request starts another.
        self.cancel, self.rest = self._client.cancel, self._client.rest
        self._closed = False

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
        answer = self._request(job)
        if is_final(answer):
            self._store(job, answer)
        return answer

    def prepare(self) -> None:
        """Start the process, so that it is ready for the first request."""
        with contextlib.suppress(StartError):
            self._client.start()

    def close(self) -> None:
        """End the running request, from another thread, and refuse further ones."""
        self._closed = True
        self._client.close()

    def _request(self, job: Job) -> CompiledCounters:
        try:
            with self._client.conversation(job, job.seconds + PATIENCE) as answers:
                return next(answers)
        except StartError as error:
            return CompiledCounters(reason=f"{_PASSING}: {error}")
        except RunCancelledError:
            why = "it is closed" if self._closed else "it was cancelled"
            return CompiledCounters(reason=f"{_PASSING} since {why}.")
        except ProcessEndedError as error:
            if error.is_late:  # a busy machine: the process itself ends a kernel that takes too long
                return CompiledCounters(reason=f"{_PASSING}: it took too long; try again.")
            if job.generates:
                return self._request(msgspec.structs.replace(job, generates=False))
            return CompiledCounters(
                reason=f"Its compiled code can't be counted: it ended with {error.death}."
            )

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
