"""Mutants and bombs through the real commands `counters` and `snapshot`: a sentence or a picture, never anything else.

python trace_files_cli.py [COUNT [FIRST]]
"""

import os
import sys
import zipfile
from pathlib import Path

import common

common.as_tilescope()

import numpy as np
from mutants import header, meta_of, mutant, put_meta, read_members

KNOWN = (35, 555, 563, 606, 664, 993, 1576, 1841, 4503)  # failed in trace_files once


def bomb(folder: Path, base: Path, kind: str) -> Path:
    """Return a small file whose content is large: of a buffer, of accesses, or only announced."""
    members = read_members(base)
    meta, path = meta_of(members), folder / f"bomb-{kind}.npz"
    zeros: dict[str, tuple[str, int]] = {}
    if kind == "contents":
        count = 2**31 - 2_000_000
        meta["buffers"][0] |= {"dtype": "int8", "shape": [count], "strides": [1], "unit": 1, "size": count}
        zeros["initial.0.npy"] = ("|i1", count)
    elif kind == "size":  # no content at all, just a shape
        count = 2**31
        for buffer in meta["buffers"]:
            buffer |= {"dtype": "int8", "shape": [count], "strides": [1], "unit": 1, "size": count}
    elif kind.startswith("accesses"):
        count = int(kind.removeprefix("accesses-")) * 1_000_000
        meta["accesses"], meta["packed"] = count, False
        for name in ("block", "thread", "phase", "op", "buffer", "site", "index", "step"):
            zeros[f"{name}.npy"] = ("|u1", count)
        zeros["value.npy"] = ("|i1", count)
    elif kind == "grid":
        import json

        launch = json.loads(meta["launch"])
        meta["grid"] = launch["grid"] = [2**31 - 1] * 3
        meta["launch"] = json.dumps(launch)
    elif kind == "missing":
        meta["missing"] = [
            {
                "block": 0,
                "warp": 0,
                "site": 0,
                "mask": 1,
                "missing": 1,
                "step": 0,
                "why": "ended",
                "other": -1,
            }
        ] * 200_000
    elif kind == "sites":
        meta["sites"] = meta["sites"] * 100_000
    elif kind == "buffers":
        meta["buffers"] = meta["buffers"] * 20_000
    for name in [n for n in members if n.startswith("initial.") or n in zeros]:
        del members[name]
    put_meta(members, meta)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as built:
        for name, content in members.items():
            built.writestr(name, content)
        for name, (descr, count) in zeros.items():
            with built.open(name, "w", force_zip64=True) as member:
                member.write(header(f"'{descr}'", f"({count},)"))
                left = count * np.dtype(descr).itemsize
                while left:
                    left -= member.write(bytes(min(left, 1 << 24)))
    return path


BOMBS = ("size", "grid", "missing", "sites", "buffers", "contents", "accesses-20", "accesses-200")


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    folder = common.scratch("cli")
    paths = common.real_traces(folder)
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    os.chdir(folder)
    tally, picture = common.Tally("trace_files_cli"), folder / "x.png"

    def attack(description: str, path: Path, commands: tuple[str, ...]) -> None:
        for command in commands:
            picture.unlink(missing_ok=True)
            words = (
                ["snapshot", str(path), "-o", str(picture)]
                if command == "snapshot"
                else ["counters", str(path), *command.split()[1:]]
            )
            ended = common.run([common.binary(), *words], 40, memory=6000)
            common.judge(tally, f"{command} {description}", ended)
            if command == "snapshot" and ended.code == 0 and not picture.read_bytes().startswith(b"\x89PNG"):
                tally.fail("no picture", description)
            if Path("pwned").exists() or Path("pwned-by-pickle").exists():
                tally.fail("executed code", description)

    for kind in BOMBS:
        path = bomb(folder, folder / "run" / "000-reverse.npz", kind)
        attack(f"bomb-{kind} ({path.stat().st_size / 1e6:.2f} MB)", path, ("counters", "snapshot"))
        path.unlink()
    for number in (*KNOWN, *range(first, first + count)):
        label, content = mutant(paths, number)
        target = folder / "mutant.npz"
        target.write_bytes(content)
        attack(
            label,
            target,
            ("counters", "counters --by line", "snapshot")
            if number in KNOWN
            else ("counters",)
            if number % 2
            else ("snapshot",),
        )
    return tally.summary()


if __name__ == "__main__":
    sys.exit(main())
