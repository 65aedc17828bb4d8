"""Where the user's files go: data, cache and configuration, as each platform has it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

NAME = "tilescope"
NOWHERE = Path(os.devnull) / NAME  # of a user without a home: nothing can be written there
DEEPEST = (
    256  # folders that a folder of ours may lie in: Python makes each by a call within that for the next
)

Use = Literal["data", "cache", "config"]

# The XDG Base Directory Specification: variable, and the folder in the home where it is not set.
_XDG = {
    "data": ("XDG_DATA_HOME", ".local/share"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "config": ("XDG_CONFIG_HOME", ".config"),
}
_LIBRARY = {"data": "Application Support", "cache": "Caches", "config": "Preferences"}


def data_folder() -> Path:
    """Return where files live that the user would miss: the list of recent traces. It may not exist yet."""
    return _folder("data")


def cache_folder() -> Path:
    """Return where files live that can be made again: traces by launch. It may not exist yet."""
    return _folder("cache")


def config_folder() -> Path:
    """Return where settings live. It may not exist yet."""
    return _folder("config")


def home_folder() -> Path:
    """Return the user's home, or where nothing can be written for a user that the system knows nothing of."""
    try:
        return Path.home()
    except RuntimeError:
        return NOWHERE


def _folder(use: Use) -> Path:
    chosen = _chosen_folder(use)
    return chosen if len(chosen.parts) <= DEEPEST else NOWHERE


def _chosen_folder(use: Use) -> Path:
    """TILESCOPE_HOME, where set, holds all three."""
    home = os.environ.get("TILESCOPE_HOME")
    if home:
        return Path(home).absolute() / use
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else home_folder() / "AppData" / "Local") / NAME / use
    if sys.platform == "darwin":
        return home_folder() / "Library" / _LIBRARY[use] / NAME
    variable, usual = _XDG[use]
    chosen = Path(os.environ.get(variable, ""))
    # The specification has relative paths ignored.
    return (chosen if chosen.is_absolute() else home_folder() / usual) / NAME
