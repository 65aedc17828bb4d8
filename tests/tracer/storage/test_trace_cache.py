"""The cache of traces, and where it and the user's other files live."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from launching import Array, launch, trace
from tilescope.tracer.model.launch import Launch, encode
from tilescope.tracer.model.trace import KernelError, Trace
from tilescope.tracer.storage import folders
from tilescope.tracer.storage import trace_cache as caching
from tilescope.tracer.storage.trace_cache import TraceCache

SOURCE = "@cuda.jit\ndef kernel(a):\n    a[cuda.grid(1)] += 1\n"
ARRAY = (Array((8,), fill="arange"),)


@pytest.fixture
def traced_launch(tmp_path: Path) -> Launch:
    return launch(tmp_path, SOURCE, ARRAY, block=(8, 1, 1))


@pytest.fixture
def traced(tmp_path: Path) -> Trace:
    return trace(tmp_path, SOURCE, ARRAY, block=(8, 1, 1))


@pytest.fixture
def cache(tmp_path: Path) -> TraceCache:
    return TraceCache(tmp_path / "not" / "made")


def other(trace: Launch, number: int) -> Launch:
    """Return another launch."""
    return Launch(trace.kernel, f"{trace.source}# {number}\n", trace.arguments, trace.grid, trace.block)


def files(folder: Path) -> list[Path]:
    return list(folder.glob("not/made/*"))


def test_trace_of_an_equal_launch_is_returned(cache: TraceCache, traced_launch: Launch, traced: Trace):
    assert cache.get(traced_launch) is None
    cache.put(traced_launch, traced)
    results = cache.get(
        Launch(
            traced_launch.kernel,
            traced_launch.source,
            traced_launch.arguments,
            traced_launch.grid,
            traced_launch.block,
        )
    )
    assert results is not None
    assert np.array_equal(results.index, traced.index)
    assert results.launch == traced.launch


def test_edited_kernel_and_another_program_are_not_returned(
    cache: TraceCache, traced_launch: Launch, traced: Trace, monkeypatch: pytest.MonkeyPatch
):
    cache.put(traced_launch, traced)
    assert cache.get(other(traced_launch, 1)) is None
    monkeypatch.setattr(caching, "__version__", "next")
    assert cache.get(traced_launch) is None


@pytest.mark.parametrize("harm", ["damage", "truncate", "empty"])
def test_damaged_trace_is_removed(
    cache: TraceCache, traced_launch: Launch, traced: Trace, tmp_path: Path, harm: str
):
    cache.put(traced_launch, traced)
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
    assert cache.get(traced_launch) is None
    assert not path.exists()
    cache.put(traced_launch, traced)
    assert cache.get(traced_launch) is not None


def test_trace_that_failed_or_lacks_rows_is_not_kept(cache: TraceCache, traced_launch: Launch, traced: Trace):
    error = KernelError("ValueError", "no", (0, 0, 0), (0, 0, 0), "k.py", 1)
    for bad in (replace(traced, error=error), replace(traced, accesses=len(traced) + 1)):
        cache.put(traced_launch, bad)
        assert cache.get(traced_launch) is None


def test_least_recently_used_trace_is_removed_first(tmp_path: Path, traced_launch: Launch, traced: Trace):
    cache = TraceCache(tmp_path / "one")
    cache.put(traced_launch, traced)
    (first,) = (tmp_path / "one").iterdir()
    small = TraceCache(tmp_path / "not" / "made", limit_bytes=3 * first.stat().st_size + 100)
    launches = [other(traced_launch, number) for number in range(4)]
    for age, each in enumerate(launches[:3]):
        small.put(each, replace(traced, launch=encode(each)))
        newest = max(files(tmp_path), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, ns=(age, age))
    assert small.get(launches[0]) is not None
    small.put(launches[3], replace(traced, launch=encode(launches[3])))
    assert [small.get(each) is not None for each in launches] == [True, False, True, True]


def test_trace_larger_than_the_cache_evicts_nothing(tmp_path: Path, traced_launch: Launch, traced: Trace):
    cache = TraceCache(tmp_path / "not" / "made")
    cache.put(traced_launch, traced)
    (kept,) = files(tmp_path)
    tight = TraceCache(tmp_path / "not" / "made", limit_bytes=kept.stat().st_size)
    large = other(traced_launch, 1)
    tight.put(large, replace(traced, launch=encode(large), notice="x" * 5000))
    assert tight.get(traced_launch) is not None
    assert files(tmp_path) == [kept]


def test_other_files_in_the_folder_are_kept(tmp_path: Path, traced_launch: Launch, traced: Trace):
    folder = tmp_path / "not" / "made"
    folder.mkdir(parents=True)
    (folder / "thesis.txt").write_text("mine")
    (folder / ".tilescope-0.tmp").write_text("half a trace of a killed program")
    TraceCache(folder, limit_bytes=1).put(traced_launch, traced)
    assert [path.name for path in files(tmp_path)] == ["thesis.txt"]


def test_folder_that_can_not_be_created_is_no_error(tmp_path: Path, traced_launch: Launch, traced: Trace):
    (tmp_path / "not").write_text("a file")
    cache = TraceCache(tmp_path / "not" / "made")
    cache.put(traced_launch, traced)
    assert cache.get(traced_launch) is None


def test_folders_can_be_moved_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("TILESCOPE_HOME", str(tmp_path))
    results = folders.data_folder(), folders.cache_folder(), folders.config_folder()
    assert results == (tmp_path / "data", tmp_path / "cache", tmp_path / "config")


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


def test_trace_of_another_math_library_is_not_returned(tmp_path: Path, traced_launch: Launch, traced: Trace):
    before = TraceCache(tmp_path / "one", math_library=lambda: "13.0")
    before.put(traced_launch, traced)
    assert before.get(traced_launch) is not None
    assert TraceCache(tmp_path / "one", math_library=lambda: "13.5").get(traced_launch) is None
