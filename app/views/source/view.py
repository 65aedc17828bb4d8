"""The source view: the kernel's own file, requests per line so far, and the line where the chosen warp is.

A kernel in CUDA C is shown as it is timed; the trace, and so the counts, are of its twin in Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ....tracer.analysis.requests import REQUEST_KINDS
from ....tracer.model.trace import WARP
from ...compiled.fates import Fate, fates_of, line_fates
from ...model.kernel_source import cuda_c_of, kernel_file, lines_of, source_text
from ...model.session import Selection, Session
from ...model.spotlight import Lit
from ...widgets.patterns import EXCHANGE, WAITING, mixed
from ...widgets.plain_text import PlainLabel, RichLabel, markup
from ...widgets.switch import Switch
from ...widgets.theme import Theme
from ..common.activity import BlockActivity, WarpActivity, block_activity, warp_activity, warp_status
from ..common.descriptions import source_line
from ..common.heat import HEATS, line_heat
from ..common.view import View
from .editor import Editor
from .find_bar import FindBar
from .problems import Problem, ProblemStrip
from .traced_text import FileText, TracedText

REQUESTS = "requests"
CUDA_C, NUMBA = "CUDA C", "Numba, which is traced"
NOT_RUN = "edited, not run yet · Ctrl+Enter"


class SourceView(View):
    """The text of the file that makes the accesses, with a gutter; the file follows the chosen warp.

    The kernel's own file can be edited once `set_editable` says so. What the editor tells: `editor.edited`,
    `editor.run_asked` and `editor.line_toggled`; what it asks: `editor.may_strike`. Lines are those of the text as
    it stands in the editor, but for what comes with a session, whose lines are the trace's.

    file_of: which text a session ran and which of its lines were taken out, where the trace's own has `pass` in
    their place. file_shown: another text came to the editor, with a session, whose barriers are to be told.
    """

    file_shown = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Source")
        self.editor = Editor(theme, self)
        self.setFocusProxy(self.editor)
        self.switch = Switch({name: name for name in (CUDA_C, NUMBA)}, "Which source is shown", self)
        self.switch.chosen.connect(self._choose)
        self.file_of: Callable[[Session], FileText] = traced_file
        self._traced = TracedText(self.editor)
        self._traced.moved.connect(self._mark)
        self._traced.shown.connect(self.file_shown)
        self.editor.altered.connect(self._show_state)
        self._find_bar: FindBar | None = None  # made when somebody looks for something
        self.editor.find_asked.connect(lambda: self.find_bar.open())
        self.editor.escape_asked.connect(lambda: self.find_bar.leave())
        self.editor.has_open = lambda: self._find_bar is not None and not self._find_bar.isHidden()
        for keys, run in (("Ctrl+F", lambda: self.find_bar.open()), ("F3", lambda: self.find_bar.turn(1)),
                          ("Shift+F3", lambda: self.find_bar.turn(-1))):  # fmt: skip
            QShortcut(QKeySequence(keys), self, run, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.problems = ProblemStrip(theme, self)
        self.problems.asked.connect(self._go_to)
        self.state = PlainLabel(parent=self)
        self.state.setWordWrap(True)
        self.state.hide()
        self.twin = RichLabel(parent=self)
        self.twin.setWordWrap(True)
        self.twin.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.switch)
        layout.addWidget(self.editor, 1)
        layout.addWidget(self.twin)
        layout.addWidget(self.problems)
        layout.addWidget(self.state)
        self._activity: tuple[BlockActivity, WarpActivity] | None = None
        self._home, self._heat, self._twin = "", REQUESTS, False
        self._shows_fates, self._fates = False, tuple[Fate, ...]()
        self._base, self._may_edit, self._state_text = FileText(""), False, ""
        self._marks: tuple[dict[int, int], int, str, frozenset[int]] = ({}, 0, "", frozenset())
        self._compared: tuple[Session, ...] = ()
        self._pointed: tuple[str, int] | None = None
        self._arrived: tuple[float, Selection] | None = None  # where the time stands with the line pointed at
        self.switch.hide()

    @property
    def find_bar(self) -> FindBar:
        """The bar above the text that finds what somebody looks for."""
        if self._find_bar is None:
            self._find_bar = FindBar(self.editor, self.theme, self)
            self._column.insertWidget(1, self._find_bar)
        return self._find_bar

    def load(self, session: Session | None) -> None:
        """Take a session and show its kernel from the first decorator on."""
        before = self.session
        super().load(session)
        self._activity = self._pointed = None
        self._fates = self._known_fates()
        self._home = kernel_file(session) if session else ""
        self._base = self.file_of(session) if session else FileText("")
        self.switch.setVisible(session is not None and cuda_c_of(session) is not None)
        self._choose(NUMBA if self._twin else CUDA_C)
        if before and session and before.trace.kernel != session.trace.kernel and self._shows_home():
            self.file_shown.emit()  # also where both are in one file

    def _choose(self, name: str) -> None:
        """Show the CUDA C, where the kernel is in it, or what was traced."""
        self._twin = name == NUMBA
        self.switch.show_choice(name)
        found = cuda_c_of(self.session) if self.session and not self._twin else None
        if found is None:
            self._show_file(self._home, anew=True)
        else:
            self._traced.leave()
            self.editor.show_text(*found)
            self.editor.mark({}, 0, "")
            self._measure()
        self.render_moment(self.moment, self.selection)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Mark the line of the chosen warp, and count the requests that each line has made so far."""
        if moment != self.moment:
            self.editor.let_go()
        same = selection == self.selection and self._activity
        super().render_moment(moment, selection)
        self.twin.setVisible(self._shows_cuda_c())
        if not self.session:
            return
        if not same:
            block, warp = selection.block, selection.thread // WARP
            self._activity = (
                block_activity(self.session, block),
                warp_activity(self.session.requests, block, warp),
            )
        site, look = self._here()
        if self._shows_cuda_c():
            self._show_twin(site, look)
            self.editor.light(self._lines())
            self._show_state()
            return
        if self._traced.is_changed():
            pass  # what is written stays in sight
        elif self.lit is not None and self.lit.lines:
            self._show_file(self._lit_file())
        elif self._pointed is not None and self._arrived in (None, (moment, selection)):
            self._arrived = moment, selection
            self._show_file(self._pointed[0])
        else:
            self._show_file(self.session.trace.sites[site].file if site >= 0 else self._home)
        if site >= 0 and self.session.trace.sites[site].file != self.editor.file:
            site = -1
        line = self.session.trace.sites[site].line if site >= 0 else 0
        self._marks = self._counts(), line, look, self._lines()
        self._mark()

    def _mark(self) -> None:
        """Show what is said of lines of the trace where they stand now."""
        counts, line, look, lit = self._marks
        self.editor.mark(self._traced.values(counts), self._traced.line(line), look)
        self.editor.set_fates(self._traced.values(line_fates(self._fates, self.editor.file)))
        self.editor.light(self._traced.lines(lit))
        self._show_state()

    def show_compiled(self, shown: bool) -> None:
        """Show what the compiler did with each access, once that is known; or show nothing of it."""
        self._shows_fates = shown
        self._fates = self._known_fates()
        if self.session and not self._shows_cuda_c():
            self._mark()

    def _known_fates(self) -> tuple[Fate, ...]:
        return fates_of(self.session) if self.session and self._shows_fates else ()

    # What is edited.

    def set_editable(self, editable: bool) -> None:
        """Let the kernel's own file be edited, where it is Python and shown to the letter."""
        self._may_edit = editable
        if self._shows_home():
            self.editor.set_editable(editable)

    def show_file(self, text: str, struck: frozenset[int] = frozenset()) -> None:
        """Show a text as that of the loaded session's kernel, with lines taken out: what `file_of` said, or else.

        The trace has the same lines, with `pass` for what is taken out. Where the text is the one in the editor, or
        came of it, the editor keeps cursor, history and place, and what was typed since.
        """
        self._base = FileText(text, struck)
        if self._shows_home():
            self._show_file(self._home, anew=True)
            self.render_moment(self.moment, self.selection)

    def text(self) -> str:
        """Return the text of the kernel's file as it is edited, with the file's own line ends."""
        if self._shows_home():
            return self.editor.file_text()
        return self._traced.text_of(self._home, self._base.text) or self._base.text

    def struck(self) -> frozenset[int]:
        """Return the lines of that text that are taken out: they go with the text while it is edited."""
        return self.editor.struck if self._shows_home() else self._base.struck

    def is_edited(self) -> bool:
        """Return whether the text of the kernel's file is another than was traced."""
        return self.text() != self._base.text

    def drafts(self) -> list[str]:
        """Return the texts of other sessions that were edited and neither run nor reverted."""
        return self._traced.drafts()

    def revert(self) -> None:
        """Put back the text that was traced; the editor can undo that."""
        if not self._shows_home():
            self._show_file(self._home, anew=True)
        self.editor.revert()

    def set_struck(self, lines: frozenset[int]) -> None:
        """Show lines of the text as taken out, before their trace is there."""
        if self._shows_home():
            self.editor.set_struck(lines)
            self._traced.ask()
            self._traced.mark_changed()
            self._show_state()

    def set_barriers(self, lines: frozenset[int]) -> None:
        """Show which lines of the text have a barrier."""
        if self._shows_home():
            self.editor.set_barriers(lines)

    def set_problems(
        self, problems: Iterable[tuple[int, str] | tuple[int, str, str]], *, traced: bool = False
    ) -> None:
        """Mark lines of the text: (line, sentence) for errors, else with the severity; they go with the lines.

        traced: the lines are those of the trace, some of which may be gone since.
        """
        found = [Problem(*problem) for problem in problems]
        if traced:
            found = [p._replace(line=self._traced.line(p.line)) for p in found if self._traced.line(p.line)]
        if self._shows_home():
            self.editor.set_problems(found)
        self.problems.show_problems(found)

    def set_state_text(self, text: str) -> None:
        """Say below the text how it stands, in place of our own words; "" for those."""
        self._state_text = text
        self._show_state()

    def _show_state(self) -> None:
        changed = self._shows_home() and self._traced.is_changed()
        self.state.setText(self._state_text or (NOT_RUN if changed else ""))
        self.state.setVisible(bool(self.state.text()))
        told = tuple(self.editor.problems)
        if self._shows_home() and told != self.problems.problems and len(told) <= len(self.problems.problems):
            self.problems.show_problems(told)

    def _go_to(self, line: int) -> None:
        """Put the cursor at a line."""
        if self._shows_home():
            self.editor.go_to(line)

    def _shows_home(self) -> bool:
        """Return whether the editor shows the kernel's file."""
        return self._traced.base is not None

    def is_part_of(self, lit: Lit) -> bool:
        """Return whether some of its lines stand out."""
        return bool(lit.lines)

    def dim(self) -> None:
        """Show the lines that stand out."""
        self.render_moment(self.moment, self.selection)

    def _lit_file(self) -> str:
        """Return the file of lines that stand out: the one that is shown where it has some."""
        assert self.lit
        files = sorted(file for file, _ in self.lit.lines if not file.endswith(".cu"))
        return self.editor.file if self.editor.file in files else next(iter(files), self._home)

    def _lines(self) -> frozenset[int]:
        """Return the lines of the shown file that stand out."""
        lines = self.lit.lines if self.lit is not None else frozenset()
        return frozenset(line for file, line in lines if file == self.editor.file)

    def _shows_cuda_c(self) -> bool:
        return self.editor.file.endswith(".cu")

    def _show_twin(self, site: int, look: str) -> None:
        """Show below a kernel in CUDA C the line of its twin where the chosen warp is."""
        assert self.session
        theme, panel = self.theme, self.theme.colour("panel")
        found = self.session.trace.sites[site] if site >= 0 else None
        code = source_line(self.session, found.file, found.line) if found else ""
        where = f"Numba, line {found.line}" if found else "Numba: no access now"
        mono = f"font-family:{theme.font(12, mono=True).families()[0]}"
        self.twin.setText(
            f"<span style='color:{theme.palette.muted}'>{where}</span><br>"
            f"<span style='{mono}; color:{theme.palette.text}'>{markup(code) or '&nbsp;'}</span>"
        )
        ground = mixed(panel, theme.colour(look or "muted").name(), 0.2) if found else panel
        edge = theme.colour(look).name() if found and look else panel.name()
        self.twin.setStyleSheet(
            f"background: {ground.name()}; border: none; border-left: {theme.px(3)}px solid {edge};"
            f" padding: {theme.px(4)}px {theme.px(8)}px;"
        )

    def point_at(self, file: str, line: int) -> None:
        """Point at a line, as of a finding; its file is shown until the time goes on from where it is drawn next."""
        self._pointed, self._arrived = (file, line), None
        self._show_file(file)
        self.editor.point_at(self._traced.line(line))

    @property
    def heat(self) -> str:
        """What the gutter counts: "requests", or a figure of HEATS, whose lines it tints too."""
        return self._heat

    @heat.setter
    def heat(self, choice: str) -> None:
        if choice not in (REQUESTS, *HEATS):
            raise ValueError(f"lines are counted by {', '.join((REQUESTS, *HEATS))}; not by {choice!r}")
        self._heat = choice
        self._measure()
        self.render_moment(self.moment, self.selection)

    @property
    def compared(self) -> tuple[Session, ...]:
        """The sessions that share the scale by which lines are tinted."""
        return self._compared

    @compared.setter
    def compared(self, sessions: tuple[Session, ...]) -> None:
        self._compared = sessions
        self._measure()

    def set_theme(self, theme: Theme) -> None:
        """Take other colours or another text size."""
        super().set_theme(theme)
        self.editor.set_theme(theme)
        if self._find_bar is not None:
            self._find_bar.set_theme(theme)
        self.problems.set_theme(theme)
        self.state.setFont(theme.font(12.5))
        self.state.setStyleSheet(
            f"background: {theme.palette.badge}; color: {theme.palette.text};"
            f" padding: {theme.px(4)}px {theme.px(10)}px;"
        )
        self.twin.setFont(theme.font(12))
        self.twin.setMinimumHeight(3 * self.twin.fontMetrics().lineSpacing() + theme.px(16))  # must not jump
        self.render_moment(self.moment, self.selection)

    def _here(self) -> tuple[int, str]:
        """Return the site where the chosen warp is, -1 for none, and how it looks."""
        assert self.session and self._activity
        now = warp_status(*self._activity, self.session.requests, self.moment)
        if now.state == "request":
            return now.site, REQUEST_KINDS[self.session.requests.kind[now.request]]
        look = {"waiting": WAITING, "exchange": EXCHANGE}.get(now.state, "")
        return (now.site, look) if look else (-1, "")

    def _line_counts(self, moment: int) -> dict[tuple[str, int], int]:
        """Return the figure of every line of every file by a moment."""
        if not self.session:
            return {}
        if self._heat == REQUESTS:
            return self.session.counters.line_counts(moment)
        return line_heat(self.session, self._heat, moment)

    def _counts(self) -> dict[int, int]:
        """Return the figures so far of each line of the shown file."""
        counts = self._line_counts(int(self.moment))
        return {line: count for (file, line), count in counts.items() if file == self.editor.file}

    def _measure(self) -> None:
        """Tell the editor what it counts: nothing in CUDA C, whose twin is traced."""
        if self._shows_cuda_c():
            self.editor.measure("", 0, False)
            return
        most = max(self._line_counts(self.session.end).values(), default=0) if self.session else 0
        if self._heat != REQUESTS:
            most = max([most, *(_hottest(session, self._heat) for session in self._compared)])
        noun = HEATS.get(self._heat, "requests by all warps")
        self.editor.measure(self.say(noun), most, self._heat != REQUESTS)

    def _show_file(self, file: str, *, anew: bool = False) -> None:
        if file == self.editor.file and not anew:
            return
        kernel = self.session.trace.kernel if self.session else ""
        if file == self._home:
            first = lines_of(self._base.text, kernel)[0]
            self._traced.show(file, self._base, first, self._may_edit and self.session is not None)
        else:
            self._traced.leave()
            self.editor.show_text(file, source_text(self.session, file) if self.session else "", 1)
        if self._pointed is not None and self._pointed[0] == file:
            self.editor.point_at(self._traced.line(self._pointed[1]))
        self._measure()


def traced_file(session: Session) -> FileText:
    """Return the kernel's file as a session's trace has it, with nothing taken out."""
    return FileText(source_text(session, kernel_file(session)))


def _hottest(session: Session, heat: str) -> int:
    """Return the figure of the line that has most of it after the launch."""
    return max(line_heat(session, heat, session.end).values(), default=0)
