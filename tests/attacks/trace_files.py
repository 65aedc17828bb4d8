"""Mutants of trace files through the reading function and a session's analyses, each in a child with limits.

python trace_files.py [COUNT [FIRST]]
"""

import sys
from pathlib import Path

import common

common.as_tilescope()

from mutants import mutant


def examine(path: Path) -> str:
    """Open a file as the commands do, and do with it what they and the window do; say what came out."""
    from tilescope.app.cli.counters import GROUPINGS, counters_table, table_by
    from tilescope.app.model.session import session_of_file
    from tilescope.tracer.storage.trace_file import TraceFileError

    try:
        session = session_of_file(path)
    except TraceFileError as error:
        text = str(error)
        sentence = text.startswith("Can't open ") and text.endswith(".") and "Traceback" not in text
        return f"{'refused' if sentence else 'strange sentence'}\0{text[-300:]}"
    if Path("pwned").exists() or Path("pwned-by-pickle").exists():
        return "executed code\0"
    session.prepared().with_findings()
    counters_table([session])
    for by in GROUPINGS:
        table_by(session, by)
    for number in range(len(session.trace.buffers)):
        for moment in (0, session.end // 2, session.end):
            session.memory.values(number, moment)
            session.memory.reads(number, moment)
    for finding in session.findings:
        str(finding.message)
    return "opened\0"


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 6000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    folder = common.scratch("traces")
    paths = common.real_traces(folder)
    import os

    import tilescope.app.cli.counters
    import tilescope.tracer.findings.all_findings  # noqa: F401

    os.chdir(folder)
    tally, target = common.Tally("trace_files"), folder / "mutant.npz"
    for path in paths:
        kind, text, *_ = common.limited(lambda: examine(path))
        assert kind == "opened", (path, kind, text)
    for number in range(first, first + count):
        label, content = mutant(paths, number)
        target.write_bytes(content)
        kind, text, seconds, peak = common.limited(lambda: examine(target))
        if kind in ("opened", "refused") and seconds < 20 and peak < 2000:
            tally.fine(kind)
        elif kind in ("opened", "refused"):
            tally.fail("slow or large", f"{label}: {seconds:.1f} s, {peak:.0f} MB")
        elif text.find(" at ") > 0 and kind.startswith("raised"):
            tally.fail(f"{kind} in {text.rpartition(' at ')[2].partition(' <')[0]}", f"{label}: {text}")
        else:
            tally.fail(kind, f"{label}: {text} ({seconds:.1f} s, {peak:.0f} MB)")
    return tally.summary()


if __name__ == "__main__":
    sys.exit(main())
