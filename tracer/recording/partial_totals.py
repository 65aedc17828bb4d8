"""Counters of blocks whose rows are not kept: computed from their columns before these are dropped."""

from __future__ import annotations

import numpy as np

from ..analysis.counters import totals_of
from ..analysis.requests import requests_of
from ..model.array_types import Columns
from .finish import trace_of
from .run_record import RunRecord


def totals_of_columns(record: RunRecord, columns: Columns) -> dict[str, int]:
    """Compute the counters of the rows of complete blocks, by the names in `counters.NAMES`."""
    trace = trace_of(record, columns, np.unique(columns["block"]).astype(np.int64))
    return totals_of(trace, requests_of(trace))
