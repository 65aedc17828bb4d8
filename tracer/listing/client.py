"""Client of the process that compiles listings, with a cache on disk."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import msgspec

from ..processes.json_process import StartError, module_command
from ..processes.process_client import ProcessClient, ProcessEndedError, RunCancelledError
from ..recording import nvidia_files
from ..storage.atomic_write import write_atomically
from ..type_inference.answer_cache import versions
from .listing import ANSWER, Listing, ListingJob

COMMAND = module_command("tilescope.tracer.listing.process")
FORMAT = 1  # of listings: part of their digest, so that a new one ignores old files
MOST, ENDING = 200, ".listing"  # listings that are kept
PATIENCE = 90.0  # seconds before the process is killed


class Listings:
    """Compiles kernels one by one, each in a process that ends with the answer; thread-safe.

    folder: of the cache, shared with other runs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._client = ProcessClient("compiling", COMMAND, ANSWER)
        self.close = self._client.close

    def compile(self, job: ListingJob) -> Listing:
        """Return the listing of a kernel, compiled or cached; blocks until it is there."""
        path = self._folder / f"{_digest(job)}{ENDING}"
        with contextlib.suppress(OSError, msgspec.MsgspecError, ValueError):
            return ANSWER.decode(path.read_bytes())
        try:
            with self._client.conversation(job, PATIENCE) as answers:
                answer = next(answers)
        except StartError as error:
            return Listing(reason=str(error))
        except (ProcessEndedError, RunCancelledError):
            return Listing(reason="It can't be compiled: the process that compiles it ended.")
        finally:
            self._client.rest()
        self._store(path, answer)
        return answer

    def _store(self, path: Path, answer: Listing) -> None:
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, msgspec.json.encode(answer))
            files = sorted(self._folder.glob(f"*{ENDING}"), key=lambda file: file.stat().st_mtime_ns)
            for old in files[: max(0, len(files) - MOST)]:
                old.unlink(missing_ok=True)


def _digest(job: ListingJob) -> str:
    """Return a digest of the kernel, and of all that compiles it."""
    programs = (
        nvidia_files.libdevice(),
        nvidia_files.ptxas(),
        nvidia_files.nvdisasm(),
        nvidia_files.ptxas_version(),
    )
    return hashlib.sha256(f"{FORMAT} {versions()} {programs} {job.key()}".encode()).hexdigest()
