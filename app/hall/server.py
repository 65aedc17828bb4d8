"""The process that serves a hall: the phones' page, the current step, and votes. It imports no Qt.

The window sends states as lines of JSON, and the process sends reports. Students' input stays in this process, except
for numbers that suit the open question.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from pathlib import Path
from typing import IO

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TYPES = {".js": "text/javascript", ".html": "text/html"}
DECODER = msgspec.json.Decoder(Command)
ENCODER = msgspec.json.Encoder()


class VoteBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a vote."""

    question: int
    vote: int | float | list[int | float]


class Event(msgspec.Struct):
    """The state as a phone gets it."""

    state: HallState
    vote: Vote | None  # of this phone


class Hall:
    """The state that phones follow, their votes, and who is connected."""

    def __init__(self, serve: Serve, report: Callable[[object], None]) -> None:
        self.folder, self.port = Path(serve.folder), 0
        self.names = {LOOPBACK, "localhost", *filter(None, (serve.address,))}
        self.state = HallState()
        self.version = 0
        self.changed = asyncio.Condition()
        self.ballot = Ballot()
        self.phones: dict[str, str] = {}  # the address of each phone, by its token
        self.connected: Counter[str] = Counter()  # streams of each phone
        self.vote_limit, self.request_limit = RateLimit(*VOTES), RateLimit(*REQUESTS)
        self._report, self._sent = report, Report()

    async def show(self, state: HallState) -> None:
        """Replace the state, and wake the streams."""
        async with self.changed:
            self.state = state
            self.version += 1
            self.changed.notify_all()

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
        if not is_loopback(address) and of_address >= PHONES_OF_ADDRESS:
            return ""
        if len(self.phones) >= MOST_PHONES:
            return ""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self.phones[token] = address
        return token

    def phone_of(self, request: Request) -> str:
        """Return the token of a request's phone, "" for an unknown one."""
        token = _cookie(request)
        return token if token in self.phones else ""

    # Routes.

    async def page(self, request: Request) -> Response:
        """Return the page, with a token for a new phone."""
        response = _file("phone.html")
        if not self.phone_of(request):
            token = self.admit(_address(request))
            if not token:
                return _plain(503, "The hall is full. Follow the lecture on the screen.")
            response.set_cookie(COOKIE, token, httponly=True, samesite="strict", path="/")
        return response

    async def script(self, request: Request) -> Response:
        """Return the page's script."""
        return _file("phone.js")

    async def style(self, request: Request) -> Response:
        """Return the page's style, which the window has written with the program's colours."""
        return Response((self.folder / STYLE).read_bytes(), media_type="text/css")

    async def replay(self, request: Request) -> Response:
        """Return the replay of the current step."""
        if not self.state.page or request.path_params["name"] != self.state.page:
            return _plain(404, "This step is over.")
        content = (self.folder / self.state.page).read_bytes()
        headers = {"Content-Encoding": "gzip", "X-Frame-Options": "SAMEORIGIN"}
        return Response(content, headers=headers, media_type="text/html")

    async def events(self, request: Request) -> Response:
        """Stream the states to a phone."""
        phone = self.phone_of(request)
        if not phone:
            return _plain(403, "Open the page again.")
        return StreamingResponse(self._stream(phone), media_type="text/event-stream")

    async def _stream(self, phone: str) -> AsyncIterator[bytes]:
        """Yield the current state, then each later one; a slow phone skips states."""
        self.connected[phone] += 1
        try:
            yield b"retry: 1000\n\n"
            shown = -1
            while True:
                if shown != self.version:
                    shown, state = self.version, self.state
                    vote = self.ballot.vote_of(state.question.number, phone) if state.question else None
                    yield b"data: " + ENCODER.encode(Event(state, vote)) + b"\n\n"
                try:
                    async with asyncio.timeout(HEARTBEAT), self.changed:
                        if shown == self.version:
                            await self.changed.wait()
                except TimeoutError:
                    yield b":\n\n"
        finally:
            self.connected[phone] -= 1
            if not self.connected[phone]:
                del self.connected[phone]

    async def vote(self, request: Request) -> Response:
        """Count a vote on the open question."""
        phone = self.phone_of(request)
        if not phone:
            return _plain(403, "Open the page again.")
        if not self.vote_limit.allows(phone, asyncio.get_running_loop().time()):
            return _plain(429, "Wait a moment, then vote again.")
        body = await _body(request)
        if body is None:
            return _plain(413, "This is not a vote.", close=True)
        question = self.state.question
        try:
            cast = msgspec.json.decode(body, type=VoteBody)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return _plain(400, "This is not a vote.")
        if question is None or cast.question != question.number or not self.state.is_open:
            return _plain(409, "The vote is closed.")
        vote = parse_vote(question, cast.vote)
        if vote is None:
            return _plain(400, "This is not a vote.")
        self.ballot.cast(question.number, phone, vote)
        return Response(status_code=204)

    # Every request.

    def is_foreign(self, request: Request) -> bool:
        """Check whether a request names another host, or comes from another site's page."""
        host = request.headers.get("host", "")
        own = {f"{name}:{self.port}" for name in self.names}
        origin = request.headers.get("origin")
        return host not in own or (origin is not None and origin not in {f"http://{name}" for name in own})


class Guard:
    """Refuses requests of foreign pages and of hasty addresses, and gives up on phones that do not read."""

    def __init__(self, inner: ASGIApp, hall: Hall) -> None:
        self.inner, self.hall = inner, hall

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        request = Request(scope)
        address = _address(request)
        hall = self.hall

        async def send_in_time(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = {"Content-Security-Policy": POLICY} | HEADERS
                if scope["path"].startswith("/step/"):
                    del added["Content-Security-Policy"]  # the page has a stricter one, by hashes
                given = {name.lower() for name, _ in message["headers"]}
                message["headers"] += [
                    (name.encode(), value.encode())
                    for name, value in added.items()
                    if name.lower().encode() not in given
                ]
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)

        answer: ASGIApp = self.inner
        if hall.is_foreign(request):
            answer = _plain(403, "Open the address that the lecturer shows.", close=True)
        elif not is_loopback(address) and not hall.request_limit.allows(
            address, asyncio.get_running_loop().time()
        ):
            answer = _plain(429, "Wait a moment, then try again.", close=True)
        with contextlib.suppress(TimeoutError, OSError):  # the phone has gone
            await answer(scope, receive, send_in_time)


async def _body(request: Request) -> bytes | None:
    """Read a body; None if it is too large or too slow."""
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_BODY:
                    return None
    except (TimeoutError, ClientDisconnect):
        return None
    return body


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _cookie(request: Request) -> str:
    try:
        morsel = SimpleCookie(request.headers.get("cookie", "")[:LARGEST_BODY]).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def _file(name: str) -> Response:
    content = (files(resources) / "hall" / name).read_bytes()
    return Response(content, media_type=TYPES[Path(name).suffix])


def _plain(status: int, sentence: str, *, close: bool = False) -> Response:
    return Response(sentence, status, {"Connection": "close"} if close else None, "text/plain")


def listening_sockets(serve: Serve) -> tuple[list[socket.socket], int]:
    """Open the sockets on this computer's addresses, and return their port; raises OSError if it is taken."""
    addresses = [LOOPBACK, *filter(None, (serve.address,))]
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
    routes = [
        Route("/", hall.page),
        Route("/phone.js", hall.script),
        Route("/phone.css", hall.style),
        Route("/step/{name}", hall.replay),
        Route("/events", hall.events),
        Route("/vote", hall.vote, methods=["POST"]),
    ]
    config = uvicorn.Config(
        Guard(Starlette(routes=routes), hall),
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
    loop = asyncio.get_running_loop()
    threading.Thread(target=_read_states, args=(hall, loop, source), daemon=True).start()
    reports = loop.create_task(hall.report_changes())
    await uvicorn.Server(config).serve(sockets)
    reports.cancel()


def _read_states(hall: Hall, loop: asyncio.AbstractEventLoop, source: IO[bytes]) -> None:
    """Pass the window's states to the hall, in a thread; end the process with the input."""
    for line in source:
        command = DECODER.decode(line)
        if isinstance(command, HallState):
            asyncio.run_coroutine_threadsafe(hall.show(command), loop)
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
