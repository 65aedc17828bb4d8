"""A hall's server for tests, its phones, and a load of many phones, some of them hostile."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import resource
import threading
import time
from collections import Counter
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from patience import PATIENCE
from tilescope.app.hall.hall import SERVER
from tilescope.app.hall.model.messages import STYLE, HallQuestion, HallState, Report, Serve
from tilescope.app.hall.model.network import LOOPBACK
from tilescope.app.hall.rehearsal import Student, read_headers
from tilescope.tracer.processes.json_process import JsonProcess

CHOICES = ("16", "<script>alert(1)</script>", "none at all")
ASKS = HallState(
    4, 6, "How many?", "3.html.gz", HallQuestion(0, "choose", "How many sectors?", CHOICES), is_open=True
)


class Server:
    """A running server, as the window talks to it."""

    def __init__(self, process: JsonProcess, folder: Path) -> None:
        self.process, self.folder = process, folder
        self._lines = process.lines()
        self.report = Report()
        self.wait_for(lambda report: bool(report.port or report.error))

    def wait_for(self, condition: Any) -> Report:
        """Read reports until one meets a condition."""
        alarm = threading.Timer(PATIENCE, self.process.kill)  # reports come only with changes
        alarm.daemon = True
        alarm.start()
        try:
            while not condition(self.report):
                line = next(self._lines, b"")
                assert line, self.report
                self.report = msgspec.json.decode(line, type=Report)
        finally:
            alarm.cancel()
        return self.report

    def show(self, state: HallState) -> None:
        """Show a state."""
        self.process.send(state)

    def memory(self) -> int:
        """Return the bytes of memory that the process has used at most; Linux counts them."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024


@contextlib.contextmanager
def open_server(
    folder: Path, page: bytes = b"<p>A step</p>", port: int = 0, *, is_fixed: bool = True, address: str = ""
) -> Iterator[Server]:
    """Lend a server on the loopback network with one page; is_fixed: use no other port."""
    (folder / STYLE).write_text("p { color: red }")
    (folder / ASKS.page).write_bytes(gzip.compress(page))
    with JsonProcess("server", SERVER) as process:
        process.send(Serve(str(folder), address, port, is_fixed))
        yield Server(process, folder)


async def request(port: int, text: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
    """Send a request as it is written, and return status, headers and body of the answer."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        writer.write(text.replace("\n", "\r\n").replace("HOST", f"{LOOPBACK}:{port}").encode() + body)
        headers = await asyncio.wait_for(read_headers(reader), PATIENCE)
        content = await reader.read(int(headers.get("content-length", "0")))
        return int(headers["status"] or 0), headers, content
    finally:
        writer.close()


def ask(
    port: int, path: str, *lines: str, method: str = "GET", body: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """Send one request with these additional header lines."""
    text = "\n".join(
        (f"{method} {path} HTTP/1.1", "Host: HOST", f"Content-Length: {len(body)}", *lines, "", "")
    )
    return asyncio.run(request(port, text, body))


class Load(NamedTuple):
    """The figures of a load."""

    votes: Counter[object]  # as the server counted them
    slowest: float  # seconds until a phone had page, style, script and replay
    memory: int  # bytes


class Phone(Student):
    """A phone that votes a fixed value, and waits for the state."""

    async def load(self) -> float:
        """Open everything that a phone opens, in one connection; return the seconds until the last has come."""
        start = time.monotonic()
        reader, writer = await asyncio.open_connection(LOOPBACK, self.port)
        for path in ("/", "/phone.css", "/phone.js", f"/step/{ASKS.page}"):
            writer.write(f"GET {path} HTTP/1.1\r\nHost: {LOOPBACK}:{self.port}\r\n\r\n".encode())
            headers = await read_headers(reader)
            assert headers["status"] == "200", headers
            await reader.readexactly(int(headers["content-length"]))
            self.cookie = self.cookie or headers["set-cookie"].partition(";")[0]
        writer.close()
        return time.monotonic() - start

    async def cast(self, vote: object) -> str:
        """Vote once; return the status."""
        headers, _ = await self.request("POST", "/vote", json.dumps({"question": 0, "vote": vote}).encode())
        return headers["status"]


async def hostile(port: int, number: int) -> None:
    """Do what a phone must not do, by its number; all of it must leave the others unaffected."""
    phone = Phone(port, number)
    await phone.load()
    head = f"POST /vote HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nCookie: {phone.cookie}\r\n"
    match number % 5:
        case 0:  # a huge body, which the server need not read
            _, writer = await asyncio.open_connection(LOOPBACK, port)
            with contextlib.suppress(OSError):
                writer.write(f"{head}Content-Length: 50000000\r\n\r\n".encode())
                for _ in range(100):
                    writer.write(b"9" * 100_000)
                    await writer.drain()
            writer.close()
        case 1:  # scripts in answers
            for vote in ("<script>alert(1)</script>", {"a": 1}, 99, -1, None, [1, 2], True, "1"):
                assert await phone.cast(vote) in ("400", "429")
                await asyncio.sleep(0.4)
        case 2:  # ten votes in a second
            for i in range(30):
                await phone.cast(i % 3)
                await asyncio.sleep(0.1)
            await asyncio.sleep(1.0)
            assert await phone.cast(0) == "204"
        case 3:  # broken sockets
            for text in ("GET /", head, f"{head}Content-Length: 900\r\n\r\n[", "\0\xff\r\n\r\n"):
                _, writer = await asyncio.open_connection(LOOPBACK, port)
                writer.write(text.encode("latin-1"))
                await writer.drain()
                writer.transport.abort()
        case 4:  # a stream without a reader
            _, writer = await phone.open("GET", "/events")
            await asyncio.sleep(3)
            writer.transport.abort()


async def _load(port: int, phones: int, hostiles: int) -> float:
    """Connect all phones at once: each follows, votes and votes again; return the slowest load."""
    students = [Phone(port, i) for i in range(phones)]
    attacks = [asyncio.create_task(hostile(port, i)) for i in range(hostiles)]
    seconds = await asyncio.gather(*(phone.load() for phone in students))
    streams = [await phone.open("GET", "/events") for phone in students]
    for reader, _ in streams:
        await read_headers(reader)
    for _ in range(2):
        statuses = await asyncio.gather(*(phone.cast(i % 3) for i, phone in enumerate(students)))
        assert set(statuses) == {"204"}, statuses
    await asyncio.gather(*attacks)
    for _, writer in streams:
        writer.close()
    return max(seconds)


def run_load(folder: Path, phones: int, hostiles: int, page: bytes) -> Load:
    """Load a server with phones that vote i % 3, and with hostile ones, of which a fifth counts once as 0."""
    with open_server(folder, page) as server:
        server.show(ASKS)
        slowest = run(_load(server.report.port, phones, hostiles))
        expected = expected_votes(phones, hostiles)
        with contextlib.suppress(AssertionError):  # the caller compares
            server.wait_for(lambda report: Counter(report.votes) == expected)
        return Load(Counter(server.report.votes), slowest, server.memory())


def run(work: Coroutine[Any, Any, float]) -> float:
    """Run a coroutine that opens many files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4096:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    return asyncio.run(work)


def expected_votes(phones: int, hostiles: int) -> Counter[object]:
    """Return the votes that the server must have counted."""
    counts: dict[object, int] = {choice: len(range(choice, phones, 3)) for choice in range(3)}
    counts[0] += len(range(2, hostiles, 5))
    return Counter(counts)
