"""Colours for ordinary widgets in a view: set on the widget itself, they hold under any style of the application."""

from __future__ import annotations

from PySide6.QtGui import QPalette

from .theme import Theme, qt_palette


def ink_palette(theme: Theme, ink: str) -> QPalette:
    """Return the theme's palette with text in one of its colours."""
    palette = qt_palette(theme)
    palette.setColor(QPalette.ColorRole.WindowText, theme.colour(ink))
    return palette


def boxes_palette(theme: Theme) -> QPalette:
    """Return the theme's palette for check boxes: the style takes their border from the colour of the window."""
    palette = qt_palette(theme)
    palette.setColor(QPalette.ColorRole.Window, theme.colour("muted"))
    return palette


def boxes_sheet(widget: str, theme: Theme) -> str:
    """Return a style sheet by which the check boxes of a widget of this class follow the text size."""
    return f"{widget}::indicator {{ width: {theme.px(14)}px; height: {theme.px(14)}px; }}"


def sheet(widget: str, theme: Theme) -> str:
    """Return a style sheet that puts a widget of this class flat on the panel."""
    colours = theme.palette
    return (
        f"{widget} {{ background: {colours.panel}; color: {colours.text}; border: none;"
        f" selection-background-color: {colours.accent}; selection-color: {colours.accent_text}; }}"
    )
