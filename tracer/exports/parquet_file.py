"""The accesses of a trace as Parquet, with the data about the launch as metadata. It needs pyarrow."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from ..model.trace import Trace
from .access_table import Column, ExportError, about, access_columns, pieces

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 1 << 20  # of a row group
KEY = b"tilescope"  # of the data about the launch, as JSON
MISSING = "Parquet files need pyarrow, which is not installed: pip install pyarrow, or write CSV."


def need_pyarrow() -> None:
    """Raise ExportError if pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise ExportError(MISSING) from error


def write_parquet(
    trace: Trace, file: IO[bytes], progress: Callable[[int, int], None], part: str = ""
) -> None:
    """Write a row for each access; see `access_columns`. Words, such as `op`, are dictionaries.

    part: see `about`, which is the metadata under KEY. Raises OSError.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = access_columns(trace)
    schema = pa.schema([(column.name, _type(column)) for column in columns])
    schema = schema.with_metadata({KEY: json.dumps(about(trace, part)).encode()})
    ascending = {"step": "DELTA_BINARY_PACKED"}
    repeated = [column.name for column in columns if column.name not in ascending]
    with pq.ParquetWriter(
        file, schema, compression="zstd", use_dictionary=repeated, column_encoding=ascending
    ) as writer:
        for rows in pieces(trace, ROWS):
            arrays = [_array(column, rows) for column in columns]
            writer.write_batch(pa.record_batch(arrays, schema=schema), ROWS)
            progress(rows.stop, len(trace))


def _type(column: Column) -> pa.DataType:
    import pyarrow as pa

    plain = pa.from_numpy_dtype(column.dtype)
    return pa.dictionary(plain, pa.string()) if column.words else plain


def _array(column: Column, rows: slice) -> pa.Array:
    import pyarrow as pa

    entries: Any = pa.array(column.read(rows).astype(column.dtype, copy=False))
    return pa.DictionaryArray.from_arrays(entries, list(column.words)) if column.words else entries
