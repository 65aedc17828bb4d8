"""Where the user's files go, for users with odd homes or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilescope.tracer.storage import folders


@pytest.fixture(autouse=True)
def no_choice(monkeypatch):
    for name in ("TILESCOPE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)


EACH = pytest.mark.parametrize("folder", [folders.data_folder, folders.cache_folder, folders.config_folder])


@EACH
def test_an_unknown_system_user_has_folders_that_are_not_writable(monkeypatch, folder):
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    with pytest.raises(OSError):
        folder().mkdir(parents=True)


@EACH
def test_nothing_is_written_in_a_home_that_is_too_deep(monkeypatch, tmp_path, folder):
    monkeypatch.setattr(Path, "home", lambda: tmp_path.joinpath(*["x"] * 1500))
    with pytest.raises(OSError):
        folder().mkdir(parents=True)
    assert list(tmp_path.iterdir()) == []
