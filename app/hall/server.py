"""The process that serves a hall: the phones' page, the current step, and votes. It imports no Qt.

The window sends states as lines of JSON, and the process sends reports. Students' input stays in this process, except
for numbers that suit the open question. It is an ASGI application without a framework: six routes, and less memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
import uvicorn

from ... import resources
from ...tracer.processes.json_streams import leave_at_once, make_sender, private_streams
from ...tracer.processes.parent_death import die_with_parent
from .guard import GuardedProtocol
from .model.ballot import Ballot, parse_vote
from .model.limits import (
    BODY_SECONDS,
    LARGEST_BODY,
    MOST_PHONES,
    PHONES_OF_ADDRESS,
    REQUESTS,
    SEND_SECONDS,
    VOTES,
    RateLimit,
)
from .model.messages import STYLE, Command, HallState, Report, Serve, Vote
from .model.network import LOOPBACK, is_loopback

COOKIE = "phone"
TOKEN_BYTES = 16  # of a phone's random name
PORTS = 10  # tried if none is requested
HEARTBEAT = 15.0  # seconds after which a silent stream sends a comment
REPORT_INTERVAL = 0.2  # seconds between reports
BACKLOG = 512  # connections that wait
CHUNK = 32_768  # bytes of a page that are sent at once, so that slow phones take little memory
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPLAY_POLICY = "frame-ancestors 'self'"  # a replay has a stricter one, by hashes
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
DECODER = msgspec.json.Decoder(Command)
ENCODER = msgspec.json.Encoder()
Message = dict[str, Any]  # of ASGI, which has no narrower type


class VoteBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a vote."""

    question: int
    vote: int | float | list[int | float]


class Event(msgspec.Struct):
    """The state as a phone gets it."""

    state: HallState
    vote: Vote | None  # of this phone


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    content: bytes = b""
    media_type: str = "text/plain; charset=utf-8"
    headers: dict[str, str] = {}  # noqa: RUF012  # a tuple's field, which nothing changes


class Request:
    """A request of ASGI."""

    def __init__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        self.method, self.path = scope["method"], scope["path"]
        self.address: str = (scope["client"] or ("", 0))[0]
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        self.receive, self._send = receive, send

    def cookie(self) -> str:
        """Return the token in the cookie, "" without one."""
        try:
            morsel = SimpleCookie(self.headers.get("cookie", "")[:LARGEST_BODY]).get(COOKIE)
        except CookieError:
            return ""
        return morsel.value if morsel else ""

    async def body(self) -> bytes | None:
        """Read the body; None if it is too large, too slow or incomplete."""
        body: bytes = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await self.receive()
                    body += message.get("body", b"")
                    if message["type"] == "http.disconnect" or len(body) > LARGEST_BODY:
                        return None
                    if not message.get("more_body"):
                        return body
        return None

    async def start(self, status: int, media_type: str, headers: dict[str, str]) -> None:
        """Send status and headers."""
        added = {"Content-Security-Policy": POLICY} | HEADERS | headers | {"Content-Type": media_type}
        pairs = [(name.lower().encode(), value.encode()) for name, value in added.items()]
        await self._send_in_time({"type": "http.response.start", "status": status, "headers": pairs})

    async def send(self, content: bytes, *, more: bool) -> None:
        """Send a part of the body; raises TimeoutError if the phone does not read."""
        await self._send_in_time({"type": "http.response.body", "body": content, "more_body": more})

    async def respond(self, answer: Answer) -> None:
        """Send an answer."""
        length = {} if answer.status == 204 else {"Content-Length": str(len(answer.content))}
        await self.start(answer.status, answer.media_type, answer.headers | length)
        for i in range(0, len(answer.content), CHUNK):
            await self.send(answer.content[i : i + CHUNK], more=True)
        await self.send(b"", more=False)

    async def _send_in_time(self, message: Message) -> None:
        async with asyncio.timeout(SEND_SECONDS):
            await self._send(message)


def refusal(status: int, sentence: str) -> Answer:
    """Return an answer after which the connection closes."""
    return Answer(status, sentence.encode(), headers={"Connection": "close"})


def problem(status: int, sentence: str) -> Answer:
    """Return a sentence for the phone."""
    return Answer(status, sentence.encode())


UNKNOWN = problem(403, "Open the page again.")
NO_VOTE = problem(400, "This is not a vote.")


class Hall:
    """The application: the state that phones follow, their votes, and who is connected."""

    def __init__(self, serve: Serve, report: Callable[[object], None]) -> None:
        self.folder, self.port = Path(serve.folder), 0
        self.names = {LOOPBACK, "localhost", *filter(None, (serve.address,))}
        self.state = HallState()
        self.version = 0
        self.loop = asyncio.get_running_loop()
        self.changed: asyncio.Future[None] = self.loop.create_future()  # replaced at each change
        self.ballot = Ballot()
        self.phones: dict[str, str] = {}  # the address of each phone, by its token
        self.connected: Counter[str] = Counter()  # streams of each phone
        self.vote_limit, self.request_limit = RateLimit(*VOTES), RateLimit(*REQUESTS)
        self._files = {
            "/": Answer(200, _resource("phone.html"), "text/html; charset=utf-8"),
            "/phone.js": Answer(200, _resource("phone.js"), "text/javascript; charset=utf-8"),
            "/phone.css": Answer(200, (self.folder / STYLE).read_bytes(), "text/css; charset=utf-8"),
        }
        self._replay: tuple[str, bytes] = ("", b"")  # of the current step
        self._report, self._sent = report, Report()

    def show(self, state: HallState) -> None:
        """Replace the state, and wake the streams."""
        self.state = state
        self.version += 1
        self.changed.set_result(None)
        self.changed = self.loop.create_future()

    async def report_changes(self) -> None:
        """Report connected phones and votes, a few times in a second."""
        while True:
            question = self.state.question
            number = question.number if question else -1
            report = Report(self.port, "", len(self.connected), number, self.ballot.votes(number))
            if report != self._sent:
                self._sent = report
                self._report(report)
            await asyncio.sleep(REPORT_INTERVAL)

    def admit(self, address: str) -> str:
        """Return the token of a new phone, "" if there are too many."""
        of_address = sum(other == address for other in self.phones.values())
        if len(self.phones) >= MOST_PHONES:
            return ""
        if not is_loopback(address) and of_address >= PHONES_OF_ADDRESS:
            return ""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self.phones[token] = address
        return token

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive, send)
        with contextlib.suppress(TimeoutError, OSError):  # the phone has gone
            if self._is_foreign(request):
                await request.respond(refusal(403, "Open the address that the lecturer shows."))
            elif not is_loopback(request.address) and not self._allows(self.request_limit, request.address):
                await request.respond(refusal(429, "Wait a moment, then try again."))
            elif request.method == "GET" and request.path == "/events":
                await self._stream(request)
            elif request.method == "POST" and request.path == "/vote":
                await request.respond(await self._vote(request))
            elif request.method == "GET":
                await request.respond(self._file(request))
            else:
                await request.respond(refusal(405, "This page has no such address."))

    def _is_foreign(self, request: Request) -> bool:
        """Check whether a request names another host, or comes from another site's page."""
        own = {f"{name}:{self.port}" for name in self.names}
        origin = request.headers.get("origin")
        foreign_page = origin is not None and origin not in {f"http://{name}" for name in own}
        return request.headers.get("host", "") not in own or foreign_page

    def _allows(self, limit: RateLimit, key: str) -> bool:
        return limit.allows(key, self.loop.time())

    def _phone(self, request: Request) -> str:
        """Return the token of a request's phone, "" for an unknown one."""
        token = request.cookie()
        return token if token in self.phones else ""

    def _file(self, request: Request) -> Answer:
        """Return a file of the page, or the replay of the current step."""
        name = request.path.removeprefix("/step/")
        if name == self.state.page and name:
            if self._replay[0] != name:
                self._replay = name, (self.folder / name).read_bytes()
            headers = {"Content-Encoding": "gzip", "Content-Security-Policy": REPLAY_POLICY}
            return Answer(200, self._replay[1], "text/html; charset=utf-8", headers)
        answer = self._files.get(request.path)
        if answer is None:
            return problem(404, "This step is over.")
        if request.path == "/" and not self._phone(request):
            token = self.admit(request.address)
            if not token:
                return refusal(503, "The hall is full. Follow the lecture on the screen.")
            cookie = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"
            return answer._replace(headers={"Set-Cookie": cookie})
        return answer

    async def _stream(self, request: Request) -> None:
        """Send the current state to a phone, and each later one; a slow phone skips states."""
        phone = self._phone(request)
        if not phone:
            await request.respond(UNKNOWN)
            return
        self.connected[phone] += 1
        gone = asyncio.ensure_future(_wait_for_end(request))
        try:
            await request.start(200, "text/event-stream", {})
            shown = -1
            while not gone.done():
                message = b":\n\n"
                if shown != self.version:
                    shown, state = self.version, self.state
                    vote = self.ballot.vote_of(state.question.number, phone) if state.question else None
                    message = b"retry: 1000\ndata: " + ENCODER.encode(Event(state, vote)) + b"\n\n"
                changed = self.changed
                await request.send(message, more=True)
                if shown == self.version:
                    await asyncio.wait(
                        (changed, gone), timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED
                    )
        finally:
            gone.cancel()
            self.connected[phone] -= 1
            if not self.connected[phone]:
                del self.connected[phone]

    async def _vote(self, request: Request) -> Answer:
        """Count a vote on the open question."""
        phone = self._phone(request)
        if not phone:
            return UNKNOWN
        if not self._allows(self.vote_limit, phone):
            return problem(429, "Wait a moment, then vote again.")
        body = await request.body()
        if body is None:
            return refusal(413, "This is not a vote.")
        question = self.state.question
        try:
            cast = msgspec.json.decode(body, type=VoteBody)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return NO_VOTE
        if question is None or cast.question != question.number or not self.state.is_open:
            return problem(409, "The vote is closed.")
        vote = parse_vote(question, cast.vote)
        if vote is None:
            return NO_VOTE
        self.ballot.cast(question.number, phone, vote)
        return Answer(204)


async def _wait_for_end(request: Request) -> None:
    """Wait until the phone closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _resource(name: str) -> bytes:
    return (files(resources) / "hall" / name).read_bytes()


def listening_sockets(serve: Serve) -> tuple[list[socket.socket], int]:
    """Open the sockets on this computer's addresses, and return their port; raises OSError if it is taken."""
    addresses = [*dict.fromkeys(filter(None, (LOOPBACK, serve.address)))]
    ports = [serve.port] if serve.is_fixed else range(serve.port, serve.port + PORTS)
    problem: OSError | None = None
    for port in ports:
        sockets: list[socket.socket] = []
        try:
            for address in addresses:
                listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                sockets.append(listener)
                if sys.platform != "win32":  # there, it would let two servers share a port
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((address, port))
                listener.listen(BACKLOG)
                port = listener.getsockname()[1]  # of port 0
        except OSError as error:
            problem = error
            for listener in sockets:
                listener.close()
        else:
            return sockets, port
    assert problem
    raise problem


async def _run(serve: Serve, source: IO[bytes], send: Callable[[object], None]) -> None:
    hall = Hall(serve, send)
    try:
        sockets, hall.port = listening_sockets(serve)
    except OSError as error:
        send(
            Report(error=f"Port {serve.port} can't be used ({error.strerror}); name another one with --port.")
        )
        return
    config = uvicorn.Config(
        hall,
        http=GuardedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=20,
    )
    threading.Thread(target=_read_states, args=(hall, source), daemon=True).start()
    reports = asyncio.create_task(hall.report_changes())
    await uvicorn.Server(config).serve(sockets)
    reports.cancel()


def _read_states(hall: Hall, source: IO[bytes]) -> None:
    """Pass the window's states to the hall, in a thread; end the process with the input."""
    for line in source:
        command = DECODER.decode(line)
        if isinstance(command, HallState):
            hall.loop.call_soon_threadsafe(hall.show, command)
    leave_at_once()


def _allow_many_files() -> None:
    """Raise the limit of open files, which is 256 on macOS, as far as the system allows."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    if soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main() -> None:
    """Serve until the input closes."""
    die_with_parent()
    source, target = private_streams()
    send = make_sender(target)
    _allow_many_files()
    first = DECODER.decode(source.readline())
    assert isinstance(first, Serve)
    asyncio.run(_run(first, source, send))


if __name__ == "__main__":
    main()
