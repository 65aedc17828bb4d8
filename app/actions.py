"""Every command of the window with its shortcut, and the menu that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QWidget, QWidgetAction

from . import dialogs, files

if TYPE_CHECKING:
    from .main_window import MainWindow

# The names of the vocabularies themselves, which are the same in all words.
CUDA, WORK_ITEM = "Thread, block, warp", "Work-item, work-group, wavefront"
DARK, SYSTEM, OWN = "Dark colours", "Light and dark as the system", "Words as the scenario has them"
Command = tuple[str, str, Callable[[], object]]  # text, shortcuts separated by ", ", what it does


def commands(window: MainWindow) -> dict[str, list[Command]]:
    """Return the commands by menu; an empty text is a line between two groups."""
    stage, playhead = window.stage, window.playhead
    line: Command = ("", "", lambda: None)
    return {
        "File": [
            ("Open trace…", "Ctrl+O", lambda: files.open_trace(window)),
            ("Open program…", "Ctrl+Shift+O", lambda: files.open_program(window)),
            ("Save trace…", "Ctrl+S", lambda: files.save_trace(window)),
            line,
            ("Save picture…", "Ctrl+E", lambda: files.save_picture(window)),
            ("Copy picture", "Ctrl+Shift+C", lambda: files.copy_picture(window)),
            line,
            ("Quit", "Ctrl+Q", window.close),
        ],
        "Play": [
            ("Play or pause", "Space", playhead.toggle),
            ("Next moment", "Right", lambda: stage.step(1)),
            ("Previous moment", "Left", lambda: stage.step(-1)),
            ("Next phase", "Shift+Right", lambda: stage.step_phase(1)),
            ("Previous phase", "Shift+Left", lambda: stage.step_phase(-1)),
            ("Next block", "Ctrl+Right", lambda: stage.step_block(1)),
            ("Previous block", "Ctrl+Left", lambda: stage.step_block(-1)),
            ("Start", "Home", lambda: playhead.seek(0)),
            ("End", "End", lambda: playhead.seek(playhead.end)),
            line,
            ("Faster", "], +", lambda: window.change_speed(1)),
            ("Slower", "[, -", lambda: window.change_speed(-1)),
            ("Loop", "L", lambda: playhead.set_loop(not playhead.loop)),
            ("Link by moment or by progress", "K", window.toggle_link),
        ],
        "Go": [
            ("Back", "Alt+Left", lambda: window.travel(-1)),
            ("Forward", "Alt+Right", lambda: window.travel(1)),
            line,
            ("Other pane", "F6", window.other_pane),
            ("Source", "Ctrl+1", lambda: window.frame.show_tab("source")),
            ("Thread", "Ctrl+2", lambda: window.frame.show_tab("thread")),
            ("Warp", "Ctrl+3", lambda: window.frame.show_tab("warp")),
            ("Findings", "Ctrl+4", lambda: window.frame.show_tab("findings")),
            ("Explain", "Ctrl+5", lambda: window.frame.show_tab("explain")),
            ("Timings", "Ctrl+6", lambda: _show_timings(window)),
            line,
            ("Cancel tracing, close message, leave full screen", "Escape", window.escape),
        ],
        "View": [
            ("Full screen", "F11", window.toggle_full_screen),
            ("Right column", "Ctrl+R", window.frame.toggle_side),
            ("Bar at the top", "Ctrl+B", window.toggle_bar),
            ("Menu", "F10", window.toolbar.menu.showMenu),
            line,
            (DARK, "Ctrl+T", window.look.toggle),
            (SYSTEM, "", lambda: window.look.use("system")),
            line,
            ("Larger text", "Ctrl++, Ctrl+=", lambda: window.look.resize_text(0.1)),
            ("Smaller text", "Ctrl+-", lambda: window.look.resize_text(-0.1)),
            ("Normal text", "Ctrl+0", lambda: window.look.resize_text(0)),
            line,
            ("Colour by value, reads, waste, conflicts, races", "C", window.colouring.next),
            ("Memory or histogram", "H", window.frame.toggle_picture),
            ("Reduced motion", "Ctrl+M", window.look.toggle_motion),
            line,
            (OWN, "", lambda: window.look.speak("own")),
            (CUDA, "", lambda: window.look.speak("cuda")),
            (WORK_ITEM, "", lambda: window.look.speak("work-item")),
        ],
        "Help": [
            ("Keys", "F1", lambda: dialogs.show_keys(window)),
            ("About Tilescope", "", lambda: dialogs.show_about(window)),
        ],
    }


def states(window: MainWindow) -> dict[str, bool]:
    """Return what is on now, of the commands that turn something on: the menu has a check mark there."""
    frame, look = window.frame, window.look
    return {
        "Loop": window.playhead.loop,
        "Full screen": window.isFullScreen(),
        "Right column": not frame.side.isHidden(),
        "Bar at the top": not window.toolbar.isHidden(),
        DARK: look.theme.name == "dark",
        SYSTEM: look.choice == "system",
        "Reduced motion": look.theme.reduced_motion,
        OWN: look.words == "own",
        CUDA: look.words == "cuda",
        WORK_ITEM: look.words == "work-item",
    }


def _check(window: MainWindow, actions: dict[str, QAction]) -> None:
    """Put the check marks where they belong."""
    for text, on in states(window).items():
        actions[text].setCheckable(True)
        actions[text].setChecked(on)


def _show_timings(window: MainWindow) -> None:
    """Show the window of the timings; what it needs is not loaded before."""
    from .timings import show_timings

    show_timings(window, window.look)


def build_menu(window: MainWindow) -> tuple[QMenu, dict[str, QAction]]:
    """Return the window's menu, and its actions by their text.

    The shortcuts work wherever the focus is, but for text fields that need the key themselves.
    """
    menu, actions = QMenu(window), {}
    for title, entries in commands(window).items():
        part = menu.addMenu(title)
        for text, shortcuts, run in entries:
            if not text:
                part.addSeparator()
                continue
            actions[text] = _action(window, text, shortcuts, run)
            part.addAction(actions[text])
        part.aboutToShow.connect(lambda: _check(window, actions))
        if title == "File":
            _add_recent(window, part)
        if title == "View":
            part.aboutToShow.connect(partial(_add_text_size, window, part))
    return menu, actions


def _action(window: MainWindow, text: str, shortcuts: str, run: Callable[[], object]) -> QAction:
    action = QAction(text, window)
    action.setShortcuts([QKeySequence(keys) for keys in shortcuts.split(", ") if keys])
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.setAutoRepeat(text not in ("Play or pause", "Full screen", DARK))
    action.triggered.connect(lambda _checked: run())
    window.addAction(action)
    return action


def _add_recent(window: MainWindow, part: QMenu) -> None:
    recent = QMenu("Recent traces", part)
    recent.aboutToShow.connect(lambda: _fill_recent(window, recent))
    part.insertMenu(part.actions()[1], recent)


def _fill_recent(window: MainWindow, recent: QMenu) -> None:
    recent.clear()
    for path in window.settings.recent:
        recent.addAction(path, partial(files.open_path, window, path))
    if not window.settings.recent:
        recent.addAction("none yet").setEnabled(False)


def _add_text_size(window: MainWindow, part: QMenu) -> None:
    """Put a slider for the text size into the menu, when it is first shown: its library takes a while to load."""
    if part.property("slider"):
        return
    from superqt import QLabeledSlider

    slider = QLabeledSlider(Qt.Orientation.Horizontal)
    slider.setRange(80, 200)
    slider.setValue(round(100 * window.theme.scale))
    slider.setAccessibleName("Text size in percent")
    slider.valueChanged.connect(lambda percent: window.look.scale_text(percent / 100))
    window.look.changed.connect(lambda theme: slider.setValue(round(100 * theme.scale)))
    row = QWidgetAction(part)
    row.setDefaultWidget(_labelled("Text size, %", slider))
    part.addAction(row)
    part.setProperty("slider", True)


def _labelled(text: str, widget: QWidget) -> QWidget:
    """Return a widget with a label before it."""
    made = QWidget()
    line = QHBoxLayout(made)
    label = QLabel(text)
    label.setBuddy(widget)
    line.addWidget(label)
    line.addWidget(widget, 1)
    return made


def keys(window: MainWindow) -> Iterator[tuple[str, str, str]]:
    """Return (menu, command, keys) of everything that has a key."""
    for title, entries in commands(window).items():
        for text, shortcuts, _ in entries:
            if shortcuts:
                yield title, text, shortcuts.replace(", ", " or ")
