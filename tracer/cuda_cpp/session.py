"""Runs a compiled CUDA C++ program and builds a trace of each launch, while the program waits.

The program connects to a socket (`runtime/runtime.cpp`). It sends a line of JSON for each event and waits for a line in
answer. Rows and the device's memory lie in files that both processes map.
"""

from __future__ import annotations

import array
import math
import mmap
import os
import selectors
import signal
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
from elftools.common.exceptions import ELFError
from msgspec import Struct
from numpy.typing import NDArray

from ..model.launch import Limits, Schedule
from ..model.trace import Dim3, Op, Site, Trace
from ..processes.work_time import work_seconds
from ..recording.stream_order import Clock, StreamOrder, conflict_text, use_of_range, uses_of_trace
from .debug_info import HEADERS
from .decode import LaunchDecoder, RowsEvent
from .launch_memory import DEVICE_BASE, LaunchEvent, ProgramMemory
from .program_facts import ProgramFacts, facts_of
from .rows import SCHEDULES

VARIABLE = "TILESCOPE_CUDA_SESSION"  # names the socket to the program
POLL = 0.05  # seconds between two looks at whether the program has ended
ENDLESS = 1.5  # times the patience, of a block that runs and whose accesses are counted
KILL_DELAY = 2.0  # seconds that a program may take to end after Ctrl+C
MOST_SYMBOLS = 1 << 26  # bytes of the program's variables whose contents are kept
SHARED, MOST_SHARED = 48 << 10, 227 << 10  # bytes of a block, without and with a request
LEAST_ROWS = 1 << 16  # that the program hands over at once
THREADS = 8192  # that are resident at once


class SessionOptions(Struct, frozen=True):
    """How launches are traced."""

    schedule: Schedule = Schedule()
    resident: int | None = None  # blocks that run at once; None means as many as fit 8,192 threads
    patience: float | None = None  # seconds of CPU time for a block; None for no limit
    limits: Limits = Limits()
    sample: Callable[[str, Dim3, Dim3], int] | None = None  # how many blocks of a launch run, 0 for all
    blocks: tuple[int, ...] | None = None  # linear numbers of those that run, None for all
    report: Callable[[int, int], None] | None = None  # called with the blocks that have ended, and all


class ProgramFault(Struct, frozen=True):
    """What ended a program, or went wrong in it, outside a trace: one sentence at the user's line."""

    kind: str  # "endless", "crash", "early", "missing", "refused", "free", "leak", "streams"
    text: str
    file: str
    line: int
    kernel: str = ""  # whose launch it ended, or that was refused
    kernel_file: str = ""


class ProgramEnd(Struct, frozen=True):
    """How a program ended."""

    status: int  # as of `subprocess`; negative for a signal
    faults: tuple[ProgramFault, ...]
    was_interrupted: bool = False


class _Hello(Struct):
    program: str
    pid: int
    arena: int
    dynamic: int
    shared: int
    base: int
    rows: int


class _Stopped(Struct):
    pcs: list[int]
    block: int = 0
    thread: int = 0
    accesses: int = 0
    signal: int = 0
    in_kernel: int = 0
    overflow: int = 0


class _Missing(Struct):
    name: str
    file: str
    line: int


class _HostAccess(Struct):
    """An access of the program outside kernels: to device memory, or before it has waited."""

    kind: int  # of the memory: 0 device, 1 managed, 2 pinned
    writes: int
    work: str  # the kernel or call that the program has not waited for
    pcs: list[int]


class _Order(Struct):
    """What orders streams, or a copy in one of them; see `runtime/interface.h`."""

    action: str
    stream: int
    key: int  # of the event
    to: int  # addresses, 0 for memory of the host
    source: int
    size: int


class _Goodbye(Struct):
    leaks: list[tuple[int, int]]  # of each allocation that was not freed, the call that made it and its bytes
    frees: list[int] = []  # calls that free what is not allocated


class _Event(Struct):
    event: str


Take = Callable[[Trace, float], None]


class Session:
    """A socket for programs, and the traces of their launches."""

    def __init__(
        self,
        options: SessionOptions,
        take: Take,
        texts_of: Callable[[str], tuple[dict[Path, str] | None, str]],
    ) -> None:
        """take: called with each trace and the seconds of its launch.

        texts_of: returns a program's files and compiler.
        """
        self.options, self._take = options, take
        self._texts_of = texts_of
        self.faults: list[ProgramFault] = []
        self.facts: ProgramFacts | None = None  # of the program that connected last
        self._folder = tempfile.mkdtemp(prefix="tilescope-cuda-")
        self.path = str(Path(self._folder, "socket"))
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(self.path)
        self._server.listen()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._server, selectors.EVENT_READ, None)

    def run(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        files: Sequence[int] = (),
    ) -> ProgramEnd:
        """Run a program, or one that runs others, to its end; raises OSError if it can't be started.

        files: descriptors that the program inherits.
        """
        settings = dict(os.environ if environment is None else environment) | {VARIABLE: self.path}
        process = subprocess.Popen(command, env=settings, cwd=folder, pass_fds=files)
        interrupted = 0.0
        while True:
            try:
                for key, _ in self._selector.select(POLL):
                    self._serve(key)
                if process.poll() is not None:
                    while left := self._selector.select(0):
                        for key, _ in left:
                            self._serve(key)
                    self._note_signal(process.returncode, interrupted > 0)
                    return ProgramEnd(process.returncode, tuple(self.faults), interrupted > 0)
            except KeyboardInterrupt:  # the terminal sends it to the program too
                if interrupted and process.poll() is None:
                    process.kill()
                interrupted = interrupted or time.monotonic()
            if interrupted and time.monotonic() - interrupted > KILL_DELAY and process.poll() is None:
                process.send_signal(signal.SIGKILL)

    def _note_signal(self, status: int, was_interrupted: bool) -> None:
        """Note a signal that ended the program, unless the program itself reported it."""
        if status < 0 and not was_interrupted and not any(fault.kind == "crash" for fault in self.faults):
            is_valid = -status in signal.valid_signals()
            name = signal.Signals(-status).name if is_valid else f"signal {-status}"
            self.faults.append(ProgramFault("crash", f"the program was ended by {name}.", "", 0))

    def close(self) -> None:
        """Close the socket and remove its folder."""
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, _Connection):
                key.data.close()
        self._selector.close()
        self._server.close()
        with suppress(OSError):
            Path(self.path).unlink()
            Path(self._folder).rmdir()

    def _serve(self, key: selectors.SelectorKey) -> bool:
        if key.data is None:
            connection, _ = self._server.accept()
            self._selector.register(connection, selectors.EVENT_READ, _Connection(self, connection))
            return True
        assert isinstance(key.data, _Connection)
        if not key.data.read():
            self._selector.unregister(key.fileobj)
            key.data.close()
        return True

    # --- for connections

    def facts_of(self, program: str) -> ProgramFacts:
        texts, compiler = self._texts_of(program)
        self.facts = facts_of(Path(program), texts, compiler)
        return self.facts

    def take(self, trace: Trace, seconds: float) -> None:
        self._take(trace, seconds)


class _Connection:
    """A running program."""

    def __init__(self, session: Session, connection: socket.socket) -> None:
        self._session, self._socket = session, connection
        self._buffer = b""
        self._files: list[int] = []
        self._facts: ProgramFacts | None = None
        self._hello: _Hello | None = None
        self._decoder: LaunchDecoder | None = None
        self._launch: LaunchEvent | None = None
        self._maps: list[mmap.mmap] = []
        self._started = 0.0
        self._ended_blocks = 0
        self._seconds = 0.0  # that a block has run, if it was ended for its many accesses
        self._latest_end = 0.0  # processor time when a block of the launch has ended last
        self._streams = StreamOrder()
        self._streams.watch(
            lambda: ("", 0),
            lambda conflict: session.faults.append(
                ProgramFault("streams", conflict_text(conflict), *conflict.place)
            ),
        )
        self._events: dict[int, Clock] = {}
        self._pcs: list[int] = []  # of all sites so far: the runtime numbers them in all launches together
        self._symbols: list[tuple[int, int]] = []

    def close(self) -> None:
        self._socket.close()
        for file in self._files:
            os.close(file)
        self._files = []
        self._decoder, self._maps = None, []  # which may hold half a gigabyte

    def read(self) -> bool:
        """Read and answer messages; return False once the program has closed the connection."""
        try:
            if self._files:
                data = self._socket.recv(1 << 20)
            else:
                data, ancillary, _, _ = self._socket.recvmsg(
                    1 << 16, socket.CMSG_SPACE(3 * array.array("i").itemsize)
                )
                for level, kind, content in ancillary:
                    if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                        files = array.array("i")
                        files.frombytes(content[: len(content) - len(content) % files.itemsize])
                        self._files += list(files)
        except OSError:
            return False
        if not data:
            return False
        self._buffer += data
        while b"\n" in self._buffer:
            line, _, self._buffer = self._buffer.partition(b"\n")
            answer = self._answer(line)
            with suppress(OSError):
                self._socket.sendall(answer.encode() + b"\n")
        return True

    def _answer(self, line: bytes) -> str:
        kind = msgspec.json.decode(line, type=_Event).event
        if kind == "hello":
            return self._greet(msgspec.json.decode(line, type=_Hello))
        if kind == "launch":
            return self._begin(msgspec.json.decode(line, type=LaunchEvent))
        if kind in ("rows", "ended"):
            return self._add(msgspec.json.decode(line, type=RowsEvent), is_end=kind == "ended")
        faults = self._session.faults
        if kind == "refused":
            event = msgspec.json.decode(line, type=LaunchEvent)
            text = f"the launch of {event.kernel} is refused: {_refusal(event)}."
            faults.append(
                ProgramFault("refused", text, event.file, event.line, event.kernel_name, event.file)
            )
        elif kind == "endless":
            self._note_endless(msgspec.json.decode(line, type=_Stopped))
        elif kind == "crash":
            self._note_crash(msgspec.json.decode(line, type=_Stopped))
        elif kind == "missing":
            missing = msgspec.json.decode(line, type=_Missing)
            faults.append(
                ProgramFault(
                    "missing", f"Tilescope does not know {missing.name}.", missing.file, missing.line
                )
            )
        elif kind == "host":
            return self._note_host_access(msgspec.json.decode(line, type=_HostAccess))
        elif kind == "order":
            self._order(msgspec.json.decode(line, type=_Order))
        elif kind == "goodbye":
            goodbye = msgspec.json.decode(line, type=_Goodbye)
            self._note_wrong_frees(goodbye.frees)
            self._note_leaks(goodbye)
        return "ok"

    def _greet(self, hello: _Hello) -> str:
        self._hello = hello
        try:
            facts = self._session.facts_of(hello.program)
        except (OSError, ELFError):
            facts = None
        self._facts = facts
        _, rows, arrivals = self._files
        self._maps = [
            mmap.mmap(rows, 0, access=mmap.ACCESS_READ),
            mmap.mmap(arrivals, 0, access=mmap.ACCESS_READ),
        ]
        options = self._session.options
        schedule = SCHEDULES.index(
            options.schedule.kind if options.schedule.kind in SCHEDULES else "lockstep"
        )
        patience = round(1000 * (options.patience or 0))
        shared = facts.debug.shared if facts else []
        low = min((variable.offset for variable in shared), default=0)
        high = max((variable.offset + variable.size for variable in shared), default=0)
        numbers = [schedule, options.schedule.seed, options.resident or 0, patience, low, high]
        floats = [
            (variable.offset, variable.size, np.dtype(variable.layout.dtype).itemsize)
            for variable in shared
            if variable.layout.dtype and np.dtype(variable.layout.dtype).kind == "f"
        ]
        numbers.append(len(floats))
        for piece in floats:
            numbers += piece
        dynamic = facts.dynamic[0][1] if facts and facts.dynamic else "|u1"
        numbers.append(np.dtype(dynamic).itemsize if np.dtype(dynamic).kind == "f" else 0)
        variables = facts.debug.variables if facts else []
        if sum(variable.size for variable in variables) <= MOST_SYMBOLS:
            self._symbols = [(variable.offset, variable.size) for variable in variables]
        spaces = facts.spaces if facts else {}
        constants = [(v.offset, v.size) for v in variables if spaces.get(v.name) == "constant"]
        for ranges in (self._symbols, constants):
            numbers.append(len(ranges))
            for offset, size in ranges:
                numbers += offset, size
        numbers.append(max(LEAST_ROWS, options.limits.accesses))
        return " ".join(map(str, numbers))

    def _begin(self, event: LaunchEvent) -> str:
        if self._facts is None or self._hello is None:
            return "no"
        self._started, self._latest_end = time.perf_counter(), self._work_seconds()
        self._ended_blocks = 0
        self._launch = event
        hello = self._hello
        count = sum(-(-size // 16) * 16 for _, size in self._symbols)
        symbols = np.frombuffer(self._maps[0], np.uint8, count).copy()
        memory = ProgramMemory(hello.arena, hello.dynamic, hello.base, self._read_memory)
        options = self._session.options
        resident = _resident(event, options.resident)
        self._decoder = LaunchDecoder(
            event, self._facts, memory, symbols, options.schedule, resident, options.limits
        )
        self._decoder.add_sites(self._pcs)
        kernel = self._decoder.kernel
        sampled = options.sample(kernel, event.grid, event.block) if options.sample else 0
        self._decoder.sampled = sampled
        if options.blocks is not None:
            self._decoder.chosen = np.array(options.blocks, np.int64)
        is_counted = not options.limits.accesses
        self._decoder.begin(is_counted)
        blocks = options.blocks or ()
        return " ".join(map(str, ("count" if is_counted else "go", sampled, len(blocks), *blocks)))

    def _read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        assert self._hello is not None
        content = os.pread(self._files[0], size, address - self._hello.arena)
        return np.frombuffer(content, np.uint8)

    def _add(self, event: RowsEvent, *, is_end: bool) -> str:
        if self._decoder is None:
            return "ok"
        self._pcs += event.sites
        if self._session.options.report and self._launch and not is_end:
            self._session.options.report(event.done, math.prod(self._launch.grid))
        answer = self._decoder.add(event, *self._maps)
        if not is_end and self._is_endless(event):
            self._seconds, answer = self._work_seconds() - self._latest_end, "endless"
        if is_end:
            decoder, self._decoder = self._decoder, None
            trace = decoder.finish([tuple(fault) for fault in event.faults], event.error)
            self._session.take(trace, time.perf_counter() - self._started)
            if self._launch is not None:
                launch = self._launch
                self._streams.add(
                    launch.kernel_name,
                    launch.stream,
                    lambda: list(uses_of_trace(trace)),
                    (launch.file, launch.line),
                )
            # The source shows which copies are of vectors, so that the runtime learns of a misaligned one here.
            if event.error is None and trace.error and trace.error.type == "MisalignedAddress":
                answer = "misaligned"
        return answer

    def _is_endless(self, event: RowsEvent) -> bool:
        """Whether no block has ended within the patience, also if most of it was spent on its accesses."""
        now, patience = self._work_seconds(), self._session.options.patience or 0
        if event.done > self._ended_blocks:
            self._ended_blocks, self._latest_end = event.done, now
        return 0 < ENDLESS * patience < now - self._latest_end

    def _work_seconds(self) -> float:
        """Return the processor time of the program and of the counting of its accesses."""
        return 0.0 if self._hello is None else work_seconds(self._hello.pid)

    def _order(self, event: _Order) -> None:
        """Follow what orders the streams of the program."""
        streams = self._streams
        if event.action == "record":
            self._events[event.key] = streams.clock_of(event.stream)
        elif event.action == "wait":
            streams.wait(event.stream, self._events.get(event.key, {}))
        elif event.action == "host":
            streams.synchronize(event.stream)
        elif event.action == "host event":
            streams.synchronize_event(self._events.get(event.key, {}))
        else:
            base = self._hello.arena - DEVICE_BASE if self._hello else 0
            uses = [
                use_of_range(address - base, event.size, op)
                for address, op in ((event.source, Op.LOAD), (event.to, Op.STORE))
                if address
            ]
            name = "cudaMemcpyAsync" if event.source else "an asynchronous copy"
            streams.add(name, event.stream, lambda: uses)

    def _user_site(self, pcs: list[int]) -> Site | None:
        """Return the innermost of some addresses that lies in the user's files."""
        if self._facts is None:
            return None
        sites = (self._facts.debug.site(pc) for pc in pcs)
        return next((site for site in sites if site is not None and site.file in self._facts.texts), None)

    def _note_host_access(self, event: _HostAccess) -> str:
        """Note an access of the user's code; return "library" for one that a library makes."""
        sites = [self._facts.debug.site(pc) for pc in event.pcs] if self._facts else []
        user_site = self._user_site(event.pcs)
        if user_site is None or any(site and HEADERS in site.file for site in sites):
            return "library"
        verb = "writes" if event.writes else "reads"
        if not event.kind:
            text = (
                f"host code {verb} device memory, which only kernels can access, and the program ends with"
                " SIGSEGV; copy the memory with cudaMemcpy."
            )
            kind = "crash"
        else:
            memory = ("managed", "pinned")[event.kind - 1]
            text = (
                f"host code {verb} {memory} memory that {event.work} may still use; call cudaDeviceSynchronize"
                " before."
            )
            kind = "early"
        fault = ProgramFault(kind, text, user_site.file, user_site.line)
        if fault not in self._session.faults:
            self._session.faults.append(fault)
        return "user"

    def _note_leaks(self, goodbye: _Goodbye) -> None:
        """Note the allocations that were not freed, by the line that allocated them."""
        sizes: dict[tuple[str, int], list[int]] = {}
        for pc, size in goodbye.leaks:
            site = self._user_site([pc])
            sizes.setdefault((site.file, site.line) if site else ("", 0), []).append(size)
        for (file, line), allocated in sizes.items():
            text = f"{sum(allocated):,} bytes of cudaMalloc are not freed"
            count = f" ({len(allocated):,} allocations)" if len(allocated) > 1 else ""
            self._session.faults.append(ProgramFault("leak", f"{text}{count}; call cudaFree.", file, line))

    def _note_wrong_frees(self, pcs: list[int]) -> None:
        """Note the calls that free what is not allocated, by their line."""
        sites = (self._user_site([pc]) for pc in pcs)
        counts = Counter((site.file, site.line) if site else ("", 0) for site in sites)
        for (file, line), count in counts.items():
            calls = f"{count:,} calls of cudaFree get a pointer" if count > 1 else "cudaFree gets a pointer"
            text = (
                f"{calls} that is not allocated, or not any more; free each allocation once, also where"
                " destructors of copies free it."
            )
            self._session.faults.append(ProgramFault("free", text, file, line))

    def _note_endless(self, event: _Stopped) -> None:
        site = self._user_site(event.pcs)
        launch = self._launch
        file, line = (site.file, site.line) if site else (launch.file, launch.line) if launch else ("", 0)
        patience = self._session.options.patience or 0
        where = f"; it was at line {site.line}" if site else ""
        seconds = self._seconds or patience
        text = f"1 launch does not end: a block ran for {seconds:.2g} s of CPU time{where}."
        self._session.faults.append(
            ProgramFault("endless", text, file, line, *self._stopped_kernel(event.pcs))
        )

    def _note_crash(self, event: _Stopped) -> None:
        site = self._user_site(event.pcs)
        launch = self._launch
        file, line = (
            (site.file, site.line)
            if site
            else (launch.file, launch.line)
            if launch and event.in_kernel
            else ("", 0)
        )
        name = (
            signal.Signals(event.signal).name if event.signal in signal.valid_signals() else str(event.signal)
        )
        if event.overflow:
            owner, kernel = ("a thread", "the kernel") if event.in_kernel else ("the program", "it")
            text = (
                f"the stack of {owner} is full: {kernel} recurses too deeply or has very large local arrays."
            )
        elif event.in_kernel and launch and not event.signal:
            text = f"the kernel {launch.kernel} calls exit, which a GPU does not have."
        elif event.in_kernel and launch and event.signal == signal.SIGFPE:
            text = f"the kernel {launch.kernel} divides an integer by 0; a GPU would go on with an undefined result."
        elif event.in_kernel and launch:
            text = f"the kernel {launch.kernel} ended the program by {name}."
        else:
            text = f"the program was ended by {name}."
        stopped = self._stopped_kernel(event.pcs) if event.in_kernel else ("", "")
        self._session.faults.append(ProgramFault("crash", text, file, line, *stopped))

    def _stopped_kernel(self, pcs: list[int]) -> tuple[str, str]:
        """Return the name and file of the kernel that runs at these addresses; empty between launches."""
        if self._decoder is None or self._facts is None:
            return "", ""
        kernel, texts = self._decoder.kernel, self._facts.texts
        sites = (self._facts.debug.site(pc) for pc in pcs)
        files = (site.file for site in sites if site and site.function == kernel and site.file in texts)
        return kernel, next(files, None) or self._decoder.kernel_file()


def _resident(event: LaunchEvent, wanted: int | None) -> int:
    threads = event.block[0] * event.block[1] * event.block[2]
    blocks = event.grid[0] * event.grid[1] * event.grid[2]
    fit = max(1, THREADS // threads)
    if event.cooperative:
        return blocks
    return max(1, min(blocks, fit, wanted or fit))


def _refusal(event: LaunchEvent) -> str:
    x, y, z = event.block
    if x * y * z > 1024:
        return f"its blocks of {x * y * z:,} threads are larger than 1,024"
    if not x * y * z or not event.grid[0] * event.grid[1] * event.grid[2]:
        return "its grid or block has no threads"
    if event.shared > MOST_SHARED:
        return f"{event.shared:,} bytes of dynamic shared memory are more than a block can have"
    if event.shared > SHARED:
        return f"{event.shared:,} bytes of dynamic shared memory need a call of cudaFuncSetAttribute first"
    return "its grid or block is larger than a GPU allows along one axis"
