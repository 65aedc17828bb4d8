"""The hall's server as phones see it: pages, cookies, votes, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import closing, suppress
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from browser import needs_chromium, open_browser
from halls import ASKS, ask, open_server
from patience import PATIENCE
from tilescope.app.hall.guard import GuardedProtocol
from tilescope.app.hall.model.messages import STYLE, HallState, Serve
from tilescope.app.hall.server import Hall


@pytest.fixture
def server(tmp_path):
    with open_server(tmp_path) as running:
        running.show(ASKS)
        yield running


def cookie_of(server) -> str:
    """Open the page as a new phone, and return its cookie's header line."""
    status, headers, _ = ask(server.report.port, "/")
    assert status == 200
    return f"Cookie: {headers['set-cookie'].partition(';')[0]}"


def vote(server, body: object, *lines: str) -> int:
    """Send a vote, and return the status."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ask(server.report.port, "/vote", *lines, method="POST", body=content)[0]


def test_a_page_has_a_strict_policy_and_a_random_cookie_without_a_name(server):
    _, headers, body = ask(server.report.port, "/")
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    assert "HttpOnly" in headers["set-cookie"] and "SameSite=Strict" in headers["set-cookie"]
    assert headers["x-content-type-options"] == "nosniff"
    assert b"http" not in body.replace(b"http-equiv", b"")
    assert cookie_of(server) != cookie_of(server)


def test_a_phone_votes_once_and_may_change_its_vote(server):
    phone, other = cookie_of(server), cookie_of(server)
    assert vote(server, {"question": 0, "vote": 0}, phone) == 204
    assert vote(server, {"question": 0, "vote": 2}, phone) == 204
    assert vote(server, {"question": 0, "vote": 1}, other) == 204
    assert server.wait_for(lambda report: len(report.votes) == 2).votes == (2, 1)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[" * 900, 400),
        (b"\xff\xfe", 400),
        ({"question": 0, "vote": "<script>alert(1)</script>"}, 400),
        ({"question": 0, "vote": 3}, 400),
        ({"question": 0, "vote": 1, "name": "Ada"}, 400),
        ({"question": 7, "vote": 1}, 409),
        (b"9" * 2000, 413),
    ],
)
def test_what_is_no_vote_is_refused(server, body, status):
    assert vote(server, body, cookie_of(server)) == status
    assert server.report.votes == ()


def test_an_unknown_phone_and_a_closed_vote_do_not_count(server):
    assert vote(server, {"question": 0, "vote": 0}) == 403
    assert vote(server, {"question": 0, "vote": 0}, "Cookie: phone=guessed") == 403
    phone = cookie_of(server)
    server.show(HallState(4, 6, "How many?", ASKS.page, ASKS.question))
    while (status := vote(server, {"question": 0, "vote": 0}, phone)) == 204:
        pass  # the state has not arrived
    assert status in (409, 429)


def test_hasty_phones_wait(server):
    phone = cookie_of(server)
    statuses = [vote(server, {"question": 0, "vote": 0}, phone) for _ in range(12)]
    assert statuses[0] == 204 and 429 in statuses


def test_other_hosts_and_other_pages_are_refused(server):
    port = server.report.port
    phone = cookie_of(server)
    assert ask(port, "/", "Origin: http://evil.example")[0] == 403
    assert vote(server, {"question": 0, "vote": 0}, phone, "Origin: http://evil.example") == 403
    with closing(socket.create_connection(("127.0.0.1", port))) as rebound:
        rebound.sendall(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        assert rebound.recv(100).startswith(b"HTTP/1.1 403")


def test_only_the_current_step_is_served_and_no_other_file(server):
    port = server.report.port
    assert ask(port, f"/step/{ASKS.page}")[0] == 200
    (server.folder / "secret.html.gz").write_bytes(b"secret")
    for path in ("/step/secret.html.gz", "/step/../phone.css", "/step/", "/secret", "/step/%2e%2e/x"):
        assert ask(port, path)[0] == 404
    assert ask(port, "/", method="DELETE")[0] == 405


def test_a_phone_that_connects_again_has_its_place_and_its_vote(server):
    phone = cookie_of(server)
    assert vote(server, {"question": 0, "vote": 1}, phone) == 204
    for _ in range(2):
        with closing(socket.create_connection(("127.0.0.1", server.report.port), 20)) as stream:
            host = f"127.0.0.1:{server.report.port}"
            stream.sendall(f"GET /events HTTP/1.1\r\nHost: {host}\r\n{phone}\r\n\r\n".encode())
            lines = stream.makefile("rb")
            event = json.loads(next(line for line in lines if line.startswith(b"data: "))[6:])
        assert event["vote"] == 1 and event["state"]["step"] == 4
        assert event["state"]["question"]["ask"] == "How many sectors?" and event["state"]["answer"] == ""


def test_this_computer_may_be_named_as_the_address(tmp_path):
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    with open_server(tmp_path, port=port, address="127.0.0.1") as server:
        assert (server.report.error, server.report.port) == ("", port)


def test_a_taken_port_ends_in_one_sentence(tmp_path):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with open_server(tmp_path, port=port) as server:
            assert server.report.error.startswith(f"Port {port} can't be used")
            assert "--port" in server.report.error


def test_the_next_port_is_tried_if_none_is_requested(tmp_path):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with open_server(tmp_path, port=port, is_fixed=False) as server:
            assert port < server.report.port < port + 10 and ask(server.report.port, "/")[0] == 200


def test_an_address_has_few_phones_but_this_computer_has_many(tmp_path):
    async def tokens(address: str, count: int) -> list[str]:
        (tmp_path / STYLE).write_text("")
        hall = Hall(Serve(str(tmp_path), "", 0, is_fixed=False), list)
        return [hall.admit(address) for _ in range(count)]

    room = asyncio.run(tokens("10.0.0.9", 30))
    assert len(set(room)) == 21 and room[20:] == [""] * 10
    own = asyncio.run(tokens("127.0.0.1", 1010))
    assert len(set(own)) == 1001 and own[1000:] == [""] * 10


def answers(hall: Hall, address: str, count: int) -> list[int]:
    """Ask a hall for its page as this address, and return the statuses."""
    statuses: list[int] = []

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def ask_often() -> None:
        host = [(b"host", b"127.0.0.1:0")]
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/phone.js",
            "client": (address, 1),
            "headers": host,
        }
        for _ in range(count):
            await hall(scope, receive, send)

    hall.loop.run_until_complete(ask_often())
    return statuses


def test_an_address_asks_at_a_limited_rate_and_others_are_not_affected(tmp_path):
    (tmp_path / STYLE).write_text("")

    async def new_hall() -> Hall:
        return Hall(Serve(str(tmp_path), "", 0, is_fixed=False), list)

    loop = asyncio.new_event_loop()
    hall = loop.run_until_complete(new_hall())
    statuses = answers(hall, "10.0.0.9", 1000)
    assert statuses[:200] == [200] * 200 and 429 in statuses
    assert answers(hall, "10.0.0.8", 1) == [200]
    assert set(answers(hall, "127.0.0.1", 1000)) == {200}
    loop.close()


class Transport(asyncio.Transport):
    """A connection from an address."""

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 1)})
        self.is_aborted = False

    def is_closing(self) -> bool:
        return self.is_aborted

    def abort(self) -> None:
        self.is_aborted = True

    close = abort


def test_connections_are_limited_for_an_address_and_in_all_and_public_ones_refused():
    async def connect() -> None:
        config, state = uvicorn.Config(answers, log_config=None), ServerState()
        config.load()
        opened: list[GuardedProtocol] = []

        def is_accepted(address: str) -> bool:
            transport = Transport(address)
            protocol = GuardedProtocol(config, state, {})
            protocol.connection_made(transport)
            opened.append(protocol)
            return not transport.is_aborted

        assert not is_accepted("8.8.8.8") and not is_accepted("")
        assert [is_accepted("10.0.0.9") for _ in range(101)] == [True] * 100 + [False]
        assert is_accepted("10.0.0.8")
        opened[2].connection_lost(None)
        opened[102].connection_lost(None)  # the refused one
        assert is_accepted("10.0.0.9")
        room = 2500 - GuardedProtocol.by_address.total()
        assert [is_accepted("127.0.0.1") for _ in range(room + 1)] == [True] * room + [False]

    asyncio.run(connect())
    GuardedProtocol.by_address.clear()


def test_huge_headers_and_slow_bodies_are_refused(server):
    port = server.report.port
    phone = cookie_of(server)
    with suppress(OSError):  # the connection may close before everything is sent
        assert ask(port, "/", f"X: {'x' * 200_000}")[0] in (0, 400)
    with closing(socket.create_connection(("127.0.0.1", port), 60)) as slow:
        head = f"POST /vote HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{phone}\r\nContent-Length: 30\r\n\r\n["
        slow.sendall(head.encode())
        assert slow.recv(100).startswith(b"HTTP/1.1 413")
    assert ask(port, "/")[0] == 200


@needs_chromium
def test_an_old_browser_and_one_without_javascript_show_one_sentence(server):
    address = f"http://127.0.0.1:{server.report.port}/"
    sentence = "a browser of 2023 or later. Follow the lecture on the screen."
    with open_browser() as phone:
        script = "delete window.EventSource"
        added = phone.command("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]
        phone.driver.get(address)
        assert phone.text("body").strip() == f"This page needs {sentence}"
        phone.command("Page.removeScriptToEvaluateOnNewDocument", identifier=added)
        script = "delete Element.prototype.replaceChildren"  # as before 2020
        phone.command("Page.addScriptToEvaluateOnNewDocument", source=script)
        phone.driver.get(address)
        assert phone.text("body").strip() == f"This page needs {sentence}"
        assert phone.console_messages() == []
        phone.command("Emulation.setScriptExecutionDisabled", value=True)
        phone.driver.get(address)
        assert phone.driver.find_element("id", "status").text == f"This page needs JavaScript, in {sentence}"


def test_a_connection_without_a_request_is_closed(server):
    with closing(socket.create_connection(("127.0.0.1", server.report.port))) as silent:
        silent.settimeout(PATIENCE)
        silent.sendall(b"GET / HTTP/1.1\r\nHost: ")
        with suppress(ConnectionResetError):
            assert silent.recv(1) == b""
    assert ask(server.report.port, "/")[0] == 200
