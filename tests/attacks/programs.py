"""Misbehaving programs through `tilescope check` and `tilescope run`: the right status, no traceback of ours, an end.

python programs.py [NAME ...]. Those that never end by themselves are interrupted as by Ctrl+C and have to end soon.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import common

common.as_tilescope()

from misbehaving import PROGRAMS

OURS = re.compile(r'File "[^"]*/tilescope/(?!kernels)[^"]*\.py", line')
LIMIT = 40


def interrupted(words: list[str], cwd: Path) -> tuple[int | None, float, str]:
    """Run for 5 seconds, press Ctrl+C; return the status, the seconds till it ended, and what it said."""
    with (cwd / "err.txt").open("wb") as err:
        process = subprocess.Popen(
            words, cwd=cwd, stdout=err, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True
        )
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        pass
    begun, ended_itself = time.monotonic(), process.poll() is not None
    os.killpg(process.pid, signal.SIGINT) if not ended_itself else None
    try:
        code = process.wait(10)
    except subprocess.TimeoutExpired:
        code = None
        common.end(common.family(process.pid))
        process.wait()
    return code, time.monotonic() - begun, (cwd / "err.txt").read_text(errors="replace")


def main() -> int:
    folder = common.scratch("programs")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    tally = common.Tally("programs")
    for number, (name, (text, statuses)) in enumerate(PROGRAMS.items()):
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        for command in ("check", "run"):
            place = folder / f"{number}-{command}"
            place.mkdir()
            (place / "program.py").write_bytes(text.encode("utf-8", "surrogateescape"))
            if name == "modules of the same names":
                for module in ("string", "colorsys", "wave"):
                    (place / f"{module}.py").write_text("x = 1\n")
            words = [common.binary(), command, "program.py"]
            if statuses is None:
                code, seconds, output = interrupted(words, place)
                if code is None:
                    tally.fail(
                        f"{command} does not end on Ctrl+C", f"{name}: 10 s after it, {output[-200:]!r}"
                    )
                elif seconds > 5:
                    tally.fail(f"{command} ends late on Ctrl+C", f"{name}: {seconds:.1f} s")
                else:
                    tally.fine("ended by Ctrl+C")
                continue
            ended = common.run(words, LIMIT, cwd=place, memory=4000)
            printed = f"{name}: status {ended.code} after {ended.seconds:.1f} s, {ended.peak:.0f} MB: {(ended.out[-150:] + ' / ' + ended.err.strip()[-350:])!r}"
            last = ended.err.strip().splitlines()[-12:]
            if ended.code is None:
                tally.fail(f"{command} hangs or takes too much memory", printed)
            elif command == "check" and ended.code not in statuses:
                tally.fail("check has another status", f"expected {statuses}, {printed}")
            elif (
                command == "check"
                and OURS.search("\n".join(last))
                and "program.py" not in "\n".join(ended.err.strip().splitlines()[-60:])
            ):
                tally.fail("traceback of ours", printed)
            elif (place / "written-by-kernel").exists() and "opens a file" not in name:
                tally.fail("written", printed)
            else:
                tally.fine(command)
                if "-v" in os.environ.get("ATTACK", ""):
                    print(printed)
    return tally.summary()


if __name__ == "__main__":
    sys.exit(main())
