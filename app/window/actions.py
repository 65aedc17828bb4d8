"""The commands of the window with their shortcuts, and the menu that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget, QWidgetAction

from ..control.playhead import Playhead
from ..control.stage import Stage
from ..model.visible_text import escape_controls
from ..state.actions import ToggleBar, ToggleTime
from ..widgets.appearance import Look
from ..widgets.command import LINE, Command, Commands
from ..widgets.plain_text import PlainLabel
from ..widgets.translation import Translate, translate_actions
from .central_widget import CentralWidget
from .colouring import Colouring
from .open_save import FileOperations

# These names of vocabularies are the same in every vocabulary.
CUDA, WORK_ITEM = "Terminology: thread, block, warp", "Terminology: work-item, work-group, wavefront"
PALETTE = "Command palette…"
RENDER = "Render film or page…"
GPU_TIME = "Show GPU time"
DARK, SYSTEM, OWN = "Theme: Dark", "Theme: Follow system", "Terminology: as in the scenario"


def file_commands(
    files: FileOperations,
    copy_command: Callable[[], object],
    record: Callable[[], object],
    leave: Callable[[], object],
) -> list[Command]:
    """List the commands that open and save files."""
    return [
        Command("Open trace…", "Ctrl+O", files.open_trace),
        Command("Open GPU recording…", "", files.open_recording),
        Command("Open program…", "Ctrl+Shift+O", files.open_program),
        Command("Save trace…", "Ctrl+S", files.save_trace),
        LINE,
        Command("Save picture…", "Ctrl+E", files.save_picture),
        Command("Copy picture", "Ctrl+Shift+C", files.copy_picture),
        Command("Copy as command", "Ctrl+Shift+K", copy_command),
        Command(RENDER, "Ctrl+Shift+E", record),
        LINE,
        Command("Quit", "Ctrl+Q", leave),
    ]


def play_commands(playhead: Playhead, stage: Stage, central: CentralWidget) -> list[Command]:
    """List the commands that move the playhead."""
    return [
        Command("Play or pause", "Space", stage.toggle_play),
        Command("Next moment", "Right", partial(stage.step, 1)),
        Command("Previous moment", "Left", partial(stage.step, -1)),
        Command("Next phase", "Shift+Right", partial(stage.step_phase, 1)),
        Command("Previous phase", "Shift+Left", partial(stage.step_phase, -1)),
        Command("Next block", "Ctrl+Right", partial(stage.step_block, 1)),
        Command("Previous block", "Ctrl+Left", partial(stage.step_block, -1)),
        Command("Start", "Home", partial(playhead.seek, 0)),
        Command("End", "End", lambda: playhead.seek(playhead.end)),
        LINE,
        Command("Faster", "], +", partial(playhead.change_speed, 1)),
        Command("Slower", "[, -", partial(playhead.change_speed, -1)),
        Command("Loop", "L", lambda: playhead.set_loop(not playhead.loop), lambda: playhead.loop),
        Command("Link by moment or by progress", "K", central.toggle_link),
    ]


def go_commands(
    travel: Callable[[int], object],
    stage: Stage,
    central: CentralWidget,
    show_timings: Callable[[], object],
    escape: Callable[[], object],
) -> list[Command]:
    """List the commands that navigate; `travel` goes back (-1) or forward (1) in the history."""
    return [
        Command("Back", "Alt+Left", partial(travel, -1)),
        Command("Forward", "Alt+Right", partial(travel, 1)),
        LINE,
        Command("Switch pane", "F6", stage.focus_next),
        Command("Source", "Ctrl+1", partial(central.show_tab, "source")),
        Command("Thread", "Ctrl+2", partial(central.show_tab, "thread")),
        Command("Warp", "Ctrl+3", partial(central.show_tab, "warp")),
        Command("Findings", "Ctrl+4", partial(central.show_tab, "findings")),
        Command("Explain", "Ctrl+5", partial(central.show_tab, "explain")),
        Command("Why this value?", "W", central.trace_selected),
        Command("Code (PTX, SASS)", "Ctrl+8", partial(central.show_tab, "code")),
        Command("Timings", "Ctrl+6", show_timings),
        Command("On the GPU", "Ctrl+7", central.charts.toggle_gpu),
        LINE,
        Command(
            "Cancel",
            "Escape",
            escape,
        ),
    ]


def view_commands(
    window: QWidget,
    central: CentralWidget,
    look: Look,
    colouring: Colouring,
    toggle_layout: Callable[[], object],
) -> list[Command]:
    """List the commands that change the look; `window` is the one that fills the screen."""
    bar, store = central.toolbar, central.store
    return [
        Command("Full screen", "F11", partial(_toggle_full_screen, window), window.isFullScreen),
        Command("Lecture layout", "F5", toggle_layout, lambda: store.state.is_lecture),
        Command("Inspector", "Ctrl+R", central.toggle_side, lambda: not central.side.isHidden()),
        Command("Toolbar", "Ctrl+B", partial(store.dispatch, ToggleBar()), lambda: not bar.isHidden()),
        Command("Menu", "F10", bar.menu.showMenu),
        LINE,
        Command(DARK, "Ctrl+T", look.toggle, lambda: look.theme.name == "dark"),
        Command(SYSTEM, "", partial(look.use, "system"), lambda: look.choice == "system"),
        LINE,
        Command("Larger text", "Ctrl++, Ctrl+=", partial(look.resize_text, 0.1)),
        Command("Smaller text", "Ctrl+-", partial(look.resize_text, -0.1)),
        Command("Normal text", "Ctrl+0", partial(look.resize_text, 0)),
        LINE,
        Command("Colour by value, reads, waste, conflicts, races", "C", colouring.next),
        Command("Memory or histogram", "H", central.toggle_picture),
        Command(
            GPU_TIME, "Shift+T", partial(store.dispatch, ToggleTime()), lambda: store.state.time == "measured"
        ),
        Command("Reduced motion", "Ctrl+M", look.toggle_motion, lambda: look.theme.reduced_motion),
        LINE,
        Command(OWN, "", partial(look.set_words, "own"), lambda: look.words == "own"),
        Command(CUDA, "", partial(look.set_words, "cuda"), lambda: look.words == "cuda"),
        Command(WORK_ITEM, "", partial(look.set_words, "work-item"), lambda: look.words == "work-item"),
    ]


def _toggle_full_screen(window: QWidget) -> None:
    window.showNormal() if window.isFullScreen() else window.showFullScreen()


class Menu(QMenu):
    """The menu of a window, with a submenu for each title. entries: the actions of all submenus, by text.

    The shortcuts work anywhere in the window, except in text fields that use the key themselves.
    """

    def __init__(self, window: QWidget, commands: Commands) -> None:
        super().__init__(window)
        self.entries: dict[str, QAction] = {}
        self.parts = {title: self.addMenu(title) for title in commands}
        for title, part in self.parts.items():
            for command in commands[title]:
                self._add(window, part, command)
            part.aboutToShow.connect(partial(self._check, commands[title]))

    def _add(self, window: QWidget, part: QMenu, command: Command) -> None:
        if command.text:
            self.entries[command.text] = _action(window, command)
            part.addAction(self.entries[command.text])
        else:
            part.addSeparator()

    def _check(self, commands: Sequence[Command]) -> None:
        """Update the check marks."""
        for command in commands:
            if command.is_on is not None:
                self.entries[command.text].setCheckable(True)
                self.entries[command.text].setChecked(command.is_on())

    def speak(self, say: Translate) -> None:
        """Translate the texts into the chosen vocabulary, except the names of vocabularies."""
        named = (CUDA, WORK_ITEM)
        translate_actions([a for text, a in self.entries.items() if text not in named], say)


def _action(window: QWidget, command: Command) -> QAction:
    action = QAction(command.text, window)
    action.setShortcuts([QKeySequence(keys) for keys in command.keys.split(", ") if keys])
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.setAutoRepeat(command.text not in ("Play or pause", "Full screen", DARK))
    action.triggered.connect(lambda _checked: command.callback())
    window.addAction(action)
    return action


def offer_recent(part: QMenu, files: FileOperations) -> None:
    """Add the recent traces to a menu, after its first entry."""
    recent = QMenu("Recent traces", part)
    recent.aboutToShow.connect(lambda: _fill_recent(recent, files))
    part.insertMenu(part.actions()[1], recent)


def _fill_recent(recent: QMenu, files: FileOperations) -> None:
    recent.clear()
    for path in files.recent():
        recent.addAction(escape_controls(path).replace("&", "&&"), partial(files.open_path, path))
    if not files.recent():
        recent.addAction("No recent traces").setEnabled(False)


def offer_text_size(part: QMenu, look: Look) -> None:
    """Add a slider for the text size to a menu when it is first shown: its library is slow to load."""
    part.aboutToShow.connect(partial(_add_text_size, part, look))


def _add_text_size(part: QMenu, look: Look) -> None:
    if part.property("slider"):
        return
    from superqt import QLabeledSlider

    slider = QLabeledSlider(Qt.Orientation.Horizontal)
    slider.setRange(80, 200)
    slider.setValue(round(100 * look.theme.scale))
    slider.setAccessibleName("Text size in percent")
    slider.valueChanged.connect(lambda percent: look.scale_text(percent / 100))
    look.changed.connect(lambda theme: slider.setValue(round(100 * theme.scale)))
    row = QWidgetAction(part)
    row.setDefaultWidget(_labelled("Text size, %", slider))
    part.addAction(row)
    part.setProperty("slider", True)


def _labelled(text: str, widget: QWidget) -> QWidget:
    """Put a label in front of a widget."""
    row = QWidget()
    layout = QHBoxLayout(row)
    label = PlainLabel(text)
    label.setBuddy(widget)
    layout.addWidget(label)
    layout.addWidget(widget, 1)
    return row


def keys(commands: Commands) -> Iterator[tuple[str, str, str]]:
    """Yield (menu, command, keys) of every command with a shortcut."""
    for title, entries in commands.items():
        for command in entries:
            if command.keys:
                yield title, command.text, command.keys.replace(", ", " or ")
