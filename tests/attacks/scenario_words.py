"""Invalid command lines: scenario words, options, files; each a sentence and status 2, or an answer.

python scenario_words.py [COUNT [FIRST]]: so many through `main` of the command line in a child with limits, every
tenth also through the real command.
"""

import contextlib
import io
import os
import random
import sys
from pathlib import Path

import common

common.as_tilescope()

PARTS = ["m", "k", "n", "tile", "dtype", "input", "a", "b", "count", "threads", "bins", "num_blocks", "rows", "cols", "grid", "schedule", "seed", "resident",
         "blocks", "engine", "keep", "", "M", "file", "__class__", "ｍ"]  # fmt: skip
VALUES = ["8", "0", "-1", "1e3", "4096", "4097", "99999999999999999999", "1" * 5000, "8.0", "0x10", "٣", "１６", " 8", "8 ", "+8", "1_6", "nan", "inf", "float32", "float64", "float16", "complex64",
          "object", "random", "ones", "arange", "lockstep", "sequential", "all", "0+1", "0+", "+", "0+0", "compiled", "simulator", "some", "", "=", "a=b", "/etc/passwd", "/dev/zero", "/dev/null", "/", ".", "..", "~",
          "x.npy", "\0"[:0], "\n", "\x1b[31m", "🦊", "'; rm -rf x", "$(touch pwned)", "%s", "{0}", "*", "../../x", "-o", "uint8", "int64", "1,2"]  # fmt: skip
OPTIONS = [
    "--by",
    "line",
    "--yes",
    "-o",
    "x.png",
    "--moment",
    "--phase",
    "--theme",
    "dark",
    "--size",
    "1x1",
    "100000x100000",
    "--scale",
    "nan",
    "1e9",
    "--text-size",
    "--help",
    "--version",
    "--",
    "-",
    "-x",
    "--moment=-1",
    "--moment=99999999999999999999",
    "--phase=3",
    "--size=320x320",
    "--scale=0.5",
    "--scale=inf",
]


def command(number: int, names: list[str], files: list[str]) -> list[str]:
    rng = random.Random(number + common.SEED)

    def spec() -> str:
        name = rng.choice(
            [*names, *names, "matmul", "", "x", ":", "MATMUL-TILED", *files, "🦊", "\x1b[31m", "a" * 3000]
        )
        if rng.random() < 0.15:
            return name
        pairs = [
            f"{rng.choice(PARTS)}{rng.choice(['=', '=', '=', '=', '', '=='])}{rng.choice(VALUES)}"
            for _ in range(rng.choice([1, 1, 2, 3, 5]))
        ]
        small = rng.choice(["", "", "m=8,n=8,k=8,", "count=64,"])
        return f"{name}:{small}{','.join(pairs)}"

    first = rng.choice(
        [
            "counters",
            "counters",
            "counters",
            "snapshot",
            "frames",
            "list",
            "export",
            "check",
            "run",
            "nothing",
            "measure",
        ]
    )
    words = [spec() for _ in range(rng.choice([0, 1, 1, 1, 2, 3]))] + rng.sample(
        OPTIONS, rng.choice([0, 0, 1, 2])
    )
    rng.shuffle(words)
    if first in ("snapshot", "frames") and rng.random() < 0.8:
        words += ["-o", rng.choice(["x.png", "x", "/nowhere/x.png", "", ".", "x.jpg", "/dev/full", "x.npz"])]
    if first == "export":
        words = [
            rng.choice(["timings", "timings", "x"]),
            *words,
            "-o",
            rng.choice(["x.csv", "x.svg", "x", ".csv", "/nowhere/x.csv"]),
        ]
    if first == "measure":
        words = [*rng.sample(words, min(len(words), 1)), "--json", "x.json"]
    return [first, *(word for word in words if "\0" not in word)]


def called(words: list[str]) -> str:
    """Call the command line in this process; say how it ended."""
    from tilescope.app.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    os.environ["DISPLAY"] = ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code or 0
    output = err.getvalue()
    if status and (not output.startswith("tilescope: ") or len(output) > 6000):
        return f"no sentence\0{status} {output[:200]!r}"
    return f"{'refused' if status else 'done'}\0{output[:100]}"


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    folder = common.scratch("words")
    os.environ["TILESCOPE_HOME"] = str(folder / "home")
    os.environ.pop("QT_QPA_PLATFORM", None)
    os.environ.pop("DISPLAY", None)
    os.chdir(folder)
    from tilescope.kernels.scenarios.catalogue import scenarios

    names = [scenario.name for scenario in scenarios()]
    Path("junk.npz").write_bytes(b"junk")
    Path("script.py").write_text("print('hello')\n")
    Path("folder").mkdir()
    files = ["junk.npz", "no.npz", "script.py", "folder", "/dev/null", "/dev/zero", "."]
    tally = common.Tally("scenario_words")
    for number in range(first, first + count):
        words = command(number, names, files)
        shown = " ".join(word if len(word) < 100 else f"{word[:30]}...({len(word)})" for word in words)
        if number % 10 == 0 or words[0] in ("check", "run", "frames", "snapshot", "measure"):
            ended = common.run([common.binary(), *words], 60)
            if (
                words[0] in ("check", "run")
                and ended.code not in (None,)
                and ended.code >= 0
                and not common.TRACEBACK.search(ended.err)
            ):
                tally.fine("run")
                continue
            common.judge(tally, f"#{number} {shown}", ended, 30)
        else:
            kind, text, seconds, peak = common.limited(lambda: called(words), 60, 6000)
            if kind in ("done", "refused") and peak < 2000 and seconds < 30:
                tally.fine(kind)
            else:
                tally.fail(
                    f"{kind} in {text.rpartition(' at ')[2].partition(' <')[0]}"
                    if kind.startswith("raised")
                    else kind,
                    f"#{number} tilescope {shown}: {text} {seconds:.0f} s {peak:.0f} MB",
                )
    if Path("pwned").exists():
        tally.fail("executed", "a shell ran a word")
    return tally.summary()


if __name__ == "__main__":
    sys.exit(main())
