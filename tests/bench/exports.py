"""Print, as JSON, what it costs to write a trace file for other programs: seconds, memory, bytes.

python tests/bench/exports.py SPEC ENDING ...     as `tilescope export` takes them: matmul-tiled:keep=all csv parquet

The trace is saved, compressed, before it is exported; each export runs in a separate process, which begins with
the file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.run.worker_client import Worker
from tilescope.tracer.storage.temp_folders import large_files_folder
from tilescope.tracer.storage.trace_file import save

SAVE = "--save"
KILO = 1 if sys.platform == "darwin" else 1024  # bytes in what `ru_maxrss` counts


def exported(trace: Path, ending: str) -> dict[str, Any]:
    """Measure the cost of one export."""
    out = trace.with_suffix(f".{ending}")
    command = [sys.executable, "-m", "tilescope", "export", str(trace), "-o", str(out)]
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    results = {
        "seconds": time.perf_counter() - begin,
        "processor": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss * KILO / 1e6,
        "bytes": out.stat().st_size if process.returncode == 0 else 0,
        "status": process.returncode,
    }
    out.unlink(missing_ok=True)
    return results


def saved(spec: str, path: Path) -> None:
    """Trace a scenario and save it, as `tilescope run` would."""
    scenario, values, options = parse_spec(spec)
    worker = Worker()
    trace = worker.run(launch_of(scenario, values, **options))
    save(trace, path)
    worker.close()
    print(len(trace))


def main(spec: str, endings: list[str]) -> None:
    """Print what each export costs. Another process saves the trace: one's memory counts as that of its children."""
    with tempfile.TemporaryDirectory(dir=large_files_folder()) as folder:
        path = Path(folder) / "trace.npz"
        command = [sys.executable, __file__, SAVE, spec, str(path)]
        count = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        results: dict[str, Any] = {"accesses": int(count), "bytes": path.stat().st_size}
        print(json.dumps(results | {ending: exported(path, ending) for ending in endings}))


if __name__ == "__main__":
    if sys.argv[1] == SAVE:
        saved(sys.argv[2], Path(sys.argv[3]))
    else:
        main(sys.argv[1], sys.argv[2:])
