"""The language server: documents and requests of an editor, and the checks that it runs for them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument

from .... import __version__
from ..policy.policy import is_cpp_file
from .check_process import CheckEnd, run_check
from .checked_file import CheckedFile, checked_files
from .protocol import code_actions, diagnostic_of

ASK, ON_SAVE, NEVER = "ask", "onSave", "never"
MODES = (ASK, ON_SAVE, NEVER)
SECONDS = 120.0  # for a program, in which `check` bounds each launch
CHECK = "tilescope.check"
RUN, ALWAYS, NOT_NOW = "Run", "Run all files of this session", "Never in this session"


class KernelServer(LanguageServer):
    """Checks the files that an editor saves, and answers questions about them."""

    def __init__(self) -> None:
        super().__init__("tilescope", __version__)
        self.mode = ASK
        self._agreed: set[str] = set()  # the files that the user lets run
        self._asked: set[str] = set()  # the files of open questions
        self._checked: dict[str, dict[str, CheckedFile]] = {}  # by program, then by file
        self._running: dict[str, asyncio.Task[CheckEnd]] = {}  # by program

    def configure(self, settings: Any) -> None:
        """Apply the settings that an editor sends: a `run` among MODES; others are reported."""
        own = settings.get("tilescope", settings) if isinstance(settings, dict) else {}
        mode = own.get("run", self.mode) if isinstance(own, dict) else self.mode
        if mode in MODES:
            self.mode = mode
        else:
            self.show(
                f"The setting tilescope.run must be {', '.join(MODES[:-1])} or {MODES[-1]}, not {mode!r}."
            )

    def show(self, sentence: str) -> None:
        """Show a sentence in the editor."""
        self.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=sentence))

    def log(self, sentence: str) -> None:
        """Add a sentence to the editor's log."""
        self.window_log_message(types.LogMessageParams(type=types.MessageType.Info, message=sentence))

    async def is_allowed(self, file: str) -> bool:
        """Return True if a saved file may run; ask the user unless the settings decide."""
        if self.mode != ASK or file in self._agreed:
            return self.mode != NEVER
        if file in self._asked:  # the last question still waits
            return False
        self._asked.add(file)
        choices = [types.MessageActionItem(title=title) for title in (RUN, ALWAYS, NOT_NOW)]
        question = f"Tilescope runs {Path(file).name} to check its kernels. Run it at each save?"
        answer = await self.window_show_message_request_async(
            types.ShowMessageRequestParams(type=types.MessageType.Info, message=question, actions=choices)
        )
        self._asked.discard(file)
        title = answer.title if answer else ""
        self.mode = {ALWAYS: ON_SAVE, NOT_NOW: NEVER}.get(title, self.mode)
        if title == RUN:
            self._agreed.add(file)
        return title in (RUN, ALWAYS)

    async def check(self, file: str) -> None:
        """Check a program, and publish its findings; a newer check of the same program replaces this one."""
        self.cancel(file)
        task = asyncio.create_task(run_check(file, self._folder_of(file), SECONDS))
        self._running[file] = task
        try:
            ended = await task
        except asyncio.CancelledError:
            return
        except TimeoutError:
            self.show(f"{Path(file).name} was ended after {SECONDS:g} s; check a smaller case.")
            return
        finally:
            if self._running.get(file) is task:
                del self._running[file]
        self._take(file, ended)

    def cancel(self, file: str) -> None:
        """End the check of a program."""
        if task := self._running.pop(file, None):
            task.cancel()

    def cancel_all(self) -> None:
        """End all checks."""
        for file in [*self._running]:
            self.cancel(file)

    def forget(self, file: str) -> None:
        """Drop the findings of a program that the editor closed."""
        self.cancel(file)
        self._publish(self._checked.pop(file, {}))

    def checked(self, document: TextDocument) -> CheckedFile | None:
        """Return the newest results for a document, None if its text has changed since."""
        file = to_fs_path(document.uri) or ""
        for files in reversed(self._checked.values()):
            if file in files and files[file].text == document.source:
                return files[file]
        return None

    def _take(self, file: str, ended: CheckEnd) -> None:
        for sentence in ended.sentences:
            self.log(sentence)
        if ended.report is None:
            self.show(ended.sentences[-1] if ended.sentences else ended.last_line)
            return
        old = self._checked.pop(file, {})
        self._checked[file] = checked_files(ended.report)
        if not ended.report["complete"]:
            self.show(f"{Path(file).name} did not run to its end: {ended.last_line}")
        self._publish({**old, **self._checked[file], file: CheckedFile("")})

    def _publish(self, files: dict[str, CheckedFile]) -> None:
        """Publish the findings of all programs in these files."""
        for file in files:
            uri = from_fs_path(file) or ""
            document = self.workspace.get_text_document(uri)
            findings = {
                (finding["rule"], finding["line"], finding["message"]): finding
                for checked in self._checked.values()
                if file in checked
                for finding in checked[file].findings
            }
            diagnostics = [diagnostic_of(finding, document) for finding in findings.values()]
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics)
            )

    def _folder_of(self, file: str) -> Path:
        """Return the folder of the workspace that has a file, or the file's own."""
        uris = [*self.workspace.folders] or [self.workspace.root_uri or ""]
        folders = [Path(path) for uri in uris if uri and (path := to_fs_path(uri))]
        around = [folder for folder in folders if Path(file).is_relative_to(folder)]
        return max(around, key=lambda folder: len(folder.parts), default=Path(file).parent)


def has_kernels(file: str, text: str) -> bool:
    """Return True for a text that may launch kernels."""
    return "__global__" in text if is_cpp_file(file) else "cuda" in text


def new_server() -> KernelServer:
    """Return a server with its features."""
    server = KernelServer()

    @server.feature(types.INITIALIZE)
    def initialize(parameters: types.InitializeParams) -> None:
        server.configure(parameters.initialization_options or {})

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def change_configuration(parameters: types.DidChangeConfigurationParams) -> None:
        server.configure(parameters.settings)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def save(parameters: types.DidSaveTextDocumentParams) -> None:
        document = server.workspace.get_text_document(parameters.text_document.uri)
        file = to_fs_path(document.uri)
        if file and has_kernels(file, document.source) and await server.is_allowed(file):
            await server.check(file)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def close(parameters: types.DidCloseTextDocumentParams) -> None:
        server.forget(to_fs_path(parameters.text_document.uri) or "")

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(parameters: types.HoverParams) -> types.Hover | None:
        checked = server.checked(server.workspace.get_text_document(parameters.text_document.uri))
        text = checked.hover_text(parameters.position.line + 1) if checked else ""
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def offer_actions(parameters: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.workspace.get_text_document(parameters.text_document.uri)
        checked = server.checked(document)
        return [*code_actions(checked, document, parameters.range)] if checked else []

    @server.command(CHECK)
    async def check(uri: str) -> None:
        if file := to_fs_path(uri):
            await server.check(file)

    @server.feature(types.SHUTDOWN)
    def shut_down(parameters: None) -> None:
        server.cancel_all()

    return server


def serve() -> None:
    """Serve the editor on standard input and output until it ends the connection."""
    with suppress(BrokenPipeError):
        new_server().start_io()
