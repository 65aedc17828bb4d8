"""Folders of the user's files: data, cache and configuration, by the conventions of each platform."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

NAME = "tilescope"
NOWHERE = Path(os.devnull) / NAME  # for a user without a home: not writable
DEEPEST = 256  # nested folders: Python creates them by recursion

Use = Literal["data", "cache", "config"]

# The XDG Base Directory Specification: variable, and the default folder in the home.
_XDG = {
    "data": ("XDG_DATA_HOME", ".local/share"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "config": ("XDG_CONFIG_HOME", ".config"),
}
_LIBRARY = {"data": "Application Support", "cache": "Caches", "config": "Preferences"}


def data_folder() -> Path:
    """Return the folder of files that can't be recreated: the list of recent traces. It may not exist yet."""
    return _folder("data")


def cache_folder() -> Path:
    """Return the folder of files that can be recreated: traces by launch. It may not exist yet."""
    return _folder("cache")


def config_folder() -> Path:
    """Return the folder of settings. It may not exist yet."""
    return _folder("config")


def home_folder() -> Path:
    """Return the user's home, or a path that is not writable if the system knows none."""
    try:
        return Path.home()
    except RuntimeError:
        return NOWHERE


def _folder(use: Use) -> Path:
    chosen = _chosen_folder(use)
    return chosen if len(chosen.parts) <= DEEPEST else NOWHERE


def _chosen_folder(use: Use) -> Path:
    """Choose the folder; TILESCOPE_HOME, if set, contains all three."""
    home = os.environ.get("TILESCOPE_HOME")
    if home:
        return Path(home).absolute() / use
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else home_folder() / "AppData" / "Local") / NAME / use
    if sys.platform == "darwin":
        return home_folder() / "Library" / _LIBRARY[use] / NAME
    variable, default = _XDG[use]
    chosen = Path(os.environ.get(variable, ""))
    # The specification says that relative paths are ignored.
    return (chosen if chosen.is_absolute() else home_folder() / default) / NAME
