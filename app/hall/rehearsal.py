"""The process of a rehearsal: simulated students on this computer, who follow a hall and vote."""

from __future__ import annotations

import asyncio
import json
import random
import sys

from ...tracer.processes.parent_death import die_with_parent
from .model.network import LOOPBACK

LATEST = 8.0  # seconds after which every student has voted
Headers = dict[str, str]


class Student:
    """A simulated phone."""

    def __init__(self, port: int, seed: int) -> None:
        self.port, self.random = port, random.Random(seed)
        self.cookie = ""
        self.voted: set[int] = set()  # numbers of questions
        self._tasks: set[asyncio.Task[None]] = set()

    async def follow(self) -> None:
        """Open the page, follow the steps and vote, until the server ends."""
        headers, _ = await self.request("GET", "/")
        self.cookie = headers.get("set-cookie", "").partition(";")[0]
        reader, writer = await self.open("GET", "/events")
        try:
            await read_headers(reader)
            while line := await reader.readline():
                if line.startswith(b"data: "):
                    self.take(json.loads(line[6:]))
        finally:
            writer.close()

    def take(self, event: dict[str, object]) -> None:
        """Vote on a new open question, after a while."""
        state = event["state"]
        assert isinstance(state, dict)
        question = state["question"]
        if question and state["is_open"] and question["number"] not in self.voted:
            self.voted.add(question["number"])
            task = asyncio.create_task(self.vote(question))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def vote(self, question: dict[str, object]) -> None:
        """Vote after a random time."""
        await asyncio.sleep(self.random.uniform(0.5, LATEST))
        body = json.dumps({"question": question["number"], "vote": self.guess(question)})
        await self.request("POST", "/vote", body.encode())

    def guess(self, question: dict[str, object]) -> object:
        """Return a random vote on a question."""
        choices, lines, bars = (question[name] for name in ("choices", "lines", "bars"))
        assert isinstance(choices, list) and isinstance(lines, list) and isinstance(bars, list)
        match question["kind"]:
            case "choose":
                return self.random.randrange(len(choices))
            case "line":
                return self.random.choice(lines)[0]
            case "bars":
                return [self.random.randrange(101) for _ in bars]
        return 2 ** self.random.randrange(11)

    async def request(self, method: str, path: str, body: bytes = b"") -> tuple[Headers, bytes]:
        """Send a request, and return the headers and the body of its answer."""
        reader, writer = await self.open(method, path, body)
        try:
            headers = await read_headers(reader)
            return headers, await reader.readexactly(int(headers.get("content-length", "0")))
        finally:
            writer.close()

    async def open(
        self, method: str, path: str, body: bytes = b""
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect and send a request."""
        reader, writer = await asyncio.open_connection(LOOPBACK, self.port)
        head = f"{method} {path} HTTP/1.1\r\nHost: {LOOPBACK}:{self.port}\r\nContent-Length: {len(body)}\r\n"
        cookie = f"Cookie: {self.cookie}\r\n" * bool(self.cookie)
        writer.write(f"{head}{cookie}\r\n".encode() + body)
        await writer.drain()
        return reader, writer


async def read_headers(reader: asyncio.StreamReader) -> Headers:
    """Read the headers of an answer, by their names in lower case; its status is "status"."""
    status = (await reader.readline()).decode("latin-1").split(" ")
    headers = {"status": status[1] if len(status) > 1 else ""}
    while line := (await reader.readline()).decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return headers


async def rehearse(port: int, count: int) -> None:
    """Simulate students until the server ends."""
    students = [Student(port, seed) for seed in range(count)]
    await asyncio.gather(*(student.follow() for student in students), return_exceptions=True)


def main() -> None:
    """Simulate students: the arguments are the port and their number."""
    die_with_parent()
    asyncio.run(rehearse(int(sys.argv[1]), int(sys.argv[2])))


if __name__ == "__main__":
    main()
