"""The hall's server as phones see it: pages, cookies, votes, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import closing, suppress

import pytest

from halls import ASKS, ask, open_server
from patience import PATIENCE
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


def test_a_taken_port_ends_in_one_sentence(tmp_path):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with open_server(tmp_path, port=port) as server:
            assert server.report.error.startswith(f"Port {port} can't be used")
            assert "--port" in server.report.error


def test_an_address_has_few_phones_but_this_computer_has_many(tmp_path):
    async def tokens(address: str, count: int) -> list[str]:
        (tmp_path / STYLE).write_text("")
        hall = Hall(Serve(str(tmp_path), "", 0, is_fixed=False), list)
        return [hall.admit(address) for _ in range(count)]

    room = asyncio.run(tokens("10.0.0.9", 30))
    assert len(set(room)) == 21 and room[20:] == [""] * 10
    own = asyncio.run(tokens("127.0.0.1", 1010))
    assert len(set(own)) == 1001 and own[1000:] == [""] * 10


def test_a_connection_without_a_request_is_closed(server):
    with closing(socket.create_connection(("127.0.0.1", server.report.port))) as silent:
        silent.settimeout(PATIENCE)
        silent.sendall(b"GET / HTTP/1.1\r\nHost: ")
        with suppress(ConnectionResetError):
            assert silent.recv(1) == b""
    assert ask(server.report.port, "/")[0] == 200
