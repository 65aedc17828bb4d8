"""Client of the measuring process: it starts the process, reads messages, cancels, and handles crashes."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import msgspec

from .... import ROOT, __version__
from ...processes.json_process import StartError, module_command
from ...processes.process_client import ProcessClient, ProcessEndedError
from .cases import Case, row_of
from .events import DeviceOpened, MeasureMessage, Request, RowMeasured, RowStarted, SamplingProgress
from .measurement import Host, Measurement, MeasurementError, Method, Row

COMMAND = module_command("tilescope.tracer.hardware.times.process")
MESSAGE: msgspec.json.Decoder[MeasureMessage] = msgspec.json.Decoder(MeasureMessage)
PACKAGES = ("numpy", "numba", "numba-cuda", "cuda-core", "cuda-bindings", "nvidia-cuda-nvrtc")
NOTES = (
    "Kernel times lie between two CUDA events on a stream that waits until everything is queued, minus the "
    "time that two events measure around nothing.",
    "Cold: the L2 cache holds clean lines of another array. Warm: the same launch has just finished.",
    "Calls, launches and copies are timed by the host's clock, calls and copies until the device is done.",
    "Rows of the same size are sampled alternately; all samples are kept.",
)
Report = Callable[[str, int, int], None]
Start = Callable[[Request], Iterator[MeasureMessage]]


class MeasureClient:
    """Measures cases in another process; call `run` in any thread, and `cancel` from any other."""

    def __init__(self, cases: Sequence[Case], precision: float = 0.01, time_limit: float = 1.0) -> None:
        self.cases, self.precision, self.time_limit = list(cases), precision, time_limit
        self._client = ProcessClient("measuring process", COMMAND, MESSAGE, is_single=True)
        self.cancel = self._client.close  # from any thread; `run` raises RunCancelledError
        self._death = ""
        self._grow: Callable[[Measurement], object] = lambda measurement: None

    @property
    def pid(self) -> int | None:
        """The ID of the measuring process, None without one."""
        return self._client.pid

    def run(
        self,
        report: Report = lambda text, done, total: None,
        start: Start | None = None,
        grow: Callable[[Measurement], object] = lambda measurement: None,
    ) -> Measurement:
        """Measure all rows.

        `report(text, done, total)` counts rows. `grow` gets the rows so far after each one. A process that ends
        early is restarted for the remaining rows. Raises MeasurementError if a row needs a device and there is
        none, and Cancelled.
        """
        rows: dict[int, Row] = {}
        self._grow = grow
        opened: DeviceOpened | None = None
        while opened is None or len(rows) < len(self.cases):
            left = [index for index in range(len(self.cases)) if index not in rows]
            request = Request(
                tuple(self.cases[index] for index in left), self.precision, self.time_limit, opened is None
            )
            newly_opened = self._listen((start or self._messages)(request), left, rows, report)
            opened = opened or newly_opened
        return self._measurement(opened, [rows[index] for index in range(len(self.cases))])

    def _listen(
        self, messages: Iterator[MeasureMessage], places: Sequence[int], rows: dict[int, Row], report: Report
    ) -> DeviceOpened:
        """Process messages until the process ends; `rows` gets at least one more row."""
        opened: DeviceOpened | None = None
        current, before = 0, len(rows)
        for message in messages:
            if isinstance(message, DeviceOpened):
                opened = message
                if message.reason:
                    raise MeasurementError(message.reason)
            elif isinstance(message, RowStarted):
                current = message.place
            elif isinstance(message, RowMeasured):
                rows[places[message.place]] = message.row
                self._grow(
                    self._measurement(opened, [rows[index] for index in sorted(rows)], is_complete=False)
                )
            report(self._text(message, places), len(rows), len(self.cases))
        if opened is None:
            raise MeasurementError(f"The measuring process did not start ({self._death}).")
        if len(rows) == before:
            case = self.cases[places[current]]
            problem = f"The measuring process ended while it ran ({self._death})."
            rows[places[current]] = msgspec.structs.replace(row_of(case), problem=problem)
        return opened

    def _text(self, message: MeasureMessage, places: Sequence[int]) -> str:
        if isinstance(message, RowStarted):
            return f"checking {case_spec(self.cases[places[message.place]])}"
        if isinstance(message, SamplingProgress):
            first = case_spec(self.cases[places[message.places[0]]])
            return f"{message.done} of {message.total} timings of {first} and others"
        return ""

    def _messages(self, request: Request) -> Iterator[MeasureMessage]:
        """Yield the messages of a new process about a request."""
        try:
            with self._client.conversation(request) as messages:
                yield from messages
        except StartError as error:
            raise MeasurementError(str(error)) from error
        except ProcessEndedError as error:
            self._death = error.death

    def _measurement(
        self, opened: DeviceOpened | None, rows: Sequence[Row], *, is_complete: bool = True
    ) -> Measurement:
        """Describe the measured rows. An incomplete measurement has no revision: git would disturb the next row."""
        return Measurement(
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            revision=revision() if is_complete else "",
            device=opened.device if opened else None,
            host=Host(_processor(), _cores(), f"{platform.system()} {platform.release()}"),
            versions=versions() if is_complete else {},
            method=Method(self.precision, self.time_limit, NOTES),
            ceilings=opened.ceilings if opened else None,
            rows=tuple(rows),
        )


def case_spec(case: Case) -> str:
    """Return the spec of a case: matmul-tiled:m=64,k=64,n=64/numpy."""
    values = ",".join(f"{name}={value}" for name, value in case.values.items() if value != "")
    return f"{case.scenario}:{values}" + (f"/{case.baseline}" if case.baseline else "")


def versions() -> dict[str, str]:
    """Return the versions of Tilescope, Python and the packages that affect times."""
    installed = {"tilescope": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return installed


def revision() -> str:
    """Return the git revision of this checkout, with + if files differ from it; "" outside a checkout."""
    from_environment = os.environ.get("TILESCOPE_REVISION")
    if from_environment is not None:
        return from_environment
    if not (ROOT / ".git").exists():
        return ""
    commit = _git("rev-parse", "HEAD")
    return commit + "+" * bool(commit and _git("status", "--porcelain", "--untracked-files=no"))


def _git(*arguments: str) -> str:
    try:
        process = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return process.stdout.strip()


def _processor() -> str:
    """Return the name of the processor, from a file on Linux, else from Python."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
