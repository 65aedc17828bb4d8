"""An editor for tests of the language server: JSON-RPC over a child's standard input and output."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from typing import Any

from patience import PATIENCE


class Editor:
    """An editor that has started a server.

    answer: the title that its user presses when the server asks, None to dismiss the question.
    """

    def __init__(self, folder, settings=None, answer=None) -> None:
        self.answer, self.questions = answer, []
        self._responses: queue.Queue[dict[str, Any]] = queue.Queue()
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._count = 0
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tilescope", "server"],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
        )  # fmt: skip
        threading.Thread(target=self._read, daemon=True).start()
        parameters = {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": {}}
        self.capabilities = self.request("initialize", parameters | {"initializationOptions": settings})[
            "capabilities"
        ]
        self.notify("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.request("shutdown", None)
        self.notify("exit", None)
        try:
            self.status = self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.stdin.close()
            self.process.wait()

    def request(self, method, parameters):
        """Send a request and return its result."""
        self._count += 1
        self._send({"id": self._count, "method": method, "params": parameters})
        response = self._responses.get(timeout=PATIENCE)
        assert response["id"] == self._count and "error" not in response, response
        return response["result"]

    def notify(self, method, parameters):
        """Send a notification."""
        self._send({"method": method, "params": parameters})

    def next(self, method):
        """Wait for the next notification of a method; drop others."""
        while (message := self._messages.get(timeout=PATIENCE))["method"] != method:
            pass
        return message["params"]

    def open(self, path):
        """Open a document as it is on the disk."""
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": path.read_text()}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def save(self, path):
        """Report that the user saved a document."""
        self.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})

    def change(self, path, text):
        """Replace the text of an open document, unsaved."""
        document = {"uri": path.as_uri(), "version": 2}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def diagnostics(self, path):
        """Wait for the diagnostics of a file."""
        while (published := self.next("textDocument/publishDiagnostics"))["uri"] != path.as_uri():
            pass
        return published["diagnostics"]

    def hover(self, path, line):
        """Return the text over a line, from 1."""
        position = {"line": line - 1, "character": 4}
        result = self.request(
            "textDocument/hover", {"textDocument": {"uri": path.as_uri()}, "position": position}
        )
        return result["contents"]["value"] if result else ""

    def actions(self, path, line):
        """Return the code actions of a line, from 1, by title."""
        place = {"line": line - 1, "character": 0}
        parameters = {"textDocument": {"uri": path.as_uri()}, "range": {"start": place, "end": place}}
        listed = self.request("textDocument/codeAction", parameters | {"context": {"diagnostics": []}})
        return {action["title"]: action for action in listed or []}

    def _send(self, message):
        content = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def _read(self):
        stream = self.process.stdout
        while header := stream.readline():
            length = int(header.split(b":")[1]) if header.lower().startswith(b"content-length") else 0
            while header.strip():
                header = stream.readline()
                if header.lower().startswith(b"content-length"):
                    length = int(header.split(b":")[1])
            message = json.loads(stream.read(length))
            if "method" not in message:
                self._responses.put(message)
            elif "id" in message:
                self.questions.append(message["params"]["message"])
                result = {"title": self.answer} if self.answer else None
                self._send({"id": message["id"], "result": result})
            else:
                self._messages.put(message)
        stream.close()


def edited(text, action, path):
    """Return a text after a code action."""
    lines = text.splitlines(keepends=True)
    edits = action["edit"]["changes"][path.as_uri()]
    for edit in sorted(edits, key=lambda edit: -edit["range"]["start"]["line"]):
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert start["character"] == end["character"] == 0
        lines[start["line"] : end["line"]] = [edit["newText"]]
    return "".join(lines)
