"""The cache of traces, as the engines on this computer make them."""

from __future__ import annotations

from ..recording.nvidia_files import libdevice_digest
from ..storage.folders import cache_folder
from ..storage.trace_cache import TraceCache


def trace_cache() -> TraceCache:
    """Return the cache in the user's folder; traces made with another libdevice are not found in it."""
    return TraceCache(cache_folder(), math_library=libdevice_digest)
