"""The source view: the kernel's file, requests per line so far, and the line of the chosen warp.

A kernel in CUDA C is shown as it is timed. Its trace and its counts belong to its twin in Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ....tracer.analysis.requests import REQUEST_KINDS
from ....tracer.model.trace import WARP
from ...compiled.model.fates import Fate, fates_of, line_fates
from ...model.kernel_source import cuda_c_of, function_lines, kernel_file, source_text
from ...model.session import Selection, Session
from ...model.spotlight import Highlight
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
    """Shows the kernel's file, or the one of the chosen warp's access, with a gutter.

    The kernel's file can be edited after `set_editable`. The editor emits `editor.edited`, `editor.run_asked` and
    `editor.line_toggled`, and calls `editor.may_strike`. Lines are those of the editor's text. Lines that come with a
    session are those of the trace.

    file_of: returns the text that a session ran and its skipped lines, which the trace has as `pass`.
    file_shown: another text came to the editor with a session; its barriers must be set.
    """

    file_shown = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Source")
        self.editor = Editor(theme, self)
        self.setFocusProxy(self.editor)
        self.switch = Switch({name: name for name in (CUDA_C, NUMBA)}, "Which source is shown", self)
        self.switch.chosen = self._choose
        self.file_of: Callable[[Session], FileText] = traced_file
        self._traced = TracedText(self.editor)
        self._traced.moved = self._mark
        self._traced.shown = self.file_shown.emit
        self.editor.altered.connect(self._show_state)
        self._find_bar: FindBar | None = None  # created on first use
        self.editor.find_asked = lambda: self.find_bar.open()
        self.editor.escape_asked = lambda: self.find_bar.leave()
        self.editor.has_open = lambda: self._find_bar is not None and not self._find_bar.isHidden()
        for keys, run in (("Ctrl+F", lambda: self.find_bar.open()), ("F3", lambda: self.find_bar.turn(1)),
                          ("Shift+F3", lambda: self.find_bar.turn(-1))):  # fmt: skip
            QShortcut(QKeySequence(keys), self, run, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.problems = ProblemStrip(theme, self)
        self.problems.asked = self._go_to
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
        self._is_preview = False
        self._base, self._may_edit, self._state_text = FileText(""), False, ""
        self._marks: tuple[dict[int, int], int, str, frozenset[int]] = ({}, 0, "", frozenset())
        self._compared: tuple[Session, ...] = ()
        self._pointed: tuple[str, int] | None = None
        self._arrived: tuple[float, Selection] | None = (
            None  # the time and selection at which a line was pointed at
        )
        self.switch.hide()

    @property
    def find_bar(self) -> FindBar:
        """The search bar above the text, created on first use."""
        if self._find_bar is None:
            self._find_bar = FindBar(self.editor, self.theme, self)
            self._column.insertWidget(1, self._find_bar)
        return self._find_bar

    def preview(self, file: str, text: str) -> None:
        """Show a text that has not run, read-only, until a session is loaded."""
        self._traced.leave()
        self._is_preview = True
        self.editor.show_text(file, text, 1)
        self.switch.hide()
        self.twin.hide()
        self.problems.show_problems([])
        self._show_state()

    def end_preview(self) -> None:
        """Show the loaded session's text again."""
        if self._is_preview:
            self.load(self.session)

    def load(self, session: Session | None) -> None:
        """Load a session and show its kernel from the first decorator on."""
        before = self.session
        self._is_preview = False
        super().load(session)
        self._activity = self._pointed = None
        self._fates = self._visible_fates()
        self._home = kernel_file(session) if session else ""
        self._base = self.file_of(session) if session else FileText("")
        self.switch.setVisible(session is not None and cuda_c_of(session) is not None)
        self._choose(NUMBA if self._twin else CUDA_C)
        if before and session and before.trace.kernel != session.trace.kernel and self._shows_home():
            self.file_shown.emit()  # also if both are in one file

    def _choose(self, name: str) -> None:
        """Show the CUDA C, if the kernel has it, or the traced file."""
        self._twin = name == NUMBA
        self.switch.show_choice(name)
        cuda_c = cuda_c_of(self.session) if self.session and not self._twin else None
        if cuda_c is None:
            self._show_file(self._home, reload=True)
        else:
            self._traced.leave()
            self.editor.show_text(*cuda_c)
            self.editor.mark({}, 0, "")
            self._measure()
        self.render_moment(self.moment, self.selection)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Mark the line of the chosen warp, and count the requests of each line so far."""
        if moment != self.moment:
            self.editor.resume_following()
        is_same_warp = selection == self.selection and self._activity
        super().render_moment(moment, selection)
        if self._is_preview:
            return
        self.twin.setVisible(self._shows_cuda_c())
        if not self.session:
            return
        if not is_same_warp:
            block, warp = selection.block, selection.thread // WARP
            self._activity = (
                block_activity(self.session, block),
                warp_activity(self.session.requests, block, warp),
            )
        site, look = self._here()
        if self._shows_cuda_c():
            self._show_twin(site, look)
            self.editor.highlight_lines(self._lines())
            self._show_state()
            return
        if self._traced.is_changed():
            pass  # edited text stays visible
        elif self.highlight is not None and self.highlight.lines:
            self._show_file(self._highlighted_file())
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
        """Show marks and counts of the trace's lines at their current lines."""
        counts, line, look, highlighted = self._marks
        self.editor.mark(self._traced.values(counts), self._traced.line(line), look)
        self.editor.set_fates(self._traced.values(line_fates(self._fates, self.editor.file)))
        self.editor.highlight_lines(self._traced.lines(highlighted))
        self._show_state()

    def show_compiled(self, shown: bool) -> None:
        """Show or hide what the compiler did with each access."""
        self._shows_fates = shown
        self._fates = self._visible_fates()
        if self.session and not self._is_preview and not self._shows_cuda_c():
            self._mark()

    def _visible_fates(self) -> tuple[Fate, ...]:
        return fates_of(self.session) if self.session and self._shows_fates else ()

    # Editing.

    def set_editable(self, editable: bool) -> None:
        """Allow or forbid editing of the kernel's file."""
        self._may_edit = editable
        if self._shows_home():
            self.editor.set_editable(editable)

    def show_file(self, text: str, struck: frozenset[int] = frozenset()) -> None:
        """Show a text as the loaded session's kernel, with skipped lines.

        The trace has the same lines, with `pass` for skipped ones. If the editor's text is this one or started from it,
        the editor keeps its text, cursor, history and position.
        """
        self._base = FileText(text, struck)
        if self._shows_home():
            self._show_file(self._home, reload=True)
            self.render_moment(self.moment, self.selection)

    def text(self) -> str:
        """Return the edited text of the kernel's file, with the file's own line ends."""
        if self._shows_home():
            return self.editor.file_text()
        return self._traced.text_of(self._home, self._base.text) or self._base.text

    def struck(self) -> frozenset[int]:
        """Return the skipped lines of that text, moved with its edits."""
        return self.editor.struck if self._shows_home() else self._base.struck

    def is_edited(self) -> bool:
        """Return True if the text of the kernel's file differs from the trace."""
        return self.text() != self._base.text

    def drafts(self) -> list[str]:
        """List the texts of other sessions that were edited and neither run nor reverted."""
        return self._traced.drafts()

    def revert(self) -> None:
        """Restore the traced text; the editor can undo that."""
        if not self._shows_home():
            self._show_file(self._home, reload=True)
        self.editor.revert()

    def write(self, text: str) -> None:
        """Replace the text of the kernel's file as one edit by the user; a draft with that text is no longer needed."""
        self._traced.delete_draft(text)
        if not self._shows_home():
            self._show_file(self._home, reload=True)
        self.editor.replace(text)

    def set_struck(self, lines: frozenset[int]) -> None:
        """Strike lines out before their trace arrives."""
        if self._shows_home():
            self.editor.set_struck(lines)
            self._traced.ask()
            self._traced.mark_changed()
            self._show_state()

    def set_barriers(self, lines: frozenset[int]) -> None:
        """Set the lines of the text that have a barrier."""
        if self._shows_home():
            self.editor.set_barriers(lines)

    def set_problems(
        self, problems: Iterable[tuple[int, str] | tuple[int, str, str]], *, traced: bool = False
    ) -> None:
        """Mark lines: (line, sentence) for errors, or with a severity. The marks move with the text.

        traced: the lines are those of the trace; lines that are gone are left out.
        """
        marked = [Problem(*problem) for problem in problems]
        if traced:
            marked = [p._replace(line=self._traced.line(p.line)) for p in marked if self._traced.line(p.line)]
        if self._shows_home():
            self.editor.set_problems(marked)
        self.problems.show_problems(marked)

    def set_state_text(self, text: str) -> None:
        """Set the text of the state line; "" restores the view's own text."""
        self._state_text = text
        self._show_state()

    def _show_state(self) -> None:
        changed = self._shows_home() and self._traced.is_changed()
        self.state.setText(self._state_text or (NOT_RUN if changed else ""))
        self.state.setVisible(bool(self.state.text()))
        problems = tuple(self.editor.problems)
        if (
            self._shows_home()
            and problems != self.problems.problems
            and len(problems) <= len(self.problems.problems)
        ):
            self.problems.show_problems(problems)

    def _go_to(self, line: int) -> None:
        """Put the cursor at a line."""
        if self._shows_home():
            self.editor.go_to(line)

    def _shows_home(self) -> bool:
        """Return True if the editor shows the kernel's file."""
        return self._traced.base is not None

    def shows_highlight(self, highlight: Highlight) -> bool:
        """Return True if some of its lines are highlighted."""
        return bool(highlight.lines)

    def apply_spotlight(self) -> None:
        """Draw with the highlighted lines."""
        self.render_moment(self.moment, self.selection)

    def _highlighted_file(self) -> str:
        """Return the file with highlighted lines, preferably the one that is shown."""
        assert self.highlight
        twin = cuda_c_of(self.session) if self.session else None
        files = sorted(file for file, _ in self.highlight.lines if twin is None or file != twin[0])
        return self.editor.file if self.editor.file in files else next(iter(files), self._home)

    def _lines(self) -> frozenset[int]:
        """Return the highlighted lines of the shown file."""
        lines = self.highlight.lines if self.highlight is not None else frozenset()
        return frozenset(line for file, line in lines if file == self.editor.file)

    def _shows_cuda_c(self) -> bool:
        """Whether the editor shows the kernel in CUDA C that is timed, and not what the trace ran."""
        return (
            self.session is not None
            and (twin := cuda_c_of(self.session)) is not None
            and self.editor.file == twin[0]
        )

    def _show_twin(self, site: int, look: str) -> None:
        """Show the twin's line of the chosen warp below a kernel in CUDA C."""
        assert self.session
        theme, panel = self.theme, self.theme.colour("panel")
        site_shown = self.session.trace.sites[site] if site >= 0 else None
        code = source_line(self.session, site_shown.file, site_shown.line) if site_shown else ""
        label = f"Numba, line {site_shown.line}" if site_shown else "Numba: no access now"
        mono = f"font-family:{theme.font(12, mono=True).families()[0]}"
        self.twin.setText(
            f"<span style='color:{theme.palette.muted}'>{label}</span><br>"
            f"<span style='{mono}; color:{theme.palette.text}'>{markup(code) or '&nbsp;'}</span>"
        )
        ground = mixed(panel, theme.colour(look or "muted").name(), 0.2) if site_shown else panel
        edge = theme.colour(look).name() if site_shown and look else panel.name()
        self.twin.setStyleSheet(
            f"background: {ground.name()}; border: none; border-left: {theme.px(3)}px solid {edge};"
            f" padding: {theme.px(4)}px {theme.px(8)}px;"
        )

    def point_at(self, file: str, line: int) -> None:
        """Point at a line, e.g. of a finding; its file stays until the time changes."""
        if self._is_preview:
            return
        self._pointed, self._arrived = (file, line), None
        self._show_file(file)
        self.editor.point_at(self._traced.line(line))

    @property
    def heat(self) -> str:
        """The quantity in the gutter: "requests", or a figure of HEATS, which also tints the lines."""
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
        """The sessions that share the scale of the tints."""
        return self._compared

    @compared.setter
    def compared(self, sessions: tuple[Session, ...]) -> None:
        self._compared = sessions
        self._measure()

    def set_theme(self, theme: Theme) -> None:
        """Use another theme or text size."""
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
        self.twin.setMinimumHeight(
            3 * self.twin.fontMetrics().lineSpacing() + theme.px(16)
        )  # a constant height
        self.render_moment(self.moment, self.selection)

    def _here(self) -> tuple[int, str]:
        """Return the site of the chosen warp (-1 for none) and the colour of its line."""
        assert self.session and self._activity
        now = warp_status(*self._activity, self.session.requests, self.moment)
        if now.state == "request":
            return now.site, REQUEST_KINDS[self.session.requests.kind[now.request]]
        look = {"waiting": WAITING, "exchange": EXCHANGE}.get(now.state, "")
        return (now.site, look) if look else (-1, "")

    def _line_counts(self, moment: int) -> dict[tuple[str, int], int]:
        """Return the figure of every line of every file up to a moment."""
        if not self.session:
            return {}
        if self._heat == REQUESTS:
            return self.session.counters.line_counts(moment)
        return line_heat(self.session, self._heat, moment)

    def _counts(self) -> dict[int, int]:
        """Return the figures of the shown file's lines so far."""
        counts = self._line_counts(int(self.moment))
        return {line: count for (file, line), count in counts.items() if file == self.editor.file}

    def _measure(self) -> None:
        """Set what the editor counts: nothing for CUDA C, since only its twin is traced."""
        if self._shows_cuda_c():
            self.editor.measure("", 0, False)
            return
        most = max(self._line_counts(self.session.end).values(), default=0) if self.session else 0
        if self._heat != REQUESTS:
            most = max([most, *(_hottest(session, self._heat) for session in self._compared)])
        noun = HEATS.get(self._heat, "requests by all warps")
        self.editor.measure(self.reword(noun), most, self._heat != REQUESTS)

    def _show_file(self, file: str, *, reload: bool = False) -> None:
        if file == self.editor.file and not reload:
            return
        kernel = self.session.trace.kernel if self.session else ""
        if file == self._home:
            first = function_lines(self._base.text, kernel)[0]
            self._traced.show(file, self._base, first, self._may_edit and self.session is not None)
        else:
            self._traced.leave()
            self.editor.show_text(file, source_text(self.session, file) if self.session else "", 1)
        if self._pointed is not None and self._pointed[0] == file:
            self.editor.point_at(self._traced.line(self._pointed[1]))
        self._measure()


def traced_file(session: Session) -> FileText:
    """Return the kernel's file as a session's trace has it, with no skipped lines."""
    return FileText(source_text(session, kernel_file(session)))


def _hottest(session: Session, heat: str) -> int:
    """Return the largest figure of a line after the launch."""
    return max(line_heat(session, heat, session.end).values(), default=0)
