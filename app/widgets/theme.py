"""Colours and text sizes: two palettes, and one scale for all texts and controls."""

from __future__ import annotations

from functools import cache
from string import Template

from msgspec import Struct, field
from msgspec.structs import asdict, replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette

from ...kernels.scenarios.catalogue import Scenario
from ..model.bookmark import MAX_SCALE, MIN_SCALE
from ..model.vocabulary import resolved_choice, text_in_words, vocabulary

# Okabe and Ito, "Color Universal Design", 2008: one colour means one thing everywhere.
KIND_COLOURS = {
    "global load": "#0072B2",
    "global store": "#D55E00",
    "shared load": "#009E73",
    "shared store": "#E69F00",
    "atomic": "#CC79A7",
    "local load": "#56B4E9",
    "local store": "#56B4E9",
    "constant load": "#F0E442",
    "waiting": "#8A919C",
}
STRONG = 100.0  # the luma from which black reads better than white on these strong colours

SANS = ("Inter", "Segoe UI", "DejaVu Sans")
MONO = ("DejaVu Sans Mono", "Menlo", "Consolas")


class Palette(Struct, frozen=True):
    """The neutral colours of a theme, each as #rrggbb."""

    window: str  # background of the window
    panel: str  # background of its parts
    border: str  # of panels
    control: str  # outline of controls: contrast 3 to 1 against the panel, as WCAG 2.2 requires in 1.4.11
    text: str  # main text and lines
    muted: str  # secondary text
    accent: str  # chosen, focused or primary
    accent_text: str  # on the accent
    good: str  # text of a success
    bad: str  # text of an error
    badge: str  # background of small labels and of hovered items
    cell_unread: str  # a cell of memory not read or counted yet
    cell_poison: str  # a cell of uninitialised memory
    grid: str  # lines between cells, and background of the timeline
    keyword: str  # keywords of source code
    string: str  # strings of source code
    number: str  # numbers of source code


LIGHT = Palette(
    window="#F6F7F9",
    panel="#FFFFFF",
    border="#D3D9E0",
    control="#8A919C",
    text="#14171C",
    muted="#5B6675",
    accent="#0072B2",
    accent_text="#FFFFFF",
    good="#00704F",
    bad="#B23A00",
    badge="#EDF0F3",
    cell_unread="#DDE3EA",
    cell_poison="#D9C9DE",
    grid="#FFFFFF",
    keyword="#8A1F86",
    string="#2F6B1F",
    number="#9A4A00",
)
DARK = Palette(
    window="#14161A",
    panel="#1C1F25",
    border="#3A414C",
    control="#666F7D",
    text="#F1F3F6",
    muted="#A3ADBA",
    accent="#56B4E9",
    accent_text="#0B1016",
    good="#3CCB97",
    bad="#FF8A4C",
    badge="#2B3038",
    cell_unread="#353C47",
    cell_poison="#54415C",
    grid="#1C1F25",
    keyword="#D98BD6",
    string="#9BD18B",
    number="#E8B06A",
)


class Theme(Struct, frozen=True):
    """The look of all drawings: colours, the size of texts and controls, and the vocabulary."""

    name: str = "light"  # or "dark"
    scale: float = 1.0  # of the text: 1.0 is normal, 1.6 reads from the last row of a lecture hall
    reduced_motion: bool = False  # whether animations are off
    palette: Palette = field(default=LIGHT)  # the neutral colours
    words: str = "own"  # "own" for the scenario's, or "cuda", "work-item"
    pixel_ratio: float = 1.0  # device pixels of a pixel, for pens whose width Qt does not scale

    @classmethod
    def named(cls, name: str, scale: float = 1.0, reduced_motion: bool = False, words: str = "own") -> Theme:
        """Return the light or the dark theme."""
        return cls(name, scale, reduced_motion, DARK if name == "dark" else LIGHT, words)

    def with_words_of(self, scenario: Scenario | None) -> Theme:
        """Return this theme with the vocabulary of a scenario."""
        words = resolved_choice(self.words, scenario)
        return self if words == self.words else replace(self, words=words)

    def translate(self, text: str) -> str:
        """Translate a text from CUDA's terms into the theme's vocabulary."""
        return text_in_words(text, vocabulary(self.words, None))

    def px(self, size: float) -> int:
        """Scale a length of the normal text size to pixels of this theme."""
        return max(1, round(size * self.scale))

    def font(self, size: float = 13, *, bold: bool = False, mono: bool = False) -> QFont:
        """Return a shared, read-only font whose pixel size follows the text scale."""
        return _font(self.px(size), bold, mono)

    def colour(self, name: str) -> QColor:
        """Return the shared, read-only colour of a palette field or of a kind of request."""
        name = "muted" if name == "warp operation" else name
        return _colour(KIND_COLOURS.get(name) or getattr(self.palette, name))


def contrasting(ground: QColor, bright: float = 128.0) -> QColor:
    """Return the more readable of black and white: black if the ground's luma (ITU-R BT.601) is above `bright`."""
    luma = 0.299 * ground.red() + 0.587 * ground.green() + 0.114 * ground.blue()
    return QColor("#000000" if luma > bright else "#FFFFFF")


@cache
def _font(size: int, bold: bool, mono: bool) -> QFont:
    """Return a shared, read-only font."""
    font = QFont()
    font.setFamilies(list(MONO if mono else SANS))
    font.setPixelSize(size)
    font.setBold(bold)
    return font


@cache
def _colour(code: str) -> QColor:
    """Return a shared, read-only colour."""
    return QColor(code)


def resolve(choice: str, scale: float = 1.0, reduced_motion: bool = False, words: str = "own") -> Theme:
    """Return the theme of a choice: "light", "dark" or "system" (the desktop's current one)."""
    if choice == "system":
        dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        choice = "dark" if dark else "light"
    return Theme.named(choice, min(max(scale, MIN_SCALE), MAX_SCALE), reduced_motion, words)


def qt_palette(theme: Theme) -> QPalette:
    """Build Qt's palette of a theme, for widgets without a rule in the style sheet."""
    roles = QPalette.ColorRole
    colours = {
        roles.Window: "window", roles.Base: "panel", roles.AlternateBase: "badge", roles.Button: "panel",
        roles.ToolTipBase: "panel", roles.Text: "text", roles.WindowText: "text", roles.ButtonText: "text",
        roles.ToolTipText: "text", roles.PlaceholderText: "muted", roles.Highlight: "accent",
        roles.HighlightedText: "accent_text", roles.Link: "accent", roles.Mid: "border",
    }  # fmt: skip
    palette = QPalette()
    for role, name in colours.items():
        palette.setColor(role, theme.colour(name))
    for role in (roles.Text, roles.WindowText, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, theme.colour("muted"))
    return palette


def text_palette(theme: Theme, ink: str) -> QPalette:
    """Build the theme's palette with text in one of its colours."""
    palette = qt_palette(theme)
    palette.setColor(QPalette.ColorRole.WindowText, theme.colour(ink))
    return palette


def check_box_palette(theme: Theme) -> QPalette:
    """Build the theme's palette for check boxes, whose border has the window colour in Qt's style."""
    palette = qt_palette(theme)
    palette.setColor(QPalette.ColorRole.Window, theme.colour("muted"))
    return palette


def check_box_sheet(widget: str, theme: Theme) -> str:
    """Build a style sheet that scales the check boxes of a widget class with the text."""
    return f"{widget}::indicator {{ width: {theme.px(14)}px; height: {theme.px(14)}px; }}"


def flat_sheet(widget: str, theme: Theme) -> str:
    """Build a style sheet that draws a widget class flat on the panel."""
    colours = theme.palette
    return (
        f"{widget} {{ background: {colours.panel}; color: {colours.text}; border: none;"
        f" selection-background-color: {colours.accent}; selection-color: {colours.accent_text}; }}"
    )


def style_sheet(theme: Theme) -> str:
    """Build the style sheet of the application, with every length scaled with the text."""
    names = asdict(theme.palette)
    lengths = {f"s{length}px": f"{theme.px(length)}px" for length in range(1, 41)}
    lengths |= {f"t{length}px": f"{theme.px(length) - 1}px" for length in (4, 10)}
    return Template(STYLE).substitute(names | lengths)


# A length $s8px is 8 pixels at the normal text size; $t8px is one less, to offset a wider border.
STYLE = """
QMainWindow, QDialog { background: $window; }
QToolTip { background: $panel; color: $text; border: 1px solid $border; padding: $s4px; }
QFrame#panel { background: $panel; border: 1px solid $border; border-radius: $s8px; }
QFrame#bar { background: $panel; border: none; border-bottom: 1px solid $border; }
QFrame#chip { background: $panel; border: 1px solid $control; border-radius: $s6px; }
QFrame#chip:focus { border: 1px solid $accent; }
QFrame#chip[invalid="true"] { border: 2px solid $bad; }
QLabel { background: transparent; }
QLabel#brand { font-size: $s18px; font-weight: bold; }
QLabel#title { font-size: $s18px; font-weight: bold; }
QLabel#wrong { color: $bad; }
QLabel#muted, QLabel#lesson { color: $muted; }
QLabel#handle { color: $muted; }
QFrame#panel QLabel#handle { color: $text; }
QLabel#handle:hover { background: $badge; color: $text; border-radius: $s2px; }
QLabel#handle[held="true"] { background: $border; color: $text; border-radius: $s2px; }
QLabel#good { color: $good; font-weight: bold; font-size: $s13px; }
QLabel#bad { color: $bad; font-weight: bold; font-size: $s13px; }
QLabel#differs { background: $badge; color: $text; border-radius: $s4px; padding: $s1px $s4px; font-size: $s12px; }
QLabel#badge { background: $badge; color: $muted; border-radius: $s4px; padding: $s1px $s6px;
    font-size: $s12px; }
QLabel#pitfall { background: $badge; color: $bad; border-radius: $s4px; padding: $s1px $s6px;
    font-size: $s12px; font-weight: bold; }
QLabel#moment { font-size: $s15px; font-weight: bold; }
QPushButton, QToolButton { background: $panel; border: 1px solid $control; border-radius: $s6px;
    padding: $s4px $s10px; min-height: $s20px; }
QPushButton:hover, QToolButton:hover { background: $badge; }
QPushButton:pressed, QToolButton:pressed { background: $border; }
QPushButton:focus, QToolButton:focus { border: 2px solid $accent; padding: $t4px $t10px; }
QComboBox:focus, QLineEdit:focus { border: 1px solid $accent; }
QPushButton:disabled, QToolButton:disabled { color: $muted; }
QPushButton:checked, QToolButton:checked { background: $badge; border: 1px solid $accent; }
QPushButton#primary { background: $accent; color: $accent_text; border: 1px solid $accent;
    font-weight: bold; font-size: $s13px; }
QPushButton#primary:disabled { background: $panel; color: $muted; border: 1px solid $control; }
QPushButton#primary:focus { border: 2px solid $text; padding: $t4px $t10px; }
QPushButton[slim="true"] { padding: $s1px $s8px; min-height: $s14px; }
QPushButton[slim="true"]:focus, QPushButton#primary[slim="true"]:focus { padding: 0px $s7px; }
QFrame#chip QComboBox[slim="true"] { padding: 0px $s8px; min-height: $s14px; border: 0px; }
QPushButton#flat, QToolButton#flat { border: 1px solid transparent; background: transparent; padding: $s4px; }
QPushButton#flat:hover, QToolButton#flat:hover { background: $badge; }
QPushButton#flat:focus, QToolButton#flat:focus { border: 2px solid $accent; padding: $t4px; }
QPushButton#link { border: 1px solid transparent; background: transparent; padding: 0px; min-height: 0px;
    text-align: left; font-size: $s13px; border-radius: $s2px; }
QPushButton#link:hover { background: $badge; text-decoration: underline; }
QPushButton#link:focus { border: 1px solid $accent; }
QPushButton#link:disabled, QPushButton#link[muted="true"] { color: $muted; }
QPushButton#segment { padding: 0px $s8px; border-radius: $s4px; min-height: $s18px; font-size: $s12px;
    border: 1px solid transparent; background: transparent; color: $muted; }
QPushButton#segment:hover { background: $badge; }
QPushButton#segment:checked { background: $badge; border: 1px solid $control; color: $text; }
QPushButton#segment:focus { border: 2px solid $accent; padding: 0px $s7px; }
QToolButton::menu-indicator, QPushButton::menu-indicator { image: none; width: 0px; }
QLineEdit { background: $panel; border: 1px solid $control; border-radius: $s4px; padding: $s2px $s4px;
    selection-background-color: $accent; selection-color: $accent_text; }
QLineEdit[invalid="true"] { border: 2px solid $bad; }
QPlainTextEdit#words, QListWidget#steps { background: $panel; border: 1px solid $control; border-radius: $s4px;
    selection-background-color: $accent; selection-color: $accent_text; }
QPlainTextEdit#words:focus, QListWidget#steps:focus { border: 1px solid $accent; }
QPlainTextEdit#words[invalid="true"] { border: 2px solid $bad; }
QListWidget#steps::item { padding: $s2px $s4px; }
QListWidget#steps::item:selected { background: $accent; color: $accent_text; }
QFrame#chip QLineEdit, QFrame#chip QComboBox { border: 1px solid transparent; background: transparent; }
QFrame#chip QLineEdit:focus, QFrame#chip QComboBox:focus { border: 1px solid $accent; border-radius: $s4px; }
QFrame#chip QLineEdit[invalid="true"] { border: 2px solid $bad; border-radius: $s4px; }
QComboBox { background: $panel; border: 1px solid $control; border-radius: $s6px; padding: $s2px $s4px;
    min-height: $s20px; combobox-popup: 0; }
Combo::drop-down { border: none; width: $s15px; }
QFileDialog QToolButton { border: 1px solid transparent; background: $control; padding: $s2px; }
QFileDialog QToolButton:hover, QFileDialog QToolButton:checked { border: 1px solid $text; }
QFileDialog QToolButton:focus { border: 1px solid $accent; padding: $s2px; }
QComboBox QAbstractItemView { background: $panel; border: 1px solid $border; outline: none; padding: $s4px;
    selection-background-color: $accent; selection-color: $accent_text; }
QComboBox QAbstractItemView::item { padding: $s2px $s4px; }
QComboBox QAbstractItemView::item:selected { background: $accent; color: $accent_text; border-radius: $s3px; }
QMenu { background: $panel; border: 1px solid $border; padding: $s4px; }
QMenu::item { padding: $s4px $s24px; border-radius: $s4px; }
QMenu::item:selected { background: $accent; color: $accent_text; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $border; margin: $s4px; }
QTabBar { background: transparent; border: none; }
QTabBar::tab { background: transparent; border: none; border-bottom: 3px solid transparent; color: $muted;
    padding: $s6px $s10px; font-size: $s15px; }
QTabBar::tab:selected { color: $text; font-weight: bold; border-bottom: 3px solid $accent; }
QTabBar::tab:focus { color: $accent; }
QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: $border; }
QProgressBar { background: $badge; border: none; border-radius: $s3px; min-height: $s6px; max-height: $s6px; }
QProgressBar::chunk { background: $accent; border-radius: $s3px; }
QFrame#notice { background: $panel; border: 1px solid $border; border-left: $s4px solid $accent;
    border-radius: $s6px; }
QFrame#notice[kind="error"] { border-left: $s4px solid $bad; }
QFrame#news { background: $text; border-radius: $s8px; }
QFrame#news QLabel { color: $panel; }
QScrollBar:vertical { background: transparent; width: $s10px; margin: 0px; }
QScrollBar:horizontal { background: transparent; height: $s10px; margin: 0px; }
QScrollBar::handle { background: $border; border-radius: $s4px; min-height: $s24px; min-width: $s24px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0px; height: 0px; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
"""
