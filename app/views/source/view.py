"""The source view: the kernel's own file, requests per line so far, and the line where the chosen warp is.

A kernel in CUDA C is shown as it is timed; the trace, and so the counts, are of its twin in Numba.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ....tracer.analysis.requests import REQUEST_KINDS
from ....tracer.model.trace import WARP
from ...model.kernel_source import cuda_c_of, kernel_file, lines_of, source_text
from ...model.session import Selection, Session
from ...model.spotlight import Lit
from ...widgets.patterns import EXCHANGE, WAITING, mixed
from ...widgets.plain_text import RichLabel, markup
from ...widgets.switch import Switch
from ...widgets.theme import Theme
from ..common.activity import BlockActivity, WarpActivity, block_activity, warp_activity, warp_status
from ..common.descriptions import source_line
from ..common.heat import HEATS, line_heat
from ..common.view import View
from .editor import Editor

REQUESTS = "requests"
CUDA_C, NUMBA = "CUDA C", "Numba, which is traced"


class SourceView(View):
    """The text of the file that makes the accesses, with a gutter; the file follows the chosen warp."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setAccessibleName("Source")
        self.editor = Editor(theme, self)
        self.setFocusProxy(self.editor)
        self.switch = Switch({name: name for name in (CUDA_C, NUMBA)}, "Which source is shown", self)
        self.switch.chosen.connect(self._choose)
        self.twin = RichLabel(parent=self)
        self.twin.setWordWrap(True)
        self.twin.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.switch)
        layout.addWidget(self.editor, 1)
        layout.addWidget(self.twin)
        self._activity: tuple[BlockActivity, WarpActivity] | None = None
        self._home, self._heat, self._twin = "", REQUESTS, False
        self._compared: tuple[Session, ...] = ()
        self._pointed: tuple[str, int] | None = None
        self._arrived: tuple[float, Selection] | None = None  # where the time stands with the line pointed at
        self.switch.hide()

    def load(self, session: Session | None) -> None:
        """Take a session and show its kernel from the first decorator on."""
        super().load(session)
        self._activity = self._pointed = None
        self._home = kernel_file(session) if session else ""
        self.switch.setVisible(session is not None and cuda_c_of(session) is not None)
        self._choose(NUMBA if self._twin else CUDA_C)

    def _choose(self, name: str) -> None:
        """Show the CUDA C, where the kernel is in it, or what was traced."""
        self._twin = name == NUMBA
        self.switch.show_choice(name)
        found = cuda_c_of(self.session) if self.session and not self._twin else None
        if found is None:
            self._show_file(self._home, anew=True)
        else:
            self.editor.show_text(*found)
            self.editor.mark({}, 0, "")
            self._measure()
        self.render_moment(self.moment, self.selection)

    def render_moment(self, moment: float, selection: Selection) -> None:
        """Mark the line of the chosen warp, and count the requests that each line has made so far."""
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
            return
        if self.lit is not None and self.lit.lines:
            self._show_file(self._lit_file())
        elif self._pointed is not None and self._arrived in (None, (moment, selection)):
            self._arrived = moment, selection
            self._show_file(self._pointed[0])
        else:
            self._show_file(self.session.trace.sites[site].file if site >= 0 else self._home)
        if site >= 0 and self.session.trace.sites[site].file != self.editor.file:
            site = -1
        line = self.session.trace.sites[site].line if site >= 0 else 0
        self.editor.mark(self._counts(), line, look)
        self.editor.light(self._lines())

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
        self.editor.point_at(line)

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
        text = source_text(self.session, file) if self.session else ""
        kernel = self.session.trace.kernel if self.session else ""
        self.editor.show_text(file, text, lines_of(text, kernel)[0] if file == self._home else 1)
        if self._pointed is not None and self._pointed[0] == file:
            self.editor.point_at(self._pointed[1])
        self._measure()


def _hottest(session: Session, heat: str) -> int:
    """Return the figure of the line that has most of it after the launch."""
    return max(line_heat(session, heat, session.end).values(), default=0)
