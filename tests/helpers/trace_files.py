"""Trace files with a member rewritten."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the arrays of a file, as anybody with NumPy could; `meta` is its JSON, read."""
    with np.load(path) as members:
        arrays: dict[str, Any] = dict(members)
    arrays["meta"] = json.loads(arrays["meta"].tobytes())
    change(arrays)
    arrays["meta"] = np.frombuffer(json.dumps(arrays["meta"]).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)
