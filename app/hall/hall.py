"""The hall of a lecture: it follows the player, draws steps for phones, asks, counts and closes votes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct
from PySide6.QtCore import QObject, QTimer

from ... import resources
from ...tracer.processes.json_process import JsonProcess, StartError, module_command
from ...tracer.processes.process_client import ProcessClient, ProcessEndedError, RunCancelledError
from ...tracer.storage.atomic_write import write_atomically
from ..control.task import Task, TaskQueue
from ..lectures.model.questions import Answer, Question
from ..lectures.player.lectures import Lectures
from ..model.kernel_source import kernel_lines
from ..model.nothing import nothing
from .card import HallCard, HallView, count_text
from .model.histogram import Solution, rows_of
from .model.messages import STYLE, HallQuestion, HallState, Report, Serve, Vote
from .model.network import LOOPBACK, is_private, own_address
from .model.results import Result
from .pages import StepPages
from .results_file import ResultsFile

SERVER = module_command("tilescope.app.hall.server")
REHEARSAL = module_command("tilescope.app.hall.rehearsal")
PORT = 8765  # the first to try
MOST_LINES = 200  # of a kernel that phones mark
CAUSE = "hall"  # of messages
CONTINUES = "The lecture continues without the hall."
PATIENCE = 60_000  # milliseconds without a phone before the hint about firewalls
INVITATION = "Scan the code or type the address, in the same Wi-Fi. Votes have no names."
MEDIANS = "Medians of the hall, as percent of the longest bar."
MARK = " The vertical mark is the answer."
FIREWALL = "No phone has connected. Allow Python in the firewall, or use a network that connects its devices."
ENDED = (RunCancelledError, ProcessEndedError)


class HallOptions(Struct, frozen=True):
    """The choices of `tilescope lecture --hall`."""

    port: int | None = None  # None tries a few
    address: str = ""  # of this computer, "" finds it
    results: Path | None = None  # a CSV file
    students: int = 0  # that are simulated


class Hall(QObject):
    """Serves the presented lecture to phones, and shows their votes in the window."""

    def __init__(self, lectures: Lectures, options: HallOptions) -> None:
        super().__init__(lectures)
        self.lectures, self.player, self.options = lectures, lectures.player, options
        self.notice, self.caption = lectures.places.notice, lectures.places.caption
        self.report = Report()
        self.url = ""
        self.card = HallCard(lectures.look.theme)
        self._code: tuple[bytes, ...] = ()
        self._state = HallState()
        self._questions: list[tuple[int, Question]] = []  # with their steps; the index is the number
        self._asked_answers: dict[int, tuple[Answer, HallQuestion]] = {}  # by the number of the question
        self._closed: set[int] = set()  # numbers of questions
        self._results = ResultsFile(options.results, self._warn, self)
        self._is_closed = False
        self._rehearsal: JsonProcess | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="tilescope-hall-", ignore_cleanup_errors=True)
        self._server = ProcessClient("hall's server", SERVER, msgspec.json.Decoder(Report))
        self._pages = StepPages(self.player, Path(self._folder.name), self)
        self._pages.drawn, self._pages.problem = self._show, self._warn
        self._listening = TaskQueue(self)
        self._firewall = QTimer(self, singleShot=True, interval=PATIENCE)
        self._firewall.timeout.connect(self._show)
        self.card.closed = self.player.close_vote = self.close_vote
        self.caption.set_addition(self.card)
        lectures.look.changed.connect(self.card.set_theme)
        if problem := self._start():
            self._fail(problem)

    def _start(self) -> str:
        """Start the processes; return a sentence if that is impossible."""
        try:
            import segno  # noqa: F401  # an extra, as the server's packages are
            import uvicorn  # noqa: F401
        except ImportError:
            return 'A hall needs more packages: pip install "tilescope[hall]".'
        address = self.options.address or own_address()
        if address and not is_private(address):
            return f"{address} is not in a private network; use the room's Wi-Fi, or choose with --address."
        if not address and not self.options.students:
            return "This computer is in no network; connect to the room's Wi-Fi and start again."
        self._address = address or LOOPBACK
        self._write_style()
        port = self.options.port
        serve = Serve(self._folder.name, address, PORT if port is None else port, port is not None)
        try:
            self._server.start()
            self._pages.start()
        except StartError as error:
            return str(error)
        self._server.send(serve)
        self._listening.start(Task(self._listen, failed=self._end, expected=ENDED))
        for signal in (self.player.changed, self.player.shown):
            signal.connect(self._show)
        self._firewall.start()
        return ""

    def _write_style(self) -> None:
        """Write the style of the phones' page, with the colours of the window."""
        from ..replays.page import colours  # most lectures have no hall

        style = colours() + "\n" + (files(resources) / "hall" / STYLE).read_text("utf-8")
        write_atomically(Path(self._folder.name) / STYLE, style.encode(), durable=False)

    def close(self) -> None:
        """Write the results, end the processes, and remove the pages; a second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        self._results.close()
        if self._rehearsal is not None:
            self._rehearsal.end()
        self._server.close()
        self._listening.close()
        self._pages.close()
        self._folder.cleanup()
        self.lectures.look.changed.disconnect(self.card.set_theme)
        self.caption.set_addition(None)
        self.player.close_vote = nothing
        self.player.note_votes("")

    def _fail(self, sentence: str) -> None:
        """Report why there is no hall."""
        self.url, self.report = "", Report(error=sentence)
        self._pages.close()
        self.card.show_view(HallView())
        self.caption.refit()
        self.player.note_votes("")
        self.notice.error(f"{sentence} {CONTINUES}", CAUSE)

    def _warn(self, sentence: str) -> None:
        """Report a problem with which the hall continues."""
        self.notice.error(sentence, CAUSE)

    # The server.

    def _listen(self) -> None:
        """Post the server's reports, in the thread."""
        with self._server.conversation() as reports:
            for report in reports:
                self._listening.post(self._take, report)

    def _end(self, error: BaseException) -> None:
        if isinstance(error, ProcessEndedError) and not self._is_closed:
            self._fail(self.report.error or f"The hall's server ended unexpectedly ({error.death}).")

    def _take(self, report: Report) -> None:
        is_first = not self.report.port
        self.report = report
        if report.port and is_first:
            self._open(report.port)
        if self._is_closed or report.error:
            return
        self._show()

    def _open(self, port: int) -> None:
        """Show the address, and start the rehearsal."""
        import segno

        self.url = f"http://{self._address}:{port}"
        code = segno.make(self.url, error="m", micro=False)
        self._code = tuple(bytes(row) for row in code.matrix)
        if self.options.students:
            try:
                self._rehearsal = JsonProcess(
                    "rehearsal", (*REHEARSAL, str(port), str(self.options.students))
                )
            except StartError as error:
                self._warn(str(error))

    # The state.

    def close_vote(self) -> None:
        """Close the open vote."""
        if self._state.question is not None and self._state.is_open:
            self._closed.add(self._state.question.number)
            self._show()

    def _show(self) -> None:
        """Send the state to the phones, and show it in the window."""
        if self._is_closed or not self.report.port or self.report.error:
            return
        state = self._current()
        if state != self._state:
            self._state = state
            self._server.send(state)
        self._note_result(state)
        view = self._view(state)
        self.player.note_votes(count_text(view) if state.is_open else "")
        if self.card.show_view(view):
            self.caption.refit()
        self._pages.draw_next()

    def _current(self) -> HallState:
        """Return the state of the hall at the current step."""
        player, lecture, step = self.player, self.player.lecture, self.player.step
        if lecture is None or step is None:
            return HallState()
        page = self._pages.page_of(player.number)
        question, answer = step.change.question, player.answer()
        state = HallState(player.number + 1, len(lecture.steps), step.title, page.shown)
        if question is None or answer is None:
            return state
        asked = self._asked(question, answer)
        is_open = asked.number not in self._closed and not player.is_revealed
        if player.is_revealed:
            self._closed.add(asked.number)
        solution = Solution(answer.text, _values(asked, answer)) if player.is_revealed else None
        return msgspec.structs.replace(
            state,
            page=page.shown if player.is_revealed else page.asking,
            question=asked,
            is_open=is_open,
            answer=answer.text if player.is_revealed else "",
            rows=() if is_open else rows_of(asked, self._votes(asked), solution),
        )

    def _asked(self, question: Question, answer: Answer) -> HallQuestion:
        """Return the question as the phones see it."""
        key = (self.player.number, question)
        if key not in self._questions:
            self._questions.append(key)
        number = self._questions.index(key)
        known_answer, asked = self._asked_answers.get(number, (None, None))
        if asked is None or known_answer is not answer:
            asked = self._new_question(number, question, answer)
            self._asked_answers[number] = answer, asked
        return asked

    def _new_question(self, number: int, question: Question, answer: Answer) -> HallQuestion:
        """Build a question with the texts that phones show."""
        sessions, focus = self.player.sessions() or [], self.player.scenes[self.player.number].look.focus
        marks = question.kind == "line" and bool(sessions)
        lines = kernel_lines(sessions[min(focus, len(sessions) - 1)])[:MOST_LINES] if marks else ()
        wording = answer.wording
        return HallQuestion(number, question.kind, wording.ask, wording.choices, tuple(lines), answer.bars)

    def _votes(self, asked: HallQuestion) -> Sequence[Vote]:
        """Return the votes on a question; those of an earlier one are in its result."""
        if self.report.question == asked.number:
            return self.report.votes
        result = self._results.result_of(asked.number)
        return result.votes if result else ()

    def _view(self, state: HallState) -> HallView:
        """Build the view of the audience."""
        lecture = self.player.lecture
        if lecture is None:
            return HallView()
        phones = self.report.phones
        is_first = not self.player.number
        view = HallView(self.url, self._code, phones) if is_first else HallView(phones=phones)
        if state.question is None:
            hint = INVITATION if phones or self._firewall.isActive() else FIREWALL
            return msgspec.structs.replace(view, hint=hint * is_first)
        return msgspec.structs.replace(
            view,
            votes=len(self._votes(state.question)),
            is_open=state.is_open,
            rows=state.rows,
            hint=(MEDIANS + MARK * bool(state.answer)) * (state.question.kind == "bars" and bool(state.rows)),
        )

    def _note_result(self, state: HallState) -> None:
        """Write the votes of a question."""
        asked = state.question
        if asked is not None and (votes := self._votes(asked)):
            self._results.take(Result(state.step, state.title, asked, votes, state.answer))


def _values(asked: HallQuestion, answer: Answer) -> tuple[float, ...]:
    """Return the answer in the numbers of the question's votes."""
    if asked.kind == "choose":
        return () if answer.right is None else (answer.right,)
    value = answer.quantity.value
    if answer.values:
        return answer.values
    return () if isinstance(value, str) else (float(value),)
