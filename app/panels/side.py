"""The inspector: source, thread, warp, findings, explanation and code of the pane in focus, one tab each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from ..model.bookmark import TABS, TracedValue
from ..model.explanation import Explanation
from ..model.session import Selection, Session, count_by_severity
from ..model.spotlight import Highlight
from ..state.view_models import SideView
from ..views.common.heat import HEATS
from ..views.common.requests import ViewRequests
from ..views.common.severity import counts_picture
from ..views.common.view import View
from ..views.common.wording import plural
from ..views.source.view import REQUESTS, SourceView
from ..widgets.plain_text import PlainLabel, plain_tip
from ..widgets.theme import Theme
from .source_pair import SourcePair

ON_DEMAND = ("why", "order")  # tabs that are hidden until they are needed
SIGNS = 0.85  # the size of the severity signs, relative to the text of the tab
# (text size, gap on each side) of the tabs, from wide to narrow; the smallest are for a large text scale.
TAB_SIZES = ((15, 10), (15, 7), (14, 5), (13, 5), (12, 3), (11, 2), (10, 1), (9, 1), (8, 0), (7, 0), (6, 0))
SMALLEST_TAB = 9  # pixels on the screen of a readable name; more tabs are scrolled


def _thread(theme: Theme) -> View:
    from ..views.inspect.thread import ThreadView

    return ThreadView(theme)


def _warp(theme: Theme) -> View:
    from ..views.warp.view import WarpView

    return WarpView(theme)


def _findings(theme: Theme) -> View:
    from ..views.inspect.findings import FindingsView

    return FindingsView(theme)


def _explain(theme: Theme) -> View:
    from ..views.inspect.explain import ExplainView

    return ExplainView(theme)


def _output(theme: Theme) -> View:
    from ..views.inspect.program_output import OutputView

    return OutputView(theme)


@runtime_checkable
class ShowsOutput(Protocol):
    """A view of a program's output."""

    output_of: Callable[[], str]


@runtime_checkable
class ShowsProgramErrors(Protocol):
    """A view that mentions errors in other launches of a program."""

    errors_elsewhere: Callable[[], str]


def _why(theme: Theme) -> View:
    from ..views.inspect.why import WhyView

    return WhyView(theme)


def _order(theme: Theme) -> View:
    from ..views.inspect.order import OrderView

    return OrderView(theme)


@runtime_checkable
class ShowsValues(Protocol):
    """A view of the final values of an element."""

    def show_values(self) -> None:
        """Show the final values that were counted for the session."""

    def show_search(self, words: str) -> None:
        """Show what a search of orders does, "" without one."""


@runtime_checkable
class ShowsExplanation(Protocol):
    """A view of the path of a value."""

    def show_explanation(self, traced: TracedValue | None, explanation: Explanation | None) -> None:
        """Show another explanation."""


def _code(theme: Theme) -> View:
    from ..views.listing.view import ListingView

    return ListingView(theme)


# The factories of the views; only the visible tab's view is created at the start.
MAKERS: dict[str, Callable[[Theme], View]] = {
    "source": SourceView, "thread": _thread, "warp": _warp, "findings": _findings, "explain": _explain,
    "code": _code, "output": _output, "why": _why, "order": _order,
}  # fmt: skip


class SideRequests(NamedTuple):
    """What the inspector calls when the user asks for something."""

    pick_tab: Callable[[str], object]
    views: ViewRequests = ViewRequests()  # without `show_line`, which the inspector does


class Inspector(QFrame):
    """The views of one session, of which only the current tab's is loaded and drawn; it renders a `SideView`.

    ask: called for what the user asks for; without it, only tabs change.
    """

    def __init__(self, theme: Theme, ask: SideRequests | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ask = ask or SideRequests(self.show_tab)
        self.setObjectName("panel")
        self.theme = theme
        self.session: Session | None = None
        self.moment, self.selection = 0.0, Selection()
        self.highlight: Highlight | None = None
        self.bar, self.stack = QTabBar(), QStackedWidget()
        self.source = SourceView(theme)
        self.sources = SourcePair(self.source, theme)
        self._views: dict[str, View] = {}  # the views created so far
        self._add_view("source", self.source)
        self.bar.setAccessibleName("Inspector tabs")
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        self.bar.setElideMode(Qt.TextElideMode.ElideNone)  # otherwise Qt cuts names that fit
        self.bar.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for name in TABS:
            self.bar.addTab(name.capitalize())
        self.signs, self._counts = PlainLabel(), dict[str, int]()
        self.signs.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.signs.hide()
        self.output = ""  # of the shown program
        self.search = ""  # what a search of orders does
        self.program_errors = ""  # a sentence about its launches
        self.shown = SideView()
        self.bar.setTabVisible(TABS.index("output"), False)
        for name in ON_DEMAND:
            self.bar.setTabVisible(TABS.index(name), False)
        self.tab = TABS[0]  # the name of the current one
        self.bar.currentChanged.connect(self._note_tab)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(1, 4, 1, 1)
        self.column.setSpacing(2)
        self.pane_name = PlainLabel()  # which of two panes the tabs describe
        self.pane_name.setObjectName("muted")
        self.pane_name.setToolTip(plain_tip("F6 switches to the other pane"))
        self.pane_name.hide()
        self.column.addWidget(self.bar)
        self.column.addWidget(self.pane_name)
        self.column.addWidget(self.stack, 1)

    def view(self, name: str) -> View:
        """Return the view of a tab; create it on first use."""
        if name not in self._views:
            self._add_view(name, MAKERS[name](self.theme))
        return self._views[name]

    def _add_view(self, name: str, view: View) -> None:
        if isinstance(view, ShowsOutput):
            view.output_of = lambda: self.output
        if isinstance(view, ShowsProgramErrors):
            view.errors_elsewhere = lambda: self.program_errors
        self._views[name] = view
        view.ask = self._ask.views._replace(show_line=self._show_line)
        self.stack.addWidget(self.sources if view is self.source else view)
        view.set_spotlight(self.highlight)
        if isinstance(view, ShowsExplanation):
            view.show_explanation(self.shown.traced, self.shown.explanation)
        if isinstance(view, ShowsValues):
            view.show_search(self.search)

    def render_view(self, view: SideView) -> None:
        """Show everything but the session and the moment."""
        self.source.heat = view.colour_by if view.colour_by in HEATS else REQUESTS
        self.source.compared = view.compared
        self.source.show_compiled(view.shows_fates)
        self.pane_name.setText(f"{view.pane_name} pane" if view.pane_name else "")
        self.pane_name.setVisible(bool(view.pane_name))
        self._set_spotlight(view.highlight)
        self.sources.set_spotlight(view.other_highlight)
        if self.sources.counterpart is not None:
            self.sources.counterpart.heat, self.sources.counterpart.compared = self.source.heat, view.compared
        recounts, self.shown = view.counts_findings != self.shown.counts_findings, view
        for shown in self._views.values():
            if isinstance(shown, ShowsExplanation):
                shown.show_explanation(view.traced, view.explanation)
        wanted = {
            "why": view.traced is not None or view.tab == "why",
            "order": view.has_order or view.tab == "order",
        }
        self._show_tabs([name for name in ON_DEMAND if wanted[name]], is_shown=True)
        if view.tab != self.tab:
            self.show_tab(view.tab)
        elif recounts:
            self._fit_tabs(self.theme)
        self._show_tabs([name for name in ON_DEMAND if not wanted[name]], is_shown=False)

    def _show_tabs(self, names: Sequence[str], *, is_shown: bool) -> None:
        """Show or hide tabs; hide them only while another tab is current, which Qt would change."""
        changing = [name for name in names if self.bar.isTabVisible(TABS.index(name)) != is_shown]
        for name in changing:
            self.bar.setTabVisible(TABS.index(name), is_shown)
        if changing:
            self._fit_tabs(self.theme)

    def show_tab(self, name: str) -> None:
        """Show the view of a tab."""
        self.tab = name
        self.bar.setCurrentIndex(TABS.index(name))
        shown = self.view(name)
        self.stack.setCurrentWidget(self.sources if shown is self.source else shown)
        self._fit_tabs(self.theme)  # the current tab is bold, so wider
        self._draw()

    def _note_tab(self, index: int) -> None:
        if TABS[index] != self.tab:
            self._ask.pick_tab(TABS[index])

    def note_program_errors(self, sentence: str) -> None:
        """Show a sentence about errors in the launches of a program where a launch has no findings."""
        self.program_errors = sentence
        view = self._views.get("findings")
        if view is not None:
            view.load(self.session)

    def show_output(self, text: str) -> None:
        """Show a program's output in a tab, which is visible once there is output."""
        self.output = text
        self.bar.setTabVisible(TABS.index("output"), bool(text))
        if "output" in self._views:
            self.view("output").render_moment(self.moment, self.selection)

    def show_moment(self, session: Session, moment: float, selection: Selection) -> None:
        """Draw a moment of a session in the current tab."""
        if session is not self.session:
            self._show_count(session)
        self.session, self.moment, self.selection = session, moment, selection
        self._draw()

    def _set_spotlight(self, highlight: Highlight | None) -> None:
        """Highlight these parts and dim the rest; None dims nothing."""
        self.highlight = highlight
        for view in self._views.values():
            view.set_spotlight(highlight)

    def show_findings(self, session: Session) -> None:
        """Update the findings of a session if it is shown."""
        if session is self.session:
            self._show_count(session)
        shown = self._views.get("findings")
        if shown is not None and session is shown.session:
            shown.load(session)

    def show_values(self, session: Session) -> None:
        """Update the final values of a session if it is shown."""
        shown = self._views.get("order")
        if isinstance(shown, ShowsValues) and session is self.session:
            shown.show_values()

    def show_search(self, words: str) -> None:
        """Show what a search of orders does, "" without one."""
        self.search = words
        shown = self._views.get("order")
        if isinstance(shown, ShowsValues):
            shown.show_search(words)

    def _show_line(self, file: str, line: int) -> None:
        """Mark the line of a finding in the source."""
        if self.source.session is not self.session:
            self.source.load(self.session)
        self.source.point_at(file, line)

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.setMinimumSize(theme.px(200), theme.px(120))  # the views scroll
        self.theme = theme
        self.pane_name.setFont(theme.font(12))
        self.pane_name.setContentsMargins(theme.px(11), theme.px(3), 0, theme.px(1))
        self._name_tabs(theme)
        self._fit_tabs(theme)
        self.sources.set_theme(theme)
        for view in self._views.values():
            view.set_theme(theme)

    def show_listing(self, session: Session) -> None:
        """Show the listing of a session's kernel, now that it is known."""
        from ..views.listing.view import ListingView

        view = self._views.get("code")
        if isinstance(view, ListingView) and view.session is session:
            view.show_listing()

    def _show_count(self, session: Session) -> None:
        """Show the number of findings on their tab."""
        self._name_tabs(self.theme, session)
        count = count_by_severity(session)
        self._counts = count
        counted = [plural(number, severity) for severity, number in count.items() if number]
        nothing = "no findings" if session.is_examined else "looking for findings"
        self.signs.setAccessibleName(", ".join(counted) or nothing)
        self._fit_tabs(self.theme)

    def _show_signs(self, size: float) -> None:
        """Show the number of findings per severity on their tab, for this text size."""
        picture = counts_picture(self._counts, self.theme, SIGNS * size, self.devicePixelRatioF())
        self.signs.setPixmap(picture)
        self.signs.setFixedSize(picture.deviceIndependentSize().toSize())
        tab = TABS.index("findings")
        tip = self.signs.accessibleName() if self.shown.counts_findings else ""
        self.bar.setTabToolTip(tab, plain_tip(tip))
        has_some = self.shown.counts_findings and any(self._counts.values())
        self.bar.setTabButton(tab, QTabBar.ButtonPosition.RightSide, self.signs if has_some else None)
        self.signs.setVisible(has_some)

    def _name_tabs(self, theme: Theme, session: Session | None = None) -> None:
        """Name the tabs in the vocabulary of the session."""
        shown = session or self.session
        say = theme.with_words_of(shown.scenario if shown else None).translate
        self.setAccessibleName(say("Source, thread, warp, findings, explanation and code"))
        for tab, name in enumerate(TABS):
            if name != "findings":
                self.bar.setTabText(tab, say(name.capitalize()))

    def _fit_tabs(self, theme: Theme) -> None:
        """Shrink the tabs until they fit side by side."""
        self.theme = theme
        margins = self.column.contentsMargins()
        room = self.contentsRect().width() - margins.left() - margins.right()
        for size, gap in TAB_SIZES:
            if theme.px(size) < SMALLEST_TAB:
                break
            look = f"padding: {theme.px(6)}px {theme.px(gap)}px; font-size: {theme.px(size)}px"
            self._show_signs(size)
            self.bar.setStyleSheet(f"QTabBar::tab {{ {look}; }}")
            if _width_of_tabs(self.bar) <= room:
                break
        self.bar.setUsesScrollButtons(_width_of_tabs(self.bar) > room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the tabs."""
        super().resizeEvent(event)
        self._fit_tabs(self.theme)

    def _draw(self) -> None:
        view = self.view(self.tab)
        if view.session is not self.session:
            view.load(self.session)
        view.render_moment(self.moment, self.selection)


def _width_of_tabs(bar: QTabBar) -> int:
    """Return the width of all visible tabs side by side, in pixels."""
    return sum(bar.tabRect(i).width() for i in range(bar.count()) if bar.isTabVisible(i))
