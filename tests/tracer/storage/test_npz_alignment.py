"""Columns that are mapped from a file begin where the processor reads numbers fastest, and others read the file too."""

from __future__ import annotations

import zipfile

import numpy as np

from tilescope.tracer.storage import npz

COLUMNS = {
    "one": np.arange(npz.LARGE + 1, dtype=np.uint8),
    "value": np.arange(npz.LARGE, dtype=np.float32),
    "few": np.arange(3, dtype=np.int64),
    "index": np.arange(npz.LARGE + 3, dtype=np.uint16),
    "step": np.arange(npz.LARGE, dtype=np.int64),
}


def test_mapped_columns_are_aligned(tmp_path):
    path = tmp_path / "columns.npz"
    with path.open("wb") as file:
        npz.write(file, COLUMNS, deflate=False)
    with path.open("rb") as file, zipfile.ZipFile(file) as members:
        mapped = npz.Mapped(file)
        for name, column in COLUMNS.items():
            results = npz.read(members, name, mapped)
            assert results.flags.aligned
            np.testing.assert_array_equal(results, column)
        assert members.testzip() is None
    for name, column in np.load(path).items():
        np.testing.assert_array_equal(column, COLUMNS[name])
