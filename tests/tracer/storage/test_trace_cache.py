"""The cache of traces, and where it and the user's other files live."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from launching import Array, launch, trace
from tilescope.tracer.model.launch import Launch
from tilescope.tracer.model.trace import KernelError, Trace
from tilescope.tracer.storage import folders
from tilescope.tracer.storage import trace_cache as caching
from tilescope.tracer.storage.trace_cache import TraceCache

SOURCE = "@cuda.jit\ndef kernel(a):\n    a[cuda.grid(1)] += 1\n"
ARRAY = (Array((8,), fill="arange"),)


@pytest.fixture
def made(tmp_path: Path) -> Launch:
    return launch(tmp_path, SOURCE, ARRAY, block=(8, 1, 1))


@pytest.fixture
def traced(tmp_path: Path) -> Trace:
    return trace(tmp_path, SOURCE, ARRAY, block=(8, 1, 1))


@pytest.fixture
def cache(tmp_path: Path) -> TraceCache:
    return TraceCache(tmp_path / "not" / "made")


def other(made: Launch, number: int) -> Launch:
    """Return another launch."""
    return Launch(made.kernel, f"{made.source}# {number}\n", made.arguments, made.grid, made.block)


def files(folder: Path) -> list[Path]:
    return list(folder.glob("not/made/*"))


def test_trace_of_an_equal_launch_is_found(cache: TraceCache, made: Launch, traced: Trace):
    assert cache.get(made) is None
    cache.put(made, traced)
    found = cache.get(Launch(made.kernel, made.source, made.arguments, made.grid, made.block))
    assert found is not None
    assert np.array_equal(found.index, traced.index)
    assert found.launch == traced.launch


def test_edited_kernel_and_another_program_are_not_found(
    cache: TraceCache, made: Launch, traced: Trace, monkeypatch: pytest.MonkeyPatch
):
    cache.put(made, traced)
    assert cache.get(other(made, 1)) is None
    monkeypatch.setattr(caching, "__version__", "next")
    assert cache.get(made) is None


@pytest.mark.parametrize("harm", ["damage", "truncate", "empty"])
def test_damaged_trace_is_removed(cache: TraceCache, made: Launch, traced: Trace, tmp_path: Path, harm: str):
    cache.put(made, traced)
    (path,) = files(tmp_path)
    content = path.read_bytes()
    # In a column: of what a zip says twice, one may be damaged.
    middle = content.index(b"NUMPY", len(content) // 2)
    harmed = {
        "damage": content[:middle] + b"?" * 9 + content[middle + 9 :],
        "truncate": content[:-9],
        "empty": b"",
    }
    path.write_bytes(harmed[harm])
    assert cache.get(made) is None
    assert not path.exists()
    cache.put(made, traced)
    assert cache.get(made) is not None


def test_trace_that_failed_or_lacks_rows_is_not_kept(cache: TraceCache, made: Launch, traced: Trace):
    error = KernelError("ValueError", "no", (0, 0, 0), (0, 0, 0), "k.py", 1)
    for bad in (replace(traced, error=error), replace(traced, accesses=len(traced) + 1)):
        cache.put(made, bad)
        assert cache.get(made) is None


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path, made: Launch, traced: Trace):
    cache = TraceCache(tmp_path / "one")
    cache.put(made, traced)
    (first,) = (tmp_path / "one").iterdir()
    small = TraceCache(tmp_path / "not" / "made", limit_bytes=3 * first.stat().st_size + 100)
    launches = [other(made, number) for number in range(4)]
    for age, each in enumerate(launches[:3]):
        small.put(each, traced)
        newest = max(files(tmp_path), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, ns=(age, age))
    assert small.get(launches[0]) is not None
    small.put(launches[3], traced)
    assert [small.get(each) is not None for each in launches] == [True, False, True, True]


def test_trace_larger_than_the_cache_drives_nothing_out(tmp_path: Path, made: Launch, traced: Trace):
    cache = TraceCache(tmp_path / "not" / "made")
    cache.put(made, traced)
    (kept,) = files(tmp_path)
    tight = TraceCache(tmp_path / "not" / "made", limit_bytes=kept.stat().st_size)
    tight.put(other(made, 1), replace(traced, notice="x" * 5000))
    assert tight.get(made) is not None
    assert files(tmp_path) == [kept]


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path, made: Launch, traced: Trace):
    folder = tmp_path / "not" / "made"
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("mine")
    (folder / ".tilescope-0.tmp").write_text("half a trace of a killed program")
    TraceCache(folder, limit_bytes=1).put(made, traced)
    assert [path.name for path in files(tmp_path)] == ["thesis.txt"]


def test_folder_that_can_not_be_made_is_no_error(tmp_path: Path, made: Launch, traced: Trace):
    (tmp_path / "not").write_text("a file")
    cache = TraceCache(tmp_path / "not" / "made")
    cache.put(made, traced)
    assert cache.get(made) is None


def test_folders_can_be_moved_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("TILESCOPE_HOME", str(tmp_path))
    found = folders.data_folder(), folders.cache_folder(), folders.config_folder()
    assert found == (tmp_path / "data", tmp_path / "cache", tmp_path / "config")


def test_folders_on_linux_follow_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("TILESCOPE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/ignored")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert folders.cache_folder() == tmp_path / "elsewhere" / "tilescope"
    assert folders.data_folder() == tmp_path / ".local" / "share" / "tilescope"
    assert folders.config_folder() == tmp_path / ".config" / "tilescope"


@pytest.mark.parametrize(
    ("platform", "cache"), [("win32", "Local/tilescope/cache"), ("darwin", "Library/Caches/tilescope")]
)
def test_folders_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, cache: str):
    monkeypatch.delenv("TILESCOPE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert folders.cache_folder() == tmp_path / cache
    assert len({folders.data_folder(), folders.cache_folder(), folders.config_folder()}) == 3


def test_trace_made_with_another_math_library_is_not_found(tmp_path: Path, made: Launch, traced: Trace):
    before = TraceCache(tmp_path / "one", math_library=lambda: "13.0")
    before.put(made, traced)
    assert before.get(made) is not None
    assert TraceCache(tmp_path / "one", math_library=lambda: "13.5").get(made) is None
