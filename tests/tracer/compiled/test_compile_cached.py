"""Cached functions of the engine: read from the cache, and recompiled when one of its files has changed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tilescope.tracer.analysis import request_cost
from tilescope.tracer.compiled import compile_cached as stage
from tilescope.tracer.compiled.rows import block_counters, streaming_counters
from tilescope.tracer.compiled.rows import request_cost as compiled_cost

SOURCE = "def double(x):\n    return 2 * x\n"


def misses_and_hits(path: Path) -> tuple[int, int]:
    """Compile the function of a file, call it, and return how often it was compiled and read."""
    spec = importlib.util.spec_from_file_location("doubles", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["doubles"] = module  # where numba looks for it when it reads what it has kept
    spec.loader.exec_module(module)
    built = stage.compile_cached(module.double)
    assert built(21) == 42
    return sum(built.stats.cache_misses.values()), sum(built.stats.cache_hits.values())


def test_code_of_another_engine_version_is_recompiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "doubles.py"
    path.write_text(SOURCE)
    monkeypatch.setitem(sys.modules, "doubles", None)  # as it is again afterwards
    assert [misses_and_hits(path) for _ in range(2)] == [(1, 0), (0, 1)]
    monkeypatch.setattr(stage, "engine_version", lambda others: "of another engine")
    assert [misses_and_hits(path) for _ in range(2)] == [(1, 0), (0, 1)]


def test_a_version_covers_all_files_of_the_engine(monkeypatch: pytest.MonkeyPatch):
    version, rules, read = stage.engine_version.__wrapped__, Path(request_cost.__file__), Path.read_bytes
    before = version(), version((str(rules),))
    for changed, alike in ((stage.engine_files()[-1], [False, False]), (rules, [True, False])):
        monkeypatch.setattr(Path, "read_bytes", lambda self, file=changed: read(self) + b"#" * (self == file))
        now = version(), version((str(rules),))
        assert [a == b for a, b in zip(before, now, strict=True)] == alike


@pytest.mark.parametrize(
    "dispatcher",
    [
        compiled_cost.add_request, block_counters.add_requests, block_counters.count_all,
        streaming_counters.count_at,
    ],
    ids=lambda built: built.py_func.__name__,
)  # fmt: skip
def test_counting_code_has_the_version_of_the_rules(dispatcher):
    assert dispatcher._cache._cache_file._source_stamp == stage.engine_version((request_cost.__file__,))
