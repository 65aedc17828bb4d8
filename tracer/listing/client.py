"""Listings as seen from the process that shows them: asked of another one, and kept on disk."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from pathlib import Path

import msgspec

from ..processes.json_process import JsonProcess, StartError, module_command
from ..recording import nvidia_files
from ..storage.atomic_write import write_atomically
from ..type_inference.answer_cache import versions
from .listing import ANSWER, Listing, ListingJob

COMMAND = module_command("tilescope.tracer.listing.process")
FORMAT = 1  # of listings: another one finds no old ones
MOST, ENDING = 200, ".listing"  # listings that are kept
PATIENCE = 90.0  # seconds after which the process is ended


class Listings:
    """Compiles kernels one by one, each in a process that ends with the answer; any thread may ask.

    folder: where listings are kept for other runs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: JsonProcess | None = None
        self._closed = False

    def of(self, job: ListingJob) -> Listing:
        """Return the listing of a kernel; waits for it."""
        path = self._folder / f"{_digest(job)}{ENDING}"
        with contextlib.suppress(OSError, msgspec.MsgspecError, ValueError):
            return ANSWER.decode(path.read_bytes())
        try:
            answer = self._asked(job)
        except StartError as error:
            return Listing(reason=str(error))
        if answer is None:
            return Listing(reason="It can't be compiled: the process that compiles it ended.")
        self._keep(path, answer)
        return answer

    def close(self) -> None:
        """End what is asked, from another thread; nothing is asked any more."""
        self._closed = True
        if self._process is not None:
            self._process.kill()

    def _asked(self, job: ListingJob) -> Listing | None:
        if self._closed:
            return None
        process = self._process = JsonProcess("compiling", COMMAND)
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        try:
            process.send(job)
            line = next(process.lines(), None)
        finally:
            timer.cancel()
            self._process = None
            process.end()
        return None if line is None else ANSWER.decode(line)

    def _keep(self, path: Path, answer: Listing) -> None:
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, msgspec.json.encode(answer))
            files = sorted(self._folder.glob(f"*{ENDING}"), key=lambda file: file.stat().st_mtime_ns)
            for old in files[: max(0, len(files) - MOST)]:
                old.unlink(missing_ok=True)


def _digest(job: ListingJob) -> str:
    """Return a name that follows from the kernel, and from all that compiles it."""
    programs = (
        nvidia_files.libdevice(),
        nvidia_files.ptxas(),
        nvidia_files.nvdisasm(),
        nvidia_files.ptxas_version(),
    )
    return hashlib.sha256(f"{FORMAT} {versions()} {programs} {job.key()}".encode()).hexdigest()
